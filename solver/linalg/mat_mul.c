/* Products of matrices and vectors, each form by loops that the compiler turns into vectors.
 *
 * BAND: y is made in blocks of rows. For a block, each diagonal d adds v[i] x[i + d] to a buffer
 * that stays in the nearest cache, so the traffic is one reading of the diagonals and of x and one
 * writing of y. Tridiagonal matrices need no buffer; a symmetric one reads two of its three
 * diagonals. DENSE: cblas (dsymv when symmetric, which reads half of the matrix), own loops up to
 * 8 × 8, where a call costs more than the work. Orders of summation are fixed: same input, same
 * bits. */
#include "solver/linalg/mat.h"

#include <cblas.h>
#include <string.h>

enum { BLOCK = 256, SMALL = 8 };

/* y = s z + c y; c = 0 does not read y. */
static void blend(size_t n, double s, const double *restrict z, double c, double *restrict y)
{
    if (c == 0.) {
        for (size_t i = 0; i < n; i++) {
            y[i] = s * z[i];
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            y[i] = s * z[i] + c * y[i];
        }
    }
}

static void scale(size_t n, double c, double *y)
{
    if (c == 0.) {
        memset(y, 0, n * sizeof *y);
    } else if (c != 1.) {
        for (size_t i = 0; i < n; i++) {
            y[i] *= c;
        }
    }
}

static void mul_diag(size_t n, const double *restrict a, double s, const double *restrict x,
                     double c, double *restrict y)
{
    if (c == 0.) {
        for (size_t i = 0; i < n; i++) {
            y[i] = s * (a[i] * x[i]);
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            y[i] = s * (a[i] * x[i]) + c * y[i];
        }
    }
}

/* Tridiagonal, n >= 2: m[i] = A(i, i), l[i] = A(i, i − 1), u[i] = A(i, i + 1). By symmetry
 * A(i, i − 1) = A(i − 1, i), which is read already. */
static void mul_tridiagonal(const struct mech_mat *a, double s, const double *restrict x, double c,
                            double *restrict y)
{
    const size_t n = (size_t)a->rows;
    const double *restrict const m = a->values + n;
    const double *restrict const u = m + n;
    const double *restrict const l = a->symmetric ? u - 1 : a->values;
    const double first = s * (m[0] * x[0] + u[0] * x[1]);
    const double last = s * (l[n - 1] * x[n - 2] + m[n - 1] * x[n - 1]);
    if (c == 0.) {
        y[0] = first;
        y[n - 1] = last;
        for (size_t i = 1; i < n - 1; i++) {
            y[i] = s * (l[i] * x[i - 1] + m[i] * x[i] + u[i] * x[i + 1]);
        }
    } else {
        y[0] = first + c * y[0];
        y[n - 1] = last + c * y[n - 1];
        for (size_t i = 1; i < n - 1; i++) {
            y[i] = s * (l[i] * x[i - 1] + m[i] * x[i] + u[i] * x[i + 1]) + c * y[i];
        }
    }
}

/* sum[k] += v[k] x[k], n of them. */
static void add_products(size_t n, const double *restrict v, const double *restrict x,
                         double *restrict sum)
{
    for (size_t k = 0; k < n; k++) {
        sum[k] += v[k] * x[k];
    }
}

/* y = s A x + c y, or with the transposed matrix: row i of Aᵀ holds A(i + d, i) at diagonal −d. */
static void mul_band(const struct mech_mat *a, bool transposed, double s, const double *x, double c,
                     double *y)
{
    const ptrdiff_t n = a->rows;
    const ptrdiff_t below = transposed ? a->upper : a->lower;
    const ptrdiff_t above = transposed ? a->lower : a->upper;
    double sum[BLOCK];
    for (ptrdiff_t start = 0; start < n; start += BLOCK) {
        const ptrdiff_t stop = n - start < BLOCK ? n : start + BLOCK;
        memset(sum, 0, sizeof sum);
        for (ptrdiff_t d = -below; d <= above; d++) {
            // rows of the block whose column i + d is inside the matrix
            const ptrdiff_t from = start < -d ? -d : start;
            const ptrdiff_t to = stop > n - d ? n - d : stop;
            if (from < to) {
                const double *const v = transposed ? a->values + (a->lower - d) * n + from + d
                                                   : a->values + (a->lower + d) * n + from;
                add_products((size_t)(to - from), v, x + from + d, sum + (from - start));
            }
        }
        blend((size_t)(stop - start), s, sum, c, y + start);
    }
}

/* Up to 8 rows and columns. */
static void mul_small(const struct mech_mat *a, double s, const double *restrict x, double c,
                      double *restrict y)
{
    const size_t rows = (size_t)a->rows;
    const size_t cols = (size_t)a->cols;
    double sum[SMALL] = {0.};
    for (size_t j = 0; j < cols; j++) {
        for (size_t i = 0; i < rows; i++) {
            sum[i] += a->values[j * rows + i] * x[j];
        }
    }
    blend(rows, s, sum, c, y);
}

static void mul_small_transposed(const struct mech_mat *a, double s, const double *restrict x,
                                 double c, double *restrict y)
{
    const size_t rows = (size_t)a->rows;
    const size_t cols = (size_t)a->cols;
    double sum[SMALL] = {0.};
    for (size_t j = 0; j < cols; j++) {
        for (size_t i = 0; i < rows; i++) {
            sum[j] += a->values[j * rows + i] * x[i];
        }
    }
    blend(cols, s, sum, c, y);
}

static void mul_dense(const struct mech_mat *a, bool transposed, double s, const double *x,
                      double c, double *y)
{
    if (a->rows <= SMALL && a->cols <= SMALL) {
        (transposed ? mul_small_transposed : mul_small)(a, s, x, c, y);
    } else if (a->symmetric) {
        cblas_dsymv(CblasColMajor, CblasLower, a->rows, s, a->values, a->rows, x, 1, c, y, 1);
    } else {
        cblas_dgemv(CblasColMajor, transposed ? CblasTrans : CblasNoTrans, a->rows, a->cols, s,
                    a->values, a->rows, x, 1, c, y, 1);
    }
}

/* Each column's dot product: the transposed matrix, or a symmetric one. */
static void mul_csc_by_dots(const struct mech_mat *a, double s, const double *restrict x, double c,
                            double *restrict y)
{
    for (int32_t j = 0; j < a->cols; j++) {
        double sum = 0.;
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            sum += a->values[k] * x[a->rowind[k]];
        }
        y[j] = c == 0. ? s * sum : s * sum + c * y[j];
    }
}

static void mul_csc(const struct mech_mat *a, double s, const double *restrict x, double c,
                    double *restrict y)
{
    scale((size_t)a->rows, c, y);
    for (int32_t j = 0; j < a->cols; j++) {
        const double t = s * x[j];
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            y[a->rowind[k]] += a->values[k] * t;
        }
    }
}

void mech_mat_mul(const struct mech_mat *a, double s, const double *x, double c, double *y)
{
    const size_t n = (size_t)a->rows;
    switch (a->kind) {
    case MECH_MAT_ZERO:
        scale(n, c, y);
        break;
    case MECH_MAT_DIAG:
        mul_diag(n, a->values, s, x, c, y);
        break;
    case MECH_MAT_BAND:
        if (a->lower == 1 && a->upper == 1 && n >= 2) {
            mul_tridiagonal(a, s, x, c, y);
        } else {
            mul_band(a, false, s, x, c, y);
        }
        break;
    case MECH_MAT_DENSE:
        mul_dense(a, false, s, x, c, y);
        break;
    case MECH_MAT_CSC:
        (a->symmetric ? mul_csc_by_dots : mul_csc)(a, s, x, c, y);
        break;
    }
}

void mech_mat_mul_transposed(const struct mech_mat *a, double s, const double *x, double c,
                             double *y)
{
    if (a->symmetric) {
        mech_mat_mul(a, s, x, c, y);
        return;
    }
    switch (a->kind) {
    case MECH_MAT_ZERO:
        scale((size_t)a->cols, c, y);
        break;
    case MECH_MAT_DIAG:
        mul_diag((size_t)a->rows, a->values, s, x, c, y);
        break;
    case MECH_MAT_BAND:
        mul_band(a, true, s, x, c, y);
        break;
    case MECH_MAT_DENSE:
        mul_dense(a, true, s, x, c, y);
        break;
    case MECH_MAT_CSC:
        mul_csc_by_dots(a, s, x, c, y);
        break;
    }
}
