/* Scaling of rows and columns by powers of two; see scale.h. Cost: two to seven readings of the
 * matrix, two where it needs no scaling. */
#include "solver/linalg/scale.h"

#include <math.h>
#include <string.h>

/* Sweeps at most: exponents spread over 2^11 shrink to 2^5; the rest is harmless. */
enum { SWEEPS = 6 };

static size_t zt(int32_t n)
{
    return (size_t)n;
}

/* Note the entry row[i] A(i,j) col[j] in both maxima. */
static inline void note(double entry, double *of_row, double *of_col)
{
    *of_row = entry > *of_row ? entry : *of_row;
    *of_col = entry > *of_col ? entry : *of_col;
}

/* Largest entries of the scaled columns and rows. */
static void maxima(const struct mech_mat *a, const double *row, const double *col, double *of_col,
                   double *of_row)
{
    const size_t n = zt(a->rows);
    memset(of_col, 0, n * sizeof *of_col);
    memset(of_row, 0, n * sizeof *of_row);
    switch (a->kind) {
    case MECH_MAT_ZERO:
        break;
    case MECH_MAT_DIAG:
        for (size_t i = 0; i < n; i++) {
            note(fabs(row[i] * a->values[i] * col[i]), &of_row[i], &of_col[i]);
        }
        break;
    case MECH_MAT_BAND:
        for (size_t d = 0; d <= zt(a->lower) + zt(a->upper); d++) {
            // row i of this diagonal is in column i + d − lower
            const size_t first = d < zt(a->lower) ? zt(a->lower) - d : 0;
            for (size_t i = first; i < n && i + d - zt(a->lower) < n; i++) {
                const size_t j = i + d - zt(a->lower);
                note(fabs(row[i] * a->values[d * n + i] * col[j]), &of_row[i], &of_col[j]);
            }
        }
        break;
    case MECH_MAT_DENSE:
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < n; i++) {
                note(fabs(row[i] * a->values[j * n + i] * col[j]), &of_row[i], &of_col[j]);
            }
        }
        break;
    case MECH_MAT_CSC:
        for (size_t j = 0; j < n; j++) {
            for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
                const int32_t i = a->rowind[k];
                note(fabs(row[i] * a->values[k] * col[j]), &of_row[i], &of_col[j]);
            }
        }
        break;
    }
}

/* Multiply the scales by 2^(−e/2) of the maxima; true when one of them was far from 1. */
static bool improve(size_t n, const double *largest, double *scale)
{
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        if (largest[i] > 0. && (largest[i] < 0.25 || largest[i] >= 4.)) {
            const int e = ilogb(largest[i]) / 2;
            // a scale that leaves the range of normal numbers is not changed
            const double next = ldexp(scale[i], e != 0 ? -e : 0);
            if (isnormal(next) && isnormal(1. / next) && e != 0) {
                scale[i] = next;
                changed = true;
            }
        }
    }
    return changed;
}

void mech_scale_find(const struct mech_mat *a, double *row, double *col, double *work)
{
    const size_t n = zt(a->rows);
    for (size_t i = 0; i < n; i++) {
        row[i] = 1.;
        col[i] = 1.;
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        maxima(a, row, col, work, work + n);
        const bool rows_changed = improve(n, work + n, row);
        if (!improve(n, work, col) && !rows_changed) {
            return;
        }
    }
    maxima(a, row, col, work, work + n);
}

void mech_scale_apply(int32_t n, const double *restrict scale, double *restrict x, int32_t count)
{
    for (int32_t k = 0; k < count; k++, x += n) {
        for (int32_t i = 0; i < n; i++) {
            x[i] *= scale[i];
        }
    }
}
