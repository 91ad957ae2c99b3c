/* The derivative of a step of the generalized-α family, from the equations at its end:
 *
 *     δd = δd₀ + z,  δv = δv₀ + w₁ z,  δv̇ = w₀ z,  δq = transport(d; δq_n, δd)
 *     w₀ M z + K δq + C δv − Gᵀ δλ = δf,   G δq = 0   or   G δv + (G v + g_t)_q δq = 0
 *
 * with δd₀ and δv₀ from the columns of the start, and z found with the iteration matrix at the
 * end of the step. On coordinates with q̇ = v and rows at position level that is exact at once;
 * rotations and rows at velocity level leave O(h ω), to be repeated, each time by that much less.
 */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/alpha_internal.h"
#include "solver/step/tangent.h"

#include <math.h>
#include <string.h>

enum { MOST_REPEATS = 40 };
/* Of what is left, relative to the first solution: met; and what may be left when repeating makes
 * it no less, which is rounding. */
static const double enough = 1e-12, rounding = 1e-7;

struct column {
    double *q, *v, *vdot, *a, *lambda;
    const double *force; /* or NULL */
};

struct alpha_tangent {
    struct alpha *s;
    struct mech_tangent *t;
    const struct mech_state *to;
    double h, w[3];
    bool exact; /* one solve does it */
};

static struct column column_of(const struct alpha_tangent *a, int32_t j)
{
    const size_t v = (size_t)j * ((size_t)a->s->nv + 1);
    struct mech_columns *const c = &a->t->columns;

    return (struct column){c->q + v,
                           c->v + v,
                           c->vdot + v,
                           c->a + v,
                           c->lambda + (size_t)j * ((size_t)a->s->rows + 1),
                           c->force ? c->force + v : NULL};
}

/* Slopes, and the iteration matrix with its factors, at the end of the step. */
static int prepare(struct alpha_tangent *a, struct mech_step_result *result)
{
    struct alpha *const s = a->s;
    struct mech_eval e = mech_model_point(s->model, a->to, a->to->at->time, a->to->q, a->to->v);

    mech_alpha_weights(s, a->h, a->w);
    if (mech_model_is_linear(s->model)) {
        return 0;
    }
    e.lambda = a->to->lambda;
    e.vdot = a->to->vdot;
    e.exact = true;
    mech_slopes_at(&a->t->slopes, &e);
    return mech_saddle_factor(&s->saddle, &e,
                              (const double[3]){1. / a->w[0], a->w[1] / a->w[0], 1.}, result);
}

/* d, δd₀ into q0 and δv₀ into v0; then q0 becomes δq without z. */
static bool predict(const struct alpha_tangent *a, const struct mech_state *from, struct column c)
{
    const struct mech_alpha_parameters p = a->s->p;
    const double from_vdot = p.alpha_f / (1. - p.alpha_m), from_a = p.alpha_m / (1. - p.alpha_m);
    const double h = a->h, q_a = h * h * (mech_alpha_end(p) - p.beta), q_p = h * h * p.beta;
    struct mech_tangent *const t = a->t;

    for (int32_t i = 0; i < a->s->nv; i++) {
        const double ap = from_vdot * c.vdot[i] - from_a * c.a[i];

        t->d[i] = h * from->v[i] + q_a * from->a[i] + q_p * a->to->a[i];
        t->q0[i] = h * c.v[i] + q_a * c.a[i] + q_p * ap;
        t->v0[i] = c.v[i] + h * ((1. - p.gamma) * c.a[i] + p.gamma * ap);
        c.a[i] = ap;
    }
    return mech_model_transport(a->s->model, t->d, c.q, t->q0, t->q0);
}

/* The joints' part of the residual, each row in the scale of the iteration matrix. */
static void residual_of_rows(const struct alpha_tangent *a, const double *dq, const double *dv)
{
    struct mech_tangent *const t = a->t;
    const struct mech_state *const to = a->to;
    const struct mech_joint_rows *const rows = mech_model_joints(a->s->model);
    double *const g = t->r + a->s->nv;

    mech_slopes_rows(&t->slopes, dq, g);
    if (!a->s->p.index2 && !rows->nonholonomic) {
        return;
    }
    mech_slopes_rows(&t->slopes, dv, t->rows[0]);
    const struct mech_eval e = mech_model_point(a->s->model, to, to->at->time, to->q, to->v);
    mech_slopes_of_rows(&t->slopes, &e, dq, NULL, t->rows[1], NULL);
    for (int32_t r = 0; r < a->s->rows; r++) {
        if (a->s->p.index2 || rows->velocity[r]) {
            const bool open = rows->partial && to->open[r] != 0.;

            g[r] = open ? 0. : (t->rows[0][r] + t->rows[1][r]) / a->w[1];
        }
    }
}

/* δq, δv and δv̇ of the column at z */
static bool place(const struct alpha_tangent *a, struct column c)
{
    const struct mech_tangent *const t = a->t;
    const int32_t nv = a->s->nv;

    memset(c.vdot, 0, ((size_t)nv + 1) * sizeof *c.vdot);
    if (!mech_model_transport(a->s->model, t->d, c.vdot, t->z, c.q)) {
        return false;
    }
    for (int32_t i = 0; i < nv; i++) {
        c.q[i] += t->q0[i];
        c.v[i] = t->v0[i] + a->w[1] * t->z[i];
        c.vdot[i] = a->w[0] * t->z[i];
    }
    return true;
}

/* r = residual at z and δλ of the column, with the rows behind it */
static bool residual(const struct alpha_tangent *a, struct column c)
{
    struct mech_tangent *const t = a->t;
    const int32_t nv = a->s->nv;

    if (!place(a, c)) {
        return false;
    }
    for (int32_t i = 0; i < nv; i++) {
        t->r[i] = c.force ? -c.force[i] : 0.;
    }
    t->r[nv] = 0.;
    mech_slopes_add(&t->slopes, c.q, c.v, c.vdot, t->r);
    if (a->s->rows) {
        mech_slopes_react(&t->slopes, -1., c.lambda, t->r);
        residual_of_rows(a, c.q, c.v);
    }
    return true;
}

/* r := the change of z, and behind it −δλ/w₀ */
static int solve(const struct alpha_tangent *a, struct mech_step_result *result)
{
    struct alpha *const s = a->s;
    double *const r = a->t->r;

    if (mech_model_is_linear(s->model)) {
        return mech_linear_outcome(s->model, "iteration matrix", s->solver,
                                   mech_lsol_solve(s->solver, r, 1), result);
    }
    for (int32_t i = 0; i < s->nv; i++) {
        r[i] /= a->w[0];
    }
    return mech_saddle_solve(&s->saddle, r, result);
}

/* q, v, v̇ and a of the column from z */
static int finish(const struct alpha_tangent *a, struct column c)
{
    const double share = (1. - a->s->p.alpha_f) / (1. - a->s->p.alpha_m);

    (void)place(a, c);
    for (int32_t i = 0; i < a->s->nv; i++) {
        c.a[i] += share * c.vdot[i];
    }
    return 0;
}

static int derive_velocities(const struct alpha_tangent *a, const struct mech_state *from,
                             struct column c, struct mech_step_result *result)
{
    struct mech_tangent *const t = a->t;
    const int32_t nv = a->s->nv;
    const size_t rows = (size_t)a->s->rows;
    double first = 0., before = HUGE_VAL;

    if (!predict(a, from, c)) {
        return MECH_UNSUPPORTED;
    }
    memset(t->z, 0, ((size_t)nv + 1) * sizeof *t->z);
    memset(c.lambda, 0, rows * sizeof *c.lambda);
    for (int k = 0; k <= MOST_REPEATS; k++) {
        if (!residual(a, c)) {
            return MECH_UNSUPPORTED;
        }
        MECH_TRY(solve(a, result));
        for (int32_t i = 0; i < nv; i++) {
            t->z[i] -= t->r[i];
        }
        for (int32_t i = 0; i < a->s->rows; i++) {
            c.lambda[i] += a->w[0] * t->r[nv + i];
        }
        const double change = mech_tangent_largest(t->r, (size_t)nv, 0.);
        first = fmax(first, change);
        const bool still = change <= rounding * first && change >= 0.5 * before;
        if (a->exact || still || change <= enough * first) {
            return finish(a, c);
        }
        before = change;
    }
    mech_text_format(result->reason, sizeof result->reason,
                     "the derivative of the step was not found; a smaller step size helps");
    return MECH_NOT_CONVERGED;
}

/* x by the trapezoidal rule, or implicit Euler */
static int derive_states(const struct alpha_tangent *a, int32_t j)
{
    const struct alpha *const s = a->s;
    const struct mech_columns *const c = &a->t->columns;
    const struct mech_mat *const A = mech_model_first_order(s->model);
    const size_t at = (size_t)j * ((size_t)s->nx + 1);
    const double end = mech_alpha_end(s->p) * a->h, start = a->h - end;
    double *const x = c->x + at, *const rate = s->rate;

    memset(rate, 0, ((size_t)s->nx + 1) * sizeof *rate);
    if (A->kind != MECH_MAT_ZERO) {
        mech_mat_mul(A, 1., x, 0., rate);
    }
    for (int32_t i = 0; i < s->nx; i++) {
        const double from = c->force ? c->rate[0][at + (size_t)i] : 0.;
        const double to = c->force ? c->rate[1][at + (size_t)i] : 0.;

        x[i] += start * (rate[i] + from) + end * to;
    }
    return mech_lsol_solve(s->x_solver, x, 1);
}

int mech_alpha_tangent(void *self, const struct mech_state *from, const struct mech_state *to,
                       double h, struct mech_tangent *t, struct mech_step_result *result)
{
    struct alpha *const s = self;
    const struct mech_model *const m = s->model;
    struct alpha_tangent a = {
        .s = s,
        .t = t,
        .to = to,
        .h = h,
        .exact =
            mech_model_flat(m) && !mech_model_joints(m)->nonholonomic && !(s->p.index2 && s->rows),
    };

    /* v that is projected, and steps that are cut where a rope is caught, are more than a step's
     * equations */
    if (s->rows &&
        (mech_model_settings(m)->velocity_projection || mech_model_joints(m)->one_sided)) {
        return MECH_UNSUPPORTED;
    }
    if (s->nv) {
        MECH_TRY(prepare(&a, result));
    }
    for (int32_t j = 0; j < t->columns.count; j++) {
        if (s->nv) {
            MECH_TRY(derive_velocities(&a, from, column_of(&a, j), result));
        }
        if (s->nx) {
            MECH_TRY(derive_states(&a, j));
        }
    }
    return 0;
}
