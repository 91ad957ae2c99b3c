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
 * are open ask for nothing and keep λ = 0.
 *
 * It stops by what balances in each equation (balance.h): a residual within relativeTolerance of
 * that gets one correction more, by the matrix in use, which is not looked at: it leaves as much
 * less as the one before. Where nothing is left but some rounding, no correction follows. Where
 * iterations come no closer, the rounding that nudges of all numbers show is close enough. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/alpha_internal.h"

#include <math.h>
#include <string.h>

/* What rows that were left out as repeating others may slip, of the speeds in them: at index 2
 * positions drift. And of the lengths in them in a step: rounding, where nothing moves. */
static const double may_slip = 1e-3, rounds = 0x1p-42;

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

/* How far a row that was left out may be off; G of rows at velocity level is in the saddle's g. */
static double may_miss(const struct alpha *s, const struct mech_state *state, int32_t row)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const double h = mech_model_settings(s->model)->step_size;
    double speeds = fabs(s->gt[row]);

    if (!by_rate(s, row)) {
        return s->balance.gap[row];
    }
    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        speeds += fabs(s->saddle.g[k] * state->v[rows->column[k]]);
    }
    return may_slip * speeds + rounds * s->balance.L_first[row] / h;
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
        const bool released = rows->released && rows->released[r];
        const bool dropped = rows->dropped && rows->dropped[r] && !released;
        const double may = dropped ? may_miss(s, state, r) : 0.;

        if (dropped && fabs(g[r]) > s->missed * may) {
            s->missed = fabs(g[r]) / may;
            s->missed_by = fabs(g[r]);
            s->missing = r;
        }
        g[r] = 0.;
    }
}

/* r [nv], and behind it the joints' equations [rows]; F and f of it stay for the sizes */
static int residual(struct alpha *s, struct mech_state *state, double t,
                    struct mech_step_result *result)
{
    struct mech_eval e = mech_model_point(s->model, state, t, state->q, state->v);
    const size_t bytes = (size_t)s->nv * sizeof *s->r;

    MECH_TRY(mech_step_force(s->model, state, t, s->r, result));
    memcpy(s->outer, s->r, bytes);
    e.lambda = state->lambda;
    e.vdot = state->vdot;
    mech_model_resist(s->model, &e, s->rates.u, s->r);
    memcpy(s->force, s->r, bytes);
    mech_mat_mul(mech_model_linear(s->model)->M, 1., state->vdot, -1., s->r);
    if (s->rows) {
        joint_equations(s, state, t, s->r + s->nv);
    }
    return 0;
}

/* --- residuals -------------------------------------------------------------------------------- */

static struct mech_balance_parts parts_of(const struct alpha *s)
{
    return (struct mech_balance_parts){
        .F = s->outer, .f = s->force, .inert = s->r, .r = s->r, .h = 1.};
}

/* What may be left of each equation, by what balances at the last residual; G is that of the last
 * factors. */
static void take_sizes(struct alpha *s, const struct mech_state *state, const double w[3])
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_balance_parts parts = parts_of(s);
    struct mech_balance *const b = &s->balance;

    mech_balance_parts(b, &parts);
    mech_balance_tolerate(b);
    for (int speeds = 0; speeds < 2 && s->rows; speeds++) {
        if (speeds ? !s->p.index2 && !rows->nonholonomic : s->p.index2) {
            continue;
        }
        const double share = (speeds ? w[1] : 1.) / w[0];

        mech_balance_motion(b, state->vdot, speeds ? state->v : NULL,
                            (const double[3]){share, 1., share});
        for (int32_t r = 0; r < s->rows; r++) {
            if (by_rate(s, r) == speeds) {
                mech_balance_speed(b, r, speeds);
                mech_balance_row(b, r, s->saddle.g);
            }
        }
    }
    if (s->rows) {
        mech_balance_tolerate_rows(b);
    }
}

/* The largest of r over what may be left; at most 1: met. */
static double over(const struct alpha *s, const double *r)
{
    const double *restrict const weight = s->balance.row_weight, *restrict const g = r + s->nv;
    double most = mech_balance_over(&s->balance, r);

    for (int32_t k = 0; k < s->rows; k++) {
        const double left = fabs(g[k]) * weight[k];

        most = left > most ? left : most;
    }
    return most;
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
    mech_text_format(
        result->reason, sizeof result->reason,
        "equations of the joint \"%.64s\" that were left out as repetitions are now violated "
        "by %.3g",
        mech_model_joint_name(s->model, s->missing), s->missed_by);
    return MECH_SINGULAR;
}

static int not_finite(const struct alpha *s, const struct mech_state *state, double t,
                      struct mech_step_result *result)
{
    const struct mech_eval e = mech_model_point(s->model, state, t, state->q, state->v);

    mech_model_tell_infinite(s->model, &e, result->reason, sizeof result->reason);
    return MECH_NOT_FINITE;
}

/* How far the iterations have come. */
struct progress {
    double w[3];
    double size, before; /* residual over its tolerance: now, and an iteration ago */
    double last;         /* size from which one correction more is enough */
};

/* The reason names the item where most of the residual is. */
static int not_converged(const struct alpha *s, int32_t iterations, const struct progress *n,
                         struct mech_step_result *result)
{
    char name[32];

    result->residual = n->size * MECH_FORCES_ROUND;
    mech_balance_worst(&s->balance, s->r, name, sizeof name);
    mech_text_format(result->reason, sizeof result->reason,
                     "Newton's method stopped after %d iterations with relative residual %.3g, "
                     "wanted %.3g, most of it at \"%s\"",
                     (int)iterations, result->residual, n->last * MECH_FORCES_ROUND, name);
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
static bool fast(const struct progress *n)
{
    const double rate = n->size / n->before;

    return n->size * rate * rate <= n->last;
}

/* Whether a matrix of an earlier step still does: each iteration leaves a quarter at most. */
static bool near(const struct progress *n)
{
    return n->size <= 0.25 * n->before;
}

/* Whether the residual is at the level of rounding. */
static int round_off(struct alpha *s, struct mech_state *state, double t, double share, bool *met)
{
    struct mech_arena *const scratch = mech_model_scratch(s->model);
    const struct mech_arena_mark mark = mech_arena_mark(scratch);
    const size_t n = (size_t)s->nv + (size_t)s->rows;
    struct mech_step_result ignored = {.iterations = 0};
    double *const r = mech_arena_alloc(scratch, n + 1, sizeof *r);
    int code = r ? 0 : MECH_NO_MEMORY;

    if (code == 0) {
        memcpy(r, s->r, n * sizeof *r);
        mech_balance_still(&s->balance);
    }
    for (int side = 0; side < MECH_NUDGES && code == 0; side++) {
        struct mech_state nudged;

        code = mech_balance_nudge(&s->balance, state, side, scratch, &nudged);
        code = code ? code : residual(s, &nudged, t, &ignored);
        if (code == 0) {
            mech_balance_moved(&s->balance, s->r, r);
        }
    }
    /* r, the poses and what rows missed are those of the state again */
    mech_arena_release(scratch, mark);
    code = code < 0 ? code : residual(s, state, t, &ignored);
    *met = mech_balance_rounds(&s->balance, s->r, share, share);
    return code;
}

/* All terms and lengths one by one into the sizes. */
static void measure(struct alpha *s, const struct mech_state *state, double t)
{
    struct mech_eval e = mech_model_point(s->model, state, t, state->q, state->v);

    e.lambda = state->lambda;
    e.vdot = state->vdot;
    mech_balance_all(&s->balance, &e);
    if (s->rows) {
        mech_model_pose(s->model, &e);
        mech_balance_lengths(&s->balance);
        mech_balance_masses(&s->balance, s->saddle.g);
    }
}

/* Whether the settings count all that is left as none. */
static bool counts_as_none(const struct alpha *s)
{
    const double least = mech_model_settings(s->model)->newton.absolute_tolerance;

    for (int32_t i = 0; i < s->nv + s->rows; i++) {
        if (!(fabs(s->r[i]) <= least)) {
            return false;
        }
    }
    return true;
}

/* What is left after k iterations. */
static int judge(struct alpha *s, struct mech_state *state, double t, int32_t k, struct progress *n,
                 bool *met)
{
    /* sizes hardly change from here on */
    if (k == 1) {
        take_sizes(s, state, n->w);
    }
    n->size = over(s, s->r);
    *met = n->size <= 1.;
    if (*met) {
        return 0;
    }
    if (k == 1) {
        n->before = over(s, s->first);
    }
    if (n->size > n->last && counts_as_none(s)) {
        n->size = n->last;
    }
    if (n->size <= n->last || near(n)) {
        return 0;
    }
    if (!s->balance.whole) {
        measure(s, state, t);
        take_sizes(s, state, n->w);
        n->size = over(s, s->r);
        *met = n->size <= 1.;
    }
    return *met || n->size <= n->last || k == 1
               ? 0
               : round_off(s, state, t, n->last * MECH_FORCES_ROUND, met);
}

/* The same before the first, where no sizes are known. Joints ask for one iteration at least: with
 * a small h a prediction can be so good that g is met while the multipliers are still those of the
 * last step. */
static void judge_prediction(const struct alpha *s, struct progress *n, bool *met)
{
    const struct mech_balance_parts parts = parts_of(s);

    *met = false;
    n->size = 2. * n->last;
    if (s->rows == 0 && (counts_as_none(s) ||
                         mech_balance_within(&s->balance, &parts, n->last * MECH_FORCES_ROUND))) {
        n->size = n->last;
        *met = mech_balance_within(&s->balance, &parts, MECH_FORCES_ROUND);
    }
}

static bool is_finite(const struct alpha *s)
{
    double sum = 0.;

    for (int32_t i = 0; i < s->nv + s->rows; i++) {
        sum += 0. * s->r[i];
    }
    return sum == 0.;
}

/* Motions, poses and forces are those of the end, or a correction away that is not looked at. */
static int finish(const struct alpha *s, const struct progress *n, struct mech_step_result *result)
{
    result->residual = n->size * MECH_FORCES_ROUND;
    return s->missed > 1. ? no_longer_repeats(s, result) : 0;
}

int mech_alpha_newton(struct alpha *s, struct mech_state *state, double h, double t,
                      struct mech_step_result *result)
{
    const struct mech_newton_settings *const newton = &mech_model_settings(s->model)->newton;
    struct progress n = {.last = fmax(newton->relative_tolerance / MECH_FORCES_ROUND, 1.)};

    mech_alpha_weights(s, h, n.w);
    mech_balance_begin(&s->balance);
    predict(s, state, h);
    for (int32_t k = 0;; k++) {
        bool met, serves = false;

        MECH_TRY(residual(s, state, t, result));
        if (!is_finite(s)) {
            return not_finite(s, state, t, result);
        }
        if (k == 0) {
            judge_prediction(s, &n, &met);
        } else {
            MECH_TRY(judge(s, state, t, k, &n, &met));
        }
        const bool last = n.size <= n.last;

        if (met || (last && k == newton->max_iterations)) {
            return finish(s, &n, result);
        }
        if (k == newton->max_iterations ||
            (k > 0 && mech_interrupted(mech_model_interrupt(s->model)))) {
            return not_converged(s, k, &n, result);
        }
        if (k == 0) {
            memcpy(s->first, s->r, (size_t)(s->nv + s->rows) * sizeof *s->r);
            MECH_TRY(mech_alpha_kept(s, state, h, &serves, result));
        } else {
            serves = last || (newton->modified ? near(&n) : fast(&n));
        }
        if (!serves) {
            MECH_TRY(mech_alpha_factor(s, state, h, t, result));
        }
        n.before = n.size;
        scale(s, n.w);
        MECH_TRY(mech_saddle_solve(&s->saddle, s->r, result));
        result->iterations++;
        take(s, state, n.w);
        if (last) {
            return finish(s, &n, result);
        }
    }
}
