/* Pieces of replies and requests. */
#include "server/routes/shapes.h"

#include "protocol/wire/json.h"
#include "server/instance/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MOST = 64, ORDER_MOST = 2 };

double *mechd_doubles(struct mechd_call *c, size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    if (x == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for %zu numbers", n);
    }
    return x;
}

static void write_integer(struct mechp_text *w, const char *key, int64_t value)
{
    mechp_text_key(w, key);
    mechp_text_integer(w, value);
}

/* Names of the variables of one causality. */
static void write_names(const struct mech_sim *sim, const char *key, enum mech_causality causality,
                        struct mechp_text *w)
{
    mechp_text_key(w, key);
    mechp_text_array(w);
    for (size_t k = 0; k < mech_sim_variable_count(sim, causality); k++) {
        struct mech_variable v;
        mech_sim_variable(sim, causality, k, &v);
        mechp_text_string(w, v.name);
    }
    mechp_text_end(w);
}

/* What only the owner may read. */
static void write_whole(const struct mechd_instance *i, struct mechp_text *w)
{
    const struct mech_sim *sim = i->sim;
    const struct mech_sizes n = mech_sim_sizes(sim);
    mechp_text_key(w, "integrator");
    mechp_text_string(w, mech_sim_document(sim)->solver.integrator);
    mechp_text_key(w, "sizes");
    mechp_text_object(w);
    write_integer(w, "q", n.q);
    write_integer(w, "v", n.v);
    write_integer(w, "x", n.x);
    write_integer(w, "lambda", n.lambda);
    write_integer(w, "z", n.z);
    write_integer(w, "impulse", n.impulse);
    mechp_text_end(w);
    write_names(sim, "inputs", MECH_INPUT, w);
    write_names(sim, "outputs", MECH_OUTPUT_VARIABLE, w);
    write_names(sim, "parameters", MECH_PARAMETER, w);
    mechp_text_key(w, "memory");
    mechp_text_unsigned(w, mech_sim_memory(sim));
    mechp_text_key(w, "run");
    if (i->run != NULL && atomic_load(&i->running)) {
        mechd_run_write(i->run, w);
    } else {
        mechp_text_null(w);
    }
}

void mechd_write_instance(struct mechd_instance *i, bool whole, struct mechp_text *w)
{
    struct mechd_published now;
    char etag[48];
    mechd_instance_peek(i, &now, NULL);
    mechd_instance_etag(i, etag);
    mechp_text_key(w, "id");
    mechp_text_string(w, i->id);
    mechp_text_key(w, "name");
    mechp_text_string(w, i->name);
    mechp_text_key(w, "time");
    mechp_text_number(w, now.time);
    mechp_text_key(w, "step");
    mechp_text_unsigned(w, now.steps);
    mechp_text_key(w, "stepSize");
    mechp_text_number(w, i->step_size);
    mechp_text_key(w, "running");
    mechp_text_bool(w, atomic_load(&i->running));
    mechp_text_key(w, "revision");
    mechp_text_string_n(w, etag + 1, strlen(etag) - 2);
    if (i->labels != NULL) {
        mechp_text_key(w, "labels");
        mechp_text_object(w);
        const char *key = NULL;
        json_t *value = NULL;
        json_object_foreach(i->labels, key, value)
        {
            mechp_text_key(w, key);
            mechp_text_string(w, json_string_value(value));
        }
        mechp_text_end(w);
    }
    if (whole) {
        write_whole(i, w);
    }
}

void mechd_write_value(const struct mech_variable *v, const double *values, struct mechp_text *w)
{
    if (v->scalar) {
        mechp_text_number(w, values[0]);
    } else {
        mechp_text_numbers(w, values, (size_t)v->size);
    }
}

void mechd_write_values(const struct mech_sim *sim, enum mech_causality causality,
                        const double *packed, struct mechp_text *w)
{
    mechp_text_object(w);
    for (size_t k = 0; k < mech_sim_variable_count(sim, causality); k++) {
        struct mech_variable v;
        mech_sim_variable(sim, causality, k, &v);
        mechp_text_key(w, v.name);
        mechd_write_value(&v, packed + v.offset, w);
    }
    mechp_text_end(w);
}

/* One input of the request, read before anything is set. */
struct setting {
    int32_t index;
    int32_t order;
    bool release; /* null: given back to the model */
    double values[MECH_ITEM_OUTPUT_MAX];
    double derivatives[ORDER_MOST * MECH_ITEM_OUTPUT_MAX];
};

/* Derivatives of one input: [first, second …], each a number or an array of the input's size. */
static void read_derivatives(struct mechd_call *c, const json_t *all, const char *name,
                             int32_t size, struct setting *s)
{
    const json_t *given = json_object_get(all, name);
    if (given == NULL) {
        return;
    }
    struct mech_path path = {.length = 0};
    (void)mech_path_push(&path, "inputDerivatives");
    (void)mech_path_push(&path, name);
    if (json_is_number(given) && size == 1) {
        s->order = 1;
        s->derivatives[0] = json_number_value(given);
        return;
    }
    if (!json_is_array(given) || json_array_size(given) > ORDER_MOST) {
        mech_diag_add(&c->diag, path.text, "expected a list of at most %d derivatives", ORDER_MOST);
        return;
    }
    for (size_t k = 0; k < json_array_size(given); k++) {
        size_t count = 0;
        if (mechp_json_numbers(json_array_get(given, k), path.text, &c->diag, (size_t)size,
                               s->derivatives + (int32_t)k * size, &count) &&
            count != (size_t)size) {
            mech_diag_add(&c->diag, path.text, "expected %d numbers in each derivative", size);
        }
        s->order++;
    }
}

/* One input by name. False: a fault. */
static bool read_input(struct mechd_call *c, const char *name, const json_t *value,
                       const json_t *derivatives, const char *base, struct setting *s)
{
    const struct mech_sim *sim = c->job.instance->sim;
    struct mech_path path = {.length = 0};
    if (*base != '\0') {
        (void)mech_path_push(&path, base + 1);
    }
    (void)mech_path_push(&path, name);
    *s = (struct setting){.index = mech_sim_variable_find(sim, MECH_INPUT, name)};
    if (s->index < 0) {
        mech_diag_add(&c->diag, path.text, "there is no input '%.64s'", name);
        return false;
    }
    struct mech_variable v;
    mech_sim_variable(sim, MECH_INPUT, (size_t)s->index, &v);
    s->release = json_is_null(value);
    if (s->release) {
        return true;
    }
    size_t count = 0;
    if (v.size > MECH_ITEM_OUTPUT_MAX ||
        !mechp_json_numbers(value, path.text, &c->diag, MECH_ITEM_OUTPUT_MAX, s->values, &count)) {
        return false;
    }
    if (count != (size_t)v.size) {
        mech_diag_add(&c->diag, path.text, "expected %d numbers, found %zu", v.size, count);
        return false;
    }
    read_derivatives(c, derivatives, name, v.size, s);
    return true;
}

void mechd_set_inputs(struct mechd_call *c, const json_t *inputs, const json_t *derivatives,
                      const char *base)
{
    struct setting settings[INPUT_MOST];
    size_t n = 0;
    const char *name = NULL;
    json_t *value = NULL;
    if (!json_is_object(inputs) || json_object_size(inputs) > INPUT_MOST) {
        mech_diag_add(&c->diag, base, "expected an object of at most %d inputs", INPUT_MOST);
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)inputs, name, value)
    {
        n += read_input(c, name, value, derivatives, base, &settings[n]);
    }
    const char *given = NULL;
    json_object_foreach((json_t *)(uintptr_t)derivatives, given, value)
    {
        if (json_object_get(inputs, given) == NULL) {
            mech_diag_add(&c->diag, "/inputDerivatives", "input '%.64s' is not given", given);
        }
    }
    if (!mech_diag_clean(&c->diag)) {
        return;
    }
    for (size_t k = 0; k < n; k++) {
        const struct setting *s = &settings[k];
        if (mech_sim_set_input(c->job.instance->sim, s->index, s->release ? NULL : s->values,
                               s->order, s->order > 0 ? s->derivatives : NULL) != 0) {
            mech_diag_add(&c->diag, base, "a value is not finite");
            return;
        }
    }
}
