/* POST …/derivatives: derivatives of the equations at a point, forward along a direction of state
 * and inputs, and adjoint from seeds of rates and outputs (solver/sim/analysis.h); and the rates of
 * outputs. */
#include "protocol/wire/json.h"
#include "server/call/shapes.h"
#include "server/instance/effort.h"
#include "solver/sim/analysis.h"

#include <math.h>
#include <stdlib.h>

enum { KNOWNS_MOST = 4000 }; /* of an adjoint, each of which is differenced */

/* An object of the body with the members of a shape; NULL: not given, or a fault. */
static const json_t *object_of(struct mechd_call *c, const char *key, const char *shape)
{
    const json_t *object = NULL;
    struct mech_path path = {.length = 0};
    (void)mech_path_push(&path, key);
    if (!mechp_json_object(c->body, key, &c->diag, &object)) {
        return NULL;
    }
    mechp_shape_only(object, path.text, mechp_shape_named(shape), &c->diag);
    return object;
}

/* Numbers at /part/key; NULL: not given, or a fault. The caller frees them. */
static double *read_numbers(struct mechd_call *c, const char *part, const json_t *object,
                            const char *key, int32_t n)
{
    const json_t *const given = json_object_get(object, key);
    double *const x = given != NULL ? mechd_doubles(c, (size_t)n) : NULL;
    struct mech_path path = {.length = 0};
    size_t count = 0;
    (void)mech_path_push(&path, part);
    (void)mech_path_push(&path, key);
    if (x != NULL && mechp_json_numbers(given, path.text, &c->diag, (size_t)n, x, &count) &&
        count != (size_t)n) {
        mech_diag_add(&c->diag, path.text, "expected %d numbers, found %zu", (int)n, count);
    }
    return x;
}

/* One named value into its place. */
static void read_value(struct mechd_call *c, enum mech_causality causality, const char *name,
                       const json_t *value, struct mech_path *path, double *packed)
{
    const struct mechd_engine *const engine = &c->job.instance->engine;
    const int32_t index = mechd_engine_variable_find(engine, causality, name);
    struct mech_variable v;
    size_t count = 0;
    if (index < 0) {
        mechd_engine_lacks(engine, causality, name, path->text, &c->diag);
        return;
    }
    mechd_engine_variable(engine, causality, (size_t)index, &v);
    if (causality == MECH_INPUT && mech_sim_input_is_parameter(c->job.instance->sim, index)) {
        mech_diag_add(&c->diag, path->text,
                      "this input is a parameter: its derivatives are those of a step (jvp)");
    } else if (mechp_json_numbers(value, path->text, &c->diag, (size_t)v.size, packed + v.offset,
                                  &count) &&
               count != (size_t)v.size) {
        mech_diag_add(&c->diag, path->text, "expected %d numbers, found %zu", (int)v.size, count);
    }
}

/* Named values at /part/key, packed; NULL: not given. */
static double *read_named(struct mechd_call *c, const char *part, const json_t *object,
                          enum mech_causality causality)
{
    const char *const key = causality == MECH_INPUT ? "inputs" : "outputs";
    const json_t *const given = json_object_get(object, key);
    const struct mech_sim *const sim = c->job.instance->sim;
    const size_t n = causality == MECH_INPUT ? mech_sim_input_size(sim) : mech_sim_output_size(sim);
    double *const packed = given != NULL ? mechd_doubles(c, n) : NULL;
    struct mech_path path = {.length = 0};
    const char *name = NULL;
    json_t *value = NULL;
    (void)mech_path_push(&path, part);
    (void)mech_path_push(&path, key);
    if (packed == NULL) {
        return NULL;
    }
    if (!json_is_object(given)) {
        mech_diag_add(&c->diag, path.text, "expected an object of values by name");
    }
    json_object_foreach((json_t *)(uintptr_t)given, name, value)
    {
        const size_t mark = mech_path_push(&path, name);
        read_value(c, causality, name, value, &path, packed);
        mech_path_cut(&path, mark);
    }
    return packed;
}

/* The point, whose numbers the caller frees. */
static void read_point(struct mechd_call *c, struct mech_point *at, double *own[4])
{
    const json_t *const object = object_of(c, "at", "@Point");
    const struct mech_sizes n = mech_sim_sizes(c->job.instance->sim);
    *at = (struct mech_point){.time = (double)NAN};
    if (object == NULL) {
        return;
    }
    const json_t *const time = json_object_get(object, "time");
    size_t count = 0;
    if (time != NULL && !json_is_number(time)) {
        mech_diag_add(&c->diag, "/at/time", "expected a number");
    } else if (time != NULL) {
        (void)mechp_json_numbers(time, "/at/time", &c->diag, 1, &at->time, &count);
    }
    at->q = own[0] = read_numbers(c, "at", object, "q", n.q);
    at->v = own[1] = read_numbers(c, "at", object, "v", n.v);
    at->x = own[2] = read_numbers(c, "at", object, "x", n.x);
    at->z = own[3] = read_numbers(c, "at", object, "z", n.z);
}

static void free_values(const struct mech_point_values *v)
{
    free(v->q);
    free(v->v);
    free(v->x);
    free(v->inputs);
    free(v->qdot);
    free(v->vdot);
    free(v->xdot);
    free(v->outputs);
}

/* Compute, and write the side that was not given. */
static void derive(struct mechd_call *c, struct mech_point_derivative *d)
{
    const struct mech_sim *const sim = c->job.instance->sim;
    const struct mech_sizes n = mech_sim_sizes(sim);
    struct mech_point_values *const v = &d->values;
    if (d->adjoint) {
        v->q = mechd_doubles(c, (size_t)n.q);
        v->v = mechd_doubles(c, (size_t)n.v);
        v->x = mechd_doubles(c, (size_t)n.x);
        v->inputs = mechd_doubles(c, mech_sim_input_size(sim));
    } else {
        v->qdot = mechd_doubles(c, (size_t)n.q);
        v->vdot = mechd_doubles(c, (size_t)n.v);
        v->xdot = mechd_doubles(c, (size_t)n.x);
        v->outputs = mechd_doubles(c, mech_sim_output_size(sim));
    }
    if (c->code != MECHP_OK) {
        return;
    }
    struct mechd_effort effort;
    mechd_call_watch(c, &effort);
    const int outcome = mech_sim_point_derivative(c->job.instance->sim, d);
    mechd_call_unwatch(c, &effort);
    if (outcome != 0) {
        mechd_fail_reason(c, outcome, d->reason);
        return;
    }
    mechp_text_key(&c->text, d->adjoint ? "sensitivity" : "derivative");
    mechp_text_object(&c->text);
    mechp_text_key(&c->text, d->adjoint ? "q" : "qdot");
    mechp_text_numbers(&c->text, d->adjoint ? v->q : v->qdot, (size_t)n.q);
    mechp_text_key(&c->text, d->adjoint ? "v" : "vdot");
    mechp_text_numbers(&c->text, d->adjoint ? v->v : v->vdot, (size_t)n.v);
    mechp_text_key(&c->text, d->adjoint ? "x" : "xdot");
    mechp_text_numbers(&c->text, d->adjoint ? v->x : v->xdot, (size_t)n.x);
    mechp_text_key(&c->text, d->adjoint ? "inputs" : "outputs");
    mechp_text_object(&c->text);
    const enum mech_causality causality = d->adjoint ? MECH_INPUT : MECH_OUTPUT_VARIABLE;
    for (size_t k = 0; k < mech_sim_variable_count(sim, causality); k++) {
        struct mech_variable one;
        mech_sim_variable(sim, causality, k, &one);
        if (!d->adjoint || !mech_sim_input_is_parameter(sim, (int32_t)k)) {
            mechp_text_key(&c->text, one.name);
            mechd_write_value(&one, (d->adjoint ? v->inputs : v->outputs) + one.offset, &c->text);
        }
    }
    mechp_text_end(&c->text);
    mechp_text_end(&c->text);
}

static void check_size(struct mechd_call *c)
{
    const struct mech_sizes n = mech_sim_sizes(c->job.instance->sim);
    const size_t all =
        (size_t)n.q + (size_t)n.v + (size_t)n.x + mech_sim_input_size(c->job.instance->sim);
    if (all > KNOWNS_MOST) {
        mechd_fail(c, MECHP_LIMIT_REACHED, "an adjoint of %zu coordinates and inputs, at most %d",
                   all, KNOWNS_MOST);
    }
}

/* The derivatives of the outputs by time, along the equations as they are. */
static void write_rates(struct mechd_call *c)
{
    struct mech_sim *const sim = c->job.instance->sim;
    double *const packed = mechd_doubles(c, mech_sim_output_size(sim));
    char reason[160] = "";
    if (packed == NULL) {
        return;
    }
    const int outcome = mech_sim_output_rates(sim, false, packed, reason);
    if (outcome != 0) {
        mechd_fail_reason(c, outcome, reason);
    } else {
        mechp_text_key(&c->text, "rates");
        mechd_write_values(&c->job.instance->engine, MECH_OUTPUT_VARIABLE, packed, &c->text);
    }
    free(packed);
}

static enum mechd_progress run_derivatives(struct mechd_call *c)
{
    const struct mech_sizes n = mech_sim_sizes(c->job.instance->sim);
    struct mech_point_derivative forward = {.reason = ""}, adjoint = {.adjoint = true};
    double *own[4] = {NULL, NULL, NULL, NULL};
    bool rates = false;
    mechp_json_bool(c->body, "rates", &c->diag, &rates);
    read_point(c, &forward.at, own);
    adjoint.at = forward.at;
    const json_t *const direction = object_of(c, "direction", "@Knowns");
    const json_t *const seed = object_of(c, "seed", "@Unknowns");
    forward.values.q = read_numbers(c, "direction", direction, "q", n.q);
    forward.values.v = read_numbers(c, "direction", direction, "v", n.v);
    forward.values.x = read_numbers(c, "direction", direction, "x", n.x);
    forward.values.inputs = read_named(c, "direction", direction, MECH_INPUT);
    adjoint.values.qdot = read_numbers(c, "seed", seed, "qdot", n.q);
    adjoint.values.vdot = read_numbers(c, "seed", seed, "vdot", n.v);
    adjoint.values.xdot = read_numbers(c, "seed", seed, "xdot", n.x);
    adjoint.values.outputs = read_named(c, "seed", seed, MECH_OUTPUT_VARIABLE);
    if (mech_diag_clean(&c->diag) && direction == NULL && seed == NULL && !rates) {
        mech_diag_add(&c->diag, "", "a direction, a seed or rates are needed");
    }
    if (seed != NULL && mech_diag_clean(&c->diag)) {
        check_size(c);
    }
    if (mech_diag_clean(&c->diag) && c->code == MECHP_OK) {
        mechp_text_object(&c->text);
        mechp_text_key(&c->text, "time");
        mechp_text_number(&c->text, isnan(forward.at.time) ? mech_sim_time(c->job.instance->sim)
                                                           : forward.at.time);
        if (direction != NULL) {
            derive(c, &forward);
        }
        if (seed != NULL && c->code == MECHP_OK && mech_diag_clean(&c->diag)) {
            derive(c, &adjoint);
        }
        if (rates && c->code == MECHP_OK && mech_diag_clean(&c->diag)) {
            write_rates(c);
        }
        mechp_text_key(&c->text, "kinked");
        mechp_text_bool(&c->text, forward.kinked || adjoint.kinked);
        mechp_text_end(&c->text);
    }
    free_values(&forward.values);
    free_values(&adjoint.values);
    for (int k = 0; k < 4; k++) {
        free(own[k]);
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DERIVATIVES = {.run = run_derivatives};
