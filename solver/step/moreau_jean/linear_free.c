/* Free motion of the Moreau–Jean scheme: W = M + hθC + h²θ²K factored once per h, and
 *
 *     r = h C v + h K u − h F,   u = q − q_ref + hθ v
 *
 * in one pass over memory when K (and C) is tridiagonal; otherwise one product each. Large dense
 * systems are bound by the memory that they read, so that C is kept out of the step there:
 *
 *     v_free = (1 − 1/θ) v + W⁻¹ [M v/θ + h F − h K (q − q_ref)]
 *
 * is the same, since h C v + h²θ K v = (W − M) v/θ. Its rounding is of the same order, ε ‖W‖ ‖v‖
 * beside ε h²‖K‖ ‖v‖, while 1/θ ≤ 2.
 * Cost per step: the patterns of C and K once, one solve with W.
 */
#include "solver/step/moreau_jean/linear.h"

#include "solver/base/err.h"

#include <math.h>
#include <string.h>

/* below, both matrices stay in the nearest caches */
enum { MERGED_LEAST = 64 };

int mech_free_motion_init(struct mech_free_motion *f, const struct mech_linear_part *part,
                          double theta, double h, const char *linear)
{
    *f = (struct mech_free_motion){.part = part, .theta = theta};
    mech_arena_init(&f->arena, 0);
    const size_t n = (size_t)part->nv;
    f->u = mech_arena_alloc(&f->arena, n, sizeof *f->u);
    if (!f->u) {
        return MECH_NO_MEMORY;
    }
    const double s[] = {1., h * theta, h * h * theta * theta};
    const struct mech_mat *const a[] = {part->M, part->C, part->K};
    MECH_TRY(mech_mat_sum(&f->arena, 3, s, a, &f->W));
    if (f->W.kind == MECH_MAT_DIAG) {
        f->inverse = mech_arena_alloc(&f->arena, n, sizeof *f->inverse);
        if (!f->inverse) {
            return MECH_NO_MEMORY;
        }
    }
    f->merged = part->K->kind == MECH_MAT_DENSE && part->C->kind == MECH_MAT_DENSE &&
                part->M->kind != MECH_MAT_DENSE && part->nv > MERGED_LEAST && theta >= 0.5;
    return mech_lsol_create(linear, &f->W, &f->solver);
}

void mech_free_motion_fini(struct mech_free_motion *f)
{
    mech_lsol_destroy(f->solver);
    mech_arena_fini(&f->arena);
    *f = (struct mech_free_motion){.solver = NULL};
}

int mech_free_motion_factor(struct mech_free_motion *f, double h, int32_t *where)
{
    const double s[] = {1., h * f->theta, h * h * f->theta * f->theta};
    const struct mech_mat *const a[] = {f->part->M, f->part->C, f->part->K};
    f->h = 0.;
    mech_mat_sum_again(3, s, a, &f->W);
    const int code = mech_lsol_factor(f->solver, &f->W);
    if (code != 0) {
        *where = mech_lsol_where(f->solver);
        return code;
    }
    if (f->inverse) {
        for (int32_t i = 0; i < f->part->nv; i++) {
            f->inverse[i] = 1. / f->W.values[i];
        }
    }
    f->h = h;
    return 0;
}

int mech_free_motion_solve(const struct mech_free_motion *f, double *x)
{
    if (!f->inverse) {
        return mech_lsol_solve(f->solver, x, 1);
    }
    for (int32_t i = 0; i < f->part->nv; i++) {
        x[i] *= f->inverse[i];
    }
    return 0;
}

/* --- the residual
 * ------------------------------------------------------------------------------ */

static bool is_tridiagonal(const struct mech_mat *a)
{
    return a->kind == MECH_MAT_BAND && a->lower == 1 && a->upper == 1 && a->rows >= 2;
}

/* The three diagonals of a tridiagonal matrix; below[i] = A(i, i − 1), i > 0. */
struct diagonals {
    const double *below, *main, *above;
};

static struct diagonals diagonals_of(const struct mech_mat *a)
{
    const size_t n = (size_t)a->rows;
    // a symmetric matrix is read from one array less
    return (struct diagonals){.below = a->symmetric ? a->values + 2 * n - 1 : a->values,
                              .main = a->values + n,
                              .above = a->values + 2 * n};
}

/* y_i = A(i, i − 1) x_{i−1} + A(i, i) x_i + A(i, i + 1) x_{i+1} of a row that is not inside. */
static double end_row(const struct diagonals *a, size_t n, const double *x, size_t i)
{
    const double below = i > 0 ? a->below[i] * x[i - 1] : 0.;
    const double above = i + 1 < n ? a->above[i] * x[i + 1] : 0.;
    return below + a->main[i] * x[i] + above;
}

/* r = h (K u − F) */
static void residual_k(const struct mech_free_motion *f, const double *restrict force,
                       double *restrict r)
{
    const struct diagonals k = diagonals_of(f->part->K);
    const double *restrict const below = k.below, *restrict const main = k.main,
                                 *restrict const above = k.above;
    const double *restrict const u = f->u;
    const size_t n = (size_t)f->part->nv, last = n - 1;
    const double h = f->h;
    for (size_t i = 1; i < last; i++) {
        r[i] = h * (below[i] * u[i - 1] + main[i] * u[i] + above[i] * u[i + 1] - force[i]);
    }
    r[0] = h * (end_row(&k, n, u, 0) - force[0]);
    r[last] = h * (end_row(&k, n, u, last) - force[last]);
}

/* r = h (C v + K u − F) */
static void residual_kc(const struct mech_free_motion *f, const double *restrict v,
                        const double *restrict force, double *restrict r)
{
    const struct diagonals k = diagonals_of(f->part->K), c = diagonals_of(f->part->C);
    const double *restrict const below = k.below, *restrict const main = k.main,
                                 *restrict const above = k.above;
    const double *restrict const cbelow = c.below, *restrict const cmain = c.main,
                                 *restrict const cabove = c.above;
    const double *restrict const u = f->u;
    const size_t n = (size_t)f->part->nv, last = n - 1;
    const double h = f->h;
    for (size_t i = 1; i < last; i++) {
        const double spring = below[i] * u[i - 1] + main[i] * u[i] + above[i] * u[i + 1];
        const double damper = cbelow[i] * v[i - 1] + cmain[i] * v[i] + cabove[i] * v[i + 1];
        r[i] = h * (damper + spring - force[i]);
    }
    r[0] = h * (end_row(&c, n, v, 0) + end_row(&k, n, u, 0) - force[0]);
    r[last] = h * (end_row(&c, n, v, last) + end_row(&k, n, u, last) - force[last]);
}

/* u = q − q_ref + ahead × v */
static void advance(const struct mech_free_motion *f, double ahead, const double *restrict q,
                    const double *restrict v)
{
    const double *restrict const reference = f->part->q_ref;
    double *restrict const u = f->u;
    const size_t n = (size_t)f->part->nv;
    if (!reference) {
        for (size_t i = 0; i < n; i++) {
            u[i] = q[i] + ahead * v[i];
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            u[i] = q[i] - reference[i] + ahead * v[i];
        }
    }
}

static void residual(const struct mech_free_motion *f, const double *q, const double *v,
                     const double *force, double *r)
{
    const struct mech_mat *const K = f->part->K, *const C = f->part->C;
    if (K->kind != MECH_MAT_ZERO) {
        advance(f, f->h * f->theta, q, v);
    }
    if (is_tridiagonal(K) && is_tridiagonal(C)) {
        residual_kc(f, v, force, r);
        return;
    }
    if (is_tridiagonal(K)) {
        residual_k(f, force, r);
    } else {
        for (int32_t i = 0; i < f->part->nv; i++) {
            r[i] = -f->h * force[i];
        }
        if (K->kind != MECH_MAT_ZERO) {
            mech_mat_mul(K, f->h, f->u, 1., r);
        }
    }
    if (C->kind != MECH_MAT_ZERO) {
        mech_mat_mul(C, f->h, v, 1., r);
    }
}

int mech_free_motion_velocity(const struct mech_free_motion *f, const double *q, const double *v,
                              const double *force, double *restrict dv)
{
    const size_t n = (size_t)f->part->nv;
    if (!f->merged) {
        residual(f, q, v, force, dv);
        MECH_TRY(mech_free_motion_solve(f, dv));
        for (size_t i = 0; i < n; i++) {
            dv[i] = -dv[i];
        }
        return 0;
    }
    // hC v + h²θK v = (W − M) v/θ: C is not read
    const double inverse = 1. / f->theta;
    advance(f, 0., q, v);
    for (size_t i = 0; i < n; i++) {
        dv[i] = f->h * force[i];
    }
    mech_mat_mul(f->part->K, -f->h, f->u, 1., dv);
    mech_mat_mul(f->part->M, inverse, v, 1., dv);
    MECH_TRY(mech_free_motion_solve(f, dv));
    for (size_t i = 0; i < n; i++) {
        dv[i] -= inverse * v[i];
    }
    return 0;
}
