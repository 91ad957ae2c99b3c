/* gmres: any square matrix by restarted GMRES (Y. Saad, M. H. Schultz, SIAM J. Sci. Stat. Comput.
 * 7, 1986), preconditioned from the right with ILU(0): the factors of A without fill (Y. Saad,
 * Iterative Methods for Sparse Linear Systems, 2003, section 10.3), made by columns. On bands and
 * on trees in their order that is the whole factorisation, and one iteration is enough. Where a
 * diagonal pivot is zero or entries grow by more than 1000, and for full matrices, the scaling of
 * krylov.h alone is the preconditioner.
 *
 * Restart after m = 100 iterations, fewer for large n (m (n + 1) up to 2²⁴ values, m at least 20).
 * Cost of iteration j: one product, one pass over the factors and 4 j n flops. */
#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/linalg/pivot.h"
#include "solver/lsol/krylov.h"
#include "solver/lsol/lsol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESTART = 100, LEAST_RESTART = 20, MOST_VALUES = 1 << 24 };

static const double most_growth = 1e3;

struct gmres {
    struct mech_krylov krylov;
    int32_t m;
    bool incomplete; /* the last factor has ILU(0) */
    double *lu;      /* [stored] factors in A's pattern, 1/u on the diagonal; NULL: never */
    int32_t *middle; /* [n] place of each diagonal entry */
    int32_t *place;  /* [n] scratch: place of each row in a column, or −1 */
    double *basis;   /* [n (m + 1)] */
    double *h;       /* [(m + 1) m] Hessenberg matrix by columns, made triangular */
    double *c, *s;   /* [m] rotations */
    double *g;       /* [m + 1] turned right-hand side */
    double *z;       /* [n] */
};

static double cost(const struct mech_mat *a)
{
    return 100. * (double)mech_mat_stored(a);
}

static void destroy(void *self)
{
    struct gmres *const g = self;
    if (g) {
        mech_krylov_fini(&g->krylov);
        free(g);
    }
}

/* Memory of the factors, when every diagonal entry has a place. */
static int allocate_factors(struct gmres *g)
{
    const struct mech_mat *const a = &g->krylov.a;
    struct mech_arena *const arena = &g->krylov.arena;
    g->middle = mech_arena_alloc(arena, (size_t)a->rows, sizeof *g->middle);
    g->place = mech_arena_alloc(arena, (size_t)a->rows, sizeof *g->place);
    if (!g->middle || !g->place) {
        return MECH_NO_MEMORY;
    }
    for (int32_t j = 0; j < a->rows; j++) {
        const double *const diagonal = mech_mat_place(a, j, j);
        if (!diagonal) {
            return 0;
        }
        g->middle[j] = (int32_t)(diagonal - a->values);
        g->place[j] = -1;
    }
    g->lu = mech_arena_alloc(arena, mech_mat_stored(a), sizeof *g->lu);
    return g->lu ? 0 : MECH_NO_MEMORY;
}

static int allocate(struct gmres *g, const struct mech_mat *a)
{
    MECH_TRY(mech_krylov_init(&g->krylov, a));
    struct mech_arena *const arena = &g->krylov.arena;
    const int32_t fit = MOST_VALUES / (a->rows + 1);
    const int32_t most = fit < LEAST_RESTART ? LEAST_RESTART : fit < RESTART ? fit : RESTART;
    g->m = a->rows < most ? a->rows : most;
    const size_t n = (size_t)a->rows, m = (size_t)g->m;
    g->basis = mech_arena_alloc(arena, n, (m + 1) * sizeof(double));
    g->h = mech_arena_alloc(arena, (m + 1) * m, sizeof(double));
    g->c = mech_arena_alloc(arena, m, sizeof(double));
    g->s = mech_arena_alloc(arena, m, sizeof(double));
    g->g = mech_arena_alloc(arena, m + 1, sizeof(double));
    g->z = mech_arena_alloc(arena, n, sizeof(double));
    if (!g->basis || !g->h || !g->c || !g->s || !g->g || !g->z) {
        return MECH_NO_MEMORY;
    }
    return a->kind == MECH_MAT_DENSE ? 0 : allocate_factors(g);
}

static int create(const struct mech_mat *a, void **self)
{
    struct gmres *const g = calloc(1, sizeof *g);
    if (!g) {
        return MECH_NO_MEMORY;
    }
    const int code = allocate(g, a);
    if (code != 0) {
        destroy(g);
        return code;
    }
    *self = g;
    return 0;
}

/* Column j of the factors from the columns before; false: not to be used. */
static bool eliminate(struct gmres *g, int32_t j, double tolerance)
{
    const struct mech_mat *const a = &g->krylov.a;
    double *const lu = g->lu;
    const int32_t first = a->colptr[j], end = a->colptr[j + 1], middle = g->middle[j];
    for (int32_t p = first; p < end; p++) {
        g->place[a->rowind[p]] = p;
    }
    for (int32_t p = first; p < middle; p++) {
        // what row k of U takes from the rows below it, where A has places
        const int32_t k = a->rowind[p];
        for (int32_t t = g->middle[k] + 1; t < a->colptr[k + 1]; t++) {
            const int32_t at = g->place[a->rowind[t]];
            if (at >= 0) {
                lu[at] -= lu[t] * lu[p];
            }
        }
    }
    const double pivot = lu[middle];
    double most = 0.;
    lu[middle] = 1. / pivot;
    for (int32_t p = first; p < end; p++) {
        g->place[a->rowind[p]] = -1;
        lu[p] *= p > middle ? lu[middle] : 1.;
        const double size = fabs(p == middle ? pivot : lu[p]);
        most = size > most ? size : most;
    }
    return mech_pivot_good(fabs(pivot), tolerance * g->krylov.size[j]) && most <= most_growth;
}

static int factor(void *self, const struct mech_mat *a, int32_t *where)
{
    struct gmres *const g = self;
    MECH_TRY(mech_krylov_load(&g->krylov, a, where));
    g->incomplete = g->lu;
    if (g->incomplete) {
        memcpy(g->lu, g->krylov.a.values, mech_mat_stored(&g->krylov.a) * sizeof *g->lu);
    }
    for (int32_t j = 0; j < a->rows && g->incomplete; j++) {
        g->incomplete = eliminate(g, j, mech_pivot_tolerance(a->rows));
    }
    return 0;
}

/* x := U⁻¹ L⁻¹ x */
static void precondition(const struct gmres *g, double *x)
{
    const struct mech_mat *const a = &g->krylov.a;
    if (!g->incomplete) {
        return;
    }
    for (int32_t j = 0; j < a->rows; j++) {
        for (int32_t p = g->middle[j] + 1; p < a->colptr[j + 1]; p++) {
            x[a->rowind[p]] -= g->lu[p] * x[j];
        }
    }
    for (int32_t j = a->rows - 1; j >= 0; j--) {
        x[j] *= g->lu[g->middle[j]];
        for (int32_t p = a->colptr[j]; p < g->middle[j]; p++) {
            x[a->rowind[p]] -= g->lu[p] * x[j];
        }
    }
}

/* Column j of the Hessenberg matrix and the next vector of the basis (modified Gram–Schmidt); the
 * column is turned by all rotations, and a new one. False: the basis is complete. */
static bool extend(struct gmres *g, int32_t j)
{
    const int32_t n = g->krylov.n;
    double *const next = g->basis + (size_t)(j + 1) * (size_t)n;
    double *const h = g->h + (size_t)j * (size_t)(g->m + 1);
    memcpy(g->z, next - n, (size_t)n * sizeof *next);
    precondition(g, g->z);
    mech_mat_mul(&g->krylov.a, 1., g->z, 0., next);
    const double before = mech_krylov_length(n, next);
    for (int32_t i = 0; i <= j; i++) {
        const double *const v = g->basis + (size_t)i * (size_t)n;
        h[i] = mech_krylov_dot(n, v, next);
        mech_krylov_add(n, -h[i], v, next);
    }
    const double length = mech_krylov_length(n, next);
    const bool more = length > DBL_EPSILON * before;
    for (int32_t i = 0; i < n && more; i++) {
        next[i] /= length;
    }
    h[j + 1] = more ? length : 0.;
    for (int32_t i = 0; i < j; i++) {
        const double upper = g->c[i] * h[i] + g->s[i] * h[i + 1];
        h[i + 1] = g->c[i] * h[i + 1] - g->s[i] * h[i];
        h[i] = upper;
    }
    const double size = hypot(h[j], h[j + 1]);
    g->c[j] = size > 0. ? h[j] / size : 1.;
    g->s[j] = size > 0. ? h[j + 1] / size : 0.;
    h[j] = size;
    g->g[j + 1] = -g->s[j] * g->g[j];
    g->g[j] *= g->c[j];
    return more;
}

/* One cycle between restarts. */
static int iterate(void *self, struct mech_krylov *k, double target)
{
    struct gmres *const g = self;
    const int32_t n = k->n;
    const double r = mech_krylov_length(n, k->r);
    memset(g->basis, 0, (size_t)n * sizeof *g->basis);
    mech_krylov_add(n, 1. / r, k->r, g->basis);
    g->g[0] = r;
    int32_t count = 0;
    for (bool more = true; more && count < g->m && fabs(g->g[count]) > target; count++) {
        if (mech_krylov_ends(k)) {
            return MECH_CANCELLED;
        }
        more = extend(g, count);
        k->products++;
    }
    // y of the triangular system in place of g; a zero pivot has nothing to give
    for (int32_t j = count - 1; j >= 0; j--) {
        const double *const h = g->h + (size_t)j * (size_t)(g->m + 1);
        g->g[j] = h[j] > 0. ? g->g[j] / h[j] : 0.;
        for (int32_t i = 0; i < j; i++) {
            g->g[i] -= h[i] * g->g[j];
        }
        mech_krylov_add(n, g->g[j], g->basis + (size_t)j * (size_t)n, k->d);
    }
    precondition(g, k->d);
    return 0;
}

static int solve(void *self, double *x, int32_t count)
{
    struct gmres *const g = self;
    for (int32_t i = 0; i < count; i++) {
        MECH_TRY(mech_krylov_solve(&g->krylov, iterate, g, x + (size_t)i * (size_t)g->krylov.n));
    }
    return 0;
}

static void listen_to(void *self, struct mech_interrupt *interrupt)
{
    struct gmres *const g = self;
    g->krylov.interrupt = interrupt;
}

const struct mech_lsol_type mech_lsol_gmres = {
    .name = "gmres",
    .doc = "any square matrix: restarted GMRES, right-preconditioned by ILU(0)",
    .iterative = true,
    .cost = cost,
    .create = create,
    .factor = factor,
    .solve = solve,
    .destroy = destroy,
    .listen = listen_to,
};
