/* Pieces of replies and requests. */
#include "server/call/shapes.h"

#include "protocol/wire/json.h"
#include "protocol/wire/problem.h"
#include "server/instance/runs.h"
#include "server/instance/traits.h"
#include "server/os/ticks.h"
#include "solver/sim/analysis.h"
#include "solver/sim/edit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mech_item *mechd_item(struct mechd_call *c, enum mech_category category,
                                   const char *name)
{
    const struct mech_document *const d = mech_sim_document(c->job.instance->sim);
    const struct mech_items *const items =
        mech_document_items((struct mech_document *)(uintptr_t)d, category);
    for (size_t k = 0; k < items->n; k++) {
        if (strcmp(items->at[k].name, name) == 0) {
            return &items->at[k];
        }
    }
    struct mech_guess g;
    mechd_fail(c, MECHP_NOT_FOUND, "there is no %.64s in %s%s", name, mech_category_name(category),
               mech_items_hint(&g, name, items));
    return NULL;
}

double *mechd_doubles(struct mechd_call *c, size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    if (x == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for %zu numbers", n);
    }
    return x;
}

/* Names of the variables of one causality. */
static void write_names(const struct mechd_engine *engine, const char *key,
                        enum mech_causality causality, struct mechp_text *w)
{
    mechp_text_key(w, key);
    mechp_text_array(w);
    for (size_t k = 0; k < mechd_engine_variable_count(engine, causality); k++) {
        struct mech_variable v;
        mechd_engine_variable(engine, causality, k, &v);
        mechp_text_string(w, v.name);
    }
    mechp_text_end(w);
}

/* What only a model of the solver has. */
static void write_model(const struct mech_sim *sim, struct mechp_text *w)
{
    const struct mech_sizes n = mech_sim_sizes(sim);
    mechp_text_key(w, "integrator");
    mechp_text_string(w, mech_sim_integrator(sim));
    mechp_text_key(w, "sizes");
    mechp_text_object(w);
    mechp_text_member_integer(w, "q", n.q);
    mechp_text_member_integer(w, "v", n.v);
    mechp_text_member_integer(w, "x", n.x);
    mechp_text_member_integer(w, "lambda", n.lambda);
    mechp_text_member_integer(w, "z", n.z);
    mechp_text_member_integer(w, "impulse", n.impulse);
    mechp_text_end(w);
    mechp_text_key(w, "memory");
    mechp_text_unsigned(w, mech_sim_memory(sim));
}

/* What only the owner may read. */
static void write_whole(const struct mechd_instance *i, struct mechp_text *w)
{
    if (i->sim != NULL) {
        write_model(i->sim, w);
    }
    write_names(&i->engine, "inputs", MECH_INPUT, w);
    write_names(&i->engine, "outputs", MECH_OUTPUT_VARIABLE, w);
    write_names(&i->engine, "parameters", MECH_PARAMETER, w);
    mechp_text_key(w, "run");
    if (i->run != NULL && atomic_load(&i->running)) {
        mechd_run_write(i->run, w);
    } else {
        mechp_text_null(w);
    }
}

/* Labels, and the time to live with what is left of it. */
static void write_traits(struct mechd_instance *i, struct mechp_text *w)
{
    json_t *labels = mechd_instance_labels(i);
    const uint64_t ends = mechd_instance_ends(i);
    if (labels != NULL) {
        mechp_text_key(w, "labels");
        mechp_text_object(w);
        const char *key = NULL;
        json_t *value = NULL;
        json_object_foreach(labels, key, value)
        {
            mechp_text_key(w, key);
            mechp_text_string(w, json_string_value(value));
        }
        mechp_text_end(w);
    }
    mechd_instance_labels_unref(i, labels);
    if (ends != 0) {
        const uint64_t now = mechd_now();
        mechp_text_key(w, "ttl");
        mechp_text_number(w, mechd_instance_ttl(i));
        mechp_text_key(w, "ttlLeft");
        mechp_text_number(w, ends > now ? 1e-3 * floor(1e-6 * (double)(ends - now)) : 0.);
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
    if (i->engine.ops->apart) {
        mechp_text_member_string(w, "engine", i->engine.ops->name);
    }
    mechp_text_key(w, "time");
    mechp_text_number(w, now.time);
    mechp_text_key(w, "step");
    mechp_text_unsigned(w, now.steps);
    mechp_text_key(w, "stepSize");
    mechp_text_number(w, i->step_size);
    mechp_text_key(w, "running");
    mechp_text_bool(w, atomic_load(&i->running));
    mechp_text_key(w, "busy");
    mechp_text_bool(w, mechd_instance_busy(i));
    mechp_text_key(w, "revision");
    mechp_text_string_n(w, etag + 1, strlen(etag) - 2);
    mechp_text_key(w, "durability");
    mechd_durability_write(&i->durable.settings, w);
    write_traits(i, w);
    mechp_problem_write_warnings(&i->told, w);
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

void mechd_write_values(const struct mechd_engine *engine, enum mech_causality causality,
                        const double *packed, struct mechp_text *w)
{
    mechp_text_object(w);
    for (size_t k = 0; k < mechd_engine_variable_count(engine, causality); k++) {
        struct mech_variable v;
        mechd_engine_variable(engine, causality, k, &v);
        mechp_text_key(w, v.name);
        mechd_write_value(&v, packed + v.offset, w);
    }
    mechp_text_end(w);
}

bool mechd_has_taken(const struct mechd_instance *i)
{
    const double *impulse = NULL;
    int32_t row = 0, n = 0;
    return i->sim != NULL && mech_sim_taken_next(i->sim, &row, &impulse, &n) >= 0;
}

void mechd_write_taken(const struct mechd_instance *i, struct mechp_text *w)
{
    const double *impulse = NULL;
    int32_t row = 0, n = 0;
    mechp_text_object(w);
    for (int32_t object = 0; i->sim != NULL && object >= 0;) {
        object = mech_sim_taken_next(i->sim, &row, &impulse, &n);
        if (object >= 0) {
            mechp_text_key(w, mech_sim_document(i->sim)->objects.at[object].name);
            mechp_text_numbers(w, impulse, (size_t)n);
        }
    }
    mechp_text_end(w);
}

void mechd_fail_reason(struct mechd_call *c, int outcome, const char *reason)
{
    if (reason[0] == '\0' || outcome < 0) {
        mechd_fail_outcome(c, outcome);
    } else if (outcome == MECH_UNSUPPORTED || outcome == MECH_INVALID) {
        mech_diag_add(&c->diag, "", "%s", reason);
    } else {
        mechd_fail(c, mechp_code_of_outcome(outcome), "%s", reason);
    }
}

void mechd_write_matrix(struct mechp_text *w, const char *key, const double *values, int32_t rows,
                        int32_t cols)
{
    mechp_text_key(w, key);
    mechp_text_array(w);
    for (int32_t r = 0; r < rows; r++) {
        mechp_text_numbers(w, values + (size_t)r * (size_t)cols, (size_t)cols);
    }
    mechp_text_end(w);
}

void mechd_write_label(const struct mech_variable *v, struct mechp_text *w)
{
    for (int32_t i = 0; i < v->size; i++) {
        char label[128];
        snprintf(label, sizeof label, v->scalar ? "%.100s" : "%.100s/%d", v->name, (int)i);
        mechp_text_string(w, label);
    }
}

void mechd_write_labels(struct mechd_call *c, const char *key, enum mech_causality causality,
                        bool parameters)
{
    const struct mech_sim *const sim = c->job.instance->sim;
    const struct mechd_engine *const engine = &c->job.instance->engine;
    struct mechp_text *w = &c->text;
    mechp_text_key(w, key);
    mechp_text_array(w);
    for (size_t k = 0; k < mechd_engine_variable_count(engine, causality); k++) {
        struct mech_variable v;
        mechd_engine_variable(engine, causality, k, &v);
        if (!parameters && sim != NULL && mech_sim_input_is_parameter(sim, (int32_t)k)) {
            continue;
        }
        mechd_write_label(&v, w);
    }
    mechp_text_end(w);
}

static void check_labels(struct mechd_call *c)
{
    const json_t *labels = NULL;
    if (json_is_null(json_object_get(c->body, "labels")) ||
        !mechp_json_object(c->body, "labels", &c->diag, &labels)) {
        return;
    }
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)labels, key, value)
    {
        struct mech_path path = {.text = "/labels", .length = 7};
        (void)mech_path_push(&path, key);
        if (!mech_name_valid(key)) {
            mech_diag_add(&c->diag, path.text,
                          "the name of a label is 1 to 64 of A-Z a-z 0-9 . _ -");
        }
        if (!json_is_string(value)) {
            mech_diag_add(&c->diag, path.text, "must be a string");
        } else if (json_string_length(value) > MECHD_LABEL_MOST) {
            mech_diag_add(&c->diag, path.text, "at most %d bytes, has %zu", MECHD_LABEL_MOST,
                          json_string_length(value));
        }
    }
    if (json_object_size(labels) > MECHD_LABELS_MOST) {
        mech_diag_add(&c->diag, "/labels", "at most %d labels", MECHD_LABELS_MOST);
    }
}

void mechd_check_traits(struct mechd_call *c)
{
    double ttl = 0.;
    check_labels(c);
    if (!json_is_null(json_object_get(c->body, "ttl")) &&
        mechp_json_number(c->body, "ttl", &c->diag, &ttl) && !(ttl > 0. && ttl <= mechd_ttl_most)) {
        mech_diag_add(&c->diag, "/ttl", "must be seconds from 0 to %g, or null", mechd_ttl_most);
    }
}

/* --- extent of a command ---------------------------------------------------------------------- */

/* False: the only key of the body is another one. */
static bool may_be(const char *only, const char *key)
{
    return only == NULL || strcmp(only, key) == 0;
}

bool mechd_read_extent(struct mechd_call *c, int64_t most, struct mech_step_request *out)
{
    const bool alone = json_object_size(c->body) == 1;
    const char *const only = alone ? json_object_iter_key(json_object_iter(c->body)) : NULL;
    int64_t count = 0;
    double end = 0.;
    const bool sized =
        may_be(only, "size") && mechp_json_number(c->body, "size", &c->diag, &out->size);
    const bool until = may_be(only, "until") && mechp_json_number(c->body, "until", &c->diag, &end);
    const bool counted =
        may_be(only, "count") && mechp_json_integer(c->body, "count", &c->diag, 1, most, &count);
    if (until) {
        out->kind = MECH_STEP_UNTIL;
        out->size = sized ? out->size : end;
    }
    if (counted) {
        out->kind = MECH_STEP_COUNT;
        out->count = (uint64_t)count;
    }
    if (!mech_diag_clean(&c->diag)) {
        return false;
    }
    const int given = sized + until + counted;
    if (given != 1) {
        mech_diag_add(&c->diag, "", "exactly one of size, until and count is needed");
    } else if (sized && !(out->size > 0.)) {
        mech_diag_add(&c->diag, "/size", "must be greater than 0");
    }
    return given == 1 && alone;
}
