/* klu: any square matrix, sparse, by SuiteSparse's KLU (T. A. Davis, E. Palamadai Natarajan, ACM
 * TOMS algorithm 907, 2010): fill-reducing order by AMD, block triangular form when the diagonal
 * has holes.
 *
 * Same matrix, same bits, whatever was factored before. Therefore pivots are first taken from the
 * diagonal without a choice (threshold 0), which a refactorisation repeats operation by operation
 * and without allocation; the outcome is kept when no pivot is zero (linalg/pivot.h) and the
 * entries have not grown by more than 1000. Otherwise KLU chooses pivots anew (threshold 0.1): the
 * one case in which a factor allocates; positive definite matrices never need it.
 *
 * The matrix is scaled first (linalg/scale.h). */
#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/linalg/pivot.h"
#include "solver/linalg/scale.h"
#include "solver/lsol/lsol.h"

#include <math.h>
#include <stdlib.h>
#include <suitesparse/klu.h>

static const double most_growth = 1e3;
static const double free_threshold = 0.1;
/* what the factors of one matrix may cost, by the estimate of the ordering: minutes, and 2.4 GB;
 * a few hundred thousand entries spread at random would take hours */
static const double most_flops = 1e11;
static const double most_entries = 2e8;

struct klu {
    struct mech_arena arena;
    int32_t n;
    struct mech_mat csc; /* scaled values in KLU's form */
    double *row_scale;   /* [n] */
    double *col_scale;   /* [n] */
    double *size;        /* [2 n] largest entry of each scaled column; scratch behind */
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *diagonal; /* pivots from the diagonal; its pattern serves every later factor */
    klu_numeric *chosen;   /* free choice of pivots, for the last factor alone */
    bool use_chosen;
};

static double cost(const struct mech_mat *a)
{
    const double n = a->rows;
    // a full pattern gains nothing; otherwise about 100 flops' time per entry for the indices
    return a->kind == MECH_MAT_DENSE ? 4. * n * n * n + 1e4
                                     : 200. * (double)mech_mat_stored(a) + 50. * n + 1e3;
}

static void destroy(void *self)
{
    struct klu *const k = self;
    if (k != NULL) {
        klu_free_numeric(&k->chosen, &k->common);
        klu_free_numeric(&k->diagonal, &k->common);
        klu_free_symbolic(&k->symbolic, &k->common);
        mech_arena_fini(&k->arena);
        free(k);
    }
}

static bool has_full_diagonal(const struct mech_mat *a)
{
    for (int32_t i = 0; i < a->rows; i++) {
        if (mech_mat_place(a, i, i) == NULL) {
            return false;
        }
    }
    return true;
}

/* Order and memory. */
static int analyse(struct klu *k, const struct mech_mat *a)
{
    MECH_TRY(mech_mat_convert(&k->arena, a, MECH_MAT_CSC, &k->csc));
    const size_t n = (size_t)a->rows;
    k->row_scale = mech_arena_alloc(&k->arena, n, sizeof(double));
    k->col_scale = mech_arena_alloc(&k->arena, n, sizeof(double));
    k->size = mech_arena_alloc(&k->arena, n, 2 * sizeof(double));
    if (k->row_scale == NULL || k->col_scale == NULL || k->size == NULL) {
        return MECH_NO_MEMORY;
    }
    if (klu_defaults(&k->common) == 0) {
        return MECH_INTERNAL;
    }
    k->common.scale = -1;
    // with a full diagonal the order keeps it on the diagonal
    k->common.btf = !has_full_diagonal(&k->csc);
    if (n == 0) {
        return 0;
    }
    k->symbolic = klu_analyze(k->n, k->csc.colptr, k->csc.rowind, &k->common);
    if (k->symbolic == NULL) {
        return k->common.status == KLU_SINGULAR ? MECH_SINGULAR : MECH_NO_MEMORY;
    }
    if (k->common.btf && k->symbolic->structural_rank < k->n) {
        return MECH_SINGULAR;
    }
    const bool bounded =
        k->symbolic->est_flops <= most_flops && k->symbolic->lnz + k->symbolic->unz <= most_entries;
    return bounded ? 0 : MECH_UNSUPPORTED;
}

static int create(const struct mech_mat *a, void **self)
{
    struct klu *const k = calloc(1, sizeof *k);
    if (k == NULL) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&k->arena, 0);
    k->n = a->rows;
    const int code = analyse(k, a);
    if (code != 0) {
        destroy(k);
        return code;
    }
    *self = k;
    return 0;
}

static void scale(struct klu *k)
{
    const struct mech_mat *const c = &k->csc;
    mech_scale_find(c, k->row_scale, k->col_scale, k->size);
    for (int32_t j = 0; j < k->n; j++) {
        for (int32_t m = c->colptr[j]; m < c->colptr[j + 1]; m++) {
            c->values[m] *= k->row_scale[c->rowind[m]] * k->col_scale[j];
        }
    }
}

/* Column of the first pivot that counts as zero, or −1. */
static int32_t zero_pivot(const struct klu *k, const klu_numeric *numeric)
{
    const double tolerance = mech_pivot_tolerance(k->n);
    const double *const pivots = numeric->Udiag;
    for (int32_t p = 0; p < k->n; p++) {
        const int32_t j = k->symbolic->Q[p];
        if (!mech_pivot_good(fabs(pivots[p]), tolerance * k->size[j])) {
            return j;
        }
    }
    return -1;
}

/* Pivots from the diagonal; true when the outcome can be trusted. */
static bool from_diagonal(struct klu *k)
{
    const struct mech_mat *const c = &k->csc;
    k->common.tol = 0.;
    k->common.halt_if_singular = 0;
    if (k->diagonal == NULL) {
        k->diagonal = klu_factor(c->colptr, c->rowind, c->values, k->symbolic, &k->common);
        if (k->diagonal == NULL || k->common.noffdiag > 0) {
            klu_free_numeric(&k->diagonal, &k->common);
            return false;
        }
    }
    // the first time as well, so that every factor comes from the same operations
    return klu_refactor(c->colptr, c->rowind, c->values, k->symbolic, k->diagonal, &k->common) !=
               0 &&
           zero_pivot(k, k->diagonal) < 0 &&
           klu_rgrowth(c->colptr, c->rowind, c->values, k->symbolic, k->diagonal, &k->common) !=
               0 &&
           k->common.rgrowth * most_growth >= 1.;
}

static int factor(void *self, const struct mech_mat *a, int32_t *where)
{
    struct klu *const k = self;
    if (k->n == 0) {
        return 0;
    }
    const double one = 1.;
    mech_mat_sum_again(1, &one, &a, &k->csc);
    scale(k);
    k->use_chosen = !from_diagonal(k);
    if (!k->use_chosen) {
        return 0;
    }
    // a free choice
    klu_free_numeric(&k->chosen, &k->common);
    k->common.tol = free_threshold;
    k->common.halt_if_singular = 1;
    k->chosen = klu_factor(k->csc.colptr, k->csc.rowind, k->csc.values, k->symbolic, &k->common);
    if (k->chosen == NULL) {
        *where = k->common.singular_col;
        return k->common.status == KLU_SINGULAR ? MECH_SINGULAR : MECH_NO_MEMORY;
    }
    *where = zero_pivot(k, k->chosen);
    return *where < 0 ? 0 : MECH_SINGULAR;
}

static int solve(void *self, double *x, int32_t count)
{
    struct klu *const k = self;
    if (k->n > 0) {
        mech_scale_apply(k->n, k->row_scale, x, count);
        klu_solve(k->symbolic, k->use_chosen ? k->chosen : k->diagonal, k->n, count, x, &k->common);
        mech_scale_apply(k->n, k->col_scale, x, count);
    }
    return 0;
}

const struct mech_lsol_type mech_lsol_klu = {
    .name = "klu",
    .doc = "any square matrix, sparse: LU of SuiteSparse (KLU)",
    .cost = cost,
    .create = create,
    .factor = factor,
    .solve = solve,
    .destroy = destroy,
};
