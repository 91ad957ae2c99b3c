/* dense_lu: any square matrix up to order 8192, LU with partial pivoting (LAPACK dgetrf; own loops up
 * to order 8) after scaling by powers of two. Cost of factor: 2 n³/3. */
#include "solver/base/err.h"
#include "solver/linalg/dense.h"
#include "solver/linalg/pivot.h"
#include "solver/lsol/lsol.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

enum { LARGEST = 8192 };

struct dense_lu {
    struct mech_arena arena;
    int32_t n;
    bool symmetric;
    double *lu;     /* [n · n] by columns */
    double *scale;  /* [n] of the rows, and of the columns if symmetric */
    double *size;   /* [n] largest entry of each scaled column */
    int32_t *pivot; /* [n] */
};

static double cost(const struct mech_mat *a)
{
    const double n = a->rows;
    return a->rows <= LARGEST ? n * n * (2. * n / 3. + 20.) + 2. * n : -1.;
}

static void destroy(void *self)
{
    struct dense_lu *const d = self;
    if (d != NULL) {
        mech_arena_fini(&d->arena);
        free(d);
    }
}

static int create(const struct mech_mat *a, void **self)
{
    struct dense_lu *const d = calloc(1, sizeof *d);
    if (d == NULL) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&d->arena, 0);
    d->n = a->rows;
    d->symmetric = a->symmetric;
    const size_t n = (size_t)a->rows;
    d->lu = mech_arena_alloc(&d->arena, n * n, sizeof *d->lu);
    d->scale = mech_arena_alloc(&d->arena, n, sizeof *d->scale);
    d->size = mech_arena_alloc(&d->arena, n, sizeof *d->size);
    d->pivot = mech_arena_alloc(&d->arena, n, sizeof *d->pivot);
    if (d->lu == NULL || d->scale == NULL || d->size == NULL || d->pivot == NULL) {
        destroy(d);
        return MECH_NO_MEMORY;
    }
    *self = d;
    return 0;
}

static int factor(void *self, const struct mech_mat *a, int32_t *where)
{
    struct dense_lu *const d = self;
    const size_t n = (size_t)d->n;
    mech_dense_load(a, d->lu);
    mech_dense_scale(d->n, d->symmetric, d->lu, d->scale, d->size);
    if (d->n <= MECH_DENSE_SMALL) {
        *where = mech_dense_lu_factor(d->n, d->lu, d->size, d->pivot);
        return *where < 0 ? 0 : MECH_SINGULAR;
    }
    // an exact zero does not stop dgetrf; the test below finds the first column
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, d->n, d->n, d->lu, d->n, d->pivot) < 0) {
        return MECH_INTERNAL;
    }
    const double tolerance = mech_pivot_tolerance(d->n);
    for (size_t j = 0; j < n; j++) {
        if (!mech_pivot_good(fabs(d->lu[j * n + j]), tolerance * d->size[j])) {
            *where = (int32_t)j;
            return MECH_SINGULAR;
        }
    }
    return 0;
}

static void apply_scale(const struct dense_lu *d, double *x, int32_t count)
{
    const size_t n = (size_t)d->n;
    for (int32_t k = 0; k < count; k++, x += n) {
        for (size_t i = 0; i < n; i++) {
            x[i] *= d->scale[i];
        }
    }
}

static void solve(void *self, double *x, int32_t count)
{
    const struct dense_lu *const d = self;
    apply_scale(d, x, count);
    if (d->n > MECH_DENSE_SMALL) {
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', d->n, count, d->lu, d->n, d->pivot, x, d->n);
    } else {
        for (int32_t k = 0; k < count; k++) {
            mech_dense_lu_solve(d->n, d->lu, d->pivot, x + (size_t)k * (size_t)d->n);
        }
    }
    if (d->symmetric) {
        apply_scale(d, x, count);
    }
}

const struct mech_lsol_type mech_lsol_dense_lu = {
    .name = "dense_lu",
    .doc = "any square matrix, dense: LU with partial pivoting",
    .cost = cost,
    .create = create,
    .factor = factor,
    .solve = solve,
    .destroy = destroy,
};
