/* Euler–Moreau time stepping of first-order systems with complementarity, relays and equalities
 * (V. Acary, O. Bonnefon, B. Brogliato, Nonsmooth Modeling and Simulation for Switched Circuits,
 * Springer 2011, chapter 4):
 *
 *     X ẋ = A x + b(t) + B λ,   y = C x + D λ + e,   a law between y and λ
 *
 *     W = X − hθA                                                     factored once per h
 *     dx_free = h W⁻¹ [A x_k + (1 − θ) b(t_k) + θ b(t_{k+1})]
 *     w = (D + hγ C W⁻¹ B) λ + C (x_k + γ dx_free) + e,    the law between w and λ
 *     x_{k+1} = x_k + dx_free + h W⁻¹ B λ
 *
 * λ is the mean over the step and has the unit that B gives it; it is in the state's `impulse`
 * and starts the next step's solution. w is y at x = γ x_{k+1} + (1 − γ) x_k, γ = relationGamma.
 * With γ = 1 laws hold at the step's end: first order, and a relay that slides stays on its surface
 * to rounding. With γ = θ = ½ passive laws neither make nor lose energy, λᵀw is what they take.
 *
 * Carried from step to step: whether b is constant, and X⁻¹b(t_k). */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/euler_moreau_rows.h"
#include "solver/step/rates.h"

#include <stdlib.h>
#include <string.h>

struct stepper {
    const struct mech_model *model;
    struct mech_arena arena; /* of X and W */
    struct mech_mat one, W;
    const struct mech_mat *X, *A;
    struct mech_lsol *solver;
    struct mech_relations relations;
    double theta, gamma, h; /* h: of W; 0: not yet */
    double *memory;
    double *next, *mean; /* [nx + 1] X⁻¹b(t_{k+1}), X⁻¹b_θ */
    double *dx, *seen;   /* [nx + 1] change of x; x that laws see */
};

static void check(const struct mech_model *m, struct mech_diag *d)
{
    const struct mech_first_order_rows *const rows = mech_model_first_order_rows(m);
    const char *const name = mech_model_settings(m)->vi.type;
    const struct mech_vi_type *const vi = name ? mech_vi_find(name) : NULL;

    if (rows->count > MECH_RELATION_ROWS_MOST) {
        mech_diag_add(d, "/interactions", "%d rows; EulerMoreau supports at most %d",
                      (int)rows->count, (int)MECH_RELATION_ROWS_MOST);
    }
    if (name && !vi) {
        mech_diag_add(d, "/solver/vi/type", "there is no complementarity solver \"%s\"", name);
    } else if (vi && !mech_relations_suit(rows, vi)) {
        mech_diag_add(d, "/solver/vi/type", "\"%s\" does not support the laws of this model: %s",
                      vi->name, vi->doc);
    }
}

/* a flag, and X⁻¹b with its last slot */
static int32_t carry(const struct mech_model *m)
{
    return mech_model_sizes(m)->x + 2;
}

static void destroy(void *self)
{
    struct stepper *const s = self;

    if (s) {
        mech_relations_fini(&s->relations);
        mech_lsol_destroy(s->solver);
        mech_arena_fini(&s->arena);
        free(s->memory);
        free(s);
    }
}

/* W and N for this h. */
static int factor(struct stepper *s, double h, struct mech_step_result *result)
{
    static const char what[] = "matrix M - h theta A";
    const double factors[] = {1., -h * s->theta};
    const struct mech_mat *const terms[] = {s->X, s->A};

    if (s->h == h || !s->solver) {
        return 0;
    }
    s->h = 0.;
    mech_mat_sum_again(2, factors, terms, &s->W);
    int code = mech_lsol_factor(s->solver, &s->W);
    if (code == MECH_SINGULAR) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the %s is singular at first-order state %d", what,
                         (int)mech_lsol_where(s->solver));
        return code;
    }
    code = code ? code : mech_relations_factor(&s->relations, s->solver, h);
    MECH_TRY(mech_linear_outcome(s->model, what, s->solver, code, result));
    s->h = h;
    return 0;
}

static int prepare(struct stepper *s, struct mech_step_result *result)
{
    const struct mech_settings *const settings = mech_model_settings(s->model);
    const size_t n = (size_t)mech_model_sizes(s->model)->x + 1;
    const double h = settings->step_size;

    s->theta = settings->theta;
    s->gamma = settings->relation_gamma;
    s->memory = calloc(4 * n, sizeof *s->memory);
    s->one = (struct mech_mat){
        .kind = MECH_MAT_DIAG, .rows = (int32_t)n - 1, .cols = (int32_t)n - 1, .symmetric = true};
    s->one.values = mech_arena_alloc(&s->arena, n, sizeof *s->one.values);
    if (!s->memory || !s->one.values) {
        return MECH_NO_MEMORY;
    }
    s->next = s->memory;
    s->mean = s->next + n;
    s->dx = s->mean + n;
    s->seen = s->dx + n;
    for (size_t i = 0; i + 1 < n; i++) {
        s->one.values[i] = 1.;
    }
    s->X = mech_model_first_order_mass(s->model, &s->A);
    s->X = s->X ? s->X : &s->one;
    MECH_TRY(mech_relations_init(&s->relations, mech_model_first_order_rows(s->model),
                                 (int32_t)n - 1, settings, mech_model_interrupt(s->model)));
    if (n == 1) {
        return 0;
    }
    const double factors[] = {1., -h * s->theta};
    const struct mech_mat *const terms[] = {s->X, s->A};
    MECH_TRY(mech_mat_sum(&s->arena, 2, factors, terms, &s->W));
    const int code = mech_lsol_create(settings->linear, &s->W, &s->solver);
    if (code == MECH_UNSUPPORTED) {
        mech_linear_unsuited(settings->linear, "matrix M - h theta A", result);
    }
    MECH_TRY(code);
    mech_lsol_listen(s->solver, mech_model_interrupt(s->model));
    return factor(s, h, result);
}

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    struct stepper *const s = calloc(1, sizeof *s);

    *self = NULL;
    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->model = m;
    mech_arena_init(&s->arena, 0);
    const int code = prepare(s, result);
    if (code) {
        destroy(s);
        return code;
    }
    *self = s;
    return 0;
}

static int start(void *self, struct mech_state *state, struct mech_step_result *result)
{
    const struct stepper *const s = self;

    state->carry[0] = mech_model_constant_force(s->model, state) ? 1. : 0.;
    return mech_step_rate(s->model, state, state->at->time, state->carry + 1, result);
}

/* dx = h W⁻¹ (A x + X r), r = X⁻¹b_θ */
static int move_freely(struct stepper *s, const double *x, const double *r)
{
    mech_mat_mul(s->X, s->h, r, 0., s->dx);
    mech_mat_mul(s->A, s->h, x, 1., s->dx);
    return mech_lsol_solve(s->solver, s->dx, 1);
}

static int solve(struct stepper *s, struct mech_state *state, const double *r,
                 struct mech_step_result *result)
{
    const size_t n = (size_t)mech_model_sizes(s->model)->x;
    double *const x = state->x;
    int code = move_freely(s, x, r);

    if (code == 0 && s->relations.rows->count > 0) {
        for (size_t i = 0; i < n; i++) {
            s->seen[i] = x[i] + s->gamma * s->dx[i];
        }
        code = mech_relations_solve(&s->relations, s->seen, state->impulse, result);
        if (code > 0 && mech_relations_conflict(&s->relations, s->model, result->reason,
                                                sizeof result->reason)) {
            return MECH_VI_NOT_CONVERGED;
        }
        if (code > 0) {
            mech_text_format(result->reason, sizeof result->reason,
                             "the multipliers of %d rows were not found (%s), residual %g",
                             (int)s->relations.count, mech_err_text(code), result->residual);
            return code;
        }
        code = code ? code : mech_relations_push(&s->relations, s->solver, s->dx);
    }
    if (code > 0) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the linear solver \"%s\" did not find the states",
                         mech_lsol_name(s->solver));
    }
    MECH_TRY(code);
    for (size_t i = 0; i < n; i++) {
        x[i] += s->dx[i];
    }
    return 0;
}

static int step(void *self, struct mech_state *state, double h, double t_end,
                struct mech_step_result *result)
{
    struct stepper *const s = self;
    const size_t n = (size_t)mech_model_sizes(s->model)->x;
    double *const now = state->carry + 1;

    MECH_TRY(factor(s, h, result));
    if (!s->solver) {
        return 0;
    }
    if (state->carry[0] != 0.) {
        return solve(s, state, now, result);
    }
    MECH_TRY(mech_step_rate(s->model, state, t_end, s->next, result));
    for (size_t i = 0; i < n; i++) {
        s->mean[i] = (1. - s->theta) * now[i] + s->theta * s->next[i];
    }
    MECH_TRY(solve(s, state, s->mean, result));
    memcpy(now, s->next, n * sizeof *now);
    return 0;
}

static const char *linear(const void *self)
{
    const struct stepper *const s = self;

    return s->solver ? mech_lsol_name(s->solver) : "";
}

static const char *vi(const void *self)
{
    const struct stepper *const s = self;

    return s->relations.type[0] ? s->relations.type[0]->name : "";
}

const struct mech_stepper_type mech_stepper_euler_moreau = {
    .name = "EulerMoreau",
    .doc = "time stepping of first-order systems with complementarity and relays (settings theta, "
           "relationGamma)",
    .order = 1,
    .nonsmooth = true,
    .first_order = true,
    .check = check,
    .carry = carry,
    .create = create,
    .start = start,
    .step = step,
    .linear = linear,
    .vi = vi,
    .destroy = destroy,
};
