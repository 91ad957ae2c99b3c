/* Factorisations of band matrices; see band.h. Cost of a solve: tridiagonal about 4 n cycles (two
 * chains of one product and one difference, there and back), LDLᵀ 4 n p flops, LU up to
 * 2 n (2 lower + upper). */
#include "solver/linalg/band.h"

#include "solver/linalg/pivot.h"
#include "solver/linalg/scale.h"

#include <string.h>

static size_t zt(int32_t n)
{
    return (size_t)n;
}

int32_t mech_tridiagonal_factor(int32_t n, const double *diagonal, const double *above, double *r,
                                double *inverse)
{
    const double tolerance = mech_pivot_tolerance(n);
    const int32_t middle = n / 2;
    const int32_t below = n - 1 - middle;
    double top = diagonal[0];
    double bottom = diagonal[n - 1];
    bool good = true;
    int32_t bad = n;
    // one row from each end per turn; the top has as many or one more
    for (int32_t k = 0; k < middle; k++) {
        const int32_t i = k;
        const int32_t j = n - 1 - k;
        good = mech_pivot_good(top, tolerance * diagonal[i]);
        if (!good) {
            bad = i;
            break;
        }
        inverse[i] = 1. / top;
        r[i] = above[i] * inverse[i];
        const double drop = r[i] * above[i];
        if (k < below) {
            good = mech_pivot_good(bottom, tolerance * diagonal[j]);
            if (!good) {
                bad = j;
                break;
            }
            inverse[j] = 1. / bottom;
            r[j] = above[j - 1] * inverse[j];
            bottom = diagonal[j - 1] - r[j] * above[j - 1];
        }
        // the last turn of each end meets in the middle row
        top = diagonal[i + 1] - drop;
    }
    if (!good) {
        return bad;
    }
    // both updates of the middle row
    double meet = diagonal[middle];
    if (middle > 0) {
        meet -= r[middle - 1] * above[middle - 1];
    }
    if (below > 0) {
        meet -= r[middle + 1] * above[middle];
    }
    if (!mech_pivot_good(meet, tolerance * diagonal[middle])) {
        return middle;
    }
    inverse[middle] = 1. / meet;
    r[middle] = 0.;
    return -1;
}

void mech_tridiagonal_solve(int32_t n, const double *restrict r, const double *restrict inverse,
                            double *restrict x)
{
    const size_t middle = zt(n) / 2;
    const size_t below = zt(n) - 1 - middle;
    double top = x[0];
    double bottom = x[zt(n) - 1];
    // towards the middle, which gathers both ends
    double meet = x[middle];
    if (middle == 0) {
        x[0] = meet * inverse[0];
        return;
    }
    const size_t turns = below > 0 ? below - 1 : 0;
    size_t i = 0;
    size_t j = zt(n) - 1;
    for (size_t k = 0; k < turns; k++, i++, j--) {
        top = x[i + 1] - r[i] * top;
        bottom = x[j - 1] - r[j] * bottom;
        x[i + 1] = top;
        x[j - 1] = bottom;
    }
    // an even n leaves the top one row more
    for (; i + 1 < middle; i++) {
        top = x[i + 1] - r[i] * top;
        x[i + 1] = top;
    }
    meet -= r[i] * top;
    if (below > 0) {
        meet -= r[j] * bottom;
    }
    // and out again
    meet *= inverse[middle];
    x[middle] = meet;
    top = meet;
    bottom = meet;
    for (i = middle, j = middle + 1; j < zt(n); j++, i--) {
        top = x[i - 1] * inverse[i - 1] - r[i - 1] * top;
        bottom = x[j] * inverse[j] - r[j] * bottom;
        x[i - 1] = top;
        x[j] = bottom;
    }
    for (; i > 0; i--) {
        top = x[i - 1] * inverse[i - 1] - r[i - 1] * top;
        x[i - 1] = top;
    }
}

/* The elimination, for a width that the compiler knows where it matters. */
static inline __attribute__((always_inline)) int32_t
eliminate(size_t n, size_t p, const double *restrict diagonal, double tolerance, double *restrict l)
{
    for (size_t j = 0; j < n; j++) {
        double *const column = l + j * (p + 1);
        if (!mech_pivot_good(column[0], tolerance * diagonal[j])) {
            return (int32_t)j;
        }
        const double inverse = 1. / column[0];
        // take the column's outer product off the next p columns
        for (size_t k = 1; k <= p; k++) {
            const double factor = column[k] * inverse;
            double *const target = column + k * (p + 1);
            for (size_t m = k; m <= p; m++) {
                target[m - k] -= factor * column[m];
            }
            column[k] = factor;
        }
        column[0] = inverse;
    }
    return -1;
}

int32_t mech_band_ldlt_factor(const struct mech_mat *a, double *l)
{
    const size_t n = zt(a->rows);
    const size_t p = zt(a->upper);
    const double tolerance = mech_pivot_tolerance(a->rows);
    const double *const diagonal = a->values + zt(a->lower) * n;
    // columns of the lower triangle are rows of the upper one; columns after the last hold zeros
    memset(l, 0, (n + p) * (p + 1) * sizeof *l);
    for (size_t k = 0; k <= p; k++) {
        for (size_t j = 0; j + k < n; j++) {
            l[j * (p + 1) + k] = diagonal[k * n + j];
        }
    }
    switch (p) {
    case 2:
        return eliminate(n, 2, diagonal, tolerance, l);
    case 3:
        return eliminate(n, 3, diagonal, tolerance, l);
    default:
        return eliminate(n, p, diagonal, tolerance, l);
    }
}

/* Narrow bands: the last p unknowns stay in registers, and the nearest is taken off last, so that a
 * row waits for one product and one difference. */
static inline __attribute__((always_inline)) void
solve_narrow(size_t n, size_t p, const double *restrict l, double *restrict x)
{
    double last[4] = {0.}; /* last[k − 1]: the unknown k rows before (then: after) */
    for (size_t i = 0; i < n; i++) {
        double sum = x[i];
        for (size_t k = p; k >= 1; k--) {
            sum -= i >= k ? l[(i - k) * (p + 1) + k] * last[k - 1] : 0.;
        }
        for (size_t k = p - 1; k >= 1; k--) {
            last[k] = last[k - 1];
        }
        last[0] = sum;
        x[i] = sum;
    }
    // behind the last row there are only zeros
    memset(last, 0, sizeof last);
    for (size_t j = n; j-- > 0;) {
        const double *const column = l + j * (p + 1);
        double sum = x[j] * column[0];
        for (size_t k = p; k >= 1; k--) {
            sum -= column[k] * last[k - 1];
        }
        for (size_t k = p - 1; k >= 1; k--) {
            last[k] = last[k - 1];
        }
        last[0] = sum;
        x[j] = sum;
    }
}

static void solve_wide(size_t n, size_t p, const double *restrict l, double *restrict x)
{
    for (size_t j = 0; j < n; j++) {
        const double *const column = l + j * (p + 1);
        const size_t most = n - 1 - j < p ? n - 1 - j : p;
        const double t = x[j];
        for (size_t k = 1; k <= most; k++) {
            x[j + k] -= column[k] * t;
        }
    }
    for (size_t j = n; j-- > 0;) {
        const double *const column = l + j * (p + 1);
        const size_t most = n - 1 - j < p ? n - 1 - j : p;
        double sum = x[j] * column[0];
        for (size_t k = 1; k <= most; k++) {
            sum -= column[k] * x[j + k];
        }
        x[j] = sum;
    }
}

void mech_band_ldlt_solve(int32_t n, int32_t p, const double *l, double *x)
{
    switch (p) {
    case 2:
        solve_narrow(zt(n), 2, l, x);
        break;
    case 3:
        solve_narrow(zt(n), 3, l, x);
        break;
    case 4:
        solve_narrow(zt(n), 4, l, x);
        break;
    default:
        solve_wide(zt(n), zt(p), l, x);
        break;
    }
}

/* Copy the rows, scaled. */
static void load_rows(const struct mech_mat *a, const double *row, const double *col, double *lu)
{
    const size_t n = zt(a->rows);
    const size_t lower = zt(a->lower);
    const size_t diagonals = lower + zt(a->upper) + 1;
    const size_t width = diagonals + lower;
    memset(lu, 0, n * width * sizeof *lu);
    for (size_t i = 0; i < n; i++) {
        // place d of a row is column i + d − lower
        for (size_t d = 0; d < diagonals; d++) {
            if (i + d >= lower && i + d - lower < n) {
                lu[i * width + d] = a->values[d * n + i] * row[i] * col[i + d - lower];
            }
        }
    }
}

int32_t mech_band_lu_factor(const struct mech_mat *a, const struct mech_band_lu *f)
{
    double *const lu = f->lu;
    double *const inverse = f->inverse;
    int32_t *const pivot = f->pivot;
    const size_t n = zt(a->rows);
    const size_t lower = zt(a->lower);
    const size_t reach = lower + zt(a->upper);
    const size_t width = reach + lower + 1;
    const double tolerance = mech_pivot_tolerance(a->rows);
    mech_scale_find(a, f->row, f->col, f->size);
    load_rows(a, f->row, f->col, lu);
    for (size_t j = 0; j < n; j++) {
        // entry (i, c) is at row i, place c − i + lower
        const size_t last = n - 1 - j < lower ? n - 1 : j + lower;
        const size_t count = (n - 1 - j < reach ? n - 1 - j : reach) + 1;
        size_t best = j;
        for (size_t i = j + 1; i <= last; i++) {
            if (fabs(lu[i * width + j + lower - i]) > fabs(lu[best * width + j + lower - best])) {
                best = i;
            }
        }
        double *const top = lu + j * width + lower;
        pivot[j] = (int32_t)best;
        if (best != j) {
            double *const other = lu + best * width + j + lower - best;
            for (size_t c = 0; c < count; c++) {
                const double t = top[c];
                top[c] = other[c];
                other[c] = t;
            }
        }
        if (!mech_pivot_good(fabs(top[0]), tolerance * f->size[j])) {
            return (int32_t)j;
        }
        inverse[j] = 1. / top[0];
        for (size_t i = j + 1; i <= last; i++) {
            double *const row = lu + i * width + j + lower - i;
            const double factor = row[0] * inverse[j];
            row[0] = factor;
            if (factor != 0.) {
                for (size_t c = 1; c < count; c++) {
                    row[c] -= factor * top[c];
                }
            }
        }
    }
    return -1;
}

void mech_band_lu_solve(const struct mech_mat *shape, const struct mech_band_lu *f, double *x)
{
    const size_t n = zt(shape->rows);
    const size_t lower = zt(shape->lower);
    const size_t reach = lower + zt(shape->upper);
    const size_t width = reach + lower + 1;
    const double *const lu = f->lu;
    const double *const inverse = f->inverse;
    const int32_t *const pivot = f->pivot;
    mech_scale_apply(shape->rows, f->row, x, 1);
    for (size_t j = 0; j < n; j++) {
        const size_t best = zt(pivot[j]);
        const double t = x[best];
        x[best] = x[j];
        x[j] = t;
        const size_t last = n - 1 - j < lower ? n - 1 : j + lower;
        for (size_t i = j + 1; i <= last; i++) {
            x[i] -= lu[i * width + j + lower - i] * t;
        }
    }
    for (size_t j = n; j-- > 0;) {
        const double *const row = lu + j * width + lower;
        const size_t count = n - 1 - j < reach ? n - 1 - j : reach;
        double sum = x[j];
        for (size_t c = 1; c <= count; c++) {
            sum -= row[c] * x[j + c];
        }
        x[j] = sum * inverse[j];
    }
    mech_scale_apply(shape->rows, f->col, x, 1);
}
