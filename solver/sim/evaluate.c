/* The equations at any point: left- and right-hand sides, mass, tangents, first-order form, energy.
 * Nothing here is on the step path. */
#include "solver/analysis/tangents.h"
#include "solver/base/err.h"
#include "solver/sim/internal.h"
#include "solver/step/tangent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const mech_want_names[] = {
    [MECH_WANT_LHS] = "lhs",
    [MECH_WANT_RHS] = "rhs",
    [MECH_WANT_FORCES] = "forces",
    [MECH_WANT_MASS] = "mass",
    [MECH_WANT_DFDQ] = "dFdq",
    [MECH_WANT_DFDV] = "dFdv",
    [MECH_WANT_FIRST_ORDER] = "firstOrder",
    [MECH_WANT_RHS_JACOBIAN] = "rhsJacobian",
    [MECH_WANT_CONSTRAINTS] = "constraints",
    [MECH_WANT_CONSTRAINT_JACOBIAN] = "constraintJacobian",
    [MECH_WANT_COUNT] = NULL,
};

void mech_sim_want_shape(const struct mech_sim *s, enum mech_want want, int32_t *rows,
                         int32_t *cols)
{
    const int32_t nv = s->sizes.v, all = s->sizes.q + nv + s->sizes.x;
    const bool whole = want == MECH_WANT_FIRST_ORDER || want == MECH_WANT_RHS_JACOBIAN;
    const bool joints = want == MECH_WANT_CONSTRAINTS || want == MECH_WANT_CONSTRAINT_JACOBIAN;
    const bool matrix = want == MECH_WANT_MASS || want == MECH_WANT_DFDQ ||
                        want == MECH_WANT_DFDV || want == MECH_WANT_RHS_JACOBIAN ||
                        want == MECH_WANT_CONSTRAINT_JACOBIAN;

    *rows = whole ? all : joints ? s->sizes.lambda : nv;
    *cols = !matrix ? 1 : whole ? all : nv;
}

int mech_sim_place_point(struct mech_sim *s, const struct mech_point *at)
{
    struct mech_state *const p = &s->point;
    const struct {
        const double *from;
        double *to;
        int32_t n;
    } parts[] = {{at->q, p->q, s->sizes.q},
                 {at->v, p->v, s->sizes.v},
                 {at->x, p->x, s->sizes.x},
                 {at->z, p->z, s->sizes.z}};

    if (isinf(at->time)) {
        return MECH_NOT_FINITE;
    }
    mech_state_copy(&s->now, p);
    p->extra = NULL;
    if (!isnan(at->time)) {
        p->at->time = at->time;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (int32_t k = 0; parts[i].from && k < parts[i].n; k++) {
            if (!isfinite(parts[i].from[k])) {
                return MECH_NOT_FINITE;
            }
            parts[i].to[k] = parts[i].from[k];
        }
    }
    return 0;
}

/* f = F − C v − K u − g at the point, into the rates' buffer */
static int force_at(struct mech_sim *s, struct mech_step_result *result)
{
    const struct mech_state *const p = &s->point;
    const struct mech_rate_point at = {p, p->at->time, p->q, p->v, NULL};

    return mech_rates_force(&s->rates, &at, s->rates.f, result);
}

static int left_hand_side(struct mech_sim *s, double *out, struct mech_step_result *result)
{
    const size_t n = (size_t)s->sizes.v;
    const double *const items = mech_model_item_force(s->model);
    double *const loads = s->rates.g;

    /* LHS = F − f − (what belongs to the objects in F) */
    MECH_TRY(force_at(s, result));
    MECH_TRY(mech_model_force(s->model, &s->point, s->point.at->time, loads));
    for (size_t i = 0; i < n; i++) {
        out[i] = loads[i] - s->rates.f[i] - items[i];
    }
    return 0;
}

/* out [n × n] by rows += scale · a, at row r0 and column c0 of a matrix with `ld` columns */
static int add_block(const struct mech_mat *a, double scale, double *out, size_t r0, size_t c0,
                     size_t ld)
{
    struct mech_arena arena;
    struct mech_triplet *t = NULL;
    size_t count = 0;

    mech_arena_init(&arena, 0);
    const int code = mech_mat_triplets(&arena, a, &t, &count);
    for (size_t k = 0; k < count && code == 0; k++) {
        out[(r0 + (size_t)t[k].row) * ld + c0 + (size_t)t[k].col] += scale * t[k].value;
    }
    mech_arena_fini(&arena);
    return code;
}

/* The requested matrix, in the arena, as sparse as it is; *scale times it is meant. */
static int matrix_of(struct mech_sim *s, enum mech_want want, struct mech_arena *arena,
                     struct mech_mat *out, double *scale)
{
    const struct mech_eval e =
        mech_model_point(s->model, &s->point, s->point.at->time, s->point.q, s->point.v);
    struct mech_slopes slopes;

    if (want == MECH_WANT_CONSTRAINT_JACOBIAN) {
        *scale = 1.;
        return mech_tangent_rows(s->model, &s->point, arena, out);
    }
    int code = mech_slopes_init(&slopes, s->model);
    if (code == 0) {
        mech_slopes_at(&slopes, &e);
        const struct mech_mat *const from = want == MECH_WANT_MASS   ? slopes.M
                                            : want == MECH_WANT_DFDQ ? slopes.K
                                                                     : slopes.C;

        *scale = want == MECH_WANT_MASS ? 1. : -1.;
        code = mech_mat_is_finite(from) ? mech_mat_copy(arena, from, out) : MECH_NOT_FINITE;
    }
    mech_slopes_fini(&slopes);
    return code;
}

int mech_sim_evaluate_sparse(struct mech_sim *s, const struct mech_point *at, enum mech_want want,
                             struct mech_arena *arena, struct mech_triplet **entries, size_t *count)
{
    struct mech_mat A;
    double scale = 1.;

    *count = 0;
    MECH_TRY(mech_sim_place_point(s, at));
    MECH_TRY(matrix_of(s, want, arena, &A, &scale));
    if (A.kind == MECH_MAT_ZERO) {
        return 0;
    }
    MECH_TRY(mech_mat_triplets(arena, &A, entries, count));
    for (size_t k = 0; k < *count; k++) {
        (*entries)[k].value *= scale;
    }
    return 0;
}

/* The same by rows at row r0 and column c0 of a matrix with `ld` columns. */
static int add_matrix(struct mech_sim *s, enum mech_want want, double *out, const size_t at[2],
                      size_t ld)
{
    struct mech_arena arena;
    struct mech_mat A;
    double scale = 1.;

    mech_arena_init(&arena, 0);
    int code = matrix_of(s, want, &arena, &A, &scale);
    if (code == 0 && A.kind != MECH_MAT_ZERO) {
        code = add_block(&A, scale, out, at[0], at[1], ld);
    }
    mech_arena_fini(&arena);
    return code;
}

static int constraints(struct mech_sim *s, double *out)
{
    const struct mech_eval e =
        mech_model_point(s->model, &s->point, s->point.at->time, s->point.q, s->point.v);

    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, out);
    return mech_sim_all_finite(out, (size_t)s->sizes.lambda) ? 0 : MECH_NOT_FINITE;
}

static int first_order(struct mech_sim *s, double *out, struct mech_step_result *result)
{
    const struct mech_state *const p = &s->point;
    const size_t nv = (size_t)s->sizes.v, nx = (size_t)s->sizes.x;
    const size_t nq = (size_t)s->sizes.q;
    const struct mech_rate_point at = {p, p->at->time, p->q, p->v, NULL};
    double *const xdot = calloc(nx + 1, sizeof *xdot);

    if (!xdot) {
        return MECH_NO_MEMORY;
    }
    mech_model_qdot(s->model, p->q, p->v, out);
    int code = mech_rates_vdot(&s->rates, &at, out + nq, result);
    code = code ? code : mech_rates_xdot(&s->rates, p, p->at->time, p->x, xdot, result);
    memcpy(out + nq + nv, xdot, nx * sizeof *out);
    free(xdot);
    return code;
}

/* [0 1 0; M⁻¹ ∂f/∂q, M⁻¹ ∂f/∂v, 0; 0 0 A] */
static int first_order_jacobian(struct mech_sim *s, double *out)
{
    const size_t nv = (size_t)s->sizes.v, nx = (size_t)s->sizes.x, ld = 2 * nv + nx;
    double *const column = calloc(nv + 1, sizeof *column);

    if (!column) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < nv; i++) {
        out[i * ld + nv + i] = 1.;
    }
    int code = add_matrix(s, MECH_WANT_DFDQ, out, (const size_t[]){nv, 0}, ld);
    code = code ? code : add_matrix(s, MECH_WANT_DFDV, out, (const size_t[]){nv, nv}, ld);
    for (size_t j = 0; j < 2 * nv && code == 0; j++) {
        if (mech_interrupted(mech_model_interrupt(s->model))) {
            code = MECH_CANCELLED;
            break;
        }
        for (size_t i = 0; i < nv; i++) {
            column[i] = out[(nv + i) * ld + j];
        }
        code = mech_lsol_solve(s->rates.mass, column, 1);
        for (size_t i = 0; i < nv; i++) {
            out[(nv + i) * ld + j] = column[i];
        }
    }
    free(column);
    return code ? code : add_block(mech_model_first_order(s->model), 1., out, 2 * nv, 2 * nv, ld);
}

/* Columns of the first-order form where shapes push each other by penalties, whose slopes are not
 * all known: to fourth order by differences. */
static int differenced_jacobian(struct mech_sim *s, double *out, struct mech_step_result *result)
{
    struct mech_state *const p = &s->point;
    const size_t nq = (size_t)s->sizes.q, nv = (size_t)s->sizes.v;
    const size_t ld = nq + nv + (size_t)s->sizes.x, moving = nq + nv;
    double *const room = calloc(4 * ld + 1, sizeof *room);
    double *const sample[] = {room, room + ld, room + 2 * ld, room + 3 * ld};
    int code = room ? 0 : MECH_NO_MEMORY;

    for (size_t j = 0; j < moving && code == 0; j++) {
        double *const at = j < nq ? p->q + j : p->v + (j - nq);
        if (mech_interrupted(mech_model_interrupt(s->model))) {
            code = MECH_CANCELLED;
            break;
        }
        const double value = *at, step = 0x1p-12 * fmax(1., exp2(ceil(log2(fabs(value)))));

        for (int k = 0; k < 4 && code == 0; k++) {
            *at = value + (k % 2 ? -step : step) / (k < 2 ? 1. : 2.);
            code = first_order(s, sample[k], result);
        }
        *at = value;
        mech_tangent_difference(sample, ld, step, room);
        for (size_t i = 0; i < moving; i++) {
            out[i * ld + j] = room[i];
        }
    }
    free(room);
    return code ? code : add_block(mech_model_first_order(s->model), 1., out, moving, moving, ld);
}

int mech_sim_need_rates(struct mech_sim *s, struct mech_step_result *result)
{
    if (!s->has_rates) {
        const int code = mech_rates_init(&s->rates, s->model, NULL, result);
        if (code) {
            mech_rates_fini(&s->rates);
            return code;
        }
        s->has_rates = true;
    }
    return 0;
}

static int rhs_jacobian(struct mech_sim *s, double *out, struct mech_step_result *result)
{
    const size_t moving = (size_t)s->sizes.q + (size_t)s->sizes.v;
    const bool curved = !mech_model_flat(s->model) || mech_model_inertia(s->model);

    if (mech_model_joints(s->model)->count == 0 && !curved) {
        return first_order_jacobian(s, out);
    }
    if (mech_model_penalty(s->model)) {
        return differenced_jacobian(s, out, result);
    }
    MECH_TRY(mech_sim_rhs_jacobian(s, out, result));
    return add_block(mech_model_first_order(s->model), 1., out, moving, moving,
                     moving + (size_t)s->sizes.x);
}

/* The requested data at s->point into out, which is zero. */
static int want_at(struct mech_sim *s, enum mech_want want, double *out)
{
    struct mech_step_result result = {.iterations = 0};
    const size_t nv = (size_t)s->sizes.v;

    MECH_TRY(mech_sim_need_rates(s, &result));
    switch (want) {
    case MECH_WANT_LHS:
        return left_hand_side(s, out, &result);
    case MECH_WANT_RHS:
    case MECH_WANT_FORCES:
        MECH_TRY(force_at(s, &result));
        memcpy(out, s->rates.f, nv * sizeof *out);
        return 0;
    case MECH_WANT_MASS:
    case MECH_WANT_DFDQ:
    case MECH_WANT_DFDV:
    case MECH_WANT_CONSTRAINT_JACOBIAN:
        return add_matrix(s, want, out, (const size_t[]){0, 0}, nv);
    case MECH_WANT_CONSTRAINTS:
        return constraints(s, out);
    case MECH_WANT_FIRST_ORDER:
        return first_order(s, out, &result);
    case MECH_WANT_RHS_JACOBIAN:
        return rhs_jacobian(s, out, &result);
    case MECH_WANT_COUNT:
        break;
    }
    return MECH_INTERNAL;
}

int mech_sim_evaluate(struct mech_sim *s, const struct mech_point *at, enum mech_want want,
                      double *out)
{
    int32_t rows, cols;

    MECH_TRY(mech_sim_place_point(s, at));
    mech_sim_want_shape(s, want, &rows, &cols);
    const size_t n = (size_t)rows * (size_t)cols;
    memset(out, 0, n * sizeof *out);
    const int found = want_at(s, want, out);
    const bool came = mech_sim_interrupted(s);
    // it may run between slices of a step, which it does not interrupt
    mech_sim_watch(s);
    if (found >= 0 && came) {
        return MECH_CANCELLED;
    }
    MECH_TRY(found);
    return mech_sim_all_finite(out, n) ? 0 : MECH_NOT_FINITE;
}

/* Of a state of the simulation; NaN: no memory. */
static double energy_of(const struct mech_sim *s, const struct mech_state *state)
{
    const struct mech_eval e =
        mech_model_point(s->model, state, state->at->time, state->q, state->v);

    return mech_model_energy(s->model, &e);
}

double mech_sim_energy(const struct mech_sim *s)
{
    return energy_of(s, &s->now);
}

double mech_sim_trial_energy(const struct mech_sim *s)
{
    return s->command.rebuilt ? s->trial_energy : energy_of(s, &s->next);
}
