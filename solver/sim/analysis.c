/* Analyses about the committed state: they work on states of their own. */
#include "solver/sim/analysis.h"

#include "solver/analysis/quotient.h"
#include "solver/analysis/tangents.h"
#include "solver/base/err.h"
#include "solver/sim/internal.h"
#include "solver/step/tangent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void outputs_of(const struct mech_sim *s, const struct mech_state *state, double *values)
{
    for (size_t i = 0; i < mech_model_outputs(s->model); i++) {
        mech_model_output_values(s->model, state, i,
                                 values + mech_model_output(s->model, i)->offset);
    }
}

/* The rates of the façade, made when first needed. */
static int need_rates(struct mech_sim *s)
{
    struct mech_step_result result = {.iterations = 0};

    if (!s->has_rates) {
        MECH_TRY(mech_rates_init(&s->rates, s->model, NULL, &result));
        s->has_rates = true;
    }
    return 0;
}

int mech_sim_statics(struct mech_sim *s, const struct mech_statics_query *query,
                     struct mech_statics_report *report)
{
    struct mech_step_result result = {.iterations = 0};
    struct mech_state *const p = &s->point;

    mech_state_copy(&s->now, p);
    p->extra = NULL;
    MECH_TRY(mech_statics(s->model, p, &query->request, report));
    /* accelerations and multipliers at rest, which sensors may read */
    const int code = s->type->start(s->stepper, p, &result);
    if (code) {
        memcpy(report->reason, result.reason, sizeof report->reason);
        return code;
    }
    if (query->q) {
        memcpy(query->q, p->q, (size_t)s->sizes.q * sizeof *query->q);
    }
    if (query->outputs) {
        outputs_of(s, p, query->outputs);
    }
    if (query->keep) {
        p->at->changed = 0;
        mech_state_copy(p, &s->now);
        s->has_trial = false;
    }
    return 0;
}

int mech_sim_modes(const struct mech_sim *s, int32_t count, bool damped, struct mech_modes *out)
{
    return mech_modes(s->model, &s->now, count, damped, out);
}

/* --- linearization ---------------------------------------------------------------------------- */

int mech_sim_linearize_sizes(const struct mech_sim *s, struct mech_linearization *out, char *reason)
{
    const char *const obstacle = mech_analysis_obstacle(s->model, &s->now);
    const int64_t states = (int64_t)s->sizes.q + s->sizes.v + s->sizes.x;

    *out = (struct mech_linearization){0};
    if (obstacle || states > MECH_LINEARIZE_MOST) {
        snprintf(reason, 160, "%s", obstacle ? obstacle : "at most 1000 states are linearized");
        return MECH_UNSUPPORTED;
    }
    out->states = (int32_t)states;
    out->inputs = mech_linearize_inputs(s->model);
    out->outputs = mech_model_output_size(s->model);
    return 0;
}

int mech_sim_linearize(struct mech_sim *s, struct mech_linearization *out)
{
    const struct mech_point now = {.time = NAN};

    MECH_TRY(mech_sim_evaluate(s, &now, MECH_WANT_RHS_JACOBIAN, out->A));
    MECH_TRY(need_rates(s));
    s->point.extra = NULL;
    return mech_linearize(&s->rates, &s->now, &s->point, out);
}

/* --- derivatives of steps --------------------------------------------------------------------- */

size_t mech_sim_input_size(const struct mech_sim *s)
{
    return (size_t)s->sizes.input;
}

bool mech_sim_input_is_parameter(const struct mech_sim *s, int32_t index)
{
    return mech_model_input(s->model, (size_t)index)->kind == MECH_INPUT_PARAMETER;
}

/* What a derivative needs: two runs' states, the derivative, outputs at four points. */
struct derivation {
    double *memory;
    struct mech_tangent tangent;
    double *outputs; /* [4 × outputs] */
};

static int allocate(const struct mech_sim *s, struct derivation *d)
{
    const size_t block = mech_state_bytes(&s->sizes) / sizeof(double);
    const size_t v = (size_t)s->sizes.v + 1;

    *d = (struct derivation){0};
    d->memory = calloc(2 * block + (size_t)s->sizes.q + 1 + 2 * v + (size_t)s->sizes.x + 1 +
                           4 * mech_sim_output_size(s),
                       sizeof *d->memory);
    if (!d->memory) {
        return MECH_NO_MEMORY;
    }
    mech_state_place(&s->sizes, d->memory, &d->tangent.base);
    mech_state_place(&s->sizes, d->memory + block, &d->tangent.other);
    d->tangent.q = d->memory + 2 * block;
    d->tangent.v = d->tangent.q + s->sizes.q + 1;
    d->tangent.vdot = d->tangent.v + v;
    d->tangent.x = d->tangent.vdot + v;
    d->outputs = d->tangent.x + s->sizes.x + 1;
    return 0;
}

/* to = base + step · derivative, inputs included */
static void displace(const struct mech_sim *s, const struct derivation *d, const double *inputs,
                     double step, struct mech_state *to)
{
    mech_state_copy(&d->tangent.base, to);
    for (int32_t i = 0; i < s->sizes.q; i++) {
        to->q[i] += step * d->tangent.q[i];
    }
    for (int32_t i = 0; i < s->sizes.v; i++) {
        to->v[i] += step * d->tangent.v[i];
        to->vdot[i] += step * d->tangent.vdot[i];
    }
    for (int32_t i = 0; i < s->sizes.x; i++) {
        to->x[i] += step * d->tangent.x[i];
    }
    for (int32_t i = 0; inputs && i < s->sizes.input; i++) {
        to->input[4 * (size_t)i] += step * inputs[i];
    }
}

/* d(outputs)/d(direction) at the end of the step. */
static void output_derivative(const struct mech_sim *s, struct derivation *d,
                              const struct mech_jvp *jvp)
{
    const size_t n = mech_sim_output_size(s);
    double length = 0.;

    for (int32_t i = 0; i < s->sizes.q; i++) {
        length = fmax(length, fabs(d->tangent.q[i]));
    }
    for (int32_t i = 0; i < s->sizes.v; i++) {
        length = fmax(length, fmax(fabs(d->tangent.v[i]), fabs(d->tangent.vdot[i])));
    }
    for (int32_t i = 0; i < s->sizes.x; i++) {
        length = fmax(length, fabs(d->tangent.x[i]));
    }
    for (int32_t i = 0; jvp->inputs && i < s->sizes.input; i++) {
        length = fmax(length, fabs(jvp->inputs[i]));
    }
    const double unit = length > 0. ? exp2(-ceil(log2(length))) : 1.;
    struct mech_quotient q = {.step = {mech_quotient_wide * unit, mech_quotient_narrow * unit}};
    for (int k = 0; k < 2; k++) {
        double *const plus = d->outputs + (size_t)(2 * k) * n, *const minus = plus + n;

        displace(s, d, jvp->inputs, q.step[k], &d->tangent.other);
        outputs_of(s, &d->tangent.other, plus);
        displace(s, d, jvp->inputs, -q.step[k], &d->tangent.other);
        outputs_of(s, &d->tangent.other, minus);
        q.plus[k] = plus;
        q.minus[k] = minus;
    }
    mech_quotient(&q, n, jvp->outputs);
}

static void copy_out(const double *from, int32_t n, double *to)
{
    if (to) {
        memcpy(to, from, (size_t)n * sizeof *to);
    }
}

int mech_sim_jvp(struct mech_sim *s, struct mech_jvp *jvp)
{
    const struct mech_tangent_direction direction = {jvp->q, jvp->v, jvp->x, jvp->inputs};
    const char *const obstacle = mech_tangent_obstacle(s->model, s->type);
    struct mech_step_result result = {.iterations = 0};
    struct mech_command c = {.done = 0};
    struct derivation d;

    jvp->reason[0] = '\0';
    if (obstacle) {
        snprintf(jvp->reason, sizeof jvp->reason, "%s", obstacle);
        return MECH_UNSUPPORTED;
    }
    if (mech_sim_plan(s, jvp->step, &c) || (jvp->steps_most && c.count > jvp->steps_most)) {
        snprintf(jvp->reason, sizeof jvp->reason,
                 "the step's size must be positive and finite, its internal steps not too many");
        return MECH_INVALID;
    }
    const struct mech_tangent_run run = {s->type, s->stepper, c.h, c.t_end, c.count};
    MECH_TRY(allocate(s, &d));
    const int code = mech_tangent_derive(&run, s->model, &s->now, &direction, &d.tangent, &result);
    if (code == 0) {
        jvp->steps = c.count;
        jvp->time = c.t_end;
        copy_out(d.tangent.q, s->sizes.q, jvp->dq);
        copy_out(d.tangent.v, s->sizes.v, jvp->dv);
        copy_out(d.tangent.vdot, s->sizes.v, jvp->dvdot);
        copy_out(d.tangent.x, s->sizes.x, jvp->dx);
        if (jvp->outputs) {
            output_derivative(s, &d, jvp);
        }
    } else {
        memcpy(jvp->reason, result.reason, sizeof jvp->reason);
    }
    free(d.memory);
    return code;
}
