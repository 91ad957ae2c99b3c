/* Bare calls of floors.h. OpenBLAS runs on one thread (bench_begin), and LAPACKE is called without
 * its search for NaN. */
#include "tests/bench/floors.h"

#include <cblas.h>
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

static const double stiffness = 1000., h = 1e-3, theta = 0.5;

static int vectors(struct floor_chain *f, int n)
{
    const size_t size = (size_t)n;
    *f = (struct floor_chain){.n = n};
    f->u = calloc(4 * size, sizeof *f->u);
    if (f->u == NULL) {
        return -1;
    }
    f->v = f->u + size;
    f->y = f->v + size;
    f->z = f->y + size;
    for (size_t i = 0; i < size; i++) {
        f->u[i] = 1e-3 * (double)(i % 7);
        f->v[i] = 1e-2 * (double)(i % 5);
    }
    return 0;
}

/* entries of W = M + h²θ²K, M = 1 */
static double w_main(int n, int i)
{
    return 1. + h * h * theta * theta * stiffness * (i == n - 1 ? 1. : 2.);
}

static double w_next(void)
{
    return -h * h * theta * theta * stiffness;
}

int floor_dense_init(struct floor_chain *f, int n)
{
    const size_t size = (size_t)n;
    if (vectors(f, n) != 0) {
        return -1;
    }
    f->k = calloc(size * size, sizeof *f->k);
    f->l = calloc(size * size, sizeof *f->l);
    if (f->k == NULL || f->l == NULL) {
        floor_fini(f);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        const size_t at = (size_t)i * size + (size_t)i;
        f->k[at] = stiffness * (i == n - 1 ? 1. : 2.);
        f->l[at] = w_main(n, i);
        if (i + 1 < n) {
            f->k[at + 1] = -stiffness;
            f->l[at + 1] = w_next();
        }
    }
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, f->l, n) == 0 ? 0 : -1;
}

void floor_fini(struct floor_chain *f)
{
    free(f->k);
    free(f->l);
    free(f->u);
    *f = (struct floor_chain){.n = 0};
}

void floor_dense(void *context, uint64_t count)
{
    struct floor_chain *const f = context;
    for (uint64_t i = 0; i < count; i++) {
        cblas_dsymv(CblasColMajor, CblasLower, f->n, h, f->k, f->n, f->u, 1, 0., f->y, 1);
        cblas_dsymv(CblasColMajor, CblasLower, f->n, h, f->k, f->n, f->v, 1, 1., f->y, 1);
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, f->n, f->l, f->n, f->y,
                    1);
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, f->n, f->l, f->n, f->y, 1);
    }
}
