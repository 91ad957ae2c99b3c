/* cholmod: symmetric positive definite matrices, sparse, by SuiteSparse's CHOLMOD (Y. Chen,
 * T. A. Davis, W. W. Hager, S. Rajamanickam, ACM TOMS algorithm 887, 2008): L D Lᵀ by rows
 * (simplicial). CHOLMOD's supernodal module is under the GPL and obtains memory in each
 * factorisation; it is not used.
 *
 * The fill-reducing order (AMD) is found once and applied here: values go straight to their places
 * in one triangle of the permuted matrix, which CHOLMOD then takes as it comes, without copies. So
 * a factorisation allocates nothing after the first, and solves allocate nothing.
 *
 * Pivots are judged as in linalg/pivot.h, against their own diagonal entries, which needs no
 * scaling. The workspace and the settings (cholmod_common) belong to the instance; it prints
 * nothing. */
#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/linalg/pivot.h"
#include "solver/lsol/lsol.h"

#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

/* what the factors of one matrix may cost: as klu.c */
static const double most_flops = 1e11;
static const double most_entries = 2e8;

struct cholmod {
    struct mech_arena arena;
    int32_t n;
    struct mech_mat csc; /* the matrix by columns */
    int32_t *order;      /* [n] column of A at each place of the permuted matrix */
    int32_t *inverse;    /* [n] the other way round */
    int32_t *from;       /* [nzmax] place in csc of each value of `half` */
    double *diagonal;    /* [n] of A */
    double *column;      /* [n] one permuted right-hand side */
    cholmod_sparse half; /* one triangle of the permuted matrix */
    cholmod_factor *l;
    cholmod_common common;
};

static double cost(const struct mech_mat *a)
{
    return a->symmetric ? 100. * (double)mech_mat_stored(a) : -1.;
}

static void destroy(void *self)
{
    struct cholmod *const c = self;
    if (c) {
        cholmod_free_factor(&c->l, &c->common);
        cholmod_finish(&c->common);
        mech_arena_fini(&c->arena);
        free(c);
    }
}

/* The upper triangle of the permuted matrix from that of A. */
static void fill_half(struct cholmod *c)
{
    const struct mech_mat *const a = &c->csc;
    int32_t *const p = c->half.p, *const rows = c->half.i;
    memset(p, 0, ((size_t)c->n + 1) * sizeof *p);
    // count, then place; the starts end up one column further
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < c->n; j++) {
            for (int32_t k = a->colptr[j]; k < a->colptr[j + 1] && a->rowind[k] <= j; k++) {
                const int32_t r = c->inverse[a->rowind[k]], s = c->inverse[j];
                const int32_t row = r <= s ? r : s, col = r <= s ? s : r;
                if (pass == 0) {
                    p[col + 1]++;
                } else {
                    rows[p[col]] = row;
                    c->from[p[col]++] = k;
                }
            }
        }
        for (int32_t j = 0; j < c->n && pass == 0; j++) {
            p[j + 1] += p[j];
        }
    }
    memmove(p + 1, p, (size_t)c->n * sizeof *p);
    p[0] = 0;
    c->half.stype = 1;
}

/* The order that CHOLMOD finds for A. */
static int find_order(struct cholmod *c)
{
    cholmod_sparse whole = c->half;
    whole.p = c->csc.colptr;
    whole.i = c->csc.rowind;
    whole.nzmax = mech_mat_stored(&c->csc);
    whole.xtype = CHOLMOD_PATTERN;
    whole.stype = 1;
    c->common.nmethods = 1;
    c->common.method[0].ordering = CHOLMOD_AMD;
    c->common.postorder = 1;
    cholmod_factor *l = cholmod_analyze(&whole, &c->common);
    if (!l) {
        return MECH_NO_MEMORY;
    }
    for (int32_t k = 0; k < c->n; k++) {
        c->order[k] = ((const int32_t *)l->Perm)[k];
        c->inverse[c->order[k]] = k;
    }
    cholmod_free_factor(&l, &c->common);
    return 0;
}

static int analyse(struct cholmod *c, const struct mech_mat *a)
{
    MECH_TRY(mech_mat_convert(&c->arena, a, MECH_MAT_CSC, &c->csc));
    const size_t n = (size_t)c->n, stored = mech_mat_stored(&c->csc);
    c->half = (cholmod_sparse){.nrow = n,
                               .ncol = n,
                               .nzmax = stored,
                               .p = mech_arena_alloc(&c->arena, n + 1, sizeof(int32_t)),
                               .i = mech_arena_alloc(&c->arena, stored, sizeof(int32_t)),
                               .x = mech_arena_alloc(&c->arena, stored, sizeof(double)),
                               .itype = CHOLMOD_INT,
                               .xtype = CHOLMOD_REAL,
                               .dtype = CHOLMOD_DOUBLE,
                               .packed = 1};
    c->from = mech_arena_alloc(&c->arena, stored, sizeof *c->from);
    c->order = mech_arena_alloc(&c->arena, n, sizeof *c->order);
    c->inverse = mech_arena_alloc(&c->arena, n, sizeof *c->inverse);
    c->diagonal = mech_arena_alloc(&c->arena, n, sizeof *c->diagonal);
    c->column = mech_arena_alloc(&c->arena, n, sizeof *c->column);
    if (!c->half.p || !c->half.i || !c->half.x || !c->from || !c->order || !c->inverse ||
        !c->diagonal || !c->column) {
        return MECH_NO_MEMORY;
    }
    if (n == 0) {
        return 0;
    }
    MECH_TRY(find_order(c));
    // from now on CHOLMOD keeps the order that it is given
    fill_half(c);
    c->common.method[0].ordering = CHOLMOD_NATURAL;
    c->common.postorder = 0;
    c->l = cholmod_analyze(&c->half, &c->common);
    if (!c->l) {
        return MECH_NO_MEMORY;
    }
    return c->common.fl <= most_flops && c->common.lnz <= most_entries ? 0 : MECH_UNSUPPORTED;
}

static int create(const struct mech_mat *a, void **self)
{
    struct cholmod *const c = calloc(1, sizeof *c);
    if (!c) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&c->arena, 0);
    cholmod_start(&c->common);
    c->common.print = 0;
    c->common.supernodal = CHOLMOD_SIMPLICIAL;
    c->common.error_handler = NULL;
    c->common.quick_return_if_not_posdef = 1;
    c->n = a->rows;
    const int code = analyse(c, a);
    if (code != 0) {
        destroy(c);
        return code;
    }
    *self = c;
    return 0;
}

/* Judge the pivots; 0, MECH_SINGULAR or MECH_UNSUPPORTED with the column in *where. */
static int judge(const struct cholmod *c, int32_t *where)
{
    const double tolerance = mech_pivot_tolerance(c->n);
    const double *const x = c->l->x;
    const int32_t failed = (int32_t)c->l->minor;
    for (int32_t j = 0; j < c->n; j++) {
        const double pivot = x[((const int32_t *)c->l->p)[j]];
        const double bound = tolerance * c->diagonal[c->order[j]];
        if (j == failed || !mech_pivot_good(pivot, bound)) {
            *where = c->order[j];
            return pivot < -bound ? MECH_UNSUPPORTED : MECH_SINGULAR;
        }
    }
    return 0;
}

/* x := (L D Lᵀ)⁻¹ x; each column of L begins with its place in D. */
static void solve_simplicial(const cholmod_factor *l, double *x)
{
    const int32_t *const start = l->p, *const count = l->nz, *const row = l->i;
    const double *const value = l->x;
    const int32_t n = (int32_t)l->n;
    for (int32_t j = 0; j < n; j++) {
        for (int32_t k = start[j] + 1; k < start[j] + count[j]; k++) {
            x[row[k]] -= value[k] * x[j];
        }
    }
    for (int32_t j = n - 1; j >= 0; j--) {
        double sum = x[j] / value[start[j]];
        for (int32_t k = start[j] + 1; k < start[j] + count[j]; k++) {
            sum -= value[k] * x[row[k]];
        }
        x[j] = sum;
    }
}

/* x := A⁻¹ x, one column. */
static void solve_one(struct cholmod *c, double *x)
{
    for (int32_t k = 0; k < c->n; k++) {
        c->column[k] = x[c->order[k]];
    }
    solve_simplicial(c->l, c->column);
    for (int32_t k = 0; k < c->n; k++) {
        x[c->order[k]] = c->column[k];
    }
}

static bool is_zero_column(const struct mech_mat *a, int32_t j)
{
    bool zero = true;
    for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
        zero = zero && a->values[k] == 0.;
    }
    return zero;
}

static int factor(void *self, const struct mech_mat *a, int32_t *where)
{
    struct cholmod *const c = self;
    const double one = 1.;
    if (c->n == 0) {
        return 0;
    }
    mech_mat_sum_again(1, &one, &a, &c->csc);
    for (int32_t j = 0; j < c->n; j++) {
        const double *const place = mech_mat_place(&c->csc, j, j);
        c->diagonal[j] = place ? *place : 0.;
        if (!(c->diagonal[j] > 0.)) {
            *where = j;
            return is_zero_column(&c->csc, j) ? MECH_SINGULAR : MECH_UNSUPPORTED;
        }
    }
    double *const values = c->half.x;
    const int32_t count = ((const int32_t *)c->half.p)[c->n];
    for (int32_t k = 0; k < count; k++) {
        values[k] = c->csc.values[c->from[k]];
    }
    if (cholmod_factorize(&c->half, c->l, &c->common) == 0 || c->common.status < 0) {
        return c->common.status == CHOLMOD_OUT_OF_MEMORY ? MECH_NO_MEMORY : MECH_INTERNAL;
    }
    return judge(c, where);
}

static int solve(void *self, double *x, int32_t count)
{
    struct cholmod *const c = self;
    for (int32_t i = 0; i < count && c->n > 0; i++) {
        solve_one(c, x + (size_t)i * (size_t)c->n);
    }
    return 0;
}

const struct mech_lsol_type mech_lsol_cholmod = {
    .name = "cholmod",
    .doc = "symmetric positive definite matrices, sparse: Cholesky of SuiteSparse (CHOLMOD)",
    .definite = true,
    .cost = cost,
    .create = create,
    .factor = factor,
    .solve = solve,
    .destroy = destroy,
};
