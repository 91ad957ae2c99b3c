/* banded: diagonal and band matrices by the loops of linalg/band.h.
 *
 * A symmetric band is first tried as positive definite without pivoting (twisted when tridiagonal);
 * when a pivot is not safely positive, and for other bands, LU with partial pivoting decides. Cost
 * of factor, per row: tridiagonal about 8 flops, LDLᵀ (p + 1)², LU 2 lower (upper + lower). */
#include "solver/base/err.h"
#include "solver/linalg/band.h"
#include "solver/lsol/lsol.h"

#include <math.h>
#include <stdlib.h>

enum method { DIAGONAL, TRIDIAGONAL, LDLT, LU };

struct banded {
    struct mech_arena arena;
    struct mech_mat shape; /* order and band; no values */
    enum method method;    /* of the last factor */
    double *l;             /* LDLT: [(n + p)(p + 1)]; TRIDIAGONAL: r [n] */
    struct mech_band_lu lu;
    double *inverse; /* [n] of the pivots */
};

static double cost(const struct mech_mat *a)
{
    const double n = a->rows;
    const double lower = a->lower;
    const double upper = a->upper;
    if (n == 0 || a->kind == MECH_MAT_DIAG) {
        return 11. * n;
    }
    if (a->kind != MECH_MAT_BAND) {
        return -1.;
    }
    return a->symmetric ? n * ((lower + 1.) * (lower + 1.) + 40. * lower + 10.)
                        : n * (2. * lower * (upper + lower) + 20. * (2. * lower + upper) + 20.);
}

static void destroy(void *self)
{
    struct banded *const b = self;
    if (b) {
        mech_arena_fini(&b->arena);
        free(b);
    }
}

static int create(const struct mech_mat *a, void **self)
{
    struct banded *const b = calloc(1, sizeof *b);
    if (!b) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&b->arena, 0);
    b->shape = *a;
    b->shape.values = NULL;
    const size_t n = (size_t)a->rows;
    const size_t lower = (size_t)a->lower;
    const size_t upper = (size_t)a->upper;
    b->inverse = mech_arena_alloc(&b->arena, n, sizeof(double));
    bool full = b->inverse;
    if (a->kind == MECH_MAT_BAND) {
        // a band is stored, so that these multiples of it do not overflow
        if (a->symmetric) {
            b->l = mech_arena_alloc(&b->arena, (n + lower) * (lower + 1), sizeof(double));
            full = full && b->l;
        }
        b->lu = (struct mech_band_lu){
            .lu = mech_arena_alloc(&b->arena, n * (2 * lower + upper + 1), sizeof(double)),
            .row = mech_arena_alloc(&b->arena, n, sizeof(double)),
            .col = mech_arena_alloc(&b->arena, n, sizeof(double)),
            .size = mech_arena_alloc(&b->arena, 2 * n, sizeof(double)),
            .pivot = mech_arena_alloc(&b->arena, n, sizeof(int32_t)),
            .inverse = b->inverse,
        };
        full = full && b->lu.lu && b->lu.row && b->lu.col && b->lu.size && b->lu.pivot;
    }
    if (!full) {
        destroy(b);
        return MECH_NO_MEMORY;
    }
    *self = b;
    return 0;
}

/* Every entry is its own column: only 0, or what has no finite inverse, is singular. */
static int32_t invert_diagonal(size_t n, const double *a, double *inverse)
{
    for (size_t i = 0; i < n; i++) {
        inverse[i] = 1. / a[i];
        if (!isfinite(inverse[i])) {
            return (int32_t)i;
        }
    }
    return -1;
}

static int factor(void *self, const struct mech_mat *a, int32_t *where)
{
    struct banded *const b = self;
    const size_t n = (size_t)a->rows;
    int32_t bad = -1;
    if (n == 0) {
        b->method = DIAGONAL;
    } else if (a->kind == MECH_MAT_DIAG || (a->lower == 0 && a->upper == 0)) {
        b->method = DIAGONAL;
        bad = invert_diagonal(n, a->values, b->inverse);
    } else {
        bool definite = false;
        if (a->symmetric && a->lower == 1) {
            b->method = TRIDIAGONAL;
            definite = mech_tridiagonal_factor(a->rows, a->values + n, a->values + 2 * n, b->l,
                                               b->inverse) < 0;
        } else if (a->symmetric) {
            b->method = LDLT;
            definite = mech_band_ldlt_factor(a, b->l) < 0;
        }
        if (!definite) {
            b->method = LU;
            bad = mech_band_lu_factor(a, &b->lu);
        }
    }
    *where = bad;
    return bad < 0 ? 0 : MECH_SINGULAR;
}

static int solve(void *self, double *x, int32_t count)
{
    const struct banded *const b = self;
    const size_t n = (size_t)b->shape.rows;
    for (int32_t k = 0; k < count; k++, x += n) {
        switch (b->method) {
        case DIAGONAL:
            for (size_t i = 0; i < n; i++) {
                x[i] *= b->inverse[i];
            }
            break;
        case TRIDIAGONAL:
            mech_tridiagonal_solve(b->shape.rows, b->l, b->inverse, x);
            break;
        case LDLT:
            mech_band_ldlt_solve(b->shape.rows, b->shape.lower, b->l, x);
            break;
        case LU:
            mech_band_lu_solve(&b->shape, &b->lu, x);
            break;
        }
    }
    return 0;
}

const struct mech_lsol_type mech_lsol_banded = {
    .name = "banded",
    .doc = "diagonal and band matrices: twisted LDLᵀ, LDLᵀ, or LU with partial pivoting",
    .cost = cost,
    .create = create,
    .factor = factor,
    .solve = solve,
    .destroy = destroy,
};
