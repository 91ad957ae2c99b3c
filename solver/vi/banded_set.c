/* Block principal pivoting (J. Júdice, F. Pires, Computers Oper. Res. 21, 1994) with a banded LDLᵀ:
 *
 *     N_SS z_S = −r_S,  z = 0 elsewhere;   w = N z + r
 *
 * Rows with z < 0 leave the set S, rows with w < 0 join it, all at once as long as they become
 * fewer, and the last of them alone (K. Murty, Linear Algebra Appl. 9, 1974) when they have not for
 * some rounds: that ends for every positive definite N. The members of S stay in their order, so
 * that N_SS has no wider band than N. Signs are judged beside the rounding of the largest r and z.
 * Cost of a round: |S| (width + 1)² and the entries of N in the columns of S. */
#include "solver/vi/banded_set.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PATIENCE = 6, ROUNDS_LEAST = 40 };

int32_t mech_banded_set_width(const struct mech_problem *p)
{
    const struct mech_mat *const N = p->N;
    int32_t width = 0;

    if (N->kind != MECH_MAT_CSC || !N->symmetric) {
        return -1;
    }
    for (int32_t j = 0; j < p->m; j++) {
        const int32_t from = N->colptr[j], to = N->colptr[j + 1];

        /* rows ascend, and N is symmetric: the last one suffices */
        if (to > from && N->rowind[to - 1] - j > width) {
            width = N->rowind[to - 1] - j;
        }
    }
    return width <= MECH_BANDED_SET_WIDTH ? width : -1;
}

static bool is_bilateral(const struct mech_problem *p, int32_t i)
{
    return p->sets && p->sets[i].kind == MECH_SET_BILATERAL;
}

/* members by s->place ≥ 0; returns how many */
static int32_t number_members(const struct mech_banded_set *s, int32_t m)
{
    int32_t count = 0;

    for (int32_t i = 0; i < m; i++) {
        if (s->place[i] >= 0) {
            s->place[i] = count;
            s->set[count++] = i;
        }
    }
    return count;
}

/* lower band of N_SS by rows: factors[k × stride + j] = N(set[k], set[k − j]) */
static void gather(const struct mech_banded_set *s, const struct mech_problem *p, int32_t count,
                   size_t stride)
{
    const struct mech_mat *const N = p->N;

    memset(s->factors, 0, (size_t)count * stride * sizeof *s->factors);
    for (int32_t k = 0; k < count; k++) {
        const int32_t row = s->set[k];

        for (int32_t e = N->colptr[row]; e < N->colptr[row + 1]; e++) {
            const int32_t at = s->place[N->rowind[e]];

            if (at >= 0 && at <= k) {
                s->factors[(size_t)k * stride + (size_t)(k - at)] = N->values[e];
            }
        }
        s->rhs[k] = -p->r[row];
    }
}

/* D and y = L⁻¹ rhs of a tridiagonal N_SS at once; 1/D and the L in its place */
static bool factor_tridiagonal(const struct mech_banded_set *s, int32_t count)
{
    double *restrict const f = s->factors, *restrict const y = s->rhs;
    double inverse = 0., last = 0.;

    for (int32_t k = 0; k < count; k++) {
        const double beside = f[2 * k + 1], l = beside * inverse;
        const double d = f[2 * k] - beside * l;

        if (!(d > DBL_EPSILON * f[2 * k])) {
            return false;
        }
        inverse = 1. / d;
        last = y[k] - l * last;
        y[k] = last;
        f[2 * k] = inverse;
        f[2 * k + 1] = l;
    }
    return true;
}

/* the same of a band */
static bool factor_band(const struct mech_banded_set *s, int32_t count, int32_t width)
{
    const size_t stride = (size_t)width + 1;
    double scaled[MECH_BANDED_SET_WIDTH + 1]; /* L_ki D_i of row k */

    for (int32_t k = 0; k < count; k++) {
        double *const row = s->factors + (size_t)k * stride;
        const int32_t most = k < width ? k : width;
        double d = row[0], y = s->rhs[k];

        for (int32_t j = most; j > 0; j--) {
            const double *const above = s->factors + (size_t)(k - j) * stride;
            double x = row[j];

            for (int32_t t = j + 1; t <= most; t++) {
                x -= scaled[t] * above[t - j];
            }
            scaled[j] = x;
            row[j] = x * above[0];
            d -= x * row[j];
            y -= row[j] * s->rhs[k - j];
        }
        if (!(d > DBL_EPSILON * row[0])) {
            return false;
        }
        row[0] = 1. / d;
        s->rhs[k] = y;
    }
    return true;
}

/* z of the set into s->z [m]; false: a pivot that is not positive */
static bool solve_set(const struct mech_banded_set *s, const struct mech_problem *p, int32_t count,
                      int32_t width)
{
    const size_t stride = (size_t)width + 1;

    gather(s, p, count, stride);
    if (width == 1 ? !factor_tridiagonal(s, count) : !factor_band(s, count, width)) {
        return false;
    }
    for (int32_t k = count; k-- > 0;) {
        double x = s->rhs[k] * s->factors[(size_t)k * stride];

        for (int32_t j = 1; j <= width && k + j < count; j++) {
            x -= s->factors[(size_t)(k + j) * stride + (size_t)j] * s->rhs[k + j];
        }
        s->rhs[k] = x;
    }
    memset(s->z, 0, (size_t)p->m * sizeof *s->z);
    for (int32_t k = 0; k < count; k++) {
        s->z[s->set[k]] = s->rhs[k];
    }
    return true;
}

/* Rows of wrong sign marked in s->set [returned], of all m. */
static int32_t wrong_rows(const struct mech_banded_set *s, const struct mech_problem *p)
{
    double largest = 0., strongest = 0.;
    int32_t wrong = 0;

    memcpy(s->w, p->r, (size_t)p->m * sizeof *s->w);
    for (int32_t i = 0; i < p->m; i++) {
        if (s->z[i] != 0.) {
            mech_problem_add_column(p, i, s->z[i], s->w);
        }
        largest = fmax(largest, fabs(p->r[i]));
        strongest = fmax(strongest, fabs(s->z[i]));
    }
    for (int32_t i = 0; i < p->m; i++) {
        const bool member = s->place[i] >= 0;

        if (member ? !is_bilateral(p, i) && s->z[i] < -DBL_EPSILON * strongest
                   : s->w[i] < -DBL_EPSILON * largest) {
            s->set[wrong++] = i;
        }
    }
    return wrong;
}

static void start(const struct mech_banded_set *s, const struct mech_problem *p, const double *z)
{
    bool any = false;

    for (int32_t i = 0; i < p->m; i++) {
        const bool member = is_bilateral(p, i) || z[i] > 0.;

        s->place[i] = member ? 0 : -1;
        any |= member;
    }
    /* rows at rest as well: what lies on others presses them */
    for (int32_t i = 0; i < p->m && !any; i++) {
        s->place[i] = p->r[i] <= 0. ? 0 : -1;
    }
}

bool mech_banded_set_solve(const struct mech_banded_set *s, const struct mech_problem *p,
                           int32_t width, int32_t most, double *z, int32_t *rounds)
{
    most = most < ROUNDS_LEAST + 2 * p->m ? most : ROUNDS_LEAST + 2 * p->m;
    int32_t fewest = INT32_MAX, patience = PATIENCE;

    start(s, p, z);
    for (int32_t round = 0; round < most; round++) {
        if (!solve_set(s, p, number_members(s, p->m), width)) {
            return false;
        }
        ++*rounds;
        const int32_t wrong = wrong_rows(s, p);

        if (wrong == 0) {
            for (int32_t i = 0; i < p->m; i++) {
                z[i] = s->z[i] < 0. && !is_bilateral(p, i) ? 0. : s->z[i];
            }
            return true;
        }
        patience = wrong < fewest ? PATIENCE : patience - 1;
        fewest = wrong < fewest ? wrong : fewest;
        for (int32_t k = patience < 0 ? wrong - 1 : 0; k < wrong; k++) {
            s->place[s->set[k]] = s->place[s->set[k]] >= 0 ? -1 : 0;
        }
    }
    return false;
}
