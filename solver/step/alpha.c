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
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/alpha_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mech_alpha_check(const struct mech_model *m, struct mech_diag *d)
{
    if (mech_model_contacts(m)->count > 0) {
        mech_diag_add(
            d, "/solver/integrator",
            "an integrator for smooth motion does not support interactions; use MoreauJean");
    }
}

void mech_alpha_check_damped(const struct mech_model *m, struct mech_diag *d)
{
    mech_alpha_check(m, d);
    const struct mech_joint_rows *const rows = mech_model_joints(m);
    if (rows->count > rows->released_count && mech_model_settings(m)->spectral_radius >= 1.) {
        mech_diag_add(d, "/solver/spectralRadius",
                      "joints need less than 1; without damping use TrapezoidalIndex2");
    }
}

void mech_alpha_weights(const struct alpha *s, double h, double w[3])
{
    w[0] = (1. - s->p.alpha_m) / (h * h * s->p.beta * (1. - s->p.alpha_f));
    w[1] = s->p.gamma / (h * s->p.beta);
    w[2] = 1.;
}

/* Vectors, and W with its solver. */
static int create_velocities(struct alpha *s, const char *linear, struct mech_step_result *result)
{
    const struct mech_linear_part *const part = mech_model_linear(s->model);
    const struct mech_mat *const terms[] = {part->M, part->C, part->K};
    const size_t n = (size_t)s->nv + 1, rows = (size_t)s->rows;
    double w[3];

    s->r = mech_arena_alloc(&s->arena, n + rows, sizeof *s->r);
    s->a_p = mech_arena_alloc(&s->arena, n, sizeof *s->a_p);
    s->d = mech_arena_alloc(&s->arena, n, sizeof *s->d);
    s->gt = mech_arena_alloc(&s->arena, rows + 1, sizeof *s->gt);
    s->bias = mech_arena_alloc(&s->arena, rows + 1, sizeof *s->bias);
    if (!s->r || !s->a_p || !s->d || !s->gt || !s->bias) {
        return MECH_NO_MEMORY;
    }
    if (!mech_model_flat(s->model)) {
        s->q_n =
            mech_arena_alloc(&s->arena, (size_t)mech_model_sizes(s->model)->q + 1, sizeof *s->q_n);
        if (!s->q_n) {
            return MECH_NO_MEMORY;
        }
    }
    if (s->nv == 0) {
        return 0;
    }
    if (!mech_model_is_linear(s->model)) {
        s->outer = mech_arena_alloc(&s->arena, 3 * n + rows, sizeof *s->outer);
        if (!s->outer) {
            return MECH_NO_MEMORY;
        }
        s->force = s->outer + n;
        s->first = s->force + n;
        MECH_TRY(mech_balance_init(&s->balance, s->model, &s->arena));
        return mech_saddle_init(&s->saddle, s->model, linear, true, result);
    }
    mech_alpha_weights(s, mech_model_settings(s->model)->step_size, w);
    MECH_TRY(mech_mat_sum(&s->arena, 3, w, terms, &s->W));
    const int code = mech_lsol_create(linear, &s->W, &s->solver);
    if (code == MECH_UNSUPPORTED) {
        mech_linear_unsuited(linear, "iteration matrix", result);
    }
    if (code == 0) {
        mech_lsol_listen(s->solver, mech_model_interrupt(s->model));
    }
    return code;
}

static int create_states(struct alpha *s)
{
    const struct mech_mat *const A = mech_model_first_order(s->model);
    const struct mech_mat *const terms[] = {&s->one, A};
    const double w[] = {1., -mech_alpha_end(s->p) * mech_model_settings(s->model)->step_size};

    s->rate = mech_arena_alloc(&s->arena, (size_t)s->nx + 1, sizeof *s->rate);
    if (!s->rate) {
        return MECH_NO_MEMORY;
    }
    if (s->nx == 0) {
        return 0;
    }
    MECH_TRY(mech_mat_identity(&s->arena, s->nx, &s->one));
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
    s->rows = mech_model_joints(m)->count;
    mech_arena_init(&s->arena, 0);
    int code = mech_rates_init(&s->rates, m, linear, result);
    code = code ? code : create_velocities(s, linear, result);
    code = code ? code : create_states(s);
    code = code ? code : mech_alpha_sided_init(s);
    code = code ? code : mech_alpha_kept_init(s);
    code = code ? code : mech_alpha_substeps_init(s);
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
        mech_saddle_fini(&s->saddle);
        mech_lsol_destroy(s->x_solver);
        mech_substeps_fini(&s->substeps);
        mech_arena_fini(&s->arena);
        free(s);
    }
}

const char *mech_alpha_linear(const void *self)
{
    const struct alpha *const s = self;

    if (s->saddle.solver) {
        return mech_saddle_linear(&s->saddle);
    }
    const struct mech_lsol *const used = s->solver ? s->solver : s->x_solver;

    return used ? mech_lsol_name(used) : "";
}

/* v := the nearest that the joints allow, where the settings ask for it. The time is t. */
static int project(struct alpha *s, struct mech_state *state, double t,
                   struct mech_step_result *result)
{
    const double before = state->at->time;

    if (!s->rows || !mech_model_settings(s->model)->velocity_projection) {
        return 0;
    }
    if (!s->rates.joints) {
        mech_rates_hold(&s->rates, state, t, state->q, state->v);
        return 0;
    }
    state->at->time = t;
    const int code = mech_rates_project(&s->rates, state, result);
    state->at->time = before;
    for (int32_t i = 0; i < s->nv && code == 0; i++) {
        state->v[i] += s->rates.x[i];
    }
    return code;
}

int mech_alpha_start(void *self, struct mech_state *state, struct mech_step_result *result)
{
    struct alpha *const s = self;

    mech_alpha_kept_forget(s, state);
    MECH_TRY(project(s, state, state->at->time, result));
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
    const struct mech_mat *const terms[] = {part->M, part->C, part->K};
    double w[3];

    if (h == s->h) {
        return 0;
    }
    s->h = 0.;
    if (s->nv) {
        mech_alpha_weights(s, h, w);
        if (mech_model_is_linear(s->model)) {
            mech_mat_sum_again(3, w, terms, &s->W);
            MECH_TRY(factor(s, result));
        } else {
            mech_saddle_form(&s->saddle, (const double[3]){1., w[1] / w[0], 1. / w[0]});
        }
    }
    if (s->nx) {
        const struct mech_mat *const x_terms[] = {&s->one, mech_model_first_order(s->model)};
        const double x_w[] = {1., -mech_alpha_end(s->p) * h};

        mech_mat_sum_again(2, x_w, x_terms, &s->X);
        const int code = mech_lsol_factor(s->x_solver, &s->X);
        if (code) {
            mech_text_format(result->reason, sizeof result->reason,
                             "the matrix of the first-order states is singular");
            return code;
        }
    }
    s->h = h;
    return 0;
}

/* --- one step --------------------------------------------------------------------------------- */

/* a_p, and q and v as far as they are known */
static void predict(struct alpha *s, struct mech_state *state, double h)
{
    const struct mech_alpha_parameters p = s->p;
    const double from_vdot = p.alpha_f / (1. - p.alpha_m), from_a = p.alpha_m / (1. - p.alpha_m);
    const double q_a = h * h * (mech_alpha_end(p) - p.beta), q_p = h * h * p.beta;
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

/* The linear model's one solve, from v̇ = 0. */
static int solve_linear(struct alpha *s, struct mech_state *state, double h, double t,
                        struct mech_step_result *result)
{
    const struct mech_rate_point now = {state, t, state->q, state->v, NULL};
    double *restrict const r = s->r;
    double w[3];

    mech_alpha_weights(s, h, w);
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

/* trapezoidal rule, or implicit Euler, for x */
static int step_states(struct alpha *s, struct mech_state *state, double h, double t_end,
                       struct mech_step_result *result)
{
    const double end = mech_alpha_end(s->p) * h, start = h - end;

    MECH_TRY(mech_rates_xdot(&s->rates, state, state->at->time, state->x, s->rate, result));
    for (int32_t i = 0; i < s->nx; i++) {
        state->x[i] += start * s->rate[i];
    }
    MECH_TRY(mech_step_rate(s->model, state, t_end, s->rate, result));
    for (int32_t i = 0; i < s->nx; i++) {
        state->x[i] += end * s->rate[i];
    }
    return mech_lsol_solve(s->x_solver, state->x, 1);
}

int mech_alpha_part(struct alpha *s, struct mech_state *state, double h, double t_end,
                    struct mech_step_result *result)
{
    MECH_TRY(form(s, h, result));
    if (state->at->size != h) {
        MECH_TRY(mech_alpha_resize(s, state, h, result));
        state->at->size = h;
    }
    if (s->nv) {
        const double share = (1. - s->p.alpha_f) / (1. - s->p.alpha_m);

        if (mech_model_is_linear(s->model)) {
            predict(s, state, h);
            MECH_TRY(solve_linear(s, state, h, t_end, result));
        } else {
            MECH_TRY(mech_alpha_newton(s, state, h, t_end, result));
            MECH_TRY(project(s, state, t_end, result));
        }
        for (int32_t i = 0; i < s->nv; i++) {
            state->a[i] = s->a_p[i] + share * state->vdot[i];
        }
    }
    return s->nx ? step_states(s, state, h, t_end, result) : 0;
}

int mech_alpha_step(void *self, struct mech_state *state, double h, double t_end,
                    struct mech_step_result *result)
{
    struct alpha *const s = self;

    return mech_model_joints(s->model)->one_sided ? mech_alpha_sided(s, state, h, t_end, result)
                                                  : mech_alpha_part(s, state, h, t_end, result);
}
