/* Eigenvalues by LAPACK: dsygvd (Cholesky, then divide and conquer) and dgeev (QR); null spaces by
 * dgesvd; balance by dgebal. Cost: about 10 n³ and 25 n³. */
#include "solver/linalg/eig.h"

#include "solver/base/err.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* LAPACKE refuses NaN as if the caller had called it wrongly, and iterates on infinities. */
static bool are_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

int mech_eig_symmetric(int32_t n, double *A, double *B, double *lambda)
{
    const size_t size = (size_t)n * (size_t)n;

    if (n == 0) {
        return 0;
    }
    if (!are_finite(A, size) || !are_finite(B, size)) {
        return MECH_NOT_FINITE;
    }
    const lapack_int info = LAPACKE_dsygvd(LAPACK_COL_MAJOR, 1, 'V', 'L', n, A, n, B, n, lambda);

    if (info == LAPACK_WORK_MEMORY_ERROR) {
        return MECH_NO_MEMORY;
    }
    return info == 0 ? 0 : info < 0 ? MECH_INTERNAL : info > n ? MECH_SINGULAR : MECH_NOT_CONVERGED;
}

int mech_eig_general(int32_t n, double *A, double *re, double *im, double *vectors)
{
    double none = 0.;

    if (n == 0) {
        return 0;
    }
    if (!are_finite(A, (size_t)n * (size_t)n)) {
        return MECH_NOT_FINITE;
    }
    const lapack_int info =
        LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'V', n, A, n, re, im, &none, 1, vectors, n);

    if (info == LAPACK_WORK_MEMORY_ERROR) {
        return MECH_NO_MEMORY;
    }
    return info == 0 ? 0 : info < 0 ? MECH_INTERNAL : MECH_NOT_CONVERGED;
}

int mech_eig_balance(int32_t n, double *A, double *scale)
{
    lapack_int low, high;

    if (n == 0) {
        return 0;
    }
    if (!are_finite(A, (size_t)n * (size_t)n)) {
        return MECH_NOT_FINITE;
    }
    const lapack_int info = LAPACKE_dgebal(LAPACK_COL_MAJOR, 'S', n, A, n, &low, &high, scale);

    return info == 0 ? 0 : info == LAPACK_WORK_MEMORY_ERROR ? MECH_NO_MEMORY : MECH_INTERNAL;
}

int mech_eig_null(int32_t rows, int32_t n, double *G, double *Z, int32_t *dimension)
{
    if (n == 0) {
        *dimension = 0;
        return 0;
    }
    if (!are_finite(G, (size_t)rows * (size_t)n)) {
        return MECH_NOT_FINITE;
    }
    const int32_t least = rows < n ? rows : n;
    double *const work = calloc(2 * (size_t)least + (size_t)n * (size_t)n + 1, sizeof *work);
    double *const values = work, *const super = work + least, *const vt = super + least;
    double none = 0.;
    int32_t rank = 0;

    if (!work) {
        return MECH_NO_MEMORY;
    }
    const lapack_int info = LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'A', rows, n, G, rows, values,
                                           &none, 1, vt, n, super);
    while (info == 0 && rank < least && values[rank] > 1e-10 * values[0]) {
        rank++;
    }
    /* the last rows of Vᵀ become columns */
    for (int32_t j = rank; j < n && info == 0; j++) {
        for (int32_t i = 0; i < n; i++) {
            Z[(size_t)(j - rank) * (size_t)n + (size_t)i] = vt[(size_t)i * (size_t)n + (size_t)j];
        }
    }
    free(work);
    *dimension = n - rank;
    return info == 0                          ? 0
           : info == LAPACK_WORK_MEMORY_ERROR ? MECH_NO_MEMORY
           : info < 0                         ? MECH_INTERNAL
                                              : MECH_NOT_CONVERGED;
}

void mech_eig_gram(int32_t n, int32_t p, int32_t some, const double *A, const double *B,
                   double *out)
{
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, p, some, n, 1., A, n, B, n, 0., out, p);
}

void mech_eig_rotate(int32_t n, int32_t p, int32_t some, const double *A, const double *Q,
                     double *out)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, some, p, 1., A, n, Q, p, 0., out, n);
}
