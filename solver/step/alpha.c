/* Generalized-α for M v̇ + C v + K (q − q_ref) + g(q, v, t) = F(t), forces taken at t + h:
 *
 *   predict  a_p = (α_f v̇ − α_m a)/(1 − α_m);  q += h v + h²(½ − β) a + h²β a_p
 *            v += h(1 − γ) a + hγ a_p;  v̇ = 0
 *   newton   W Δq = −r,  W = c M + γ/(hβ) (C + ∂g/∂v) + K + ∂g/∂q,  c = (1 − α_m)/(h²β(1 − α_f))
 *            q += Δq,  v += γ/(hβ) Δq,  v̇ += c Δq
 *   end      a = a_p + (1 − α_f)/(1 − α_m) v̇
 *
 * A linear model needs one solve with factors kept for h, and no residual after it. A nonlinear one
 * starts from the last v̇ (q and v shifted to match), which saves iterations and has the same
 * solution. First-order states by the trapezoidal rule: (1 − h/2 A) x₁ = x₀ + h/2 (A x₀ + r₀ + r₁).
 * A step at the end of which the residual is met costs no more than that. */
#include "solver/step/alpha.h"

#include "solver/base/err.h"
#include "solver/step/rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct alpha {
    const struct mech_model *model;
    struct mech_alpha_parameters p;
    struct mech_rates rates; /* M alone: the start */
    struct mech_arena arena;
    /* velocities */
    int32_t nv;
    struct mech_mat W;
    struct mech_lsol *solver;
    int32_t *places; /* of the tangents in W */
    double *linear;  /* values of W without tangents, nonlinear models */
    size_t stored;
    double h;            /* W is formed for this step; 0: not yet */
    double *r, *a_p, *u; /* [nv + 1] */
    /* first-order states */
    int32_t nx;
    struct mech_mat X;   /* 1 − h/2 A */
    struct mech_mat one; /* unit matrix [nx × nx] */
    struct mech_lsol *x_solver;
    double *rate; /* [nx + 1] */
};

void mech_alpha_check(const struct mech_model *m, struct mech_diag *d)
{
    if (mech_model_contacts(m)->count > 0) {
        mech_diag_add(d, "/solver/integrator",
                      "a smooth scheme takes no interactions; use MoreauJean");
    }
}

/* Factors of M, C, K (and the pattern) in W for a step size. */
static void weights(const struct alpha *s, double h, double w[4])
{
    w[0] = (1. - s->p.alpha_m) / (h * h * s->p.beta * (1. - s->p.alpha_f));
    w[1] = s->p.gamma / (h * s->p.beta);
    w[2] = 1.;
    w[3] = 0.;
}

/* W, its solver and the places of the tangents. */
static int create_velocities(struct alpha *s, const char *linear)
{
    const struct mech_linear_part *const part = mech_model_linear(s->model);
    const struct mech_mat *const pattern = mech_model_pattern(s->model);
    const struct mech_mat *const terms[] = {part->M, part->C, part->K, pattern};
    const bool nonlinear = !mech_model_is_linear(s->model);
    const size_t n = (size_t)s->nv + 1;
    double w[4];

    weights(s, mech_model_settings(s->model)->step_size, w);
    w[3] = 1.; /* so that no entry of the pattern is missed */
    MECH_TRY(mech_mat_sum(&s->arena, nonlinear ? 4 : 3, w, terms, &s->W));
    s->stored = mech_mat_stored(&s->W);
    double *const values = mech_arena_alloc(&s->arena, s->stored + 1, sizeof *values);
    s->linear = mech_arena_alloc(&s->arena, s->stored + 1, sizeof *s->linear);
    s->r = mech_arena_alloc(&s->arena, n, sizeof *s->r);
    s->a_p = mech_arena_alloc(&s->arena, n, sizeof *s->a_p);
    s->u = mech_arena_alloc(&s->arena, n, sizeof *s->u);
    if (!values || !s->linear || !s->r || !s->a_p || !s->u) {
        return MECH_NO_MEMORY;
    }
    /* one more value: where tangents of the ground go */
    if (s->stored) {
        memcpy(values, s->W.values, s->stored * sizeof *values);
    }
    s->W.values = values;
    if (nonlinear) {
        MECH_TRY(mech_model_places(s->model, &s->arena, &s->W, &s->places));
    }
    return s->nv ? mech_lsol_create(linear, &s->W, &s->solver) : 0;
}

static int create_states(struct alpha *s)
{
    const struct mech_mat *const A = mech_model_first_order(s->model);
    const struct mech_mat *const terms[] = {&s->one, A};
    const double w[] = {1., -0.5 * mech_model_settings(s->model)->step_size};
    struct mech_triplet *const t = mech_arena_alloc(&s->arena, (size_t)s->nx, sizeof *t);

    s->rate = mech_arena_alloc(&s->arena, (size_t)s->nx + 1, sizeof *s->rate);
    if (!t || !s->rate) {
        return MECH_NO_MEMORY;
    }
    if (s->nx == 0) {
        return 0;
    }
    for (int32_t i = 0; i < s->nx; i++) {
        t[i] = (struct mech_triplet){i, i, 1.};
    }
    MECH_TRY(mech_mat_from_triplets(&s->arena, s->nx, s->nx, t, (size_t)s->nx, &s->one));
    MECH_TRY(mech_mat_sum(&s->arena, 2, w, terms, &s->X));
    return mech_lsol_create(NULL, &s->X, &s->x_solver);
}

int mech_alpha_create(const struct mech_model *m, struct mech_alpha_parameters p,
                      struct mech_step_result *result, void **self)
{
    struct alpha *const s = calloc(1, sizeof *s);
    const char *const linear = mech_model_settings(m)->linear;

    *self = NULL;
    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->model = m;
    s->p = p;
    s->nv = mech_model_sizes(m)->v;
    s->nx = mech_model_sizes(m)->x;
    mech_arena_init(&s->arena, 0);
    int code = mech_rates_init(&s->rates, m, linear, result);
    code = code ? code : create_velocities(s, linear);
    code = code ? code : create_states(s);
    if (code) {
        mech_alpha_destroy(s);
        return code;
    }
    *self = s;
    return 0;
}

void mech_alpha_destroy(void *self)
{
    struct alpha *const s = self;

    if (s) {
        mech_rates_fini(&s->rates);
        mech_lsol_destroy(s->solver);
        mech_lsol_destroy(s->x_solver);
        mech_arena_fini(&s->arena);
        free(s);
    }
}

const char *mech_alpha_linear(const void *self)
{
    const struct alpha *const s = self;

    return s->solver ? mech_lsol_name(s->solver) : s->x_solver ? mech_lsol_name(s->x_solver) : "";
}

int mech_alpha_start(void *self, struct mech_state *state, struct mech_step_result *result)
{
    struct alpha *const s = self;

    return mech_rates_start(&s->rates, state, result);
}

/* --- matrices --------------------------------------------------------------------------------- */

static int factor(struct alpha *s, struct mech_step_result *result)
{
    return mech_linear_outcome(s->model, "iteration matrix", s->solver,
                               mech_lsol_factor(s->solver, &s->W), result);
}

/* r := W⁻¹ r */
static int solve(struct alpha *s, double *r, struct mech_step_result *result)
{
    return mech_linear_outcome(s->model, "iteration matrix", s->solver,
                               mech_lsol_solve(s->solver, r, 1), result);
}

/* W and X for a step size; what is linear stays until h changes. */
static int form(struct alpha *s, double h, struct mech_step_result *result)
{
    const struct mech_linear_part *const part = mech_model_linear(s->model);
    const struct mech_mat *const terms[] = {part->M, part->C, part->K,
                                            mech_model_pattern(s->model)};
    const bool nonlinear = !mech_model_is_linear(s->model);
    double w[4];

    if (h == s->h) {
        return 0;
    }
    s->h = 0.;
    if (s->nv) {
        weights(s, h, w);
        mech_mat_sum_again(nonlinear ? 4 : 3, w, terms, &s->W);
        if (nonlinear) {
            memcpy(s->linear, s->W.values, s->stored * sizeof *s->linear);
        } else {
            MECH_TRY(factor(s, result));
        }
    }
    if (s->nx) {
        const struct mech_mat *const x_terms[] = {&s->one, mech_model_first_order(s->model)};
        const double x_w[] = {1., -0.5 * h};

        mech_mat_sum_again(2, x_w, x_terms, &s->X);
        const int code = mech_lsol_factor(s->x_solver, &s->X);
        if (code) {
            snprintf(result->reason, sizeof result->reason,
                     "the matrix of the first-order states is singular");
            return code;
        }
    }
    s->h = h;
    return 0;
}

/* W with the tangents at the state. */
static int form_tangent(struct alpha *s, const struct mech_state *state, double t,
                        struct mech_step_result *result)
{
    const struct mech_eval e = mech_model_point(s->model, t, state->q, state->v);
    double w[4];

    weights(s, s->h, w);
    memcpy(s->W.values, s->linear, s->stored * sizeof *s->linear);
    mech_model_tangent(s->model, &e, (const double[2]){1., w[1]}, s->places, s->W.values);
    return factor(s, result);
}

/* --- one step --------------------------------------------------------------------------------- */

static double norm(const double *x, int32_t n)
{
    double sum = 0.;

    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

/* a_p, and q and v as far as they are known */
static void predict(struct alpha *s, struct mech_state *state, double h)
{
    const struct mech_alpha_parameters p = s->p;
    const double from_vdot = p.alpha_f / (1. - p.alpha_m), from_a = p.alpha_m / (1. - p.alpha_m);
    const double q_a = h * h * (0.5 - p.beta), q_p = h * h * p.beta;
    const double v_a = h * (1. - p.gamma), v_p = h * p.gamma;
    double *restrict const q = state->q, *restrict const v = state->v;
    const double *restrict const vdot = state->vdot, *restrict const a = state->a;
    double *restrict const a_p = s->a_p;

    for (int32_t i = 0; i < s->nv; i++) {
        const double ap = from_vdot * vdot[i] - from_a * a[i];

        a_p[i] = ap;
        q[i] += h * v[i] + q_a * a[i] + q_p * ap;
        v[i] += v_a * a[i] + v_p * ap;
    }
}

/* q, v += what a given v̇ at the end adds to the prediction; v̇ itself is set by the caller */
static void add_acceleration(const struct alpha *s, struct mech_state *state, double h)
{
    const double share = (1. - s->p.alpha_f) / (1. - s->p.alpha_m);
    const double to_q = h * h * s->p.beta * share, to_v = h * s->p.gamma * share;

    for (int32_t i = 0; i < s->nv; i++) {
        state->q[i] += to_q * state->vdot[i];
        state->v[i] += to_v * state->vdot[i];
    }
}

/* r = M v̇ − (F − C v − K u − g) */
static int residual(struct alpha *s, struct mech_state *state, double t,
                    struct mech_step_result *result)
{
    const struct mech_rate_point now = {state, t, state->q, state->v};

    MECH_TRY(mech_rates_force(&s->rates, &now, s->r, result));
    mech_mat_mul(mech_model_linear(s->model)->M, 1., state->vdot, -1., s->r);
    return 0;
}

/* Newton's method from the last v̇. */
static int iterate(struct alpha *s, struct mech_state *state, double h, double t,
                   struct mech_step_result *result)
{
    const struct mech_newton_settings *const newton = &mech_model_settings(s->model)->newton;
    double w[4], tolerance = 0.;

    weights(s, h, w);
    add_acceleration(s, state, h);
    for (int32_t k = 0;; k++) {
        MECH_TRY(residual(s, state, t, result));
        result->residual = norm(s->r, s->nv);
        if (k == 0) {
            tolerance =
                fmax(newton->relative_tolerance * result->residual, newton->absolute_tolerance);
        }
        if (!isfinite(result->residual)) {
            snprintf(result->reason, sizeof result->reason,
                     "the residual of \"%.64s\" or a neighbor "
                     "is not finite",
                     mech_model_nonlinear_name(s->model));
            return MECH_NOT_FINITE;
        }
        if (result->residual <= tolerance) {
            return 0;
        }
        if (k == newton->max_iterations) {
            snprintf(result->reason, sizeof result->reason,
                     "Newton's method stopped after %d iterations with residual %.3g, wanted %.3g",
                     (int)k, result->residual, tolerance);
            return MECH_NOT_CONVERGED;
        }
        if (k == 0 || !newton->modified) {
            MECH_TRY(form_tangent(s, state, t, result));
        }
        MECH_TRY(solve(s, s->r, result));
        result->iterations++;
        for (int32_t i = 0; i < s->nv; i++) {
            const double dq = -s->r[i];

            state->q[i] += dq;
            state->v[i] += w[1] * dq;
            state->vdot[i] += w[0] * dq;
        }
    }
}

/* The linear model's one solve, from v̇ = 0. */
static int solve_linear(struct alpha *s, struct mech_state *state, double h, double t,
                        struct mech_step_result *result)
{
    const struct mech_rate_point now = {state, t, state->q, state->v};
    double *restrict const r = s->r;
    double w[4];

    weights(s, h, w);
    MECH_TRY(mech_rates_force(&s->rates, &now, r, result));
    MECH_TRY(solve(s, r, result));
    for (int32_t i = 0; i < s->nv; i++) {
        state->q[i] += r[i];
        state->v[i] += w[1] * r[i];
        state->vdot[i] = w[0] * r[i];
    }
    result->iterations = 1;
    return 0;
}

/* trapezoidal rule for x */
static int step_states(struct alpha *s, struct mech_state *state, double h, double t_end,
                       struct mech_step_result *result)
{
    MECH_TRY(mech_rates_xdot(&s->rates, state, state->at->time, state->x, s->rate, result));
    for (int32_t i = 0; i < s->nx; i++) {
        state->x[i] += 0.5 * h * s->rate[i];
    }
    if (mech_model_rate(s->model, state, t_end, s->rate)) {
        mech_model_blame(s->model, state, t_end, result->reason, sizeof result->reason);
        return MECH_NOT_FINITE;
    }
    for (int32_t i = 0; i < s->nx; i++) {
        state->x[i] += 0.5 * h * s->rate[i];
    }
    return mech_lsol_solve(s->x_solver, state->x, 1);
}

int mech_alpha_step(void *self, struct mech_state *state, double h, double t_end,
                    struct mech_step_result *result)
{
    struct alpha *const s = self;

    MECH_TRY(form(s, h, result));
    if (s->nv) {
        const double share = (1. - s->p.alpha_f) / (1. - s->p.alpha_m);

        predict(s, state, h);
        MECH_TRY(mech_model_is_linear(s->model) ? solve_linear(s, state, h, t_end, result)
                                                : iterate(s, state, h, t_end, result));
        for (int32_t i = 0; i < s->nv; i++) {
            state->a[i] = s->a_p[i] + share * state->vdot[i];
        }
    }
    return s->nx ? step_states(s, state, h, t_end, result) : 0;
}
