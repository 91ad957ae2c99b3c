/* Inputs over a step: polynomials and samples, from JSON to the solver's form. */
#include "server/operations/step_signals.h"

#include "protocol/wire/bodies_stepping.h"
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

/* An input, and what is given for it. */
struct asked {
    const char *name;
    int32_t index; /* among the inputs */
    size_t size;   /* values of the input */
    struct mechp_body_signal in;
    struct mechp_body_samples samples;
    bool good; /* its members are */
};

static void fault(struct reader *r, const char *text)
{
    mech_diag_add(&r->c->diag, r->path.text, "%s", text);
}

/* Whether a list is there and has at most so many entries, or a fault says so. */
static bool is_list(struct reader *r, const json_t *list, const char *key, size_t most)
{
    const bool good = json_array_size(list) > 0 && json_array_size(list) <= most;
    const size_t mark = mech_path_push(&r->path, key);

    if (!good) {
        mech_diag_add(&r->c->diag, r->path.text, "expected a list of 1 to %zu entries", most);
    }
    mech_path_cut(&r->path, mark);
    return good;
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

static void read_polynomial(struct reader *r, const struct asked *a, struct mech_input_signal *out)
{
    const json_t *const list = a->in.polynomial.of;

    if (is_list(r, list, "polynomial", COEFFICIENTS_MOST)) {
        out->n = (int32_t)json_array_size(list);
        out->values = r->at;
        read_rows(r, "polynomial", list);
    }
}

static void read_samples(struct reader *r, const struct asked *a, struct mech_input_signal *out)
{
    const json_t *const times = a->samples.times.of, *const values = a->samples.values.of;
    const size_t mark = mech_path_push(&r->path, "samples");
    const bool timed = is_list(r, times, "times", SAMPLES_MOST);

    if (!is_list(r, values, "values", SAMPLES_MOST) || !timed) {
        mech_path_cut(&r->path, mark);
        return;
    }
    if (json_array_size(times) != json_array_size(values)) {
        mech_diag_add(&r->c->diag, r->path.text, "%zu times, but %zu values",
                      json_array_size(times), json_array_size(values));
    } else {
        out->n = (int32_t)json_array_size(times);
        out->tau = r->at;
        read_times(r, times);
        out->values = r->at;
        read_rows(r, "values", values);
    }
    mech_path_cut(&r->path, mark);
}

/* One input's members. */
static void read_asked(struct reader *r, const json_t *object, struct asked *a)
{
    struct mech_diag *const diag = &r->c->diag;
    const size_t faults = diag->total;
    const struct mechp_json_in in = {object, r->path.text, diag};

    mechp_shape_only(object, in.base, &mechp_body_signal, diag);
    MECHP_READ_IN(signal, &in, &a->in);
    if (diag->total == faults && (a->in.polynomial.of != NULL) == (a->in.samples.of != NULL)) {
        fault(r, "expected an object with polynomial or samples");
    }
    const size_t mark = mech_path_push(&r->path, "samples");
    const struct mechp_json_in inner = {a->in.samples.of, r->path.text, diag};
    mechp_shape_only(inner.object, inner.base, &mechp_body_samples, diag);
    MECHP_READ_IN(samples, &inner, &a->samples);
    mech_path_cut(&r->path, mark);
    a->good = diag->total == faults;
}

/* One input's values; false: refused. */
static bool read_one(struct reader *r, const struct asked *a, struct mech_input_signal *out)
{
    const size_t faults = r->c->diag.total;
    const bool polynomial = a->in.polynomial.of != NULL;
    const struct mechd_engine *const e = &r->c->job.instance->engine;
    const char *const unfollowed = mechd_engine_package(e) != NULL
                                       ? mechd_engine_fmu_unfollowed(e, a->index, !polynomial)
                                       : NULL;

    if (mechd_engine_input_is_parameter(e, a->index)) {
        fault(r, "this input is a parameter, which is constant over a step");
    } else if (unfollowed != NULL) {
        mech_diag_add(&r->c->diag, r->path.text,
                      "this input of an FMU takes only values that are constant over the step: %s",
                      unfollowed);
    } else if (polynomial) {
        read_polynomial(r, a, out);
    } else {
        read_samples(r, a, out);
    }
    return r->c->diag.total == faults;
}

/* Numbers that it may have: no more than its lists have entries, each of its size. */
static size_t numbers_of(const struct asked *a)
{
    return a->size * json_array_size(a->in.polynomial.of) + json_array_size(a->samples.times.of) +
           a->size * json_array_size(a->samples.values.of);
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

/* The inputs that exist and may be set, into asked; their numbers counted. The others are faults.
 * Returns how many they are. */
static size_t read_names(struct reader *r, const json_t *object, const struct mechd_inputs *inputs,
                         struct asked *asked, size_t *numbers)
{
    const struct mechd_engine *const engine = &r->c->job.instance->engine;
    const char *name = NULL;
    json_t *value = NULL;
    size_t found = 0;

    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        const int32_t index = mechd_engine_variable_find(engine, MECH_INPUT, name);
        const size_t mark = mech_path_push(&r->path, name);

        if (index < 0) {
            mechd_engine_lacks(engine, MECH_INPUT, name, r->path.text, &r->c->diag);
        }
        for (size_t k = 0; k < inputs->count && index >= 0; k++) {
            if (inputs->changes[k].index == index) {
                fault(r, "this input is given in inputs too");
            }
        }
        if (index >= 0 && may_set(r->c, name)) {
            struct mech_variable v;
            mechd_engine_variable(engine, MECH_INPUT, (size_t)index, &v);
            struct asked *const a = &asked[found++];
            *a = (struct asked){.name = name, .index = index, .size = (size_t)v.size};
            read_asked(r, value, a);
            *numbers += numbers_of(a);
        }
        mech_path_cut(&r->path, mark);
    }
    return found;
}

/* Their values. */
static void read_values(struct reader *r, const struct asked *asked, size_t count,
                        struct mechd_signals *out)
{
    for (size_t k = 0, n = 0; k < count; k++) {
        const struct asked *const a = &asked[k];
        const size_t mark = mech_path_push(&r->path, a->name);

        r->size = a->size;
        out->signals[n].start = mechd_engine_time(&r->c->job.instance->engine);
        if (a->good && read_one(r, a, &out->signals[n])) {
            out->changes[out->count++] =
                (struct mech_input_change){.index = a->index, .signal = &out->signals[n]};
            n++;
        }
        mech_path_cut(&r->path, mark);
    }
}

void mechd_read_signals(struct mechd_call *c, const json_t *object,
                        const struct mechd_inputs *inputs, struct mechd_signals *out)
{
    struct reader r = {.c = c, .path = {.length = 0}};
    size_t numbers = 0;
    struct asked *const asked = calloc(json_object_size(object) + 1, sizeof *asked);

    *out = (struct mechd_signals){.count = 0};
    (void)mech_path_push(&r.path, "inputSignals");
    const size_t found = asked != NULL ? read_names(&r, object, inputs, asked, &numbers) : 0;
    out->changes = calloc(inputs->count + found + 1, sizeof *out->changes);
    out->signals = calloc(found + 1, sizeof *out->signals);
    out->numbers = calloc(numbers + 1, sizeof *out->numbers);
    if (asked == NULL || out->changes == NULL || out->signals == NULL || out->numbers == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the inputs");
        free(asked);
        return;
    }
    if (inputs->count > 0) {
        memcpy(out->changes, inputs->changes, inputs->count * sizeof *out->changes);
    }
    out->count = inputs->count;
    r.at = out->numbers;
    read_values(&r, asked, found, out);
    free(asked);
}

void mechd_signals_fini(struct mechd_signals *s)
{
    free(s->changes);
    free(s->signals);
    free(s->numbers);
}
