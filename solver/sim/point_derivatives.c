/* Derivatives of the equations at a point, forward and adjoint. F is evaluated at four points
 * beside it along a direction, ±h and ±h/2, h the power of two that makes the direction 2⁻¹² at
 * most: the differences are of fourth order, and leave about 1e-12 of rounding and of truncation.
 */
#include "solver/base/err.h"
#include "solver/sim/analysis.h"
#include "solver/sim/internal.h"
#include "solver/step/tangent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double narrow = 0x1p-12;

struct work {
    struct mech_sim *sim;
    struct mech_state base, beside;
    struct mech_step_result result;
    double *memory;
    double *motion;    /* [nv + 1] the direction of q */
    double *scaled;    /* [nv + 1] */
    double *sample[4]; /* [unknowns] q̇, v̇, ẋ, outputs */
    size_t unknowns;
};

/* A direction in the knowns. */
struct along {
    const double *q, *v, *x, *inputs;
};

static int begin(struct work *w, struct mech_sim *s, const struct mech_point *at)
{
    const size_t block = mech_state_bytes(&s->sizes) / sizeof(double), nv = (size_t)s->sizes.v + 1;

    w->sim = s;
    w->unknowns =
        (size_t)s->sizes.q + (size_t)s->sizes.v + (size_t)s->sizes.x + mech_sim_output_size(s) + 1;
    w->memory = calloc(2 * block + 2 * nv + 4 * w->unknowns, sizeof *w->memory);
    if (!w->memory) {
        return MECH_NO_MEMORY;
    }
    mech_state_place(&s->sizes, w->memory, &w->base);
    mech_state_place(&s->sizes, w->memory + block, &w->beside);
    w->motion = w->memory + 2 * block;
    w->scaled = w->motion + nv;
    for (size_t k = 0; k < 4; k++) {
        w->sample[k] = w->scaled + nv + k * w->unknowns;
    }
    MECH_TRY(mech_sim_place_point(s, at));
    mech_state_copy(&s->point, &w->base);
    return mech_sim_need_rates(s, &w->result);
}

/* Inputs along which it goes are those that act now, and hold. */
static void hold(struct work *w, const double *inputs)
{
    const struct mech_model *const m = w->sim->model;

    for (size_t i = 0; inputs && i < mech_model_inputs(m); i++) {
        const struct mech_channel_info *const c = mech_model_input(m, i);

        for (int32_t k = c->offset; k < c->offset + c->size; k++) {
            double *const in = w->base.input + 4 * (size_t)k;

            if (inputs[k] != 0.) {
                const double value = mech_model_input_value(m, &w->base, k, i, w->base.at->time);

                memcpy(in, (const double[]){value, 0., 0., w->base.at->time}, 4 * sizeof *in);
                w->base.input_set[k] = 1.;
            }
        }
    }
}

/* F at base + step · direction into out. */
static int evaluate(struct work *w, const struct along *d, double step, double *out)
{
    struct mech_sim *const s = w->sim;
    const struct mech_state_sizes *const n = &s->sizes;
    struct mech_state *const to = &w->beside;

    mech_state_copy(&w->base, to);
    for (int32_t i = 0; i < n->v; i++) {
        w->scaled[i] = step * w->motion[i];
        to->v[i] += d->v ? step * d->v[i] : 0.;
    }
    if (d->q) {
        mech_model_move(s->model, w->base.q, w->scaled, to->q);
    }
    for (int32_t i = 0; d->x && i < n->x; i++) {
        to->x[i] += step * d->x[i];
    }
    for (int32_t i = 0; d->inputs && i < n->input; i++) {
        to->input[4 * (size_t)i] += step * d->inputs[i];
    }
    MECH_TRY(mech_rates_start(&s->rates, to, &w->result));
    mech_model_qdot(s->model, to->q, to->v, out);
    out += n->q;
    memcpy(out, to->vdot, (size_t)n->v * sizeof *out);
    out += n->v;
    MECH_TRY(mech_rates_xdot(&s->rates, to, to->at->time, to->x, out, &w->result));
    mech_sim_outputs_of(s, to, out + n->x);
    return 0;
}

/* The derivative along a direction, in sample[0]. */
static int differentiate(struct work *w, const struct along *d)
{
    const struct mech_state_sizes *const n = &w->sim->sizes;
    double most = mech_tangent_largest(d->v, (size_t)n->v, 0.);

    memset(w->motion, 0, (size_t)n->v * sizeof *w->motion);
    if (d->q) {
        mech_model_motion(w->sim->model, w->base.q, d->q, w->motion);
    }
    most = mech_tangent_largest(w->motion, (size_t)n->v, most);
    most = mech_tangent_largest(d->x, (size_t)n->x, most);
    most = mech_tangent_largest(d->inputs, (size_t)n->input, most);
    const double step = narrow * mech_tangent_unit(most);
    const double at[] = {step, -step, 0.5 * step, -0.5 * step};

    for (int k = 0; k < 4; k++) {
        MECH_TRY(evaluate(w, d, at[k], w->sample[k]));
    }
    mech_tangent_difference(w->sample, w->unknowns - 1, step, w->sample[0]);
    return mech_sim_all_finite(w->sample[0], w->unknowns - 1) ? 0 : MECH_NOT_FINITE;
}

/* --- forward ---------------------------------------------------------------------------------- */

static void copy(const double **from, double *to, size_t n)
{
    if (to) {
        memcpy(to, *from, n * sizeof *to);
    }
    *from += n;
}

static int forward(struct work *w, const struct mech_point_values *v)
{
    const struct mech_state_sizes *const n = &w->sim->sizes;
    const struct along d = {v->q, v->v, v->x, v->inputs};
    const double *from = w->sample[0];

    hold(w, v->inputs);
    MECH_TRY(differentiate(w, &d));
    copy(&from, v->qdot, (size_t)n->q);
    copy(&from, v->vdot, (size_t)n->v);
    copy(&from, v->xdot, (size_t)n->x);
    copy(&from, v->outputs, mech_sim_output_size(w->sim));
    return 0;
}

/* --- adjoint ---------------------------------------------------------------------------------- */

/* Σ seed · derivative, of one part of the unknowns */
static double weigh(const double **from, const double *seed, size_t n)
{
    double sum = 0.;

    for (size_t i = 0; seed && i < n; i++) {
        sum += seed[i] * (*from)[i];
    }
    *from += n;
    return sum;
}

/* The sensitivities of n knowns, whose directions are written into one vector of the direction,
 * zero before and after. */
static int sensitivities(struct work *w, const struct mech_point_values *v, const struct along *d,
                         double *unit, size_t n, double *out)
{
    const struct mech_state_sizes *const sizes = &w->sim->sizes;

    for (size_t k = 0; k < n; k++) {
        const double *from = w->sample[0];

        if (mech_interrupted(mech_model_interrupt(w->sim->model))) {
            return MECH_CANCELLED;
        }
        unit[k] = 1.;
        MECH_TRY(differentiate(w, d));
        unit[k] = 0.;
        out[k] = weigh(&from, v->qdot, (size_t)sizes->q);
        out[k] += weigh(&from, v->vdot, (size_t)sizes->v);
        out[k] += weigh(&from, v->xdot, (size_t)sizes->x);
        out[k] += weigh(&from, v->outputs, mech_sim_output_size(w->sim));
    }
    return 0;
}

static int adjoint(struct work *w, const struct mech_point_values *v)
{
    const struct mech_state_sizes *const n = &w->sim->sizes;
    const size_t most = (size_t)n->q + (size_t)n->v + (size_t)n->x + (size_t)n->input + 1;
    double *const unit = calloc(most, sizeof *unit);

    if (!unit) {
        return MECH_NO_MEMORY;
    }
    const struct along parts[] = {{.q = unit}, {.v = unit}, {.x = unit}, {.inputs = unit}};
    double *const out[] = {v->q, v->v, v->x, v->inputs};
    const int32_t size[] = {n->q, n->v, n->x, n->input};
    int code = 0;

    for (int p = 0; p < 4 && code == 0; p++) {
        if (!out[p]) {
            continue;
        }
        if (p == 3) {
            /* all that can be varied hold from here on */
            for (int32_t k = 0; k < n->input; k++) {
                unit[k] = 1.;
            }
            hold(w, unit);
            memset(unit, 0, most * sizeof *unit);
        }
        code = sensitivities(w, v, &parts[p], unit, (size_t)size[p], out[p]);
    }
    free(unit);
    return code;
}

/* --- both ------------------------------------------------------------------------------------- */

/* Whether a direction has a part along an input that is a parameter. */
static bool along_parameter(const struct mech_sim *s, const double *inputs)
{
    for (size_t i = 0; inputs && i < mech_model_inputs(s->model); i++) {
        const struct mech_channel_info *const c = mech_model_input(s->model, i);

        if (c->kind == MECH_INPUT_PARAMETER && inputs[c->offset] != 0.) {
            return true;
        }
    }
    return false;
}

int mech_sim_point_derivative(struct mech_sim *s, struct mech_point_derivative *d)
{
    struct work w = {.memory = NULL};

    d->reason[0] = '\0';
    if (!d->adjoint && along_parameter(s, d->values.inputs)) {
        snprintf(d->reason, sizeof d->reason,
                 "an input that is a parameter has no derivative here");
        return MECH_INVALID;
    }
    int code = begin(&w, s, &d->at);
    code = code ? code : (d->adjoint ? adjoint : forward)(&w, &d->values);
    if (mech_sim_interrupted(s)) {
        code = code < 0 ? code : MECH_CANCELLED;
    }
    mech_sim_watch(s);
    if (code > 0) {
        memcpy(d->reason, w.result.reason, sizeof d->reason);
    }
    free(w.memory);
    return code;
}
