/* The Schur complement of a system by its factors; see schur.h. */
#include "solver/vi/schur.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mech_schur_system {
    struct mech_arena arena;
    const struct mech_mat *H, *G;
    const double *cfm;
    struct mech_lsol *by_H;
    struct mech_mat whole; /* [n + m], made by the first shift */
    struct mech_lsol *by_whole;
    double *x; /* [n + m] */
    struct mech_schur table;
};

static void product(void *self, const double *l, double *out)
{
    struct mech_schur_system *const s = self;
    const int32_t m = s->G->rows;

    mech_mat_mul_transposed(s->G, 1., l, 0., s->x);
    if (mech_lsol_solve(s->by_H, s->x, 1) != 0) {
        s->x[0] = NAN; /* a solver that iterates has failed: nothing is solved by that */
    }
    for (int32_t i = 0; i < m; i++) {
        out[i] = s->cfm ? s->cfm[i] * l[i] : 0.;
    }
    mech_mat_mul(s->G, 1., s->x, 1., out);
}

/* The pattern of the whole matrix, E + ρ 1 with its own entries. */
static int assemble(struct mech_schur_system *s)
{
    const int32_t n = s->H->rows, m = s->G->rows;
    struct mech_triplet *h = NULL, *g = NULL;
    size_t in_h = 0, in_g = 0, k = 0;

    MECH_TRY(mech_mat_triplets(&s->arena, s->H, &h, &in_h));
    MECH_TRY(mech_mat_triplets(&s->arena, s->G, &g, &in_g));
    struct mech_triplet *const t =
        mech_arena_alloc(&s->arena, in_h + 2 * in_g + (size_t)n + (size_t)m, sizeof *t);

    if (!t) {
        return MECH_NO_MEMORY;
    }
    memcpy(t, h, in_h * sizeof *t);
    k = in_h;
    for (size_t i = 0; i < in_g; i++) {
        t[k++] = (struct mech_triplet){g[i].row + n, g[i].col, g[i].value};
        t[k++] = (struct mech_triplet){g[i].col, g[i].row + n, g[i].value};
    }
    for (int32_t i = 0; i < n + m; i++) {
        t[k++] = (struct mech_triplet){i, i, 0.};
    }
    MECH_TRY(mech_mat_from_triplets(&s->arena, n + m, n + m, t, k, &s->whole));
    return mech_lsol_create(NULL, &s->whole, &s->by_whole);
}

static int shift(void *self, double rho)
{
    struct mech_schur_system *const s = self;
    const int32_t n = s->H->rows, m = s->G->rows;

    if (!s->by_whole) {
        MECH_TRY(assemble(s));
    }
    for (int32_t i = 0; i < m; i++) {
        *mech_mat_place(&s->whole, n + i, n + i) = -(s->cfm ? s->cfm[i] : 0.) - rho;
    }
    return mech_lsol_factor(s->by_whole, &s->whole);
}

static int divide(void *self, double *x)
{
    struct mech_schur_system *const s = self;
    const size_t n = (size_t)s->H->rows, m = (size_t)s->G->rows;

    memset(s->x, 0, n * sizeof *s->x);
    memcpy(s->x + n, x, m * sizeof *x);
    MECH_TRY(mech_lsol_solve(s->by_whole, s->x, 1));
    for (size_t i = 0; i < m; i++) {
        x[i] = -s->x[n + i];
    }
    return 0;
}

static bool finite(const double *x, int32_t n)
{
    double sum = 0.;

    for (int32_t i = 0; x && i < n; i++) {
        sum += 0. * x[i];
    }
    return sum == 0.;
}

int mech_schur_create(const struct mech_mat *H, const struct mech_mat *G, const double *cfm,
                      struct mech_schur_system **out)
{
    struct mech_schur_system *const s = calloc(1, sizeof *s);

    if (!s) {
        return MECH_NO_MEMORY;
    }
    *s = (struct mech_schur_system){.H = H, .G = G, .cfm = cfm};
    mech_arena_init(&s->arena, 0);
    s->table = (struct mech_schur){.self = s, .product = product, .shift = shift, .divide = divide};
    s->table.finite = mech_mat_is_finite(H) && mech_mat_is_finite(G) && finite(cfm, G->rows);
    s->x = mech_arena_alloc(&s->arena, (size_t)H->rows + (size_t)G->rows, sizeof *s->x);
    int code = s->x ? mech_lsol_create(NULL, H, &s->by_H) : MECH_NO_MEMORY;

    code = code ? code : mech_lsol_factor(s->by_H, H);
    if (code) {
        mech_schur_destroy(s);
        return code;
    }
    *out = s;
    return 0;
}

void mech_schur_destroy(struct mech_schur_system *s)
{
    if (s) {
        mech_lsol_destroy(s->by_H);
        mech_lsol_destroy(s->by_whole);
        mech_arena_fini(&s->arena);
        free(s);
    }
}

const struct mech_schur *mech_schur_of(const struct mech_schur_system *s)
{
    return &s->table;
}

int mech_schur_divide_by_H(const struct mech_schur_system *s, double *x)
{
    return mech_lsol_solve(s->by_H, x, 1);
}
