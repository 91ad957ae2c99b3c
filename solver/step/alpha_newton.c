/* Newton's method of the generalized-α family for nonlinear models and joints (M. Arnold, O. Brüls,
 * 2007; on rotations: O. Brüls, A. Cardona, M. Arnold, Mech. Mach. Theory 48 (2012)).
 *
 *     r = M v̇ − f(q, v, t) − Gᵀ λ,   and  g(q, t) = 0  (index 3)  or  G v + g_t = 0  (index 2)
 *     [ S/w₀  Gᵀ ] [ Δd    ]     [ r/w₀ ]
 *     [ G     0  ] [ −Δλ/w₀ ] = −[ g    ]     d += Δd,  v += w₁ Δd,  v̇ += w₀ Δd,  q = q_n ⊕ d
 *
 * The division by w₀ ~ 1/h² keeps the condition of the matrix from growing as h falls (C. Bottasso
 * et al., 2007). It starts from the last v̇ and λ. d is the motion over the step: where q̇ ≠ v the
 * matrix takes ∂q/∂d at d = 0, off by O(h ω), which costs iterations and no accuracy. Rows at
 * velocity level (all at index 2; nonholonomic ones always) are divided by w₁, and their slope by q
 * is left out for the same reason. The matrix stays from one iteration to the next while that
 * converges fast, and with `modified` from one step to the next (alpha_kept.c). One-sided rows that
 * are open ask for nothing and keep λ = 0. Where iterations come no closer, what rounding leaves of
 * the forces that balance is close enough (rounding.h). */
#include "solver/base/err.h"
#include "solver/step/alpha_internal.h"
#include "solver/step/rounding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* m or rad, m/s or rad/s: what rows that were left out as repeating others may miss. The joints of
 * a document fit to 1e-6, and at index 2 positions drift. */
static const double may_part = 1e-5, may_slip = 1e-3;

/* four lanes hide the latency of the sums */
static double norm(const double *x, int32_t n)
{
    double sum[4] = {0., 0., 0., 0.};
    int32_t i = 0;

    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += x[i + k] * x[i + k];
        }
    }
    for (; i < n; i++) {
        sum[0] += x[i] * x[i];
    }
    return sqrt(sum[0] + sum[1] + (sum[2] + sum[3]));
}

/* a_p, and v and the motion d as far as they are known, with v̇ as it was */
static void predict(struct alpha *s, struct mech_state *state, double h)
{
    const struct mech_alpha_parameters p = s->p;
    const double share = (1. - p.alpha_f) / (1. - p.alpha_m);
    const double from_vdot = p.alpha_f / (1. - p.alpha_m), from_a = p.alpha_m / (1. - p.alpha_m);

    const double of_a = mech_alpha_end(p) - p.beta;
    double *restrict const a_p = s->a_p, *restrict const d = s->d, *restrict const v = state->v;
    const double *restrict const vdot = state->vdot, *restrict const a = state->a;

    for (int32_t i = 0; i < s->nv; i++) {
        const double ap = from_vdot * vdot[i] - from_a * a[i], end = ap + share * vdot[i];

        a_p[i] = ap;
        d[i] = h * v[i] + h * h * (of_a * a[i] + p.beta * end);
        v[i] += h * ((1. - p.gamma) * a[i] + p.gamma * end);
    }
    if (s->q_n) {
        memcpy(s->q_n, state->q, (size_t)mech_model_sizes(s->model)->q * sizeof *s->q_n);
    }
    mech_model_move(s->model, state->q, s->d, state->q);
}

static bool by_rate(const struct alpha *s, int32_t row)
{
    return s->p.index2 || mech_model_joints(s->model)->velocity[row];
}

/* g of all rows: positions or velocities */
static void joint_equations(struct alpha *s, const struct mech_state *state, double t, double *g)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e = mech_model_point(s->model, state, t, state->q, state->v);

    if (!s->p.index2) {
        mech_model_joint_residual(s->model, &e, g);
    }
    if (s->p.index2 || rows->nonholonomic) {
        mech_model_joint_rate(s->model, &e, s->gt, s->bias);
        mech_model_joint_jacobian(s->model, s->saddle.g);
        for (int32_t r = 0; r < s->rows; r++) {
            if (!by_rate(s, r)) {
                continue;
            }
            g[r] = s->gt[r];
            for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
                g[r] += s->saddle.g[k] * state->v[rows->column[k]];
            }
        }
    }
    s->missed = 0.;
    for (int32_t r = 0; r < s->rows && rows->partial; r++) {
        if (state->open[r] == 0.) {
            continue;
        }
        const double may = by_rate(s, r) ? may_slip : may_part;
        const bool released = rows->released && rows->released[r];
        if (rows->dropped && rows->dropped[r] && !released && fabs(g[r]) > s->missed * may) {
            s->missed = fabs(g[r]) / may;
            s->missing = r;
        }
        g[r] = 0.;
    }
}

/* r [nv], and behind it the joints' equations [rows] */
static int residual(struct alpha *s, struct mech_state *state, double t,
                    struct mech_step_result *result)
{
    const struct mech_rate_point now = {state, t, state->q, state->v, state->vdot};

    MECH_TRY(mech_rates_force_with(&s->rates, &now, state->lambda, s->r, result));
    mech_mat_mul(mech_model_linear(s->model)->M, 1., state->vdot, -1., s->r);
    if (s->rows) {
        joint_equations(s, state, t, s->r + s->nv);
    }
    return 0;
}

/* Sizes of the forces' residual, the positions' and the velocities', each in its own unit. */
static void sizes_of(const struct alpha *s, double size[3])
{
    double sum[2] = {0., 0.};

    size[0] = norm(s->r, s->nv);
    if (!mech_model_joints(s->model)->nonholonomic) {
        const double of_rows = norm(s->r + s->nv, s->rows);

        size[1] = s->p.index2 ? 0. : of_rows;
        size[2] = s->p.index2 ? of_rows : 0.;
        return;
    }
    for (int32_t r = 0; r < s->rows; r++) {
        sum[by_rate(s, r)] += s->r[s->nv + r] * s->r[s->nv + r];
    }
    size[1] = sqrt(sum[0]);
    size[2] = sqrt(sum[1]);
}

/* x = −(Newton's change) into q, v, v̇, λ */
static void take(struct alpha *s, struct mech_state *state, const double w[3])
{
    double *restrict const d = s->d, *restrict const v = state->v;
    double *restrict const vdot = state->vdot, *restrict const q = state->q;
    const double *restrict const r = s->r;

    for (int32_t i = 0; i < s->nv; i++) {
        d[i] -= r[i];
        v[i] -= w[1] * r[i];
        vdot[i] -= w[0] * r[i];
    }
    if (s->q_n) {
        mech_model_move(s->model, s->q_n, s->d, state->q);
    } else {
        for (int32_t i = 0; i < s->nv; i++) {
            q[i] -= r[i];
        }
    }
    for (int32_t i = 0; i < s->rows; i++) {
        state->lambda[i] += w[0] * r[s->nv + i];
    }
}

/* A row that depended on others where the model began does not any more. */
static int no_longer_repeats(const struct alpha *s, struct mech_step_result *result)
{
    snprintf(result->reason, sizeof result->reason,
             "the joint \"%.64s\" was left out as it repeated others, and now misses by %.3g",
             mech_model_joint_name(s->model, s->missing),
             s->missed * (by_rate(s, s->missing) ? may_slip : may_part));
    return MECH_SINGULAR;
}

static int not_finite(const struct alpha *s, const struct mech_state *state, double t,
                      struct mech_step_result *result)
{
    const struct mech_eval e = mech_model_point(s->model, state, t, state->q, state->v);

    mech_model_tell_infinite(s->model, &e, result->reason, sizeof result->reason);
    return MECH_NOT_FINITE;
}

/* The reason names the item where most of the residual is. */
static int not_converged(const struct alpha *s, int32_t iterations, double wanted,
                         struct mech_step_result *result)
{
    int32_t worst = 0;

    for (int32_t i = 1; i < s->nv + s->rows; i++) {
        worst = fabs(s->r[i]) > fabs(s->r[worst]) ? i : worst;
    }
    snprintf(result->reason, sizeof result->reason,
             "Newton's method stopped after %d iterations with residual %.3g, wanted %.3g, most of"
             " it at \"%.48s\"",
             (int)iterations, result->residual, wanted,
             worst < s->nv ? mech_model_owner_name(s->model, worst)
                           : mech_model_joint_name(s->model, worst - s->nv));
    return MECH_NOT_CONVERGED;
}

/* r by the units of the matrix. */
static void scale(struct alpha *s, const double w[3])
{
    const bool some = s->p.index2 || mech_model_joints(s->model)->nonholonomic;

    for (int32_t i = 0; i < s->nv; i++) {
        s->r[i] /= w[0];
    }
    for (int32_t r = 0; r < s->rows && some; r++) {
        s->r[s->nv + r] /= by_rate(s, r) ? w[1] : 1.;
    }
}

/* Whether the matrix of an earlier iteration will do: as fast as the last iteration came closer,
 * two more have to meet the tolerance. */
static bool fast(const double size[3], const double before[3], const double tolerance[3])
{
    for (int i = 0; i < 3; i++) {
        const double rate = size[i] / before[i];

        if (size[i] > tolerance[i] && !(size[i] * rate * rate <= tolerance[i])) {
            return false;
        }
    }
    return true;
}

/* Whether a matrix of an earlier step still does: each iteration leaves a quarter at most. */
static bool near(const double size[3], const double before[3], const double tolerance[3])
{
    for (int i = 0; i < 3; i++) {
        if (size[i] > tolerance[i] && !(size[i] <= 0.25 * before[i])) {
            return false;
        }
    }
    return true;
}

/* Whether sizes are within their tolerances, or within what rounding leaves of them. */
static int round_off(struct alpha *s, struct mech_state *state, double t, const double size[3],
                     const double tolerance[3], bool *met)
{
    double close[3] = {tolerance[0], tolerance[1], tolerance[2]};
    struct mech_arena *const scratch = mech_model_scratch(s->model);
    const struct mech_arena_mark mark = mech_arena_mark(scratch);
    const size_t n = (size_t)s->nv + (size_t)s->rows;
    struct mech_step_result ignored = {.iterations = 0};
    double *const r = mech_arena_alloc(scratch, n + 1, sizeof *r);
    int code = r ? 0 : MECH_NO_MEMORY;

    if (code == 0) {
        memcpy(r, s->r, n * sizeof *r);
    }
    for (int side = 0; side < MECH_ROUNDING_SIDES && code == 0; side++) {
        struct mech_state nudged;
        double change[3];

        code = mech_rounding_nudge(state, mech_model_sizes(s->model), side, scratch, &nudged);
        code = code ? code : residual(s, &nudged, t, &ignored);
        for (size_t i = 0; i < n && code == 0; i++) {
            s->r[i] -= r[i];
        }
        sizes_of(s, change);
        for (int i = 0; i < 3 && code == 0; i++) {
            close[i] = fmax(close[i], MECH_ROUNDING_SHARE * change[i]);
        }
    }
    /* r, the poses and what rows missed are those of the state again */
    mech_arena_release(scratch, mark);
    code = code < 0 ? code : residual(s, state, t, &ignored);
    *met = true;
    for (int i = 0; i < 3; i++) {
        *met = *met && size[i] <= close[i];
    }
    return code;
}

/* True when some size that is too large is hardly smaller than before. */
static bool stalls(const double size[3], const double before[3], const double tolerance[3])
{
    for (int i = 0; i < 3; i++) {
        if (size[i] > tolerance[i] && size[i] > 0.25 * before[i]) {
            return true;
        }
    }
    return false;
}

int mech_alpha_newton(struct alpha *s, struct mech_state *state, double h, double t,
                      struct mech_step_result *result)
{
    const struct mech_newton_settings *const newton = &mech_model_settings(s->model)->newton;
    double w[3], tolerance[3] = {0., 0., 0.}, before[3] = {0., 0., 0.};

    mech_alpha_weights(s, h, w);
    predict(s, state, h);
    for (int32_t k = 0;; k++) {
        MECH_TRY(residual(s, state, t, result));
        double size[3];
        bool met = true;

        sizes_of(s, size);
        for (int i = 0; i < 3; i++) {
            if (!isfinite(size[i])) {
                return not_finite(s, state, t, result);
            }
            tolerance[i] =
                k ? tolerance[i]
                  : fmax(newton->relative_tolerance * size[i], newton->absolute_tolerance);
            met = met && size[i] <= tolerance[i];
        }
        result->residual = fmax(size[0], fmax(size[1], size[2]));
        if (!met && k > 1 && stalls(size, before, tolerance)) {
            MECH_TRY(round_off(s, state, t, size, tolerance, &met));
        }
        /* joints ask for one iteration at least: with a small h a prediction can be so good that
         * g is within its tolerance while the multipliers are still those of the last step */
        if (met && (k > 0 || !s->rows)) {
            return s->missed > 1. ? no_longer_repeats(s, result) : 0;
        }
        if (k == newton->max_iterations ||
            (k > 0 && mech_interrupted(mech_model_interrupt(s->model)))) {
            return not_converged(s, k, fmax(tolerance[0], fmax(tolerance[1], tolerance[2])),
                                 result);
        }
        bool serves = k > 0 && (newton->modified ? near(size, before, tolerance)
                                                 : fast(size, before, tolerance));

        if (k == 0) {
            MECH_TRY(mech_alpha_kept(s, state, h, &serves, result));
        }
        if (!serves) {
            MECH_TRY(mech_alpha_factor(s, state, h, t, result));
        }
        memcpy(before, size, sizeof before);
        scale(s, w);
        MECH_TRY(mech_saddle_solve(&s->saddle, s->r, result));
        result->iterations++;
        take(s, state, w);
    }
}
