/* The Jacobian of [q̇; v̇; ẋ] by [q; v; x] where q̇ is not v, or v̇ not M⁻¹ f with a constant M:
 * column by column, by the slopes of the equations of motion (step/rate_slopes.h). A change of one
 * coordinate is a motion and, of Euler parameters, a change of their length, along which forces are
 * what the formulas for length 1 make of it. */
#include "solver/base/err.h"
#include "solver/sim/internal.h"
#include "solver/step/rate_slopes.h"
#include "solver/step/tangent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Step of differences of Euler parameters and rotation vectors, to fourth order; and what rounding
 * leaves of the part of a coordinate that is no motion. */
static const double narrow = 0x1p-12, no_length = 0x1p-40;

struct work {
    struct mech_sim *sim;
    struct mech_slopes slopes;
    struct mech_saddle saddle;
    struct mech_eval e;
    struct mech_rate_slopes rates;
    size_t nq, nv, ld;
    double *memory;
    double *x;         /* [nv + rows + 1] δv̇ and −δλ */
    double *rate;      /* [rows + 1] */
    double *unit;      /* [nq + nv + 1] */
    double *motion;    /* [nv + 1] */
    double *rest;      /* [nq + 1] of a unit: the part that is no motion */
    double *at;        /* [nq + 1] coordinates beside */
    double *sample[4]; /* [nq + nv + 1] */
};

static int init(struct work *w, struct mech_sim *s)
{
    const size_t nq = (size_t)s->sizes.q, nv = (size_t)s->sizes.v, rows = (size_t)s->sizes.lambda;
    const size_t both = nq + nv + 1;

    *w = (struct work){.sim = s, .nq = nq, .nv = nv, .ld = nq + nv + (size_t)s->sizes.x};
    w->memory = calloc(9 * both + 2 * (rows + 1), sizeof *w->memory);
    if (!w->memory) {
        return MECH_NO_MEMORY;
    }
    w->unit = w->memory;
    w->motion = w->unit + both;
    w->rest = w->motion + both;
    w->at = w->rest + both;
    for (size_t k = 0; k < 4; k++) {
        w->sample[k] = w->at + (k + 1) * both;
    }
    w->rate = w->sample[3] + both;
    w->x = w->rate + rows + 1;
    return 0;
}

/* The point, its v̇ and λ, and its matrices. */
static int prepare(struct work *w, struct mech_step_result *result)
{
    struct mech_sim *const s = w->sim;
    struct mech_state *const p = &s->point;
    const struct mech_rate_point at = {p, p->at->time, p->q, p->v, NULL};

    MECH_TRY(mech_rates_vdot(&s->rates, &at, p->vdot, result));
    mech_rates_reactions(&s->rates, p->vdot, p->lambda);
    w->e = mech_model_point(s->model, p, p->at->time, p->q, p->v);
    w->e.vdot = p->vdot;
    w->e.lambda = s->sizes.lambda > 0 ? p->lambda : NULL;
    if (w->nv == 0) {
        return 0;
    }
    MECH_TRY(mech_slopes_init(&w->slopes, s->model));
    mech_slopes_at(&w->slopes, &w->e);
    MECH_TRY(mech_saddle_init(&w->saddle, s->model, NULL, false, result));
    mech_saddle_form(&w->saddle, (const double[3]){1., 0., 0.});
    w->rates = (struct mech_rate_slopes){&w->slopes, &w->saddle, &w->e, w->rate, NULL};
    return mech_saddle_factor(&w->saddle, &w->e, NULL, result);
}

/* out, column `column` of rows nq to nq + nv, = δv̇ by a motion and a change of velocities */
static int accelerate(struct work *w, const double *dq, const double *dv, double *out,
                      struct mech_step_result *result)
{
    memset(w->x, 0, w->nv * sizeof *w->x);
    MECH_TRY(w->nv == 0 ? 0 : mech_rate_slopes(&w->rates, dq, dv, w->x, result));
    for (size_t i = 0; i < w->nv; i++) {
        out[(w->nq + i) * w->ld] = w->x[i];
    }
    return 0;
}

/* Of the samples of mech_tangent_difference. */
static double step_of(int k)
{
    return (k % 2 ? -narrow : narrow) / (k < 2 ? 1. : 2.);
}

/* The same += that by the part of a coordinate that is no motion. */
static int lengthen(struct work *w, double *out, struct mech_step_result *result)
{
    struct mech_sim *const s = w->sim;
    const struct mech_state *const p = &s->point;
    const struct mech_rate_point at = {p, p->at->time, w->at, p->v, NULL};

    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < w->nq; i++) {
            w->at[i] = p->q[i] + step_of(k) * w->rest[i];
        }
        MECH_TRY(mech_rates_vdot(&s->rates, &at, w->sample[k], result));
    }
    mech_tangent_difference(w->sample, w->nv, narrow, w->sample[0]);
    for (size_t i = 0; i < w->nv; i++) {
        out[(w->nq + i) * w->ld] += w->sample[0][i];
    }
    return 0;
}

/* The column of coordinate j, out its first number. */
static int by_coordinate(struct work *w, size_t j, double *out, struct mech_step_result *result)
{
    const struct mech_model *const m = w->sim->model;
    const double *const q = w->sim->point.q, *const v = w->sim->point.v;
    double most = 0.;

    w->unit[j] = 1.;
    mech_model_motion(m, q, w->unit, w->motion);
    MECH_TRY(accelerate(w, w->motion, NULL, out, result));
    if (!mech_model_flat(m)) {
        /* q̇ = T(q) v of one node */
        for (int k = 0; k < 4; k++) {
            memcpy(w->at, q, w->nq * sizeof *w->at);
            w->at[j] += step_of(k);
            mech_model_qdot(m, w->at, v, w->sample[k]);
        }
        mech_tangent_difference(w->sample, w->nq, narrow, w->sample[0]);
        for (size_t i = 0; i < w->nq; i++) {
            out[i * w->ld] = w->sample[0][i];
        }
        mech_model_qdot(m, q, w->motion, w->rest);
        for (size_t i = 0; i < w->nq; i++) {
            w->rest[i] = w->unit[i] - w->rest[i];
            most = fmax(most, fabs(w->rest[i]));
        }
    }
    w->unit[j] = 0.;
    return most > no_length ? lengthen(w, out, result) : 0;
}

/* The column of velocity j. */
static int by_velocity(struct work *w, size_t j, double *out, struct mech_step_result *result)
{
    w->unit[j] = 1.;
    mech_model_qdot(w->sim->model, w->sim->point.q, w->unit, w->rest);
    for (size_t i = 0; i < w->nq; i++) {
        out[i * w->ld] = w->rest[i];
    }
    const int code = accelerate(w, NULL, w->unit, out, result);
    w->unit[j] = 0.;
    return code;
}

int mech_sim_rhs_jacobian(struct mech_sim *s, double *out, struct mech_step_result *result)
{
    struct work w;
    int code = init(&w, s);

    code = code ? code : prepare(&w, result);
    for (size_t j = 0; j < w.nq + w.nv && code == 0; j++) {
        code = mech_interrupted(mech_model_interrupt(s->model)) ? MECH_CANCELLED
               : j < w.nq ? by_coordinate(&w, j, out + j, result)
                          : by_velocity(&w, j - w.nq, out + j, result);
    }
    mech_saddle_fini(&w.saddle);
    mech_slopes_fini(&w.slopes);
    free(w.memory);
    return code;
}
