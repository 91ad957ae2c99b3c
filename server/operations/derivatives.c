/* POST …/derivatives: derivatives of the equations at a point, forward along a direction of state
 * and inputs, and adjoint from seeds of rates and outputs (solver/sim/analysis.h); and the rates of
 * outputs. Of a hosted FMU: its own directional and adjoint derivatives, and those of its
 * outputs by time. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/call/shapes.h"
#include "server/engine/fmu_engine.h"
#include "server/instance/effort.h"
#include "solver/sim/analysis.h"

#include <math.h>
#include <stdlib.h>

enum { KNOWNS_MOST = 4000 }; /* of an adjoint, each of which is differenced */

/* A part of the body, in which nothing else may be. */
static struct mechp_json_in part_of(struct mechd_call *c, const json_t *object, const char *base,
                                    const struct mechp_shape *shape)
{
    mechp_shape_only(object, base, shape, &c->diag);
    return (struct mechp_json_in){object, base, &c->diag};
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
    if (c->job.instance->sim == NULL && !mechd_engine_fmu_has_slopes(engine, causality, index)) {
        mech_diag_add(&c->diag, path->text,
                      "this variable of the FMU is not a continuous real one");
    } else if (causality == MECH_INPUT && mechd_engine_input_is_parameter(engine, index)) {
        mech_diag_add(&c->diag, path->text,
                      "this input is a parameter: its derivatives are those of a step (jvp)");
    } else if (mechp_json_numbers(value, path->text, &c->diag, (size_t)v.size, packed + v.offset,
                                  &count) &&
               count != (size_t)v.size) {
        mech_diag_add(&c->diag, path->text, "expected %d numbers, found %zu", (int)v.size, count);
    }
}

/* Numbers of all variables of a causality. */
static size_t packed_size(const struct mechd_engine *e, enum mech_causality causality)
{
    const size_t n = mechd_engine_variable_count(e, causality);
    struct mech_variable last = {.size = 0};
    if (n > 0) {
        mechd_engine_variable(e, causality, n - 1, &last);
    }
    return (size_t)last.offset + (size_t)last.size;
}

/* Named values, packed; NULL: not given. */
static double *read_named(struct mechd_call *c, const json_t *given, const char *place,
                          enum mech_causality causality)
{
    const size_t n = packed_size(&c->job.instance->engine, causality);
    double *const packed = given != NULL ? mechd_doubles(c, n) : NULL;
    struct mech_path path = {.length = strlen(place)};
    const char *name = NULL;
    json_t *value = NULL;
    snprintf(path.text, sizeof path.text, "%s", place);
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
static void read_point(struct mechd_call *c, const json_t *object, struct mech_point *at,
                       double *own[4])
{
    const struct mech_sizes n = mech_sim_sizes(c->job.instance->sim);
    const struct mechp_json_in part = part_of(c, object, "/at", &mechp_body_point);
    struct mechp_body_point in;
    MECHP_READ_IN(point, &part, &in);
    at->time = in.time;
    at->q = own[0] = mechd_read_numbers(c, in.q, "/at/q", n.q);
    at->v = own[1] = mechd_read_numbers(c, in.v, "/at/v", n.v);
    at->x = own[2] = mechd_read_numbers(c, in.x, "/at/x", n.x);
    at->z = own[3] = mechd_read_numbers(c, in.z, "/at/z", n.z);
}

static void read_direction(struct mechd_call *c, const json_t *object, struct mech_point_values *to)
{
    const struct mech_sizes n = mech_sim_sizes(c->job.instance->sim);
    const struct mechp_json_in part = part_of(c, object, "/direction", &mechp_body_knowns);
    struct mechp_body_knowns in;
    MECHP_READ_IN(knowns, &part, &in);
    to->q = mechd_read_numbers(c, in.q.given, "/direction/q", n.q);
    to->v = mechd_read_numbers(c, in.v.given, "/direction/v", n.v);
    to->x = mechd_read_numbers(c, in.x.given, "/direction/x", n.x);
    to->inputs = read_named(c, in.inputs.given, "/direction/inputs", MECH_INPUT);
}

static void read_seed(struct mechd_call *c, const json_t *object, struct mech_point_values *to)
{
    const struct mech_sizes n = mech_sim_sizes(c->job.instance->sim);
    const struct mechp_json_in part = part_of(c, object, "/seed", &mechp_body_unknowns);
    struct mechp_body_unknowns in;
    MECHP_READ_IN(unknowns, &part, &in);
    to->qdot = mechd_read_numbers(c, in.qdot.given, "/seed/qdot", n.q);
    to->vdot = mechd_read_numbers(c, in.vdot.given, "/seed/vdot", n.v);
    to->xdot = mechd_read_numbers(c, in.xdot.given, "/seed/xdot", n.x);
    to->outputs = read_named(c, in.outputs.given, "/seed/outputs", MECH_OUTPUT_VARIABLE);
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

/* Compute the side that was not given. */
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
    }
}

/* Values of a side of a model, but those of inputs that are parameters. */
static void write_values(const void *side, struct mechp_text *w)
{
    const struct mechd_packed *const of = side;
    const struct mechd_engine *const e = of->engine;
    mechp_text_object(w);
    for (size_t k = 0; k < mechd_engine_variable_count(e, of->causality); k++) {
        struct mech_variable one;
        mechd_engine_variable(e, of->causality, k, &one);
        if (of->causality != MECH_INPUT || !mechd_engine_input_is_parameter(e, (int32_t)k)) {
            mechp_text_key(w, one.name);
            mechd_write_value(&one, of->values + one.offset, w);
        }
    }
    mechp_text_end(w);
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

/* The derivatives of the outputs by time, along the equations as they are; the caller frees them.
 * NULL: no memory. */
static double *rates_of(struct mechd_call *c)
{
    const struct mechd_engine *const e = &c->job.instance->engine;
    double *const packed = mechd_doubles(c, mechd_engine_output_size(e));
    char reason[160] = "";
    if (packed == NULL) {
        return NULL;
    }
    const int outcome = mechd_engine_output_rates(e, false, packed, reason);
    if (outcome != 0) {
        mechd_fail_reason(c, outcome, reason);
    }
    return packed;
}

static bool good(const struct mechd_call *c)
{
    return c->code == MECHP_OK && mech_diag_clean(&c->diag);
}

/* What is asked for of the point, and the reply. */
static void answer(struct mechd_call *c, const struct mechp_body_derivatives_request *in,
                   struct mech_point_derivative *forward, struct mech_point_derivative *adjoint)
{
    const struct mechd_instance *const i = c->job.instance;
    if (in->direction.of != NULL) {
        derive(c, forward);
    }
    if (in->seed.of != NULL && good(c)) {
        derive(c, adjoint);
    }
    double *const packed = in->rates && good(c) ? rates_of(c) : NULL;
    const struct mech_sizes n = mech_sim_sizes(i->sim);
    const struct mech_point_values *const f = &forward->values, *const b = &adjoint->values;
    const struct mechp_numbers qdot = {f->qdot, (size_t)n.q}, vdot = {f->vdot, (size_t)n.v},
                               xdot = {f->xdot, (size_t)n.x}, q = {b->q, (size_t)n.q},
                               v = {b->v, (size_t)n.v}, x = {b->x, (size_t)n.x};
    const struct mechd_packed outputs = {&i->engine, MECH_OUTPUT_VARIABLE, f->outputs},
                              inputs = {&i->engine, MECH_INPUT, b->inputs},
                              rates = {&i->engine, MECH_OUTPUT_VARIABLE, packed};
    const struct mechp_body_unknowns along = {.qdot = mechd_numbers_part(&qdot),
                                              .vdot = mechd_numbers_part(&vdot),
                                              .xdot = mechd_numbers_part(&xdot),
                                              .outputs.written = {write_values, &outputs}};
    const struct mechp_body_knowns back = {.q = mechd_numbers_part(&q),
                                           .v = mechd_numbers_part(&v),
                                           .x = mechd_numbers_part(&x),
                                           .inputs.written = {write_values, &inputs}};
    const struct mechp_body_derivatives_reply body = {
        .time = isnan(forward->at.time) ? mechd_engine_time(&i->engine) : forward->at.time,
        .derivative = MECHP_INNER(unknowns, in->direction.of != NULL ? &along : NULL),
        .sensitivity = MECHP_INNER(knowns, in->seed.of != NULL ? &back : NULL),
        .rates = {packed != NULL ? mechd_write_packed : NULL, &rates},
        .kinked = forward->kinked || adjoint->kinked};
    if (good(c)) {
        MECHP_WRITE(derivatives_reply, &body, &c->text);
    }
    free(packed);
}

/* --- of hosted FMUs --------------------------------------------------------------------------- */

/* Named inputs of a direction and outputs of a seed; NULL: not asked for. */
struct hosted_parts {
    const json_t *inputs, *outputs;
};

/* What an FMU does not have is refused with its place. */
static struct hosted_parts parts_of(struct mechd_call *c,
                                    const struct mechp_body_derivatives_request *in)
{
    static const char inputs_alone[] = "a direction of an FMU is in its inputs only";
    static const char outputs_alone[] = "a seed of an FMU is in its outputs only";
    const struct mechp_json_in along =
                                   part_of(c, in->direction.of, "/direction", &mechp_body_knowns),
                               back = part_of(c, in->seed.of, "/seed", &mechp_body_unknowns);
    const struct mechd_engine *const e = &c->job.instance->engine;
    const char *const unrated = mechd_engine_unrated(e);
    struct mechp_body_knowns known;
    struct mechp_body_unknowns unknown;
    MECHP_READ_IN(knowns, &along, &known);
    MECHP_READ_IN(unknowns, &back, &unknown);
    const struct {
        bool given;
        const char *place, *why;
    } cases[] = {{in->at.of != NULL, "/at", "derivatives of an FMU are those at its present state"},
                 {in->rates && unrated != NULL, "/rates", unrated},
                 {known.q.given != NULL, "/direction/q", inputs_alone},
                 {known.v.given != NULL, "/direction/v", inputs_alone},
                 {known.x.given != NULL, "/direction/x", inputs_alone},
                 {unknown.qdot.given != NULL, "/seed/qdot", outputs_alone},
                 {unknown.vdot.given != NULL, "/seed/vdot", outputs_alone},
                 {unknown.xdot.given != NULL, "/seed/xdot", outputs_alone},
                 {in->direction.of != NULL && !mechd_engine_fmu_derives(e, false), "/direction",
                  "the FMU provides no directional derivatives"},
                 {in->seed.of != NULL && !mechd_engine_fmu_derives(e, true), "/seed",
                  "the FMU provides no adjoint derivatives"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (cases[k].given) {
            mech_diag_add(&c->diag, cases[k].place, "%s", cases[k].why);
        }
    }
    const bool empty = (in->direction.of != NULL && known.inputs.given == NULL) ||
                       (in->seed.of != NULL && unknown.outputs.given == NULL);
    if ((empty || (known.inputs.given == NULL && unknown.outputs.given == NULL && !in->rates)) &&
        mech_diag_clean(&c->diag)) {
        mech_diag_add(&c->diag, "",
                      "a direction in the inputs, a seed in the outputs or rates are needed");
    }
    return (struct hosted_parts){known.inputs.given, unknown.outputs.given};
}

/* By a seed, if there is one; the caller frees the result. */
static double *derive_hosted(struct mechd_call *c, bool adjoint, const double *seed)
{
    const struct mechd_engine *const e = &c->job.instance->engine;
    struct mechd_effort effort;
    double *const out =
        seed != NULL && good(c)
            ? mechd_doubles(c, packed_size(e, adjoint ? MECH_INPUT : MECH_OUTPUT_VARIABLE))
            : NULL;
    if (out == NULL) {
        return NULL;
    }
    mechd_call_watch(c, &effort);
    const int outcome =
        adjoint ? mechd_engine_fmu_adjoin(e, seed, out) : mechd_engine_fmu_derive(e, seed, out);
    mechd_call_unwatch(c, &effort);
    if (outcome != 0) {
        mechd_fail_reason(c, outcome, mechd_engine_refusal(e));
    }
    return out;
}

static enum mechd_progress run_hosted(struct mechd_call *c)
{
    const struct mechd_engine *const e = &c->job.instance->engine;
    struct mechp_body_derivatives_request in;
    MECHP_READ(derivatives_request, c->body, &c->diag, &in);
    const struct hosted_parts given = parts_of(c, &in);
    double *const along = read_named(c, given.inputs, "/direction/inputs", MECH_INPUT);
    double *const seed = read_named(c, given.outputs, "/seed/outputs", MECH_OUTPUT_VARIABLE);
    double *const rates = in.rates && good(c) ? rates_of(c) : NULL;
    double *const outputs = derive_hosted(c, false, along);
    double *const inputs = derive_hosted(c, true, seed);
    if (good(c)) {
        const struct mechd_packed forward = {e, MECH_OUTPUT_VARIABLE, outputs},
                                  back = {e, MECH_INPUT, inputs},
                                  by_time = {e, MECH_OUTPUT_VARIABLE, rates};
        const struct mechp_body_unknowns unknowns = {
            .outputs.written = {mechd_write_packed, &forward}};
        const struct mechp_body_knowns knowns = {.inputs.written = {mechd_write_packed, &back}};
        const struct mechp_body_derivatives_reply body = {
            .time = mechd_engine_time(e),
            .derivative = MECHP_INNER(unknowns, outputs != NULL ? &unknowns : NULL),
            .sensitivity = MECHP_INNER(knowns, inputs != NULL ? &knowns : NULL),
            .rates = {rates != NULL ? mechd_write_packed : NULL, &by_time}};
        MECHP_WRITE(derivatives_reply, &body, &c->text);
    }
    free(along);
    free(seed);
    free(rates);
    free(outputs);
    free(inputs);
    return MECHD_DONE;
}

static enum mechd_progress run_model(struct mechd_call *c)
{
    struct mech_point_derivative forward = {.reason = ""}, adjoint = {.adjoint = true};
    double *own[4] = {NULL, NULL, NULL, NULL};
    struct mechp_body_derivatives_request in;
    MECHP_READ(derivatives_request, c->body, &c->diag, &in);
    read_point(c, in.at.of, &forward.at, own);
    adjoint.at = forward.at;
    read_direction(c, in.direction.of, &forward.values);
    read_seed(c, in.seed.of, &adjoint.values);
    if (mech_diag_clean(&c->diag) && in.direction.of == NULL && in.seed.of == NULL && !in.rates) {
        mech_diag_add(&c->diag, "", "a direction, a seed or rates are needed");
    }
    if (in.seed.of != NULL && mech_diag_clean(&c->diag)) {
        check_size(c);
    }
    if (good(c)) {
        answer(c, &in, &forward, &adjoint);
    }
    free_values(&forward.values);
    free_values(&adjoint.values);
    for (int k = 0; k < 4; k++) {
        free(own[k]);
    }
    return MECHD_DONE;
}

static enum mechd_progress run_derivatives(struct mechd_call *c)
{
    return c->job.instance->sim != NULL ? run_model(c) : run_hosted(c);
}

const struct mechd_operation mechd_operation_DERIVATIVES = {.run = run_derivatives};
