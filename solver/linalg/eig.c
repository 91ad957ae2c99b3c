/* Eigenvalues by LAPACK: dsygvd (Cholesky, then divide and conquer) and dgeev (QR). Cost: about
 * 10 n³ and 25 n³. */
#include "solver/linalg/eig.h"

#include "solver/base/err.h"

#include <cblas.h>
#include <lapacke.h>

int mech_eig_symmetric(int32_t n, double *A, double *B, double *lambda)
{
    if (n == 0) {
        return 0;
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
    const lapack_int info =
        LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'V', n, A, n, re, im, &none, 1, vectors, n);

    if (info == LAPACK_WORK_MEMORY_ERROR) {
        return MECH_NO_MEMORY;
    }
    return info == 0 ? 0 : info < 0 ? MECH_INTERNAL : MECH_NOT_CONVERGED;
}

void mech_eig_gram(int32_t n, int32_t p, const double *A, const double *B, double *out)
{
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, p, p, n, 1., A, n, B, n, 0., out, p);
}

void mech_eig_rotate(int32_t n, int32_t p, const double *A, const double *Q, double *out)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, p, p, 1., A, n, Q, p, 0., out, n);
}
