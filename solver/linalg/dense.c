/* Small dense kernels; see dense.h. */
#include "solver/linalg/dense.h"

#include "solver/linalg/pivot.h"

#include <string.h>

void mech_dense_load(const struct mech_mat *a, double *out)
{
    struct mech_mat whole = {
        .kind = MECH_MAT_DENSE, .rows = a->rows, .cols = a->cols, .values = out};
    if (a->kind == MECH_MAT_DENSE) {
        memcpy(out, a->values, mech_mat_stored(a) * sizeof *out);
    } else {
        const double one = 1.;
        mech_mat_sum_again(1, &one, &a, &whole);
    }
}

void mech_dense_load_scaled(const struct mech_mat *a, const double *row, const double *col,
                            double *out)
{
    const size_t order = (size_t)a->rows;
    mech_dense_load(a, out);
    for (size_t j = 0; j < order; j++) {
        for (size_t i = 0; i < order; i++) {
            out[j * order + i] *= row[i] * col[j];
        }
    }
}

int32_t mech_dense_ldlt_factor(int32_t n, double *a)
{
    const size_t order = (size_t)n;
    const double tolerance = mech_pivot_tolerance(n);
    double size[MECH_DENSE_SMALL] = {0.};
    for (size_t j = 0; j < order; j++) {
        size[j] = a[j * order + j];
    }
    for (size_t j = 0; j < order; j++) {
        double *const column = a + j * order;
        if (!mech_pivot_good(column[j], tolerance * size[j])) {
            return (int32_t)j;
        }
        const double inverse = 1. / column[j];
        for (size_t k = j + 1; k < order; k++) {
            const double factor = column[k] * inverse;
            for (size_t i = k; i < order; i++) {
                a[k * order + i] -= factor * column[i];
            }
            column[k] = factor;
        }
        column[j] = inverse;
    }
    return -1;
}

void mech_dense_ldlt_solve(int32_t n, const double *restrict l, double *restrict x)
{
    const size_t order = (size_t)n;
    for (size_t j = 0; j < order; j++) {
        for (size_t i = j + 1; i < order; i++) {
            x[i] -= l[j * order + i] * x[j];
        }
    }
    for (size_t j = order; j-- > 0;) {
        double sum = x[j] * l[j * order + j];
        for (size_t i = j + 1; i < order; i++) {
            sum -= l[j * order + i] * x[i];
        }
        x[j] = sum;
    }
}

int32_t mech_dense_lu_factor(int32_t n, double *a, const double *size, int32_t *pivot)
{
    const size_t order = (size_t)n;
    const double tolerance = mech_pivot_tolerance(n);
    for (size_t j = 0; j < order; j++) {
        double *const column = a + j * order;
        size_t best = j;
        for (size_t i = j + 1; i < order; i++) {
            best = fabs(column[i]) > fabs(column[best]) ? i : best;
        }
        pivot[j] = (int32_t)best;
        // whole rows are exchanged, so that a solve exchanges once at its start
        for (size_t c = 0; best != j && c < order; c++) {
            const double t = a[c * order + j];
            a[c * order + j] = a[c * order + best];
            a[c * order + best] = t;
        }
        if (!mech_pivot_good(fabs(column[j]), tolerance * size[j])) {
            return (int32_t)j;
        }
        column[j] = 1. / column[j];
        for (size_t i = j + 1; i < order; i++) {
            column[i] *= column[j];
        }
        for (size_t c = j + 1; c < order; c++) {
            double *const other = a + c * order;
            for (size_t i = j + 1; i < order; i++) {
                other[i] -= column[i] * other[j];
            }
        }
    }
    return -1;
}

void mech_dense_lu_solve(int32_t n, const double *restrict lu, const int32_t *restrict pivot,
                         double *restrict x)
{
    const size_t order = (size_t)n;
    for (size_t j = 0; j < order; j++) {
        const size_t best = (size_t)pivot[j];
        const double t = x[best];
        x[best] = x[j];
        x[j] = t;
    }
    for (size_t j = 0; j < order; j++) {
        for (size_t i = j + 1; i < order; i++) {
            x[i] -= lu[j * order + i] * x[j];
        }
    }
    for (size_t j = order; j-- > 0;) {
        x[j] *= lu[j * order + j];
        for (size_t i = 0; i < j; i++) {
            x[i] -= lu[j * order + i] * x[j];
        }
    }
}
