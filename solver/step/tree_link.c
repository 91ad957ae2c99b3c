/* Elimination of one body; see tree_link.h. The functions take their sizes as parameters; those
 * that bodies in the plane and in space have are compiled for them, so that all their loops unroll.
 */
#include "solver/step/tree_link.h"

#include "solver/base/err.h"

#include <math.h>
#include <string.h>

enum { MOST = MECH_TREE_MOST };

#define INLINE static inline __attribute__((always_inline))

/* a row determines no velocity when all that is left of it is this much smaller than it was, and a
 * free direction has no inertia when this much of the terms remains: other pivots may do better */
static const double least_row = 1e-8, least_pivot = 1e-12;

/* Velocities, rows, velocities of the parent. */
struct size {
    int m, k, mp;
};

/* Where the blocks of a body start. */
struct blocks {
    double *S, *Gi, *Gp, *Sip, *Spi;
};
struct factors {
    double *E, *P, *N, *X, *Z, *A, *B, *C;
};

/* What is worked with: by rows d of P and N, by all rows of X and Z. */
struct work {
    double P[MOST][MOST], N[MOST][MOST], X[MOST][MOST], Z[MOST][MOST];
    double size[MOST]; /* magnitude of the columns of A */
};

INLINE struct blocks blocks_of(double *at, struct size n)
{
    struct blocks b;

    b.S = at;
    b.Gi = b.S + n.m * n.m;
    b.Gp = b.Gi + n.k * n.m;
    b.Sip = b.Gp + n.k * n.mp;
    b.Spi = b.Sip + n.m * n.mp;
    return b;
}

INLINE struct factors factors_of(double *at, struct size n)
{
    const int free = n.m - n.k;
    struct factors f;

    f.E = at;
    f.P = f.E + n.k * n.k;
    f.N = f.P + n.k * n.mp;
    f.X = f.N + n.k * free;
    f.Z = f.X + n.k * n.mp;
    f.A = f.Z + n.k * free;
    f.B = f.A + free * free;
    f.C = f.B + free * n.mp;
    return f;
}

size_t mech_tree_link_values(const struct mech_tree_link *l)
{
    return (size_t)(l->m * l->m + l->k * (l->m + l->mp) + 2 * l->m * l->mp);
}

size_t mech_tree_link_factors(const struct mech_tree_link *l)
{
    const int n = l->m - l->k;

    return (size_t)(l->k * l->k + 2 * l->k * (l->mp + n) + n * (n + 2 * l->mp));
}

/* out += s x, [n] */
INLINE void add(double *restrict out, double s, const double *restrict x, int n)
{
    for (int i = 0; i < n; i++) {
        out[i] += s * x[i];
    }
}

/* [G_i G_p 1] becomes [1 −P E] in the columns of d; false: a row determines no velocity. `order`
 * takes d, and behind it the others. */
INLINE bool eliminate(double T[MOST][3 * MOST], int8_t *order, struct size n)
{
    const int width = n.m + n.mp + n.k;
    double size[MOST];
    unsigned used = 0;

    for (int r = 0; r < n.k; r++) {
        size[r] = 0.;
        for (int j = 0; j < n.m; j++) {
            const double now = fabs(T[r][j]);

            size[r] = now > size[r] ? now : size[r];
        }
    }
    for (int r = 0; r < n.k; r++) {
        double largest = 0.;
        int best = 0;

        for (int j = 0; j < n.m; j++) {
            const double now = used >> j & 1 ? 0. : fabs(T[r][j]);

            best = now > largest ? j : best;
            largest = now > largest ? now : largest;
        }
        if (!(largest > least_row * size[r] && largest < HUGE_VAL)) {
            return false;
        }
        order[r] = (int8_t)best;
        used |= 1u << best;
        const double inverse = 1. / T[r][best];
        for (int j = 0; j < width; j++) {
            T[r][j] *= inverse;
        }
        for (int i = 0; i < n.k; i++) {
            /* rows of rotations alone have many zeros */
            if (i != r && T[i][best] != 0.) {
                add(T[i], -T[i][best], T[r], width);
            }
        }
    }
    for (int j = 0, free = n.k; j < n.m; j++) {
        if (!(used >> j & 1)) {
            order[free++] = (int8_t)j;
        }
    }
    return true;
}

/* E, P, N and the order of the velocities. */
INLINE int solve_rows(struct mech_tree_link *l, struct blocks b, struct factors f, struct work *w,
                      struct size n)
{
    double T[MOST][3 * MOST];

    for (int r = 0; r < n.k; r++) {
        memcpy(T[r], b.Gi + r * n.m, (size_t)n.m * sizeof(double));
        memcpy(T[r] + n.m, b.Gp + r * n.mp, (size_t)n.mp * sizeof(double));
        for (int j = 0; j < n.k; j++) {
            T[r][n.m + n.mp + j] = j == r ? 1. : 0.;
        }
    }
    if (!eliminate(T, l->order, n)) {
        return MECH_SINGULAR;
    }
    for (int r = 0; r < n.k; r++) {
        memcpy(f.E + r * n.k, T[r] + n.m + n.mp, (size_t)n.k * sizeof(double));
        for (int j = 0; j < n.mp; j++) {
            f.P[r * n.mp + j] = w->P[r][j] = -T[r][n.m + j];
        }
        for (int j = 0; j < n.m - n.k; j++) {
            f.N[r * (n.m - n.k) + j] = w->N[r][j] = -T[r][l->order[n.k + j]];
        }
    }
    return 0;
}

/* L and U of A [n][n] in place, by rows; `size`: what each pivot is measured by. */
INLINE int factor_free(struct mech_tree_link *l, double *A, const double *size, int n)
{
    for (int j = 0; j < n; j++) {
        int best = j;

        for (int i = j + 1; i < n; i++) {
            best = fabs(A[i * n + j]) > fabs(A[best * n + j]) ? i : best;
        }
        const double pivot = fabs(A[best * n + j]);
        if (!(pivot > least_pivot * size[j] && pivot < HUGE_VAL)) {
            return MECH_SINGULAR;
        }
        l->swap[j] = (int8_t)best;
        for (int c = 0; c < n && best != j; c++) {
            const double kept = A[j * n + c];

            A[j * n + c] = A[best * n + c];
            A[best * n + c] = kept;
        }
        A[j * n + j] = 1. / A[j * n + j];
        for (int i = j + 1; i < n; i++) {
            const double s = A[i * n + j] *= A[j * n + j];

            for (int c = j + 1; c < n; c++) {
                A[i * n + c] -= s * A[j * n + c];
            }
        }
    }
    return 0;
}

/* Y [n][w] := A⁻¹ Y */
INLINE void solve_free(const struct mech_tree_link *l, const double *A, double *Y, int n, int w)
{
    for (int j = 0; j < n; j++) {
        const int other = l->swap[j];

        for (int c = 0; c < w && other != j; c++) {
            const double kept = Y[j * w + c];

            Y[j * w + c] = Y[other * w + c];
            Y[other * w + c] = kept;
        }
    }
    for (int j = 0; j < n; j++) {
        for (int i = j + 1; i < n; i++) {
            for (int c = 0; c < w; c++) {
                Y[i * w + c] -= A[i * n + j] * Y[j * w + c];
            }
        }
    }
    for (int j = n - 1; j >= 0; j--) {
        for (int c = 0; c < w; c++) {
            Y[j * w + c] *= A[j * n + j];
        }
        for (int i = 0; i < j; i++) {
            for (int c = 0; c < w; c++) {
                Y[i * w + c] -= A[i * n + j] * Y[j * w + c];
            }
        }
    }
}

INLINE bool any(const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (x[i] != 0.) {
            return true;
        }
    }
    return false;
}

/* Z [m][free] = S [N; 1] and A. */
INLINE void free_inertia(const int8_t *order, struct blocks b, struct factors f, struct work *w,
                         struct size n)
{
    const int free = n.m - n.k;

    for (int i = 0; i < n.m; i++) {
        for (int j = 0; j < free; j++) {
            double sum = b.S[i * n.m + order[n.k + j]];

            for (int r = 0; r < n.k; r++) {
                sum += b.S[i * n.m + order[r]] * w->N[r][j];
            }
            w->Z[i][j] = sum;
        }
    }
    for (int j = 0; j < free; j++) {
        w->size[j] = 0.;
    }
    for (int i = 0; i < free; i++) {
        for (int j = 0; j < free; j++) {
            double sum = w->Z[order[n.k + i]][j], magnitude = fabs(sum);

            for (int r = 0; r < n.k; r++) {
                const double term = w->N[r][i] * w->Z[order[r]][j];

                sum += term;
                magnitude += fabs(term);
            }
            f.A[i * free + j] = sum;
            w->size[j] = magnitude > w->size[j] ? magnitude : w->size[j];
        }
    }
    for (int r = 0; r < n.k; r++) {
        memcpy(f.Z + r * free, w->Z[order[r]], (size_t)free * sizeof(double));
    }
}

/* X and B. */
INLINE void free_of_parent(const struct mech_tree_link *l, struct blocks b, struct factors f,
                           struct work *w, struct size n)
{
    const int8_t *const order = l->order;
    const int free = n.m - n.k;

    for (int i = 0; i < n.m; i++) {
        double row[MOST];

        memcpy(row, b.Sip + i * n.mp, (size_t)n.mp * sizeof(double));
        for (int r = 0; r < n.k; r++) {
            add(row, b.S[i * n.m + order[r]], w->P[r], n.mp);
        }
        memcpy(w->X[i], row, (size_t)n.mp * sizeof(double));
    }
    for (int r = 0; r < n.k; r++) {
        memcpy(f.X + r * n.mp, w->X[order[r]], (size_t)n.mp * sizeof(double));
    }
    for (int j = 0; j < free; j++) {
        double row[MOST];

        memcpy(row, w->X[order[n.k + j]], (size_t)n.mp * sizeof(double));
        for (int r = 0; r < n.k; r++) {
            add(row, w->N[r][j], w->X[order[r]], n.mp);
        }
        memcpy(f.B + j * n.mp, row, (size_t)n.mp * sizeof(double));
    }
    solve_free(l, f.A, f.B, free, n.mp);
}

/* C, and what the parent's block gets. */
INLINE void add_to_parent(const struct mech_tree_link *l, struct blocks b, struct factors f,
                          const struct work *w, double *Sp, struct size n)
{
    const int8_t *const order = l->order;
    const int free = n.m - n.k;

    for (int a = 0; a < n.mp; a++) {
        double row[MOST], c[MOST] = {0.};

        memcpy(row, Sp + a * n.mp, (size_t)n.mp * sizeof(double));
        for (int r = 0; r < n.k; r++) {
            add(row, w->P[r][a], w->X[order[r]], n.mp);
            add(c, w->P[r][a], w->Z[order[r]], free);
        }
        /* a joint's forces do not depend on where its parent is, but on how that is turned */
        if (l->coupled && any(b.Spi + a * n.m, n.m)) {
            for (int r = 0; r < n.k; r++) {
                add(row, b.Spi[a * n.m + order[r]], w->P[r], n.mp);
                add(c, b.Spi[a * n.m + order[r]], w->N[r], free);
            }
            for (int j = 0; j < free; j++) {
                c[j] += b.Spi[a * n.m + order[n.k + j]];
            }
        }
        for (int j = 0; j < free; j++) {
            f.C[a * free + j] = c[j];
            add(row, -c[j], f.B + j * n.mp, n.mp);
        }
        memcpy(Sp + a * n.mp, row, (size_t)n.mp * sizeof(double));
    }
}

INLINE int factor(struct mech_tree_link *l, double *values, double *all, struct size n)
{
    const struct blocks b = blocks_of(values + l->value, n);
    const struct factors f = factors_of(all + l->factor, n);
    struct work w;

    MECH_TRY(solve_rows(l, b, f, &w, n));
    free_inertia(l->order, b, f, &w, n);
    MECH_TRY(factor_free(l, f.A, w.size, n.m - n.k));
    if (n.mp) {
        l->coupled = any(b.Sip, 2 * n.m * n.mp);
        free_of_parent(l, b, f, &w, n);
        add_to_parent(l, b, f, &w, values + l->parent_value, n);
    }
    return 0;
}

/* x becomes c and z, the rows t_d */
INLINE void forward(const struct mech_tree_link *l, double *values, double *all, double *x,
                    struct size n)
{
    const int free = n.m - n.k;
    const struct blocks b = blocks_of(values + l->value, n);
    const struct factors f = factors_of(all + l->factor, n);
    const int8_t *const order = l->order;
    double *const xi = x + l->x, *const xp = x + l->xp;
    double c[MOST], t[MOST], z[MOST], p[MOST];

    for (int r = 0; r < n.k; r++) {
        c[r] = 0.;
        for (int j = 0; j < n.k; j++) {
            c[r] += f.E[r * n.k + j] * x[l->row[j]];
        }
    }
    for (int i = 0; i < n.m; i++) {
        double sum = 0.;

        for (int r = 0; r < n.k; r++) {
            sum += b.S[i * n.m + order[r]] * c[r];
        }
        t[i] = xi[i] - sum;
    }
    for (int j = 0; j < free; j++) {
        z[j] = t[order[n.k + j]];
        for (int r = 0; r < n.k; r++) {
            z[j] += f.N[r * free + j] * t[order[r]];
        }
    }
    solve_free(l, f.A, z, free, 1);
    memcpy(p, xp, (size_t)n.mp * sizeof(double));
    for (int a = 0; a < n.mp && l->coupled; a++) {
        for (int r = 0; r < n.k; r++) {
            p[a] -= b.Spi[a * n.m + order[r]] * c[r];
        }
    }
    for (int r = 0; r < n.k; r++) {
        xi[order[r]] = c[r];
        x[l->row[r]] = t[order[r]];
        add(p, t[order[r]], f.P + r * n.mp, n.mp);
    }
    for (int j = 0; j < free; j++) {
        xi[order[n.k + j]] = z[j];
        for (int a = 0; a < n.mp; a++) {
            p[a] -= f.C[a * free + j] * z[j];
        }
    }
    memcpy(xp, p, (size_t)n.mp * sizeof(double));
}

INLINE void backward(const struct mech_tree_link *l, double *all, double *x, struct size n)
{
    const int free = n.m - n.k;
    const struct factors f = factors_of(all + l->factor, n);
    const int8_t *const order = l->order;
    const double *const xp = x + l->xp;
    double *const xi = x + l->x, y[MOST], rest[MOST];

    for (int j = 0; j < free; j++) {
        y[j] = xi[order[n.k + j]];
        for (int a = 0; a < n.mp; a++) {
            y[j] -= f.B[j * n.mp + a] * xp[a];
        }
    }
    for (int r = 0; r < n.k; r++) {
        double sum = xi[order[r]];

        rest[r] = x[l->row[r]];
        for (int a = 0; a < n.mp; a++) {
            sum += f.P[r * n.mp + a] * xp[a];
            rest[r] -= f.X[r * n.mp + a] * xp[a];
        }
        for (int j = 0; j < free; j++) {
            sum += f.N[r * free + j] * y[j];
            rest[r] -= f.Z[r * free + j] * y[j];
        }
        xi[order[r]] = sum;
    }
    for (int j = 0; j < free; j++) {
        xi[order[n.k + j]] = y[j];
    }
    for (int j = 0; j < n.k; j++) {
        double sum = 0.;

        for (int r = 0; r < n.k; r++) {
            sum += f.E[r * n.k + j] * rest[r];
        }
        x[l->row[j]] = sum;
    }
}

/* --- kernels ---------------------------------------------------------------------------------- */

#define KERNEL(name, M, K, MP)                                                                     \
    static int factor_##name(struct mech_tree_link *l, double *values, double *all)                \
    {                                                                                              \
        return factor(l, values, all, (struct size){M, K, MP});                                    \
    }                                                                                              \
    static void forward_##name(const struct mech_tree_link *l, double *values, double *all,        \
                               double *x)                                                          \
    {                                                                                              \
        forward(l, values, all, x, (struct size){M, K, MP});                                       \
    }                                                                                              \
    static void backward_##name(const struct mech_tree_link *l, double *all, double *x)            \
    {                                                                                              \
        backward(l, all, x, (struct size){M, K, MP});                                              \
    }
/* a hinge or slide in the plane, hinge and ball in space, and the same to the ground. (Four numbers
 * at a time, by AVX2, are no faster: what was stored by two is loaded by four.) */
KERNEL(plane, 3, 2, 3)
KERNEL(plane_ground, 3, 2, 0)
KERNEL(hinge, 6, 5, 6)
KERNEL(hinge_ground, 6, 5, 0)
KERNEL(ball, 6, 3, 6)
KERNEL(any, l->m, l->k, l->mp)

#define ENTRY(name, M, K, MP)                                                                      \
    {                                                                                              \
        M, K, MP, factor_##name, forward_##name, backward_##name                                   \
    }
static const struct mech_tree_kernel kernels[] = {
    ENTRY(plane, 3, 2, 3),        ENTRY(plane_ground, 3, 2, 0), ENTRY(hinge, 6, 5, 6),
    ENTRY(hinge_ground, 6, 5, 0), ENTRY(ball, 6, 3, 6),         ENTRY(any, -1, -1, -1)};

const struct mech_tree_kernel *mech_tree_kernel_find(int32_t m, int32_t k, int32_t mp)
{
    const struct mech_tree_kernel *at = kernels;

    while (at->m >= 0 && !(at->m == m && at->k == k && at->mp == mp)) {
        at++;
    }
    return at;
}
