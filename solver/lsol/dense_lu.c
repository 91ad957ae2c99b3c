/* dense_lu: any square matrix up to order 8192, LU with partial pivoting (linalg/panels.h; own
 * loops up to order 8) after scaling rows and columns. Cost of factor: 2 n³/3. */
#include "solver/base/err.h"
#include "solver/linalg/dense.h"
#include "solver/linalg/panels.h"
#include "solver/linalg/pivot.h"
#include "solver/linalg/scale.h"
#include "solver/lsol/lsol.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

enum { LARGEST = 8192 };

struct dense_lu {
    struct mech_arena arena;
    int32_t n;
    double *lu;     /* [n · n] by columns */
    double *row;    /* [n] scales (scale.h) */
    double *col;    /* [n] */
    double *size;   /* [2 n] largest entry of each scaled column; scratch behind */
    int32_t *pivot; /* [n] */
    struct mech_interrupt *interrupt;
};

static double cost(const struct mech_mat *a)
{
    const double n = a->rows;
    return a->rows <= LARGEST ? n * n * (2. * n / 3. + 20.) + 2. * n : -1.;
}

static void destroy(void *self)
{
    struct dense_lu *const d = self;
    if (d) {
        mech_arena_fini(&d->arena);
        free(d);
    }
}

static int create(const struct mech_mat *a, void **self)
{
    struct dense_lu *const d = calloc(1, sizeof *d);
    if (!d) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&d->arena, 0);
    d->n = a->rows;
    const size_t n = (size_t)a->rows;
    d->lu = mech_arena_alloc(&d->arena, n * n, sizeof *d->lu);
    d->row = mech_arena_alloc(&d->arena, n, sizeof *d->row);
    d->col = mech_arena_alloc(&d->arena, n, sizeof *d->col);
    d->size = mech_arena_alloc(&d->arena, n, 2 * sizeof *d->size);
    d->pivot = mech_arena_alloc(&d->arena, n, sizeof *d->pivot);
    if (!d->lu || !d->row || !d->col || !d->size || !d->pivot) {
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
    mech_scale_find(a, d->row, d->col, d->size);
    mech_dense_load_scaled(a, d->row, d->col, d->lu);
    if (d->n <= MECH_DENSE_SMALL) {
        *where = mech_dense_lu_factor(d->n, d->lu, d->size, d->pivot);
        return *where < 0 ? 0 : MECH_SINGULAR;
    }
    // an exact zero does not stop it; the test below finds the first column
    MECH_TRY(mech_panels_lu(d->n, d->lu, d->pivot, d->interrupt));
    const double tolerance = mech_pivot_tolerance(d->n);
    for (size_t j = 0; j < n; j++) {
        if (!mech_pivot_good(fabs(d->lu[j * n + j]), tolerance * d->size[j])) {
            *where = (int32_t)j;
            return MECH_SINGULAR;
        }
    }
    return 0;
}

static void listen_to(void *self, struct mech_interrupt *interrupt)
{
    struct dense_lu *const d = self;
    d->interrupt = interrupt;
}

static int solve(void *self, double *x, int32_t count)
{
    const struct dense_lu *const d = self;
    mech_scale_apply(d->n, d->row, x, count);
    if (d->n > MECH_DENSE_SMALL) {
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', d->n, count, d->lu, d->n, d->pivot, x, d->n);
    } else {
        for (int32_t k = 0; k < count; k++) {
            mech_dense_lu_solve(d->n, d->lu, d->pivot, x + (size_t)k * (size_t)d->n);
        }
    }
    mech_scale_apply(d->n, d->col, x, count);
    return 0;
}

const struct mech_lsol_type mech_lsol_dense_lu = {
    .name = "dense_lu",
    .doc = "any square matrix, dense: LU with partial pivoting",
    .cost = cost,
    .create = create,
    .factor = factor,
    .solve = solve,
    .destroy = destroy,
    .listen = listen_to,
};
