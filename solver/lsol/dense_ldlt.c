/* dense_ldlt: symmetric matrices. Cholesky when positive definite, which solves by two triangular
 * sweeps (n² flops each); otherwise Bunch–Kaufman, L D Lᵀ with blocks of order 1 and 2 in D
 * (linalg/panels.h). Orders up to 8 use own loops. Cost of factor: n³/3.
 *
 * An indefinite matrix is scaled to S A S first (linalg/scale.h). */
#include "solver/base/err.h"
#include "solver/linalg/dense.h"
#include "solver/linalg/panels.h"
#include "solver/linalg/pivot.h"
#include "solver/linalg/scale.h"
#include "solver/lsol/lsol.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

enum { LARGEST = 8192, PANEL = 64 };

enum method { SMALL, CHOLESKY, BUNCH_KAUFMAN };

struct dense_ldlt {
    struct mech_arena arena;
    int32_t n;
    enum method method; /* of the last factor */
    double *l;          /* [n · n] factor, by columns, lower triangle */
    double *diagonal;   /* [n] of A */
    double *scale;      /* [n] of rows and columns (scale.h) */
    double *other;      /* [n] the same once more */
    double *size;       /* [2 n] largest entry of each scaled column; scratch behind */
    double *work;       /* [n · panel] */
    int32_t panel;      /* columns that LAPACK takes at a time, at most n */
    int32_t *pivot;     /* [n] */
    int32_t *order;     /* [n] column of A at each place of the pivoted matrix */
    struct mech_interrupt *interrupt;
};

static double cost(const struct mech_mat *a)
{
    const double n = a->rows;
    return a->symmetric && a->rows <= LARGEST ? n * n * (n / 3. + 20.) + n : -1.;
}

static void destroy(void *self)
{
    struct dense_ldlt *const d = self;
    if (d) {
        mech_arena_fini(&d->arena);
        free(d);
    }
}

static int create(const struct mech_mat *a, void **self)
{
    struct dense_ldlt *const d = calloc(1, sizeof *d);
    if (!d) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&d->arena, 0);
    d->n = a->rows;
    d->panel = d->n < PANEL ? d->n : PANEL;
    const size_t n = (size_t)a->rows;
    d->l = mech_arena_alloc(&d->arena, n * n, sizeof *d->l);
    d->diagonal = mech_arena_alloc(&d->arena, n, sizeof *d->diagonal);
    d->scale = mech_arena_alloc(&d->arena, n, sizeof *d->scale);
    d->other = mech_arena_alloc(&d->arena, n, sizeof *d->other);
    d->size = mech_arena_alloc(&d->arena, n, 2 * sizeof *d->size);
    d->work = mech_arena_alloc(&d->arena, n * (size_t)d->panel, sizeof *d->work);
    d->pivot = mech_arena_alloc(&d->arena, n, sizeof *d->pivot);
    d->order = mech_arena_alloc(&d->arena, n, sizeof *d->order);
    if (!d->l || !d->diagonal || !d->scale || !d->other || !d->size || !d->work || !d->pivot ||
        !d->order) {
        destroy(d);
        return MECH_NO_MEMORY;
    }
    *self = d;
    return 0;
}

/* 0: A was positive definite, and its factor is in l; MECH_SINGULAR; MECH_CANCELLED. */
static int try_cholesky(struct dense_ldlt *d)
{
    const size_t n = (size_t)d->n;
    const double tolerance = mech_pivot_tolerance(d->n);
    for (size_t i = 0; i < n; i++) {
        d->diagonal[i] = d->l[i * n + i];
        // spares the attempt on matrices with multipliers
        if (!(d->diagonal[i] > 0.)) {
            return MECH_SINGULAR;
        }
    }
    MECH_TRY(mech_panels_cholesky(d->n, d->l, d->interrupt));
    // the pivots are the squares of L's diagonal
    for (size_t i = 0; i < n; i++) {
        const double root = d->l[i * n + i];
        if (!mech_pivot_good(root * root, tolerance * d->diagonal[i])) {
            return MECH_SINGULAR;
        }
    }
    return 0;
}

/* Where each column went, from LAPACK's exchanges (lower triangle: forwards, 1-based, negative for
 * a block of order 2, whose second column is exchanged). */
static void follow_exchanges(struct dense_ldlt *d)
{
    for (int32_t k = 0; k < d->n; k++) {
        d->order[k] = k;
    }
    for (int32_t k = 0; k < d->n; k++) {
        const bool pair = d->pivot[k] < 0;
        const int32_t at = pair ? k + 1 : k;
        const int32_t with = abs(d->pivot[k]) - 1;
        const int32_t t = d->order[at];
        d->order[at] = d->order[with];
        d->order[with] = t;
        k = at;
    }
}

static int bunch_kaufman(struct dense_ldlt *d, const struct mech_mat *a, int32_t *where)
{
    const size_t n = (size_t)d->n;
    mech_scale_find(a, d->scale, d->other, d->size);
    mech_dense_load_scaled(a, d->scale, d->other, d->l);
    double largest = 0.;
    for (size_t k = 0; k < n; k++) {
        largest = fmax(largest, d->size[k]);
    }
    const double bound = mech_pivot_tolerance(d->n) * largest;
    MECH_TRY(mech_panels_ldlt(d->n, d->l, d->panel, d->pivot, d->work, d->interrupt));
    follow_exchanges(d);
    for (size_t k = 0; k < n; k++) {
        const bool pair = d->pivot[k] < 0;
        const double *const at = d->l + k * n + k;
        // a pair is only taken where its coupling outweighs its diagonal
        const double pivot = fabs(at[pair ? 1 : 0]);
        if (!mech_pivot_good(pivot, bound)) {
            *where = d->order[k];
            return MECH_SINGULAR;
        }
        k += pair;
    }
    return 0;
}

static int factor(void *self, const struct mech_mat *a, int32_t *where)
{
    struct dense_ldlt *const d = self;
    mech_dense_load(a, d->l);
    if (d->n <= MECH_DENSE_SMALL) {
        d->method = SMALL;
        if (mech_dense_ldlt_factor(d->n, d->l) < 0) {
            return 0;
        }
    } else {
        d->method = CHOLESKY;
        const int code = try_cholesky(d);
        if (code != MECH_SINGULAR) {
            return code;
        }
    }
    // what was not positive definite starts again
    d->method = BUNCH_KAUFMAN;
    return bunch_kaufman(d, a, where);
}

static void listen_to(void *self, struct mech_interrupt *interrupt)
{
    struct dense_ldlt *const d = self;
    d->interrupt = interrupt;
}

static int solve(void *self, double *x, int32_t count)
{
    const struct dense_ldlt *const d = self;
    switch (d->method) {
    case SMALL:
        for (int32_t k = 0; k < count; k++) {
            mech_dense_ldlt_solve(d->n, d->l, x + (size_t)k * (size_t)d->n);
        }
        break;
    case CHOLESKY:
        if (count == 1) {
            cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, d->n, d->l, d->n, x,
                        1);
            cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, d->n, d->l, d->n, x,
                        1);
        } else {
            LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', d->n, count, d->l, d->n, x, d->n);
        }
        break;
    case BUNCH_KAUFMAN:
        mech_scale_apply(d->n, d->scale, x, count);
        LAPACKE_dsytrs_work(LAPACK_COL_MAJOR, 'L', d->n, count, d->l, d->n, d->pivot, x, d->n);
        mech_scale_apply(d->n, d->scale, x, count);
        break;
    }
    return 0;
}

const struct mech_lsol_type mech_lsol_dense_ldlt = {
    .name = "dense_ldlt",
    .doc = "symmetric matrices, dense: Cholesky, or Bunch–Kaufman when indefinite",
    .cost = cost,
    .create = create,
    .factor = factor,
    .solve = solve,
    .destroy = destroy,
    .listen = listen_to,
};
