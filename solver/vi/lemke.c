/* Lemke's complementary pivoting for w = A z + q, 0 ≤ w ⊥ z ≥ 0 (bilateral rows: w = 0, z free).
 *
 * R. Cottle, J.-S. Pang, R. Stone, The Linear Complementarity Problem, SIAM 2009, sections 4.4
 * (scheme I, covering vector of ones) and 4.9 (lexicographic ratio test, so that degenerate
 * problems do not cycle). Finds a solution for every copositive-plus A with a feasible problem,
 * among them the positive semidefinite A = H W⁻¹ Hᵀ of contacts.
 *
 *   n = 1, 2     by cases
 *   a narrow symmetric band, sparse: block principal pivoting with a banded factor (banded_set.h)
 *   warm start   the set {z > 0} that comes in is solved by LU and tried; where it violates a sign,
 *                the rows that do so change sides (block principal pivoting, J. Júdice, F. Pires,
 *                Computers Oper. Res. 21, 1994), a few times
 *   otherwise    pivots on a dictionary  x_B = b + D x_N,  z of the final set by a fresh LU
 *
 * Cost: about 2 n² flops a pivot, usually n to 2 n pivots; a warm start that holds: 2/3 |set|³.
 */
#include "solver/vi/lemke.h"
#include "solver/base/err.h"
#include "solver/linalg/dense.h"
#include "solver/vi/banded_set.h"
#include "solver/vi/iterate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_ROUNDS = 6, ROWS_MOST = 4096 };

static int create(int32_t most, void **self)
{
    const size_t n = most > 0 ? (size_t)most : 1;
    if (most > ROWS_MOST) {
        return MECH_UNSUPPORTED;
    }
    struct lemke *s = calloc(1, sizeof *s);
    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->d = malloc((2 * n + 2) * n * sizeof *s->d);
    s->z = malloc(4 * n * sizeof *s->z);
    s->index = malloc((6 * n + 2) * sizeof *s->index);
    if (!s->d || !s->z || !s->index || mech_acceptance_create(most, &s->accept) != 0) {
        free(s->d);
        free(s->z);
        free(s->index);
        free(s);
        return MECH_NO_MEMORY;
    }
    s->N = s->d + n * (n + 2);
    s->w = s->z + n;
    s->rhs = s->w + n;
    s->keep = s->rhs + n;
    s->basic = s->index;
    s->nonbasic = s->basic + n;
    s->where = s->nonbasic + n + 1;
    s->set = s->where + 2 * n + 1;
    *self = s;
    return 0;
}

static void destroy(void *self)
{
    struct lemke *s = self;
    if (s) {
        mech_acceptance_destroy(s->accept);
        free(s->d);
        free(s->z);
        free(s->index);
        free(s);
    }
}

static bool is_bilateral(const struct mech_problem *p, int32_t i)
{
    return p->sets && p->sets[i].kind == MECH_SET_BILATERAL;
}

static double at(const struct mech_problem *p, int32_t i, int32_t j)
{
    return p->N->values[(size_t)j * (size_t)p->m + (size_t)i];
}

/* --- a given set ----------------------------------------------------------------------------- */

/* Gaussian elimination with row pivoting on s->d [m × m] and s->rhs [m], by rows.
 * False: singular to working precision. */
static bool eliminate(struct lemke *s, int32_t m)
{
    const size_t n = (size_t)m;
    for (size_t k = 0; k < n; k++) {
        size_t r = k;
        for (size_t i = k + 1; i < n; i++) {
            if (fabs(s->d[i * n + k]) > fabs(s->d[r * n + k])) {
                r = i;
            }
        }
        if (!(fabs(s->d[r * n + k]) > DBL_MIN)) {
            return false;
        }
        if (r != k) {
            for (size_t j = k; j < n; j++) {
                const double t = s->d[k * n + j];
                s->d[k * n + j] = s->d[r * n + j];
                s->d[r * n + j] = t;
            }
            const double t = s->rhs[k];
            s->rhs[k] = s->rhs[r];
            s->rhs[r] = t;
        }
        for (size_t i = k + 1; i < n; i++) {
            const double f = s->d[i * n + k] / s->d[k * n + k];
            if (f != 0.) {
                for (size_t j = k + 1; j < n; j++) {
                    s->d[i * n + j] -= f * s->d[k * n + j];
                }
                s->rhs[i] -= f * s->rhs[k];
            }
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) {
            s->rhs[k] -= s->d[k * n + j] * s->rhs[j];
        }
        s->rhs[k] /= s->d[k * n + k];
        if (!isfinite(s->rhs[k])) {
            return false;
        }
    }
    return true;
}

/* z with w = 0 on s->set[0 … m) and z = 0 elsewhere, into s->z. False: singular. */
static bool solve_set(struct lemke *s, const struct mech_problem *p, int32_t m)
{
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < m; j++) {
            s->d[(size_t)i * (size_t)m + (size_t)j] = at(p, s->set[i], s->set[j]);
        }
        s->rhs[i] = -p->r[s->set[i]];
    }
    if (!eliminate(s, m)) {
        return false;
    }
    memset(s->z, 0, (size_t)p->m * sizeof *s->z);
    for (int32_t i = 0; i < m; i++) {
        s->z[s->set[i]] = s->rhs[i];
    }
    return true;
}

/* The rows with positive z, and all bilateral ones. */
static int32_t positive_set(struct lemke *s, const struct mech_problem *p, const double *z)
{
    int32_t m = 0;
    for (int32_t i = 0; i < p->m; i++) {
        if (is_bilateral(p, i) || z[i] > 0.) {
            s->set[m++] = i;
        }
    }
    return m;
}

/* Start from the set of the last solution; true when the signs hold, z is then exact. */
static bool warm(struct lemke *s, const struct mech_problem *p, struct mech_interrupt *interrupt,
                 double *z, int32_t *rounds)
{
    int32_t m = positive_set(s, p, z);
    bool any = false;
    for (int32_t i = 0; i < m; i++) {
        any |= !is_bilateral(p, s->set[i]);
    }
    for (int32_t round = 0; any && round < WARM_ROUNDS; round++) {
        if (mech_interrupted(interrupt) || !solve_set(s, p, m)) {
            return false;
        }
        ++*rounds;
        // w outside the set, by columns
        memcpy(s->w, p->r, (size_t)p->m * sizeof *s->w);
        for (int32_t k = 0; k < m; k++) {
            const int32_t j = s->set[k];
            for (int32_t i = 0; i < p->m; i++) {
                s->w[i] += at(p, i, j) * s->z[j];
            }
        }
        for (int32_t k = 0; k < m; k++) {
            s->w[s->set[k]] = 0.;
        }
        // rows of wrong sign change sides
        bool fine = true;
        m = 0;
        for (int32_t i = 0; i < p->m; i++) {
            const bool stays = is_bilateral(p, i) || s->z[i] > 0.;
            const bool enters = s->w[i] < 0.;
            fine &= (stays || s->z[i] == 0.) && !enters;
            if (stays || enters) {
                s->set[m++] = i;
            }
        }
        if (fine) {
            memcpy(z, s->z, (size_t)p->m * sizeof *z);
            return true;
        }
    }
    return false;
}

/* --- closed forms
 * ------------------------------------------------------------------------------ */

/* n = 1; z ≥ 0. False: no solution. */
static bool one(const struct mech_problem *p, double *z)
{
    const double a = p->N->values[0], q = p->r[0];
    const bool pushes = q < 0. || is_bilateral(p, 0);
    z[0] = pushes && q != 0. ? -q / a : 0.;
    return isfinite(z[0]) && (z[0] >= 0. || is_bilateral(p, 0));
}

/* n = 2, both unilateral: the four cases. False: none holds to the bit. */
static bool two(const struct mech_problem *p, double *z)
{
    const double *const q = p->r;
    const double a = at(p, 0, 0), b = at(p, 0, 1), c = at(p, 1, 0), d = at(p, 1, 1);
    z[0] = z[1] = 0.;
    if (q[0] >= 0. && q[1] >= 0.) {
        return true;
    }
    if (q[0] < 0. && a > 0. && c * (-q[0] / a) + q[1] >= 0.) {
        z[0] = -q[0] / a;
        return isfinite(z[0]);
    }
    if (q[1] < 0. && d > 0. && b * (-q[1] / d) + q[0] >= 0.) {
        z[1] = -q[1] / d;
        return isfinite(z[1]);
    }
    // both rows press: Cramer, when the determinant keeps half of its digits
    const double det = a * d - b * c;
    if (fabs(det) > 1e-8 * (fabs(a * d) + fabs(b * c))) {
        const double z0 = (b * q[1] - d * q[0]) / det, z1 = (c * q[0] - a * q[1]) / det;
        if (z0 >= 0. && z1 >= 0. && isfinite(z0) && isfinite(z1)) {
            z[0] = z0;
            z[1] = z1;
            return true;
        }
    }
    return false;
}

/* --- all together
 * ------------------------------------------------------------------------------ */

static void form(struct lemke *s, const struct mech_problem *p)
{
    if (s->formed != p) {
        mech_acceptance_form(s->accept, p);
        mech_acceptance_weigh(s->accept, p);
        s->formed = p;
    }
}

static double miss_of(struct lemke *s, const struct mech_problem *p, const double *z)
{
    form(s, p);
    mech_problem_speed(p, z, s->w);
    return mech_acceptance_of(s->accept, p, z, s->w);
}

/* Values of the final set from the data instead of from the pivots, when that is no worse. */
static void refine(struct lemke *s, const struct mech_problem *p, double *z)
{
    const double before = miss_of(s, p, z);
    const int32_t m = positive_set(s, p, z);
    if (before == 0. || !solve_set(s, p, m)) {
        return;
    }
    for (int32_t i = 0; i < p->m; i++) {
        if (s->z[i] < 0. && !is_bilateral(p, i)) {
            s->z[i] = 0.;
        }
    }
    if (miss_of(s, p, s->z) <= before) {
        memcpy(z, s->z, (size_t)p->m * sizeof *z);
    }
}

static int judge(struct lemke *s, const struct mech_problem *p, const double *z, double tolerance,
                 struct mech_vi_result *result)
{
    /* w, rhs and keep are consecutive */
    if (mech_acceptance_plain(p, z, tolerance, s->w, &result->acceptance)) {
        result->residual = mech_problem_residual(p, z, s->w);
        if (result->residual <= tolerance) {
            result->level = result->acceptance;
            return 0;
        }
    }
    form(s, p);
    return mech_iterate_verdict(s->accept, p, tolerance, z, s->w, result);
}

static int solve_dense(struct lemke *s, const struct mech_problem *p,
                       const struct mech_vi_limits *limits, double *z,
                       struct mech_vi_result *result)
{
    const size_t bytes = (size_t)p->m * sizeof *z;
    const double tolerance = limits->tolerance;
    if (p->m == 1 && one(p, z)) {
        return judge(s, p, z, tolerance, result);
    }
    if (p->m == 2 && !p->sets && two(p, z)) {
        const int code = judge(s, p, z, tolerance, result);
        if (code == 0) {
            return 0;
        }
    }
    if (p->m > 2) {
        result->iterations = 0;
        if (warm(s, p, limits->interrupt, z, &result->iterations) &&
            judge(s, p, z, tolerance, result) == 0) {
            return 0;
        }
    }
    memcpy(s->keep, z, bytes);
    memset(z, 0, bytes);
    const int code = mech_lemke_pivot(s, p, limits, z, &result->iterations);
    if (code == MECH_SINGULAR) {
        memcpy(z, s->keep, bytes);
        return code;
    }
    if (!limits->interrupt || !limits->interrupt->came) {
        refine(s, p, z);
    }
    const int verdict = judge(s, p, z, tolerance, result);
    return code != 0 ? code : verdict;
}

/* True when a narrow band was solved as one. */
static bool solve_banded(struct lemke *s, const struct mech_problem *p,
                         const struct mech_vi_limits *limits, double *z,
                         struct mech_vi_result *result)
{
    const struct mech_banded_set set = {
        .factors = s->d, .z = s->z, .w = s->w, .rhs = s->rhs, .set = s->set, .place = s->where};
    const int32_t width = mech_banded_set_width(p);
    result->iterations = 0;
    return width >= 0 &&
           mech_banded_set_solve(&set, p, width, limits->max_iterations, z, &result->iterations) &&
           judge(s, p, z, limits->tolerance, result) == 0;
}

static int solve(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *z, struct mech_vi_result *result)
{
    struct lemke *const s = self;
    *result = (struct mech_vi_result){.iterations = 1, .solver = mech_vi_lemke.name};
    if (p->sets && (mech_problem_kinds(p) & ~mech_vi_lemke.kinds) != 0) {
        return MECH_UNSUPPORTED;
    }
    if (!mech_problem_is_finite(p)) {
        memset(z, 0, (size_t)p->m * sizeof *z);
        result->residual = result->level = result->acceptance = NAN;
        return MECH_VI_NOT_CONVERGED;
    }
    s->formed = NULL;
    if (p->N->kind == MECH_MAT_DENSE) {
        return solve_dense(s, p, limits, z, result);
    }
    if (p->m > 2 && solve_banded(s, p, limits, z, result)) {
        return 0;
    }
    result->iterations = 1;
    struct mech_problem whole = *p;
    const struct mech_mat N = {.kind = MECH_MAT_DENSE, .rows = p->m, .cols = p->m, .values = s->N};
    mech_dense_load(p->N, s->N);
    whole.N = &N;
    return solve_dense(s, &whole, limits, z, result);
}

const struct mech_vi_type mech_vi_lemke = {
    .name = "lemke",
    .doc =
        "Lemke's pivoting with a lexicographic ratio test; exact, for up to some hundred contacts",
    .kinds = 1u << MECH_SET_BILATERAL | 1u << MECH_SET_UNILATERAL,
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
