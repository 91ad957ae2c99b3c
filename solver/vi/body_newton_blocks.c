/* Blocks of 6 × 6 and their elimination; see body_newton_blocks.h. */
#include "solver/vi/body_newton_blocks.h"

#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = MECH_NEWTON_BLOCK };

/* --- memory ----------------------------------------------------------------------------------- */

void mech_newton_blocks_fini(struct mech_newton_blocks *b)
{
    free(b->place);
    free(b->start);
    free(b->later);
    free(b->values);
    free(b->pivot);
    free(b->tie);
    free(b->tied);
    free(b->degree);
    free(b->mark);
    free(b->of_degree);
    free(b->degree_next);
    free(b->degree_back);
    *b = (struct mech_newton_blocks){.n = 0};
}

int mech_newton_blocks_init(struct mech_newton_blocks *b, int32_t bodies, int32_t pairs)
{
    const size_t n = (size_t)bodies + 1, m = (size_t)pairs + 1;

    *b = (struct mech_newton_blocks){.most = bodies, .room = pairs};
    b->place = malloc(n * sizeof *b->place);
    b->start = malloc(n * sizeof *b->start);
    b->later = malloc(m * sizeof *b->later);
    b->values = malloc((n + 2 * m) * MECH_NEWTON_ENTRIES * sizeof *b->values);
    b->pivot = malloc(n * sizeof *b->pivot);
    b->tie = malloc(2 * m * sizeof *b->tie);
    b->tied = malloc(n * sizeof *b->tied);
    b->degree = malloc(n * sizeof *b->degree);
    b->mark = malloc(n * sizeof *b->mark);
    b->of_degree = malloc(n * sizeof *b->of_degree);
    b->degree_next = malloc(n * sizeof *b->degree_next);
    b->degree_back = malloc(n * sizeof *b->degree_back);
    return b->place && b->start && b->later && b->values && b->pivot && b->tie && b->tied &&
                   b->degree && b->mark && b->of_degree && b->degree_next && b->degree_back
               ? 0
               : MECH_NO_MEMORY;
}

/* --- the order -------------------------------------------------------------------------------- */

void mech_newton_blocks_begin(struct mech_newton_blocks *b, int32_t n)
{
    b->n = n;
    b->pairs = 0;
    for (int32_t i = 0; i < n; i++) {
        b->place[i] = b->tied[i] = -1;
        b->degree[i] = 0;
    }
}

static void append(struct mech_newton_blocks *b, int32_t to, int32_t body, int32_t at)
{
    b->tie[at] = (struct mech_newton_tie){body, b->tied[to]};
    b->tied[to] = at;
    b->degree[to]++;
}

/* One more pair. */
static bool open_pair(struct mech_newton_blocks *b, int32_t i, int32_t j)
{
    if (b->pairs == b->room) {
        return false;
    }
    append(b, i, j, 2 * b->pairs);
    append(b, j, i, 2 * b->pairs + 1);
    b->pairs++;
    return true;
}

bool mech_newton_blocks_tie(struct mech_newton_blocks *b, const int32_t body[2])
{
    if (body[0] < 0 || body[1] < 0) {
        return true;
    }
    const int few = b->degree[body[0]] > b->degree[body[1]];

    for (int32_t at = b->tied[body[few]]; at >= 0; at = b->tie[at].next) {
        if (b->tie[at].body == body[!few]) {
            return true;
        }
    }
    return open_pair(b, body[0], body[1]);
}

/* A body into the list of those of its degree, or out of it. */
static void put_in(struct mech_newton_blocks *b, int32_t i)
{
    int32_t *const first = &b->of_degree[b->degree[i]];

    b->degree_back[i] = -1;
    b->degree_next[i] = *first;
    if (*first >= 0) {
        b->degree_back[*first] = i;
    }
    *first = i;
}

static void take_out(struct mech_newton_blocks *b, int32_t i)
{
    const int32_t next = b->degree_next[i], back = b->degree_back[i];

    if (next >= 0) {
        b->degree_back[next] = back;
    }
    if (back >= 0) {
        b->degree_next[back] = next;
    } else {
        b->of_degree[b->degree[i]] = next;
    }
}

/* The neighbours of a body that is eliminated, all tied to each other; false: no room. */
static bool tie_all(struct mech_newton_blocks *b, const int32_t *later, int32_t n)
{
    for (int32_t x = 0; x < n; x++) {
        const int32_t i = later[x];

        take_out(b, i);
        b->degree[i]--;
    }
    for (int32_t x = 0; x + 1 < n; x++) {
        const int32_t i = later[x];

        for (int32_t at = b->tied[i]; at >= 0; at = b->tie[at].next) {
            b->mark[b->tie[at].body] = i;
        }
        for (int32_t y = x + 1; y < n; y++) {
            if (b->mark[later[y]] != i && !open_pair(b, i, later[y])) {
                return false;
            }
        }
    }
    for (int32_t x = 0; x < n; x++) {
        put_in(b, later[x]);
    }
    return true;
}

/* Neighbours as places, ascending. */
static void sort_later(struct mech_newton_blocks *b, int32_t p)
{
    int32_t *const at = b->later + b->start[p];

    for (int32_t i = 0; i < b->start[p + 1] - b->start[p]; i++) {
        const int32_t place = b->place[at[i]];
        int32_t k = i;

        for (; k > 0 && at[k - 1] > place; k--) {
            at[k] = at[k - 1];
        }
        at[k] = place;
    }
}

bool mech_newton_blocks_order(struct mech_newton_blocks *b)
{
    int32_t least = 0;

    b->start[0] = 0;
    for (int32_t i = 0; i < b->n; i++) {
        b->of_degree[i] = b->mark[i] = -1;
    }
    for (int32_t i = b->n; i-- > 0;) {
        put_in(b, i);
    }
    for (int32_t p = 0; p < b->n; p++) {
        int32_t *const later = b->later + b->start[p];
        int32_t n = 0;

        while (b->of_degree[least] < 0) {
            least++;
        }
        const int32_t i = b->of_degree[least];

        take_out(b, i);
        b->place[i] = p;
        for (int32_t at = b->tied[i]; at >= 0; at = b->tie[at].next) {
            if (b->place[b->tie[at].body] < 0) {
                later[n++] = b->tie[at].body;
            }
        }
        b->start[p + 1] = b->start[p] + n;
        if (!tie_all(b, later, n)) {
            return false;
        }
        least = least > 0 ? least - 1 : 0;
    }
    for (int32_t p = 0; p < b->n; p++) {
        sort_later(b, p);
    }
    return true;
}

int32_t mech_newton_blocks_pair(const struct mech_newton_blocks *b, const int32_t place[2])
{
    const int32_t p = place[0] < place[1] ? place[0] : place[1];
    const int32_t q = place[0] < place[1] ? place[1] : place[0];

    if (p < 0) {
        return -1;
    }
    int32_t low = b->start[p], high = b->start[p + 1];

    while (low + 1 < high) {
        const int32_t middle = low + (high - low) / 2;

        if (b->later[middle] <= q) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

double mech_newton_blocks_flops(const struct mech_newton_blocks *b)
{
    double sum = 0.;

    for (int32_t p = 0; p < b->n; p++) {
        const double later = b->start[p + 1] - b->start[p];

        sum += (double)(N * N * N) * (2. / 3. + 2. * later + 2. * later * later);
    }
    return sum;
}

/* --- values ----------------------------------------------------------------------------------- */

void mech_newton_blocks_one(struct mech_newton_blocks *b)
{
    const size_t block = MECH_NEWTON_ENTRIES * sizeof *b->values;

    memset(b->values, 0, (size_t)b->n * block);
    memset(mech_newton_pair(b, 0, 0), 0, 2 * (size_t)b->pairs * block);
    for (int32_t p = 0; p < b->n; p++) {
        for (int k = 0; k < N; k++) {
            mech_newton_body(b, p)[(N + 1) * k] = 1.;
        }
    }
}

/* at += gᵀ DG */
static void add_product(const double *g, const double *DG, double *at)
{
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            at[N * i + k] += g[i] * DG[k] + g[N + i] * DG[N + k] + g[2 * N + i] * DG[2 * N + k];
        }
    }
}

void mech_newton_blocks_add(struct mech_newton_blocks *b, const int32_t place[2], int32_t pair,
                            const double *const G[2], const double *const H[2], const double D[9])
{
    for (int second = 0; second < 2; second++) {
        const double *const h = H[second];
        double DG[3 * N];

        if (place[second] < 0) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < N; k++) {
                DG[N * i + k] =
                    D[3 * i] * h[k] + D[3 * i + 1] * h[N + k] + D[3 * i + 2] * h[2 * N + k];
            }
        }
        add_product(G[second], DG, mech_newton_body(b, place[second]));
        if (pair >= 0) {
            /* in the row of the other body */
            add_product(G[!second], DG, mech_newton_pair(b, pair, place[!second] > place[second]));
        }
    }
}

/* --- the factors ------------------------------------------------------------------------------ */

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
    for (int32_t p = 0; p < b->n; p++) {
        if (!factor_block(mech_newton_body(b, p), b->pivot[p])) {
            return false;
        }
        for (int32_t y = b->start[p]; y < b->start[p + 1]; y++) {
            divide(mech_newton_body(b, p), b->pivot[p], mech_newton_pair(b, y, 0));
        }
        for (int32_t y = b->start[p]; y < b->start[p + 1]; y++) {
            int32_t at = b->start[b->later[y]];

            subtract(mech_newton_pair(b, y, 1), mech_newton_pair(b, y, 0),
                     mech_newton_body(b, b->later[y]));
            for (int32_t x = y + 1; x < b->start[p + 1]; x++) {
                while (b->later[at] != b->later[x]) {
                    at++;
                }
                subtract(mech_newton_pair(b, y, 1), mech_newton_pair(b, x, 0),
                         mech_newton_pair(b, at, 0));
                subtract(mech_newton_pair(b, x, 1), mech_newton_pair(b, y, 0),
                         mech_newton_pair(b, at, 1));
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
    for (int32_t p = 0; p < b->n; p++) {
        solve_block(mech_newton_body(b, p), b->pivot[p], x + (ptrdiff_t)N * p);
        for (int32_t y = b->start[p]; y < b->start[p + 1]; y++) {
            subtract_product(mech_newton_pair(b, y, 1), x + (ptrdiff_t)N * p,
                             x + (ptrdiff_t)N * b->later[y]);
        }
    }
    for (int32_t p = b->n; p-- > 0;) {
        for (int32_t y = b->start[p]; y < b->start[p + 1]; y++) {
            subtract_product(mech_newton_pair(b, y, 0), x + (ptrdiff_t)N * b->later[y],
                             x + (ptrdiff_t)N * p);
        }
    }
}
