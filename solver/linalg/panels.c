/* LU by halves of its columns (S. Toledo, SIAM J. Matrix Anal. Appl. 18, 1997), Cholesky by panels
 * (Golub, Van Loan, Matrix Computations, 4.2.9), their updates cut into strips; dsytrf's own loop
 * over its panels (LAPACK 3.11, dsytrf.f). Speed at order 2000 over that of dgetrf, dpotrf and
 * dsytrf, OpenBLAS 0.3.21 on one core, medians of 11 pairs: 0.98, 1.07, 1.0. */
#include "solver/linalg/panels.h"

#include "solver/base/err.h"

#include <cblas.h>
#include <lapacke.h>
#include <stddef.h>

/* LAPACK's panels of an indefinite matrix, which have no C interface */
void dlasyf_(const char *uplo, const int *n, const int *panel, int *done, double *a, const int *lda,
             int *pivot, double *work, const int *ldwork, int *info, size_t uplo_length);
void dsytf2_(const char *uplo, const int *n, double *a, const int *lda, int *pivot, int *info,
             size_t uplo_length);

enum { LU_PANEL = 256, CHOLESKY_PANEL = 128 }; /* the quickest at order 2000 */
static const double piece = 1e9;               /* flops between two questions */

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Columns of an update by `depth` columns on `rows` rows that make a piece. */
static int32_t strip_of(int32_t rows, int32_t depth)
{
    const double columns = piece / (2. * rows * depth);
    return columns < 64. ? 64 : columns > 1e6 ? 1000000 : (int32_t)columns;
}

struct lu {
    int32_t n;
    double *a;
    int32_t *pivot;
    struct mech_interrupt *interrupt;
};

/* Columns j … j + width, when `left` columns from k on have been factored: exchanged, and less L of
 * these times their rows of U. */
static void update_lu(const struct lu *s, int32_t k, int32_t left, int32_t j, int32_t width)
{
    const int32_t n = s->n;
    const size_t ld = (size_t)n;
    double *const at = s->a + (size_t)j * ld;
    const double *const l = s->a + (size_t)k * ld;
    const int32_t below = n - k - left;
    LAPACKE_dlaswp_work(LAPACK_COL_MAJOR, width, at, n, k + 1, k + left, s->pivot, 1);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, left, width, 1.,
                l + k, n, at + k, n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, below, width, left, -1., l + k + left, n,
                at + k, n, 1., at + k + left, n);
}

/* Columns k … k + width, to which all left of them has been applied: their halves, one after the
 * other, down to panels. Depth: the logarithm of width / LU_PANEL. */
static int factor_columns(const struct lu *s, int32_t k, int32_t width)
{
    const int32_t n = s->n;
    if (width <= LU_PANEL) {
        double *const at = s->a + (size_t)k * (size_t)n + (size_t)k;
        const int info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n - k, width, at, n, s->pivot + k);
        for (int32_t i = k; i < k + width && info >= 0; i++) {
            s->pivot[i] += k;
        }
        return info < 0 ? MECH_INTERNAL : mech_interrupted(s->interrupt) ? MECH_CANCELLED : 0;
    }
    const int32_t left = width / 2;
    const int32_t strip = strip_of(n - k, left);
    MECH_TRY(factor_columns(s, k, left));
    for (int32_t j = k + left; j < k + width; j += strip) {
        update_lu(s, k, left, j, least(strip, k + width - j));
        if (mech_interrupted(s->interrupt)) {
            return MECH_CANCELLED;
        }
    }
    MECH_TRY(factor_columns(s, k + left, width - left));
    LAPACKE_dlaswp_work(LAPACK_COL_MAJOR, left, s->a + (size_t)k * (size_t)n, n, k + left + 1,
                        k + width, s->pivot, 1);
    return 0;
}

int mech_panels_lu(int32_t n, double *a, int32_t *pivot, struct mech_interrupt *interrupt)
{
    if (n < MECH_PANELS_LEAST) {
        return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, pivot) < 0 ? MECH_INTERNAL : 0;
    }
    const struct lu s = {n, a, pivot, interrupt};
    return factor_columns(&s, 0, n);
}

int mech_panels_cholesky(int32_t n, double *a, struct mech_interrupt *interrupt)
{
    const size_t ld = (size_t)n;
    if (n < MECH_PANELS_LEAST) {
        return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, a, n) != 0 ? MECH_SINGULAR : 0;
    }
    for (int32_t k = 0; k < n; k += CHOLESKY_PANEL) {
        const int32_t panel = least(CHOLESKY_PANEL, n - k);
        const int32_t below = n - k - panel;
        double *const at = a + (size_t)k * ld + (size_t)k;
        double *const l = at + panel;
        if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', panel, at, n) != 0) {
            return MECH_SINGULAR;
        }
        if (below > 0) {
            cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, below,
                        panel, 1., at, n, l, n);
        }
        /* a strip of the lower triangle: the square on its diagonal, and what is below */
        for (int32_t j = 0, width = 0; j < below; j += width) {
            double *const to = at + (size_t)(panel + j) * ld + (size_t)(panel + j);
            width = least(strip_of(below - j, panel), below - j);
            if (mech_interrupted(interrupt)) {
                return MECH_CANCELLED;
            }
            cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, width, panel, -1., l + j, n, 1.,
                        to, n);
            if (below > j + width) {
                cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, below - j - width, width,
                            panel, -1., l + j + width, n, l + j, n, 1., to + width, n);
            }
        }
    }
    return 0;
}

int mech_panels_ldlt(int32_t n, double *a, int32_t panel, int32_t *pivot, double *work,
                     struct mech_interrupt *interrupt)
{
    int info = 0;
    if (n < MECH_PANELS_LEAST) {
        info = LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'L', n, a, n, pivot, work, n * panel);
        return info < 0 ? MECH_INTERNAL : 0;
    }
    for (int32_t k = 0; k < n;) {
        double *const at = a + (size_t)k * (size_t)n + (size_t)k;
        const int rows = n - k;
        int done = rows;
        if (mech_interrupted(interrupt)) {
            return MECH_CANCELLED;
        }
        if (rows > panel) {
            dlasyf_("L", &rows, &panel, &done, at, &n, pivot + k, work, &n, &info, 1);
        } else {
            dsytf2_("L", &rows, at, &n, pivot + k, &info, 1);
        }
        if (info < 0 || done <= 0) {
            return MECH_INTERNAL;
        }
        for (int32_t i = k; i < k + done; i++) {
            pivot[i] += pivot[i] > 0 ? k : -k;
        }
        k += done;
    }
    return 0;
}
