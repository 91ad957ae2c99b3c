/* Inputs over a step: polynomials and samples, from JSON to the solver's form. */
#include "server/operations/step_signals.h"

#include "server/engine/fmu_engine.h"

#include <stdlib.h>
#include <string.h>

enum { COEFFICIENTS_MOST = 16, SAMPLES_MOST = 100000 };

/* Where the reader is: in the request, and in the memory for its numbers. */
struct reader {
    struct mechd_call *c;
    struct mech_path path;
    size_t size; /* values of the input */
    double *at;
};

static void fault(struct reader *r, const char *text)
{
    mech_diag_add(&r->c->diag, r->path.text, "%s", text);
}

/* The list of that name in an object whose only members are `keys`; NULL: it is not there, and a
 * fault says so. */
static const json_t *list_of(struct reader *r, const json_t *object, const char *key, size_t most)
{
    const json_t *const list = json_object_get(object, key);
    const size_t mark = mech_path_push(&r->path, key);

    if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > most) {
        mech_diag_add(&r->c->diag, r->path.text, "expected a list of 1 to %zu entries", most);
        mech_path_cut(&r->path, mark);
        return NULL;
    }
    mech_path_cut(&r->path, mark);
    return list;
}

/* The list's entries, each a number or an array of the input's size, to r->at. */
static void read_rows(struct reader *r, const char *key, const json_t *list)
{
    const size_t mark = mech_path_push(&r->path, key);

    for (size_t k = 0; k < json_array_size(list); k++) {
        const size_t inner = mech_path_push_index(&r->path, k);
        size_t count = 0;
        if (mechp_json_numbers(json_array_get(list, k), r->path.text, &r->c->diag, r->size, r->at,
                               &count) &&
            count != r->size) {
            mech_diag_add(&r->c->diag, r->path.text, "expected %zu numbers, found %zu", r->size,
                          count);
        }
        mech_path_cut(&r->path, inner);
        r->at += r->size;
    }
    mech_path_cut(&r->path, mark);
}

/* Times in ascending order. */
static void read_times(struct reader *r, const json_t *list)
{
    const size_t mark = mech_path_push(&r->path, "times");
    const double *const first = r->at;

    for (size_t k = 0; k < json_array_size(list); k++) {
        const size_t inner = mech_path_push_index(&r->path, k);
        const json_t *const time = json_array_get(list, k);
        size_t count = 0;
        if (!json_is_number(time)) {
            fault(r, "expected a number");
        } else if (mechp_json_numbers(time, r->path.text, &r->c->diag, 1, r->at, &count) &&
                   r->at > first && !(r->at[0] > r->at[-1])) {
            fault(r, "must be after the time before it");
        }
        mech_path_cut(&r->path, inner);
        r->at++;
    }
    mech_path_cut(&r->path, mark);
}

static void read_polynomial(struct reader *r, const json_t *object, struct mech_input_signal *out)
{
    const json_t *const list = list_of(r, object, "polynomial", COEFFICIENTS_MOST);

    if (list != NULL) {
        out->n = (int32_t)json_array_size(list);
        out->values = r->at;
        read_rows(r, "polynomial", list);
    }
}

static void read_samples(struct reader *r, const json_t *object, struct mech_input_signal *out)
{
    const json_t *const samples = json_object_get(object, "samples");
    const size_t mark = mech_path_push(&r->path, "samples");

    mechp_shape_only(samples, r->path.text, mechp_shape_named("@Samples"), &r->c->diag);
    const json_t *const times = list_of(r, samples, "times", SAMPLES_MOST);
    const json_t *const values = list_of(r, samples, "values", SAMPLES_MOST);
    if (times != NULL && values != NULL && json_array_size(times) != json_array_size(values)) {
        mech_diag_add(&r->c->diag, r->path.text, "%zu times, but %zu values",
                      json_array_size(times), json_array_size(values));
    } else if (times != NULL && values != NULL) {
        out->n = (int32_t)json_array_size(times);
        out->tau = r->at;
        read_times(r, times);
        out->values = r->at;
        read_rows(r, "values", values);
    }
    mech_path_cut(&r->path, mark);
}

/* One input's; false: refused. */
static bool read_one(struct reader *r, const json_t *object, const struct mech_variable *v,
                     struct mech_input_signal *out)
{
    const size_t faults = r->c->diag.total;
    const bool polynomial = json_object_get(object, "polynomial") != NULL;
    const struct mechd_engine *const e = &r->c->job.instance->engine;
    const char *const unfollowed = mechd_engine_package(e) != NULL
                                       ? mechd_engine_fmu_unfollowed(e, v->index, !polynomial)
                                       : NULL;

    mechp_shape_only(object, r->path.text, mechp_shape_named("@Signal"), &r->c->diag);
    if (!json_is_object(object) || polynomial == (json_object_get(object, "samples") != NULL)) {
        fault(r, "expected an object with polynomial or samples");
    } else if (mechd_engine_input_is_parameter(e, v->index)) {
        fault(r, "this input is a parameter, which is constant over a step");
    } else if (unfollowed != NULL) {
        mech_diag_add(&r->c->diag, r->path.text,
                      "this input of an FMU takes only values that are constant over the step: %s",
                      unfollowed);
    } else if (polynomial) {
        read_polynomial(r, object, out);
    } else {
        read_samples(r, object, out);
    }
    return r->c->diag.total == faults;
}

/* Numbers that a signal's text may have: no more than its lists have entries, each of `size`. */
static size_t numbers_of(const json_t *object, size_t size)
{
    const json_t *const samples = json_object_get(object, "samples");
    const json_t *const polynomial = json_object_get(object, "polynomial");

    return size * json_array_size(polynomial) + json_array_size(json_object_get(samples, "times")) +
           size * json_array_size(json_object_get(samples, "values"));
}

/* True if no lease prevents the caller from setting an input; otherwise refused. */
static bool may_set(struct mechd_call *c, const char *name)
{
    struct mechd_holder holder;

    if (!mechd_call_changes(c) ||
        mechd_leases_may_set(&c->job.instance->leases, c->lease, name, &holder)) {
        return true;
    }
    mechd_fail_lease(c, c->job.instance, &holder);
    return false;
}

/* The names that exist, their variables and numbers counted; the others are faults. */
static size_t find_inputs(struct reader *r, const json_t *object, const struct mechd_inputs *inputs,
                          size_t *numbers)
{
    const struct mechd_engine *const engine = &r->c->job.instance->engine;
    const char *name = NULL;
    json_t *value = NULL;
    size_t found = 0;

    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        const int32_t index = mechd_engine_variable_find(engine, MECH_INPUT, name);
        const size_t mark = mech_path_push(&r->path, name);
        struct mech_variable v;

        if (index < 0) {
            mechd_engine_lacks(engine, MECH_INPUT, name, r->path.text, &r->c->diag);
        } else {
            mechd_engine_variable(engine, MECH_INPUT, (size_t)index, &v);
            *numbers += numbers_of(value, (size_t)v.size);
            found++;
        }
        for (size_t k = 0; k < inputs->count && index >= 0; k++) {
            if (inputs->changes[k].index == index) {
                fault(r, "this input is given in inputs too");
            }
        }
        mech_path_cut(&r->path, mark);
    }
    return found;
}

void mechd_read_signals(struct mechd_call *c, const json_t *object,
                        const struct mechd_inputs *inputs, struct mechd_signals *out)
{
    const struct mechd_engine *const engine = &c->job.instance->engine;
    struct reader r = {.c = c, .path = {.length = 0}};
    size_t numbers = 0, n = 0;
    const char *name = NULL;
    json_t *value = NULL;

    *out = (struct mechd_signals){.count = 0};
    (void)mech_path_push(&r.path, "inputSignals");
    const size_t found = find_inputs(&r, object, inputs, &numbers);
    out->changes = calloc(inputs->count + found + 1, sizeof *out->changes);
    out->signals = calloc(found + 1, sizeof *out->signals);
    out->numbers = calloc(numbers + 1, sizeof *out->numbers);
    if (out->changes == NULL || out->signals == NULL || out->numbers == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the inputs");
        return;
    }
    if (inputs->count > 0) {
        memcpy(out->changes, inputs->changes, inputs->count * sizeof *out->changes);
    }
    r.at = out->numbers;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        const int32_t index = mechd_engine_variable_find(engine, MECH_INPUT, name);
        const size_t mark = mech_path_push(&r.path, name);
        struct mech_variable v;

        if (index >= 0 && may_set(c, name)) {
            mechd_engine_variable(engine, MECH_INPUT, (size_t)index, &v);
            r.size = (size_t)v.size;
            out->signals[n].start = mechd_engine_time(engine);
            if (read_one(&r, value, &v, &out->signals[n])) {
                out->changes[inputs->count + n] =
                    (struct mech_input_change){.index = index, .signal = &out->signals[n]};
                n++;
            }
        }
        mech_path_cut(&r.path, mark);
    }
    out->count = inputs->count + n;
}

void mechd_signals_fini(struct mechd_signals *s)
{
    free(s->changes);
    free(s->signals);
    free(s->numbers);
}
