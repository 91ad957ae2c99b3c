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

/* Where the blocks of a body start. */
struct blocks {
    double *S, *Gi, *Gp, *Sip, *Spi;
};
struct factors {
    double *E, *P, *N, *X, *Z, *A, *B, *C;
};

INLINE struct blocks blocks_of(double *at, int m, int k, int mp)
{
    struct blocks b;

    b.S = at;
    b.Gi = b.S + m * m;
    b.Gp = b.Gi + k * m;
    b.Sip = b.Gp + k * mp;
    b.Spi = b.Sip + m * mp;
    return b;
}

INLINE struct factors factors_of(double *at, int m, int k, int mp)
{
    const int n = m - k;
    struct factors f;

    f.E = at;
    f.P = f.E + k * k;
    f.N = f.P + k * mp;
    f.X = f.N + k * n;
    f.Z = f.X + k * mp;
    f.A = f.Z + k * n;
    f.B = f.A + n * n;
    f.C = f.B + n * mp;
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

/* E, P and N by Gauss and Jordan on [G_i G_p 1], and the order of the velocities. */
INLINE int solve_rows(struct mech_tree_link *l, struct blocks b, struct factors f, int m, int k,
                      int mp)
{
    const int width = m + mp + k;
    double T[MOST][3 * MOST];
    unsigned used = 0;

    for (int r = 0; r < k; r++) {
        for (int j = 0; j < m; j++) {
            T[r][j] = b.Gi[r * m + j];
        }
        for (int j = 0; j < mp; j++) {
            T[r][m + j] = b.Gp[r * mp + j];
        }
        for (int j = 0; j < k; j++) {
            T[r][m + mp + j] = j == r ? 1. : 0.;
        }
    }
    for (int r = 0; r < k; r++) {
        double largest = 0., size = 0.;
        int best = 0;

        for (int j = 0; j < m; j++) {
            const double now = used >> j & 1 ? 0. : fabs(T[r][j]);

            size = fmax(size, fabs(b.Gi[r * m + j]));
            best = now > largest ? j : best;
            largest = now > largest ? now : largest;
        }
        if (!(largest > least_row * size && largest < HUGE_VAL)) {
            return MECH_SINGULAR;
        }
        l->order[r] = (int8_t)best;
        used |= 1u << best;
        const double inverse = 1. / T[r][best];
        for (int j = 0; j < width; j++) {
            T[r][j] *= inverse;
        }
        for (int i = 0; i < k; i++) {
            const double s = T[i][best];

            /* rows of rotations alone have many zeros */
            if (i == r || s == 0.) {
                continue;
            }
            for (int j = 0; j < width; j++) {
                T[i][j] -= s * T[r][j];
            }
        }
    }
    int n = 0;
    for (int j = 0; j < m; j++) {
        if (!(used >> j & 1)) {
            l->order[k + n++] = (int8_t)j;
        }
    }
    for (int r = 0; r < k; r++) {
        for (int j = 0; j < k; j++) {
            f.E[r * k + j] = T[r][m + mp + j];
        }
        for (int j = 0; j < mp; j++) {
            f.P[r * mp + j] = -T[r][m + j];
        }
        for (int j = 0; j < m - k; j++) {
            f.N[r * (m - k) + j] = -T[r][l->order[k + j]];
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
    double sum = 0.;

    for (int i = 0; i < n; i++) {
        sum += fabs(x[i]);
    }
    return sum != 0.;
}

/* Z [m][n] = S [N; 1] and A, of which `size` gathers the magnitudes by columns. */
INLINE void free_inertia(const struct mech_tree_link *l, struct blocks b, struct factors f,
                         double Z[MOST][MOST], double *size, int m, int k)
{
    const int n = m - k;
    const int8_t *const order = l->order;

    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            double sum = b.S[i * m + order[k + j]];

            for (int r = 0; r < k; r++) {
                sum += b.S[i * m + order[r]] * f.N[r * n + j];
            }
            Z[i][j] = sum;
        }
    }
    for (int j = 0; j < n; j++) {
        size[j] = 0.;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = Z[order[k + i]][j], magnitude = fabs(sum);

            for (int r = 0; r < k; r++) {
                sum += f.N[r * n + i] * Z[order[r]][j];
                magnitude += fabs(f.N[r * n + i] * Z[order[r]][j]);
            }
            f.A[i * n + j] = sum;
            size[j] = fmax(size[j], magnitude);
        }
    }
    for (int r = 0; r < k; r++) {
        for (int j = 0; j < n; j++) {
            f.Z[r * n + j] = Z[order[r]][j];
        }
    }
}

/* X, B and C, and what the parent's block gets. */
INLINE void add_to_parent(const struct mech_tree_link *l, struct blocks b, struct factors f,
                          double Z[MOST][MOST], double *Sp, int m, int k, int mp)
{
    const int n = m - k;
    const int8_t *const order = l->order;
    double X[MOST][MOST];

    for (int i = 0; i < m; i++) {
        for (int a = 0; a < mp; a++) {
            X[i][a] = b.Sip[i * mp + a];
        }
        for (int r = 0; r < k; r++) {
            const double s = b.S[i * m + order[r]];

            for (int a = 0; a < mp; a++) {
                X[i][a] += s * f.P[r * mp + a];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int a = 0; a < mp; a++) {
            f.B[i * mp + a] = X[order[k + i]][a];
        }
        for (int r = 0; r < k; r++) {
            for (int a = 0; a < mp; a++) {
                f.B[i * mp + a] += f.N[r * n + i] * X[order[r]][a];
            }
        }
    }
    solve_free(l, f.A, f.B, n, mp);
    for (int i = 0; i < mp * n; i++) {
        f.C[i] = 0.;
    }
    for (int r = 0; r < k; r++) {
        const double *const from = X[order[r]];

        for (int a = 0; a < mp; a++) {
            const double p = f.P[r * mp + a];

            f.X[r * mp + a] = from[a];
            for (int c = 0; c < mp; c++) {
                Sp[a * mp + c] += p * from[c];
            }
            for (int j = 0; j < n; j++) {
                f.C[a * n + j] += p * Z[order[r]][j];
            }
        }
    }
    for (int a = 0; a < mp && l->coupled; a++) {
        for (int r = 0; r < k; r++) {
            const double s = b.Spi[a * m + order[r]];

            for (int c = 0; c < mp; c++) {
                Sp[a * mp + c] += s * f.P[r * mp + c];
            }
            for (int j = 0; j < n; j++) {
                f.C[a * n + j] += s * f.N[r * n + j];
            }
        }
        for (int j = 0; j < n; j++) {
            f.C[a * n + j] += b.Spi[a * m + order[k + j]];
        }
    }
    for (int a = 0; a < mp; a++) {
        for (int j = 0; j < n; j++) {
            for (int c = 0; c < mp; c++) {
                Sp[a * mp + c] -= f.C[a * n + j] * f.B[j * mp + c];
            }
        }
    }
}

INLINE int factor(struct mech_tree_link *l, double *values, double *all, int m, int k, int mp)
{
    const struct blocks b = blocks_of(values + l->value, m, k, mp);
    const struct factors f = factors_of(all + l->factor, m, k, mp);
    double Z[MOST][MOST], size[MOST];

    MECH_TRY(solve_rows(l, b, f, m, k, mp));
    free_inertia(l, b, f, Z, size, m, k);
    MECH_TRY(factor_free(l, f.A, size, m - k));
    if (mp) {
        l->coupled = any(b.Sip, 2 * m * mp);
        add_to_parent(l, b, f, Z, values + l->parent_value, m, k, mp);
    }
    return 0;
}

/* x becomes c and z, the rows t_d */
INLINE void forward(const struct mech_tree_link *l, double *values, double *all, double *x, int m,
                    int k, int mp)
{
    const int n = m - k;
    const struct blocks b = blocks_of(values + l->value, m, k, mp);
    const struct factors f = factors_of(all + l->factor, m, k, mp);
    const int8_t *const order = l->order;
    double *const xi = x + l->x, *const xp = x + l->xp, c[MOST], t[MOST], z[MOST];

    for (int r = 0; r < k; r++) {
        c[r] = 0.;
        for (int j = 0; j < k; j++) {
            c[r] += f.E[r * k + j] * x[l->row[j]];
        }
    }
    for (int i = 0; i < m; i++) {
        t[i] = xi[i];
        for (int r = 0; r < k; r++) {
            t[i] -= b.S[i * m + order[r]] * c[r];
        }
    }
    for (int j = 0; j < n; j++) {
        z[j] = t[order[k + j]];
        for (int r = 0; r < k; r++) {
            z[j] += f.N[r * n + j] * t[order[r]];
        }
    }
    solve_free(l, f.A, z, n, 1);
    for (int r = 0; r < k; r++) {
        xi[order[r]] = c[r];
        x[l->row[r]] = t[order[r]];
        for (int a = 0; a < mp; a++) {
            xp[a] += f.P[r * mp + a] * t[order[r]];
        }
    }
    for (int j = 0; j < n; j++) {
        xi[order[k + j]] = z[j];
        for (int a = 0; a < mp; a++) {
            xp[a] -= f.C[a * n + j] * z[j];
        }
    }
    for (int a = 0; a < mp && l->coupled; a++) {
        for (int r = 0; r < k; r++) {
            xp[a] -= b.Spi[a * m + order[r]] * c[r];
        }
    }
}

INLINE void backward(const struct mech_tree_link *l, double *all, double *x, int m, int k, int mp)
{
    const int n = m - k;
    const struct factors f = factors_of(all + l->factor, m, k, mp);
    const int8_t *const order = l->order;
    const double *const xp = x + l->xp;
    double *const xi = x + l->x, y[MOST], rest[MOST];

    for (int j = 0; j < n; j++) {
        y[j] = xi[order[k + j]];
        for (int a = 0; a < mp; a++) {
            y[j] -= f.B[j * mp + a] * xp[a];
        }
    }
    for (int r = 0; r < k; r++) {
        double sum = xi[order[r]];

        rest[r] = x[l->row[r]];
        for (int a = 0; a < mp; a++) {
            sum += f.P[r * mp + a] * xp[a];
            rest[r] -= f.X[r * mp + a] * xp[a];
        }
        for (int j = 0; j < n; j++) {
            sum += f.N[r * n + j] * y[j];
            rest[r] -= f.Z[r * n + j] * y[j];
        }
        xi[order[r]] = sum;
    }
    for (int j = 0; j < n; j++) {
        xi[order[k + j]] = y[j];
    }
    for (int j = 0; j < k; j++) {
        double sum = 0.;

        for (int r = 0; r < k; r++) {
            sum += f.E[r * k + j] * rest[r];
        }
        x[l->row[j]] = sum;
    }
}

/* --- kernels ---------------------------------------------------------------------------------- */

#define KERNEL(name, M, K, MP)                                                                     \
    static int factor_##name(struct mech_tree_link *l, double *values, double *all)                \
    {                                                                                              \
        return factor(l, values, all, M, K, MP);                                                   \
    }                                                                                              \
    static void forward_##name(const struct mech_tree_link *l, double *values, double *all,        \
                               double *x)                                                          \
    {                                                                                              \
        forward(l, values, all, x, M, K, MP);                                                      \
    }                                                                                              \
    static void backward_##name(const struct mech_tree_link *l, double *all, double *x)            \
    {                                                                                              \
        backward(l, all, x, M, K, MP);                                                             \
    }
/* a hinge or slide in the plane, hinge and ball in space, and the same to the ground */
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
