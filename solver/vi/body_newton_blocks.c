/* Blocks of 6 × 6 and their elimination; see body_newton_blocks.h. */
#include "solver/vi/body_newton_blocks.h"

#include <math.h>
#include <string.h>

enum { N = MECH_NEWTON_BLOCK };

static int32_t bits(uint64_t x)
{
    int32_t n = 0;

    for (; x; x &= x - 1) {
        n++;
    }
    return n;
}

static int32_t lowest(uint64_t x)
{
    int32_t n = 0;

    while (!(x >> n & 1)) {
        n++;
    }
    return n;
}

void mech_newton_blocks_begin(struct mech_newton_blocks *b, int32_t n)
{
    b->n = n;
    for (int32_t i = 0; i < n; i++) {
        b->mask[i] = (uint64_t)1 << i;
    }
}

void mech_newton_blocks_tie(struct mech_newton_blocks *b, const int32_t pair[2])
{
    if (pair[0] >= 0 && pair[1] >= 0) {
        b->mask[pair[0]] |= (uint64_t)1 << pair[1];
        b->mask[pair[1]] |= (uint64_t)1 << pair[0];
    }
}

void mech_newton_blocks_order(struct mech_newton_blocks *b)
{
    uint64_t left = b->n < 64 ? ((uint64_t)1 << b->n) - 1 : ~(uint64_t)0;

    for (int32_t k = 0; k < b->n; k++) {
        int32_t best = -1, least = 0;

        for (uint64_t x = left; x; x &= x - 1) {
            const int32_t i = lowest(x), degree = bits(b->mask[i] & left);

            if (best < 0 || degree < least) {
                best = i;
                least = degree;
            }
        }
        left &= ~((uint64_t)1 << best);
        b->order[k] = best;
        b->later[best] = b->mask[best] & left;
        for (uint64_t x = b->later[best]; x; x &= x - 1) {
            b->mask[lowest(x)] |= b->later[best];
        }
    }
}

double mech_newton_blocks_flops(const struct mech_newton_blocks *b)
{
    double sum = 0.;

    for (int32_t i = 0; i < b->n; i++) {
        const double later = bits(b->later[i]);

        sum += (double)(N * N * N) * (2. / 3. + 2. * later + 2. * later * later);
    }
    return sum;
}

void mech_newton_blocks_one(struct mech_newton_blocks *b)
{
    for (int32_t i = 0; i < b->n; i++) {
        for (uint64_t x = b->mask[i]; x; x &= x - 1) {
            const int32_t j = lowest(x);

            double *const at = mech_newton_block(b, i, j);

            memset(at, 0, MECH_NEWTON_ENTRIES * sizeof *at);
            for (int k = 0; k < N && i == j; k++) {
                at[N * k + k] = 1.;
            }
        }
    }
}

void mech_newton_blocks_add(struct mech_newton_blocks *b, const int32_t pair[2], const double *G,
                            const double D[9], double s)
{
    for (int second = 0; second < 2; second++) {
        const double *const h = G + (ptrdiff_t)3 * N * second;
        double DG[3 * N];

        if (pair[second] < 0) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < N; k++) {
                DG[N * i + k] =
                    s * (D[3 * i] * h[k] + D[3 * i + 1] * h[N + k] + D[3 * i + 2] * h[2 * N + k]);
            }
        }
        for (int first = 0; first < 2; first++) {
            if (pair[first] < 0) {
                continue;
            }
            double *const at = mech_newton_block(b, pair[first], pair[second]);
            const double *const g = G + (ptrdiff_t)3 * N * first;

            for (int i = 0; i < N; i++) {
                for (int k = 0; k < N; k++) {
                    at[N * i + k] +=
                        g[i] * DG[k] + g[N + i] * DG[N + k] + g[2 * N + i] * DG[2 * N + k];
                }
            }
        }
    }
}

/* P A = L U of one block, 1/u on its diagonal. */
static bool factor_block(double *a, int8_t *pivot)
{
    for (int k = 0; k < N; k++) {
        int best = k;

        for (int i = k + 1; i < N; i++) {
            best = fabs(a[N * i + k]) > fabs(a[N * best + k]) ? i : best;
        }
        pivot[k] = (int8_t)best;
        for (int j = 0; j < N && best != k; j++) {
            const double swap = a[N * k + j];

            a[N * k + j] = a[N * best + j];
            a[N * best + j] = swap;
        }
        const double d = 1. / a[N * k + k];

        if (!isfinite(d)) {
            return false;
        }
        a[N * k + k] = d;
        for (int i = k + 1; i < N; i++) {
            const double f = a[N * i + k] *= d;

            for (int j = k + 1; j < N; j++) {
                a[N * i + j] -= f * a[N * k + j];
            }
        }
    }
    return true;
}

static void solve_block(const double *a, const int8_t *pivot, double *x)
{
    for (int k = 0; k < N; k++) {
        const double swap = x[k];

        x[k] = x[pivot[k]];
        x[pivot[k]] = swap;
    }
    for (int i = 1; i < N; i++) {
        for (int k = 0; k < i; k++) {
            x[i] -= a[N * i + k] * x[k];
        }
    }
    for (int i = N; i-- > 0;) {
        for (int k = i + 1; k < N; k++) {
            x[i] -= a[N * i + k] * x[k];
        }
        x[i] *= a[N * i + i];
    }
}

/* A_kj := A_kk⁻¹ A_kj, by columns. */
static void divide(const double *a, const int8_t *pivot, double *block)
{
    for (int j = 0; j < N; j++) {
        double x[N];

        for (int i = 0; i < N; i++) {
            x[i] = block[N * i + j];
        }
        solve_block(a, pivot, x);
        for (int i = 0; i < N; i++) {
            block[N * i + j] = x[i];
        }
    }
}

static void subtract(const double *restrict a, const double *restrict c, double *restrict out)
{
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            const double f = a[N * i + k];

            for (int j = 0; j < N; j++) {
                out[N * i + j] -= f * c[N * k + j];
            }
        }
    }
}

bool mech_newton_blocks_factor(struct mech_newton_blocks *b)
{
    for (int32_t k = 0; k < b->n; k++) {
        const int32_t p = b->order[k];

        if (!factor_block(mech_newton_block(b, p, p), b->pivot[p])) {
            return false;
        }
        for (uint64_t x = b->later[p]; x; x &= x - 1) {
            divide(mech_newton_block(b, p, p), b->pivot[p], mech_newton_block(b, p, lowest(x)));
        }
        for (uint64_t y = b->later[p]; y; y &= y - 1) {
            const int32_t i = lowest(y);

            for (uint64_t x = b->later[p]; x; x &= x - 1) {
                const int32_t j = lowest(x);

                subtract(mech_newton_block(b, i, p), mech_newton_block(b, p, j),
                         mech_newton_block(b, i, j));
            }
        }
    }
    return true;
}

static void subtract_product(const double *a, const double *x, double *out)
{
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            out[i] -= a[N * i + k] * x[k];
        }
    }
}

void mech_newton_blocks_solve(const struct mech_newton_blocks *b, double *x)
{
    for (int32_t k = 0; k < b->n; k++) {
        const int32_t p = b->order[k];

        solve_block(mech_newton_block(b, p, p), b->pivot[p], x + (ptrdiff_t)N * p);
        for (uint64_t y = b->later[p]; y; y &= y - 1) {
            subtract_product(mech_newton_block(b, lowest(y), p), x + (ptrdiff_t)N * p,
                             x + (ptrdiff_t)N * lowest(y));
        }
    }
    for (int32_t k = b->n; k-- > 0;) {
        const int32_t p = b->order[k];

        for (uint64_t y = b->later[p]; y; y &= y - 1) {
            subtract_product(mech_newton_block(b, p, lowest(y)), x + (ptrdiff_t)N * lowest(y),
                             x + (ptrdiff_t)N * p);
        }
    }
}
