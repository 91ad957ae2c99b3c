/* Derivatives of steps over the façade: directions in, derivatives of states and outputs out. What
 * an input or a state changes comes from step/tangent.h. What a parameter changes is differenced:
 * the model is made anew for each of four values beside the present one, runs, and is put back. */
#include "solver/analysis/output_slopes.h"
#include "solver/base/err.h"
#include "solver/sim/analysis.h"
#include "solver/sim/internal.h"
#include "solver/step/tangent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of one block of columns: 32 MB each of some ten vectors. */
static const size_t most_numbers = 4u << 20;
/* Relative step of a parameter; fourth order leaves about 1e-9. */
static const double parameter_step = 0x1p-8;

size_t mech_sim_input_size(const struct mech_sim *s)
{
    return (size_t)s->sizes.input;
}

bool mech_sim_input_is_parameter(const struct mech_sim *s, int32_t index)
{
    return mech_model_input(s->model, (size_t)index)->kind == MECH_INPUT_PARAMETER;
}

struct derivation {
    struct mech_sim *sim;
    struct mech_command plan;
    struct mech_tangent tangent;
    struct mech_derived *told;
    double *samples; /* [4 × outputs] */
};

static int begin(struct mech_sim *s, const struct mech_step_request *step, uint64_t steps_most,
                 struct mech_derived *told, struct derivation *d)
{
    const char *const obstacle = mech_tangent_obstacle(s->model, s->type);

    *told = (struct mech_derived){.steps = 0};
    *d = (struct derivation){.sim = s, .told = told};
    if (obstacle) {
        snprintf(told->reason, sizeof told->reason, "%s", obstacle);
        return MECH_UNSUPPORTED;
    }
    if (mech_sim_plan(s, step, &d->plan) || (steps_most && d->plan.count > steps_most)) {
        snprintf(told->reason, sizeof told->reason,
                 "the step's size must be positive and finite, its internal steps not too many");
        return MECH_INVALID;
    }
    if (step->force_count) {
        snprintf(told->reason, sizeof told->reason, "forces on markers have no derivatives here");
        return MECH_INVALID;
    }
    mech_state_copy(&s->now, &s->point);
    mech_sim_put_inputs(s, step->inputs, step->input_count, &s->point);
    s->point.extra = s->point.wrench = NULL;
    if (!mech_sim_same_parameters(s, &s->now, &s->point)) {
        snprintf(told->reason, sizeof told->reason, "set parameters before, not with the step");
        return MECH_INVALID;
    }
    told->steps = d->plan.count;
    told->time = d->plan.t_end;
    d->samples = calloc(4 * mech_sim_output_size(s) + 1, sizeof *d->samples);
    return d->samples ? 0 : MECH_NO_MEMORY;
}

static void end(struct derivation *d)
{
    mech_tangent_fini(&d->tangent);
    free(d->samples);
}

/* --- states and inputs ------------------------------------------------------------------------ */

static int derive(struct derivation *d, int32_t count, const struct mech_tangent_directions *along)
{
    const struct mech_sim *const s = d->sim;
    const struct mech_tangent_run run = {s->type, s->stepper, d->plan.h, d->plan.t_end,
                                         d->plan.count};
    struct mech_step_result result = {.iterations = 0};

    mech_tangent_fini(&d->tangent);
    MECH_TRY(mech_tangent_init(&d->tangent, s->model, &s->sizes, count));
    const int code = mech_tangent_derive(&d->tangent, &run, &d->sim->point, along, &result);
    if (code) {
        memcpy(d->told->reason, result.reason, sizeof d->told->reason);
    }
    d->told->differenced = d->told->differenced || d->tangent.differenced;
    d->told->kinked = d->told->kinked || d->tangent.kinked;
    return code;
}

/* --- parameters ------------------------------------------------------------------------------- */

/* A run with parameters + step · direction: its end in t->from, its outputs in `outputs`. */
static int run_beside(struct derivation *d, const double *direction, double step, double *outputs)
{
    struct mech_sim *const s = d->sim;
    struct mech_state *const to = &d->tangent.from;
    struct mech_step_result result = {.iterations = 0};
    struct mech_diag diag;

    mech_state_copy(&s->point, to);
    for (int32_t i = 0; i < s->sizes.parameter; i++) {
        to->parameter[i] += step * direction[i];
    }
    mech_diag_init(&diag);
    int code = mech_sim_rebuild(s, to->parameter, &diag);
    if (code) {
        snprintf(d->told->reason, sizeof d->told->reason, "%.159s",
                 diag.count ? diag.entries[0].text : mech_err_text(code));
    }
    mech_diag_fini(&diag);
    MECH_TRY(code);
    code = s->type->start(s->stepper, to, &result);
    for (uint64_t k = 0; k < d->plan.count && code == 0; k++) {
        const bool last = k + 1 == d->plan.count;
        const double t = last ? d->plan.t_end : d->plan.t0 + (double)(k + 1) * d->plan.h;

        code = s->type->step(s->stepper, to, d->plan.h, t, &result);
        to->at->time = t;
        mech_model_keep(s->model, to);
    }
    memcpy(d->told->reason, result.reason, sizeof d->told->reason);
    if (code == 0) {
        mech_sim_outputs_of(s, to, outputs);
    }
    return code;
}

/* Ends of such runs: [nq], [nv], [nv], [nx] */
static void pack(const struct derivation *d, double *out)
{
    const struct mech_state *const s = &d->tangent.from;
    const struct mech_state_sizes *const n = &d->sim->sizes;

    memcpy(out, s->q, (size_t)n->q * sizeof *out);
    memcpy(out + n->q, s->v, (size_t)n->v * sizeof *out);
    memcpy(out + n->q + n->v, s->vdot, (size_t)n->v * sizeof *out);
    memcpy(out + n->q + 2 * n->v, s->x, (size_t)n->x * sizeof *out);
}

/* The largest relative size of a direction of parameters. */
static double relative(const struct derivation *d, const double *direction)
{
    double most = 0.;

    for (int32_t i = 0; i < d->sim->sizes.parameter; i++) {
        const double size = fabs(d->sim->now.parameter[i]);

        most = fmax(most, fabs(direction[i]) / (size > 0. ? size : 1.));
    }
    return most;
}

/* outputs[k × stride] += and state [nq + 2 nv + nx] (or NULL) = the derivative by parameters. The
 * model is the present one again afterwards, or the simulation is astray. */
static int parameter_column(struct derivation *d, const double *direction, double *state,
                            double *outputs, size_t stride)
{
    struct mech_sim *const s = d->sim;
    const struct mech_state_sizes *const n = &s->sizes;
    const size_t size = (size_t)n->q + 2 * (size_t)n->v + (size_t)n->x;
    const size_t out = mech_sim_output_size(s);
    const double step = parameter_step * mech_tangent_unit(relative(d, direction));
    double *const memory = calloc(4 * size + 1, sizeof *memory);
    double *const states[] = {memory, memory + size, memory + 2 * size, memory + 3 * size};
    double *const values[] = {d->samples, d->samples + out, d->samples + 2 * out,
                              d->samples + 3 * out};
    int code = memory ? 0 : MECH_NO_MEMORY;

    d->told->differenced = true;
    if (s->command.running) {
        snprintf(d->told->reason, sizeof d->told->reason,
                 "while a step is in progress there are no derivatives by parameters");
        free(memory);
        return MECH_INVALID;
    }
    for (int k = 0; k < 4 && code == 0; k++) {
        const double at = (k % 2 ? -step : step) / (k < 2 ? 1. : 2.);

        code = run_beside(d, direction, at, values[k]);
        if (code == 0) {
            pack(d, states[k]);
        }
    }
    if (code == 0) {
        mech_tangent_difference(states, state ? size : 0, step, state);
        mech_tangent_difference(values, out, step, values[0]);
        for (size_t k = 0; k < out; k++) {
            outputs[k * stride] += values[0][k];
        }
    }
    free(memory);
    struct mech_diag ignored;
    mech_diag_init(&ignored);
    s->astray = mech_sim_rebuild(s, s->now.parameter, &ignored) != 0;
    mech_diag_fini(&ignored);
    return s->astray && code == 0 ? MECH_NO_MEMORY : code;
}

/* The parameters among packed inputs: [parameters]; false: there are none. */
static bool parameters_of(const struct mech_sim *s, const double *inputs, double *out)
{
    bool some = false;

    memset(out, 0, ((size_t)s->sizes.parameter + 1) * sizeof *out);
    for (size_t i = 0; inputs && i < mech_model_inputs(s->model); i++) {
        const struct mech_channel_info *const c = mech_model_input(s->model, i);

        if (c->kind == MECH_INPUT_PARAMETER && inputs[c->offset] != 0.) {
            out[c->parameter] += inputs[c->offset];
            some = true;
        }
    }
    return some;
}

/* --- a direction ------------------------------------------------------------------------------ */

static void add(const double *from, size_t n, double *to)
{
    for (size_t i = 0; to && i < n; i++) {
        to[i] += from[i];
    }
}

/* What one column of the tangent says, into the caller's arrays. */
static void give(struct derivation *d, const struct mech_jvp *jvp)
{
    const struct mech_state_sizes *const n = &d->sim->sizes;
    const struct mech_columns *const c = &d->tangent.columns;

    if (jvp->dq) {
        mech_model_qdot(d->sim->model, d->tangent.base.q, c->q, jvp->dq);
    }
    add(c->v, (size_t)n->v, jvp->dv);
    add(c->vdot, (size_t)n->v, jvp->dvdot);
    add(c->x, (size_t)n->x, jvp->dx);
    if (jvp->outputs) {
        mech_output_slopes(&d->tangent, 0, jvp->inputs, d->samples, jvp->outputs, 1);
    }
}

static int derive_parameters(struct derivation *d, const struct mech_jvp *jvp,
                             const double *direction)
{
    const struct mech_state_sizes *const n = &d->sim->sizes;
    const size_t q = (size_t)n->q, v = (size_t)n->v, x = (size_t)n->x;
    const size_t outputs = mech_sim_output_size(d->sim);
    double *const state = calloc(q + 2 * v + x + outputs + 1, sizeof *state);

    if (!state) {
        return MECH_NO_MEMORY;
    }
    const int code = parameter_column(d, direction, state, state + q + 2 * v + x, 1);
    if (code == 0) {
        add(state, q, jvp->dq);
        add(state + q, v, jvp->dv);
        add(state + q + v, v, jvp->dvdot);
        add(state + q + 2 * v, x, jvp->dx);
        add(state + q + 2 * v + x, outputs, jvp->outputs);
    }
    free(state);
    return code;
}

static void clear(double *x, size_t n)
{
    if (x) {
        memset(x, 0, n * sizeof *x);
    }
}

int mech_sim_jvp(struct mech_sim *s, struct mech_jvp *jvp)
{
    const struct mech_state_sizes *const n = &s->sizes;
    double *const scratch = calloc((size_t)n->v + (size_t)n->parameter + 2, sizeof *scratch);
    struct mech_tangent_directions along = {.v = jvp->v, .x = jvp->x, .input = jvp->inputs};
    struct derivation d;

    if (!scratch) {
        return MECH_NO_MEMORY;
    }
    double *const parameters = scratch + n->v + 1;
    int code = begin(s, jvp->step, jvp->steps_most, &jvp->told, &d);
    if (code == 0 && jvp->q) {
        mech_model_motion(s->model, s->point.q, jvp->q, scratch);
        along.q = scratch;
    }
    code = code ? code : derive(&d, 1, &along);
    if (code == 0) {
        clear(jvp->dq, (size_t)n->q);
        clear(jvp->dv, (size_t)n->v);
        clear(jvp->dvdot, (size_t)n->v);
        clear(jvp->dx, (size_t)n->x);
        clear(jvp->outputs, mech_sim_output_size(s));
        give(&d, jvp);
    }
    if (code == 0 && parameters_of(s, jvp->inputs, parameters)) {
        code = derive_parameters(&d, jvp, parameters);
    }
    end(&d);
    free(scratch);
    return code;
}

/* --- all inputs ------------------------------------------------------------------------------- */

/* Columns first … first + count of the matrix. */
static int block(struct derivation *d, int32_t first, int32_t count, double *directions,
                 double *out)
{
    const size_t inputs = (size_t)d->sim->sizes.input;

    memset(directions, 0, inputs * (size_t)count * sizeof *directions);
    for (int32_t j = 0; j < count; j++) {
        directions[(size_t)j * inputs + (size_t)(first + j)] = 1.;
    }
    MECH_TRY(derive(d, count, &(struct mech_tangent_directions){.input = directions}));
    for (int32_t j = 0; j < count; j++) {
        mech_output_slopes(&d->tangent, j, directions + (size_t)j * inputs, d->samples,
                           out + first + j, inputs);
    }
    return 0;
}

int mech_sim_jacobian(struct mech_sim *s, const struct mech_step_request *step, uint64_t steps_most,
                      double *out, struct mech_derived *told)
{
    const size_t inputs = (size_t)s->sizes.input;
    const size_t most = most_numbers / ((size_t)s->sizes.v + (size_t)s->sizes.lambda + 1) + 1;
    const int32_t width = (int32_t)(inputs < most ? inputs : most);
    double *const directions =
        calloc(inputs * (size_t)width + (size_t)s->sizes.parameter + 1, sizeof *directions);
    struct derivation d;

    if (!directions) {
        return MECH_NO_MEMORY;
    }
    double *const parameters = directions + inputs * (size_t)width;
    int code = begin(s, step, steps_most, told, &d);
    memset(out, 0, mech_sim_output_size(s) * inputs * sizeof *out);
    for (size_t first = 0; first < inputs && code == 0; first += (size_t)width) {
        const size_t left = inputs - first;

        code = block(&d, (int32_t)first, left < (size_t)width ? (int32_t)left : width, directions,
                     out);
    }
    for (size_t i = 0; i < mech_model_inputs(s->model) && code == 0; i++) {
        const struct mech_channel_info c = *mech_model_input(s->model, i);

        if (c.kind == MECH_INPUT_PARAMETER) {
            memset(parameters, 0, (size_t)s->sizes.parameter * sizeof *parameters);
            parameters[c.parameter] = 1.;
            code = parameter_column(&d, parameters, NULL, out + c.offset, inputs);
        }
    }
    end(&d);
    free(directions);
    return code;
}

/* --- outputs in time -------------------------------------------------------------------------- */

/* Outputs at s->point, dt from the state `at` along its velocities and accelerations. */
static int outputs_beside(struct mech_sim *s, const struct mech_state *at, const double *xdot,
                          double dt, double *out)
{
    const size_t nv = (size_t)s->sizes.v;
    struct mech_state *const to = &s->point;
    struct mech_step_result result = {.iterations = 0};
    double *const d = s->extra; /* scratch between commands */

    mech_state_copy(at, to);
    to->extra = to->wrench = NULL;
    for (size_t i = 0; i < nv; i++) {
        d[i] = dt * (at->v[i] + 0.5 * dt * at->vdot[i]);
        to->v[i] += dt * at->vdot[i];
    }
    mech_model_move(s->model, at->q, d, to->q);
    for (int32_t i = 0; i < s->sizes.x; i++) {
        to->x[i] += dt * xdot[i];
    }
    to->at->time += dt;
    MECH_TRY(s->type->nonsmooth ? 0 : s->type->start(s->stepper, to, &result));
    mech_sim_outputs_of(s, to, out);
    return 0;
}

int mech_sim_output_rates(struct mech_sim *s, bool trial, double *out, char *reason)
{
    const struct mech_state *const at = trial ? &s->next : &s->now;
    const size_t n = mech_sim_output_size(s), nx = (size_t)s->sizes.x + 1;
    const double dt = s->document->solver.step_size / 64.;
    struct mech_step_result result = {.iterations = 0};
    double *const room = calloc(n + nx, sizeof *room);

    if (!room) {
        return MECH_NO_MEMORY;
    }
    double *const xdot = room + n;
    int code = s->command.running || (trial && s->command.rebuilt) ? MECH_UNSUPPORTED : 0;
    if (code) {
        snprintf(reason, 160, "a trial with other parameters, or a step in progress, has no rates");
    }
    code = code ? code : mech_sim_need_rates(s, &result);
    code = code ? code : mech_rates_xdot(&s->rates, at, at->at->time, at->x, xdot, &result);
    code = code ? code : outputs_beside(s, at, xdot, dt, out);
    code = code ? code : outputs_beside(s, at, xdot, -dt, room);
    for (size_t i = 0; i < n && code == 0; i++) {
        out[i] = (out[i] - room[i]) / (2. * dt);
    }
    free(room);
    return code;
}
