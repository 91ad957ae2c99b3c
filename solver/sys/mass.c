/* Mass blocks; see mass.h. */
#include "solver/sys/mass.h"

#include "solver/base/err.h"
#include "solver/linalg/band.h"
#include "solver/linalg/v3.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char *const names[] = {"body", "node", "shaft", "diagonal", "dense", "band", "none"};

const char *mech_mass_name(enum mech_mass_kind kind)
{
    return kind < MECH_MASS_KINDS ? names[kind] : NULL;
}

static bool positive(double x)
{
    return x > 0. && isfinite(x) && isfinite(1. / x);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static int init_body(struct mech_mass *mass)
{
    const double *const J = mass->J;
    double cofactor[9];

    for (int i = 0; i < 3; i++) {
        mech_v3_cross(J + 3 * ((i + 1) % 3), J + 3 * ((i + 2) % 3), cofactor + 3 * i);
    }
    const double det = mech_v3_dot(J, cofactor);
    const double minor = J[0] * J[4] - J[1] * J[3];

    if (!positive(mass->m) || !positive(J[0]) || !positive(minor) || !positive(det)) {
        return MECH_SINGULAR;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            mass->J_inv[3 * i + j] = cofactor[3 * j + i] / det;
        }
    }
    return 0;
}

static int init_diagonal(struct mech_arena *arena, struct mech_mass *mass)
{
    double *const copy = mech_arena_alloc(arena, (size_t)mass->n, sizeof *copy);

    if (!copy) {
        return MECH_NO_MEMORY;
    }
    for (int32_t i = 0; i < mass->n; i++) {
        if (!positive(mass->values[i])) {
            return MECH_SINGULAR;
        }
        copy[i] = mass->values[i];
    }
    mass->values = copy;
    return 0;
}

/* M = L Lᵀ */
static int init_dense(struct mech_arena *arena, struct mech_mass *mass)
{
    const size_t n = (size_t)mass->n;
    double *const copy = mech_arena_alloc(arena, n * n, sizeof *copy);
    double *const L = mech_arena_alloc(arena, n * n, sizeof *L);

    if (!copy || !L) {
        return MECH_NO_MEMORY;
    }
    memcpy(copy, mass->values, n * n * sizeof *copy);
    memcpy(L, mass->values, n * n * sizeof *L);
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++) {
            for (size_t i = j; i < n; i++) {
                L[j * n + i] -= L[k * n + i] * L[k * n + j];
            }
        }
        if (!positive(L[j * n + j])) {
            return MECH_SINGULAR;
        }
        const double root = sqrt(L[j * n + j]);

        for (size_t i = j; i < n; i++) {
            L[j * n + i] /= root;
        }
    }
    mass->values = copy;
    mass->factors = L;
    return 0;
}

/* M = L D Lᵀ */
static int init_band(struct mech_arena *arena, struct mech_mass *mass)
{
    const size_t n = (size_t)mass->n, p = (size_t)mass->half;
    double *const copy = mech_arena_alloc(arena, (2 * p + 1) * n, sizeof *copy);

    mass->factors = mech_arena_alloc(arena, (n + p) * (p + 1), sizeof *mass->factors);
    if (!copy || !mass->factors) {
        return MECH_NO_MEMORY;
    }
    memcpy(copy, mass->values, (2 * p + 1) * n * sizeof *copy);
    mass->values = copy;
    const struct mech_mat a = {.kind = MECH_MAT_BAND,
                               .rows = mass->n,
                               .cols = mass->n,
                               .lower = mass->half,
                               .upper = mass->half,
                               .symmetric = true,
                               .values = copy};

    return mech_band_ldlt_factor(&a, mass->factors) < 0 ? 0 : MECH_SINGULAR;
}

int64_t mech_mass_values(const struct mech_mass *mass)
{
    const int64_t n = mass->n;

    return mass->kind == MECH_MASS_DENSE      ? n * n
           : mass->kind == MECH_MASS_BAND     ? n * (2 * (int64_t)mass->half + 1)
           : mass->kind == MECH_MASS_DIAGONAL ? n
                                              : 0;
}

int mech_mass_init(struct mech_arena *arena, struct mech_mass *mass)
{
    switch (mass->kind) {
    case MECH_MASS_BODY:
        mass->n = 6;
        return init_body(mass);
    case MECH_MASS_NODE:
    case MECH_MASS_SHAFT:
        mass->n = mass->kind == MECH_MASS_NODE ? 3 : 1;
        return positive(mass->m) ? 0 : MECH_SINGULAR;
    case MECH_MASS_DIAGONAL:
        return init_diagonal(arena, mass);
    case MECH_MASS_DENSE:
        return init_dense(arena, mass);
    case MECH_MASS_BAND:
        return mass->half >= 0 && mass->half < mass->n ? init_band(arena, mass) : MECH_INTERNAL;
    case MECH_MASS_NONE:
        return 0;
    default:
        return MECH_INTERNAL;
    }
}

/* --- operations ------------------------------------------------------------------------------- */

static void solve_dense(const struct mech_mass *mass, double *x)
{
    const size_t n = (size_t)mass->n;
    const double *const L = mass->factors;

    for (size_t j = 0; j < n; j++) {
        x[j] /= L[j * n + j];
        for (size_t i = j + 1; i < n; i++) {
            x[i] -= L[j * n + i] * x[j];
        }
    }
    for (size_t j = n; j-- > 0;) {
        for (size_t i = j + 1; i < n; i++) {
            x[j] -= L[j * n + i] * x[i];
        }
        x[j] /= L[j * n + j];
    }
}

void mech_mass_solve(const struct mech_mass *mass, const double *x, double *out)
{
    memmove(out, x, (size_t)mass->n * sizeof *out);
    switch (mass->kind) {
    case MECH_MASS_BODY:
        for (int i = 0; i < 3; i++) {
            out[i] /= mass->m;
        }
        mech_m3_mul(mass->J_inv, out + 3, out + 3);
        break;
    case MECH_MASS_DIAGONAL:
        for (int32_t i = 0; i < mass->n; i++) {
            out[i] /= mass->values[i];
        }
        break;
    case MECH_MASS_DENSE:
        solve_dense(mass, out);
        break;
    case MECH_MASS_BAND:
        mech_band_ldlt_solve(mass->n, mass->half, mass->factors, out);
        break;
    default:
        for (int32_t i = 0; i < mass->n; i++) {
            out[i] /= mass->m;
        }
    }
}

double mech_mass_entry(const struct mech_mass *mass, int32_t i, int32_t j)
{
    switch (mass->kind) {
    case MECH_MASS_BODY:
        if (i >= 3 && j >= 3) {
            return mass->J[3 * (i - 3) + j - 3];
        }
        return i == j ? mass->m : 0.;
    case MECH_MASS_DIAGONAL:
        return i == j ? mass->values[i] : 0.;
    case MECH_MASS_DENSE:
        return mass->values[j * mass->n + i];
    case MECH_MASS_BAND:
        return i - j <= mass->half && j - i <= mass->half
                   ? mass->values[(j - i + mass->half) * mass->n + i]
                   : 0.;
    case MECH_MASS_NONE:
        return 0.;
    default:
        return i == j ? mass->m : 0.;
    }
}

int32_t mech_mass_reach(const struct mech_mass *mass)
{
    return mass->kind == MECH_MASS_BAND    ? mass->half
           : mass->kind == MECH_MASS_BODY  ? 2
           : mass->kind == MECH_MASS_DENSE ? mass->n - 1
                                           : 0;
}

void mech_mass_add(const struct mech_mass *mass, double a, const double *x, double *y)
{
    const int32_t reach = mech_mass_reach(mass);

    for (int32_t i = 0; i < mass->n; i++) {
        const int32_t end = i + reach < mass->n ? i + reach : mass->n - 1;
        double sum = 0.;

        for (int32_t j = i > reach ? i - reach : 0; j <= end; j++) {
            sum += mech_mass_entry(mass, i, j) * x[j];
        }
        y[i] += a * sum;
    }
}
