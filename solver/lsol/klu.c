/* klu: any square matrix, sparse, by SuiteSparse's KLU (T. A. Davis, E. Palamadai Natarajan, ACM
 * TOMS algorithm 907, 2010): fill-reducing order by AMD, block triangular form when the diagonal
 * has holes.
 *
 * Same matrix, same bits, independent of earlier factors. Therefore pivots are first taken from the
 * diagonal without a choice, in an order that follows from the pattern and from which diagonal
 * entries are 0 (rows of joints: saddle_order.h). A refactorisation repeats that operation by
 * operation and without allocation; the outcome is kept when no pivot is zero (linalg/pivot.h) and
 * the entries have not grown by more than 1000. Otherwise KLU chooses pivots again (threshold 0.1).
 * A factor allocates there, and when other diagonal entries are 0 than in the one before.
 *
 * The matrix is scaled first (linalg/scale.h). */
#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/linalg/pivot.h"
#include "solver/linalg/scale.h"
#include "solver/lsol/lsol.h"
#include "solver/lsol/saddle_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
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
    /* pivots from the diagonal: order and pattern, for one set of zeros; NULL: there is none */
    klu_symbolic *diagonal_order;
    klu_numeric *diagonal;
    unsigned char *zero; /* [2 n] whose diagonal is 0 in that; in the matrix at hand */
    int32_t *place;      /* [n] of the diagonal in csc; −1: not stored */
    int32_t *order;      /* [n]; scratch [3 n] behind */
    double *generic;     /* [stored] values of no matrix in particular */
    bool ordered;        /* `zero` and `diagonal` belong together */
    klu_numeric *chosen; /* free choice of pivots, for the last factor alone */
    bool use_chosen;
};

static double cost(const struct mech_mat *a)
{
    const double n = a->rows;
    // a full pattern gains nothing; otherwise about 100 flops' time per entry for the indices
    return a->kind == MECH_MAT_DENSE ? 4. * n * n * n + 1e4
                                     : 200. * (double)mech_mat_stored(a) + 50. * n + 1e3;
}

static void free_diagonal(struct klu *k)
{
    klu_free_numeric(&k->diagonal, &k->common);
    klu_free_symbolic(&k->diagonal_order, &k->common);
    k->ordered = false;
}

static void destroy(void *self)
{
    struct klu *const k = self;
    if (k) {
        klu_free_numeric(&k->chosen, &k->common);
        free_diagonal(k);
        klu_free_symbolic(&k->symbolic, &k->common);
        mech_arena_fini(&k->arena);
        free(k);
    }
}

/* Memory, and where the diagonal is; *full: all of it is stored. */
static int prepare(struct klu *k, bool *full)
{
    const size_t n = (size_t)k->n;

    k->row_scale = mech_arena_alloc(&k->arena, n, sizeof(double));
    k->col_scale = mech_arena_alloc(&k->arena, n, sizeof(double));
    k->size = mech_arena_alloc(&k->arena, n, 2 * sizeof(double));
    k->generic = mech_arena_alloc(&k->arena, mech_mat_stored(&k->csc), sizeof(double));
    k->zero = mech_arena_alloc(&k->arena, n, 2);
    k->place = mech_arena_alloc(&k->arena, n, sizeof(int32_t));
    k->order = mech_arena_alloc(&k->arena, n, 4 * sizeof(int32_t));
    if (!k->row_scale || !k->col_scale || !k->size || !k->generic || !k->zero || !k->place ||
        !k->order) {
        return MECH_NO_MEMORY;
    }
    *full = true;
    for (int32_t i = 0; i < k->n; i++) {
        const double *const at = mech_mat_place(&k->csc, i, i);

        k->place[i] = at ? (int32_t)(at - k->csc.values) : -1;
        *full = *full && at;
    }
    return 0;
}

/* Order and memory. */
static int analyse(struct klu *k, const struct mech_mat *a)
{
    MECH_TRY(mech_mat_convert(&k->arena, a, MECH_MAT_CSC, &k->csc));
    bool full = true;
    MECH_TRY(prepare(k, &full));
    if (klu_defaults(&k->common) == 0) {
        return MECH_INTERNAL;
    }
    k->common.scale = -1;
    // with a full diagonal the order keeps it on the diagonal
    k->common.btf = !full;
    if (k->n == 0) {
        return 0;
    }
    k->symbolic = klu_analyze(k->n, k->csc.colptr, k->csc.rowind, &k->common);
    if (!k->symbolic) {
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
    if (!k) {
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
static int32_t zero_pivot(const struct klu *k, const klu_symbolic *symbolic,
                          const klu_numeric *numeric)
{
    const double tolerance = mech_pivot_tolerance(k->n);
    const double *const pivots = numeric->Udiag;
    for (int32_t p = 0; p < k->n; p++) {
        const int32_t j = symbolic->Q[p];
        if (!mech_pivot_good(fabs(pivots[p]), tolerance * k->size[j])) {
            return j;
        }
    }
    return -1;
}

/* Values for which no sum vanishes by chance: the pattern that they give holds for all. */
static void fill_generic(struct klu *k)
{
    const size_t stored = mech_mat_stored(&k->csc);
    uint32_t random = 1;

    for (size_t m = 0; m < stored; m++) {
        random = random * 1664525u + 1013904223u;
        k->generic[m] = ldexp((double)(random >> 8), -24) + 0.5;
    }
    for (int32_t i = 0; i < k->n; i++) {
        if (k->place[i] >= 0) {
            k->generic[k->place[i]] = k->zero[i] ? 0. : 4. * k->generic[k->place[i]];
        }
    }
}

/* Order and pattern of a factor with pivots from the diagonal, for the zeros in k->zero. */
static int order_diagonal(struct klu *k)
{
    const struct mech_mat *const c = &k->csc;

    k->diagonal_order = klu_analyze(k->n, c->colptr, c->rowind, &k->common);
    if (k->diagonal_order && memchr(k->zero, 1, (size_t)k->n)) {
        // zeros that wait cost fill; beyond some, a free choice is cheaper
        const double most = 3. * k->diagonal_order->lnz + 10. * k->n;

        memcpy(k->order, k->diagonal_order->Q, (size_t)k->n * sizeof *k->order);
        klu_free_symbolic(&k->diagonal_order, &k->common);
        if (mech_saddle_order(c, k->zero, k->order, k->order + k->n, (int64_t)most) < 0) {
            return 0;
        }
        k->diagonal_order =
            klu_analyze_given(k->n, c->colptr, c->rowind, k->order, k->order, &k->common);
    }
    if (!k->diagonal_order) {
        return MECH_NO_MEMORY;
    }
    fill_generic(k);
    k->diagonal = klu_factor(c->colptr, c->rowind, k->generic, k->diagonal_order, &k->common);
    if (!k->diagonal) {
        return MECH_NO_MEMORY;
    }
    if (k->common.noffdiag > 0) {
        klu_free_numeric(&k->diagonal, &k->common);
    }
    return 0;
}

/* k->diagonal for the zeros of the matrix at hand. */
static int prepare_diagonal(struct klu *k)
{
    unsigned char *const zero = k->zero + k->n;

    for (int32_t i = 0; i < k->n; i++) {
        zero[i] = k->place[i] < 0 || k->csc.values[k->place[i]] == 0.;
    }
    if (k->ordered && memcmp(k->zero, zero, (size_t)k->n) == 0) {
        return 0;
    }
    const int btf = k->common.btf;

    memcpy(k->zero, zero, (size_t)k->n);
    free_diagonal(k);
    k->common.btf = 0;
    k->common.tol = 0.;
    k->common.halt_if_singular = 0;
    const int code = order_diagonal(k);
    k->common.btf = btf;
    k->ordered = code == 0;
    return code;
}

/* Pivots from the diagonal; true when the outcome can be trusted. */
static bool from_diagonal(struct klu *k)
{
    const struct mech_mat *const c = &k->csc;
    klu_symbolic *const order = k->diagonal_order;

    k->common.halt_if_singular = 0;
    return k->diagonal &&
           klu_refactor(c->colptr, c->rowind, c->values, order, k->diagonal, &k->common) != 0 &&
           zero_pivot(k, order, k->diagonal) < 0 &&
           klu_rgrowth(c->colptr, c->rowind, c->values, order, k->diagonal, &k->common) != 0 &&
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
    MECH_TRY(prepare_diagonal(k));
    k->use_chosen = !from_diagonal(k);
    if (!k->use_chosen) {
        return 0;
    }
    // a free choice
    klu_free_numeric(&k->chosen, &k->common);
    k->common.tol = free_threshold;
    k->common.halt_if_singular = 1;
    k->chosen = klu_factor(k->csc.colptr, k->csc.rowind, k->csc.values, k->symbolic, &k->common);
    if (!k->chosen) {
        *where = k->common.singular_col;
        return k->common.status == KLU_SINGULAR ? MECH_SINGULAR : MECH_NO_MEMORY;
    }
    *where = zero_pivot(k, k->symbolic, k->chosen);
    return *where < 0 ? 0 : MECH_SINGULAR;
}

static int solve(void *self, double *x, int32_t count)
{
    struct klu *const k = self;
    if (k->n > 0) {
        mech_scale_apply(k->n, k->row_scale, x, count);
        klu_solve(k->use_chosen ? k->symbolic : k->diagonal_order,
                  k->use_chosen ? k->chosen : k->diagonal, k->n, count, x, &k->common);
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
