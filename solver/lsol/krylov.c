/* The loop of corrections around Krylov methods (krylov.h). Sums run in a fixed order over four
 * lanes, so that the same input gives the same bits. */
#include "solver/lsol/krylov.h"

#include "solver/base/err.h"
#include "solver/linalg/pivot.h"
#include "solver/linalg/scale.h"

#include <math.h>
#include <string.h>

enum { MOST_PRODUCTS = 20000, MOST_STALLS = 3 };

static const double inner_reduction = 1e-8;
static const double stalled = 0.9; /* a correction that leaves more of r counts as no progress */

double mech_krylov_dot(int32_t n, const double *x, const double *y)
{
    double lane[4] = {0.};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int32_t k = 0; k < 4; k++) {
            lane[k] += x[i + k] * y[i + k];
        }
    }
    for (; i < n; i++) {
        lane[0] += x[i] * y[i];
    }
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

double mech_krylov_length(int32_t n, const double *x)
{
    return sqrt(mech_krylov_dot(n, x, x));
}

void mech_krylov_add(int32_t n, double s, const double *restrict x, double *restrict y)
{
    for (int32_t i = 0; i < n; i++) {
        y[i] += s * x[i];
    }
}

int mech_krylov_init(struct mech_krylov *k, const struct mech_mat *a)
{
    const size_t n = (size_t)a->rows;
    mech_arena_init(&k->arena, 0);
    k->n = a->rows;
    k->most = k->n < (MOST_PRODUCTS - 200) / 20 ? 20 * k->n + 200 : MOST_PRODUCTS;
    MECH_TRY(mech_mat_convert(&k->arena, a, MECH_MAT_CSC, &k->a));
    double **const vectors[] = {&k->row, &k->col, &k->b, &k->x, &k->r, &k->d};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = mech_arena_alloc(&k->arena, n, sizeof(double));
        if (!*vectors[i]) {
            return MECH_NO_MEMORY;
        }
    }
    k->size = mech_arena_alloc(&k->arena, n, 2 * sizeof(double));
    return k->size ? 0 : MECH_NO_MEMORY;
}

void mech_krylov_fini(struct mech_krylov *k)
{
    mech_arena_fini(&k->arena);
}

int mech_krylov_load(struct mech_krylov *k, const struct mech_mat *a, int32_t *where)
{
    const double one = 1.;
    const struct mech_mat *const c = &k->a;
    mech_mat_sum_again(1, &one, &a, &k->a);
    mech_scale_find(c, k->row, k->col, k->size);
    double *const row_sum = k->r;
    memset(row_sum, 0, (size_t)k->n * sizeof *row_sum);
    double by_columns = 0., by_rows = 0.;
    for (int32_t j = 0; j < k->n; j++) {
        double sum = 0.;
        for (int32_t p = c->colptr[j]; p < c->colptr[j + 1]; p++) {
            c->values[p] *= k->row[c->rowind[p]] * k->col[j];
            sum += fabs(c->values[p]);
            row_sum[c->rowind[p]] += fabs(c->values[p]);
        }
        if (sum == 0.) {
            *where = j;
            return MECH_SINGULAR;
        }
        by_columns = fmax(by_columns, sum);
    }
    for (int32_t i = 0; i < k->n; i++) {
        by_rows = fmax(by_rows, row_sum[i]);
    }
    k->norm = sqrt(by_columns * by_rows);
    return 0;
}

/* Corrections from x = 0 until r is small. */
static int correct(struct mech_krylov *k, mech_krylov_method *method, void *self)
{
    const size_t bytes = (size_t)k->n * sizeof(double);
    const double b = mech_krylov_length(k->n, k->b);
    double last = HUGE_VAL;
    memset(k->x, 0, bytes);
    memcpy(k->r, k->b, bytes);
    k->products = 0;
    for (int32_t stalls = 0;;) {
        const double r = mech_krylov_length(k->n, k->r);
        const double x = mech_krylov_length(k->n, k->x);
        const double bound = 4. * DBL_EPSILON * (k->norm * x + b);
        if (r <= bound) {
            return k->norm * x * mech_pivot_tolerance(k->n) <= b ? 0 : MECH_NOT_CONVERGED;
        }
        stalls = r > stalled * last ? stalls + 1 : 0;
        if (!isfinite(r) || stalls == MOST_STALLS || k->products >= k->most) {
            return MECH_NOT_CONVERGED;
        }
        last = r;
        memset(k->d, 0, bytes);
        MECH_TRY(method(self, k, fmax(inner_reduction * r, 0.5 * bound)));
        mech_krylov_add(k->n, 1., k->d, k->x);
        // the true residual
        memcpy(k->r, k->b, bytes);
        mech_mat_mul(&k->a, -1., k->x, 1., k->r);
    }
}

int mech_krylov_solve(struct mech_krylov *k, mech_krylov_method *method, void *self, double *x)
{
    for (int32_t i = 0; i < k->n; i++) {
        k->b[i] = k->row[i] * x[i];
    }
    MECH_TRY(correct(k, method, self));
    for (int32_t i = 0; i < k->n; i++) {
        x[i] = k->col[i] * k->x[i];
    }
    return 0;
}
