/* Nonsmooth Newton method on F(l) = 0 (P. Alart, A. Curnier, Comput. Methods Appl. Mech. Eng. 92
 * (1991)): with a step length a for each set, x = l − a c and
 *
 *     bilateral   F = a c
 *     interval    F = l − P(x)
 *     cone        F_N = l_N − max(0, x_N)
 *                 F_T = l_T − (x_T onto the disk of radius μ max(0, x_N))      Coulomb
 *                 F = l − P(x)                                                 associated
 *
 * Newton's matrix is J = ∂F/∂l + ∂F/∂c N with an element of the generalized Jacobian, factored by
 * LU; a step is halved while ‖F‖ would not fall, and the best of them is taken all the same when it
 * never does, which lets the method leave kinks. Dense: 2/3 m³ flops a step.
 *
 * Where that takes more than some steps, as it does with large μ and with contacts that repeat
 * each other, proximal points follow (R. Rockafellar, SIAM J. Control Optim. 14 (1976)): problems
 * with N + ρ 1 and r − ρ l, l the solution of the one before, each well-conditioned, with ρ falling
 * from the diagonal of N, a few rounds. Where l stands still it solves the problem itself. */
#include "solver/base/err.h"
#include "solver/linalg/dense.h"
#include "solver/vi/iterate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 4096, CONE_ROWS = 3, HALVINGS = 12, VECTORS = 11 };
/* steps without proximal points, and at most at one of them */
enum { PLAIN_STEPS = 60, PROXIMAL_STEPS = 30, ROUNDS = 3, POINTS = 40 };

/* ρ: how it falls, POINTS times to 1e-12 of what it began with; solved to this part of the
 * tolerance */
static const double falling = 0.5, closer = 1e-2;

struct semismooth {
    double *memory;
    double *c, *best, *a, *F, *step, *trial, *size; /* [most] */
    double *start, *point, *inner, *r; /* [most] l as it came; of proximal points: l before, best
                                        so far, r − ρ l */
    double *N, *J;                     /* [most × most] by columns */
    int32_t *pivot;
    struct mech_acceptance *accept, *near; /* of the problem; of a proximal point's */
};

static void destroy(void *self)
{
    struct semismooth *const s = self;

    if (s) {
        mech_acceptance_destroy(s->accept);
        mech_acceptance_destroy(s->near);
        free(s->memory);
        free(s->J);
        free(s->pivot);
        free(s);
    }
}

static int create(int32_t most, void **self)
{
    const size_t n = most > 0 ? (size_t)most : 1;

    if (most > ROWS_MOST) {
        return MECH_UNSUPPORTED;
    }
    struct semismooth *const s = calloc(1, sizeof *s);

    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->memory = calloc(VECTORS * n, sizeof *s->memory);
    s->J = malloc(2 * n * n * sizeof *s->J);
    s->pivot = malloc(n * sizeof *s->pivot);
    if (!s->memory || !s->J || !s->pivot || mech_acceptance_create(most, &s->accept) != 0 ||
        mech_acceptance_create(most, &s->near) != 0) {
        destroy(s);
        return MECH_NO_MEMORY;
    }
    s->N = s->J + n * n;
    double **const vectors[VECTORS] = {&s->c,     &s->best,  &s->a,    &s->F,
                                       &s->step,  &s->trial, &s->size, &s->start,
                                       &s->point, &s->inner, &s->r};
    for (size_t k = 0; k < VECTORS; k++) {
        *vectors[k] = s->memory + k * n;
    }
    *self = s;
    return 0;
}

/* step lengths 1/N_ii, one for the tangents of a cone */
static bool take_lengths(struct semismooth *s, const struct mech_problem *p)
{
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const int32_t rows = mech_problem_set(p, i).rows;
        double block[CONE_ROWS * CONE_ROWS], largest = 0.;

        mech_problem_block(p, row, rows, block);
        for (int32_t k = 0; k < rows; k++) {
            largest = fmax(largest, fabs(block[k * rows + k]));
        }
        for (int32_t k = 0; k < rows; k++) {
            s->a[row++] = largest > 0. ? 1. / largest : 1.;
        }
        if (!isfinite(s->a[row - 1])) {
            return false;
        }
    }
    return true;
}

/* --- one set: F, and D = ∂P/∂x [rows × rows] by rows, where F = l − P(x) ---------------------- */

static double tangential(int32_t rows, const double *x)
{
    return rows == 3 ? sqrt(x[1] * x[1] + x[2] * x[2]) : fabs(x[1]);
}

/* x_T onto the disk of radius μ max(0, x_N) */
static void coulomb(const struct mech_set *set, const double *x, double *P, double *D)
{
    const int32_t n = set->rows;
    const double t = tangential(n, x), radius = set->mu * fmax(0., x[0]);

    P[0] = fmax(0., x[0]);
    D[0] = x[0] > 0. ? 1. : 0.;
    for (int32_t i = 1; i < n; i++) {
        const double along = t > 0. ? x[i] / t : 0.;

        P[i] = t <= radius ? x[i] : radius * along;
        D[i * n] = t <= radius || x[0] <= 0. ? 0. : set->mu * along;
        for (int32_t j = 1; j < n; j++) {
            const double across = (i == j ? 1. : 0.) - (t > 0. ? along * x[j] / t : 0.);

            D[i * n + j] = t <= radius ? (i == j ? 1. : 0.) : radius / t * across;
        }
    }
}

static void associated(const struct mech_set *set, const double *x, double *P, double *D)
{
    const int32_t n = set->rows;
    const double mu = set->mu, t = tangential(n, x), share = 1. / (1. + mu * mu);
    const double normal = (x[0] + mu * t) * share;

    memcpy(P, x, (size_t)n * sizeof *P);
    mech_cone_project(mu, n, P);
    if (mu > 0. && t <= mu * x[0]) {
        for (int32_t i = 0; i < n; i++) {
            D[i * n + i] = 1.;
        }
    } else if (mu == 0.) {
        D[0] = x[0] > 0. ? 1. : 0.;
    } else if (mu * t > -x[0]) {
        D[0] = share;
        for (int32_t i = 1; i < n; i++) {
            const double along = x[i] / t;

            D[i] = D[i * n] = mu * along * share;
            for (int32_t j = 1; j < n; j++) {
                const double both = along * x[j] / t;

                D[i * n + j] =
                    mu * mu * share * both + mu * normal / t * ((i == j ? 1. : 0.) - both);
            }
        }
    }
}

static void map_set(const struct mech_set *set, enum mech_friction friction, const double *x,
                    double *P, double *D)
{
    memset(D, 0, CONE_ROWS * CONE_ROWS * sizeof *D);
    if (set->kind == MECH_SET_CONE) {
        (friction == MECH_COULOMB ? coulomb : associated)(set, x, P, D);
        return;
    }
    P[0] = x[0];
    mech_set_project(set, P);
    D[0] = P[0] == x[0] ? 1. : 0.;
}

/* F at (l, c); with J also Newton's matrix. Returns ‖F‖₂. */
static double map(struct semismooth *s, const struct mech_problem *p, const double *l,
                  const double *c, double *J)
{
    const size_t m = (size_t)p->m;
    double sum = 0.;
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const struct mech_set set = mech_problem_set(p, i);
        double x[CONE_ROWS], P[CONE_ROWS], D[CONE_ROWS * CONE_ROWS];
        const double a = s->a[row];

        for (int32_t k = 0; k < set.rows; k++) {
            x[k] = l[row + k] - a * c[row + k];
        }
        map_set(&set, p->friction, x, P, D);
        for (int32_t k = 0; k < set.rows; k++) {
            s->F[row + k] = l[row + k] - P[k];
            sum += s->F[row + k] * s->F[row + k];
        }
        /* J = 1 − D + D a N */
        for (size_t j = 0; J && j < m; j++) {
            for (int32_t k = 0; k < set.rows; k++) {
                double entry = 0.;

                for (int32_t h = 0; h < set.rows; h++) {
                    entry += D[k * set.rows + h] * s->N[j * m + (size_t)(row + h)];
                }
                J[j * m + (size_t)(row + k)] = a * entry;
            }
        }
        for (int32_t k = 0; J && k < set.rows; k++) {
            for (int32_t h = 0; h < set.rows; h++) {
                J[(size_t)(row + h) * m + (size_t)(row + k)] +=
                    (k == h ? 1. : 0.) - D[k * set.rows + h];
            }
        }
        row += set.rows;
    }
    return sqrt(sum);
}

/* LU of J; a singular one is lifted on its diagonal. False: not even that. */
static bool factor(struct semismooth *s, const struct mech_problem *p)
{
    const size_t m = (size_t)p->m;

    for (double lift = 0.; lift<1.; lift = lift> 0. ? 100. * lift : 1e-12) {
        for (size_t j = 0; j < m; j++) {
            s->size[j] = 0.;
            s->J[j * m + j] += lift;
            for (size_t i = 0; i < m; i++) {
                s->size[j] = fmax(s->size[j], fabs(s->J[j * m + i]));
            }
        }
        if (mech_dense_lu_factor(p->m, s->J, s->size, s->pivot) < 0) {
            return true;
        }
        map(s, p, s->trial, s->c, s->J);
    }
    return false;
}

/* One step from l; false: no direction. */
static bool advance(struct semismooth *s, const struct mech_problem *p, double *l)
{
    const size_t bytes = (size_t)p->m * sizeof *l;
    double t = 1., least = HUGE_VAL, best = 1.;

    memcpy(s->trial, l, bytes);
    const double before = map(s, p, l, s->c, s->J);

    if (!factor(s, p)) {
        return false;
    }
    map(s, p, l, s->c, NULL);
    memcpy(s->step, s->F, bytes);
    mech_dense_lu_solve(p->m, s->J, s->pivot, s->step);
    for (int k = 0; k < HALVINGS; k++, t *= 0.5) {
        for (int32_t i = 0; i < p->m; i++) {
            s->trial[i] = l[i] - t * s->step[i];
        }
        mech_problem_speed(p, s->trial, s->c);
        const double after = map(s, p, s->trial, s->c, NULL);

        if (after < least) {
            least = after;
            best = t;
        }
        if (after <= (1. - 1e-4 * t) * before) {
            break;
        }
    }
    for (int32_t i = 0; i < p->m; i++) {
        l[i] -= best * s->step[i];
    }
    mech_problem_speed(p, l, s->c);
    return isfinite(least);
}

/* l into the sets: the natural map of a point outside them is too weak */
static bool judge(struct semismooth *s, struct mech_iterate *it, const struct mech_problem *p,
                  int32_t k, const double *l)
{
    memcpy(s->trial, l, (size_t)p->m * sizeof *l);
    mech_problem_project(p, s->trial);
    mech_problem_speed(p, s->trial, it->c);
    const bool done = mech_iterate_judge(it, p, k, s->trial);

    mech_problem_speed(p, l, s->c);
    return done;
}

/* Steps from l until `it` is done. */
static void newton(struct semismooth *s, const struct mech_problem *p, struct mech_iterate *it,
                   double *l)
{
    for (int32_t k = 1; !it->done; k++) {
        it->done = !advance(s, p, l) || judge(s, it, p, k, l);
    }
}

/* s->N := N + ρ 1 */
static void shift(struct semismooth *s, const struct mech_problem *p, double rho)
{
    const size_t m = (size_t)p->m;

    mech_dense_load(p->N, s->N);
    for (size_t i = 0; i < m; i++) {
        s->N[i * m + i] += rho;
    }
}

/* From s->start on, until `it` is done. */
static int proximal(struct semismooth *s, const struct mech_problem *p, struct mech_iterate *it,
                    double *l)
{
    const size_t m = (size_t)p->m;
    const struct mech_mat N = {.kind = MECH_MAT_DENSE,
                               .rows = p->m,
                               .cols = p->m,
                               .symmetric = p->N->symmetric,
                               .values = s->N};
    struct mech_problem near = *p;
    double diagonal = 0., largest = 0.;

    near.N = &N;
    near.r = s->r;
    for (size_t i = 0; i < m; i++) {
        diagonal = fmax(diagonal, fabs(s->N[i * m + i]));
    }
    for (size_t i = 0; i < m * m; i++) {
        largest = fmax(largest, fabs(s->N[i]));
    }
    /* a zero diagonal gives no scale of N, and N = 0 has none */
    const double first = diagonal > 0. ? diagonal : largest > 0. ? largest : 1.;
    double rho = first;

    memcpy(l, s->start, m * sizeof *l);
    for (int point = 0; !it->done && !mech_interrupted(it->interrupt) && point < ROUNDS * POINTS;
         point++) {
        const int32_t left = it->most - it->iterations;
        const struct mech_vi_limits limits = {
            closer * it->tolerance, left < PROXIMAL_STEPS ? left : PROXIMAL_STEPS, it->interrupt};
        struct mech_iterate inner = {.c = s->c, .best = s->inner, .accept = s->near};

        memcpy(s->point, l, m * sizeof *l);
        for (size_t i = 0; i < m; i++) {
            s->r[i] = p->r[i] - rho * l[i];
        }
        shift(s, p, rho);
        if (!take_lengths(s, &near)) {
            break;
        }
        mech_acceptance_form(s->near, &near);
        MECH_TRY(mech_iterate_start(&inner, &mech_vi_semismooth, &near, &limits, l));
        newton(s, &near, &inner, l);
        memcpy(l, inner.best, m * sizeof *l);
        /* a point that takes no step has been an iteration all the same */
        const int32_t steps = inner.iterations > 0 ? inner.iterations : 1;

        it->done = judge(s, it, p, it->iterations + steps, l);
        rho = (point + 1) % POINTS == 0 ? first : rho * falling;
    }
    return 0;
}

static int solve(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *l, struct mech_vi_result *result)
{
    struct semismooth *const s = self;
    struct mech_iterate it = {.c = s->c, .best = s->best, .accept = s->accept};

    *result = (struct mech_vi_result){.solver = mech_vi_semismooth.name};
    mech_acceptance_form(s->accept, p);
    MECH_TRY(mech_iterate_start(&it, &mech_vi_semismooth, p, limits, l));
    it.done |= !mech_problem_is_finite(p) || !take_lengths(s, p);
    if (it.done) {
        return mech_iterate_end(&it, p, l, result);
    }
    mech_dense_load(p->N, s->N);
    it.most = limits->max_iterations < PLAIN_STEPS ? limits->max_iterations : PLAIN_STEPS;
    memcpy(s->start, l, (size_t)p->m * sizeof *l);
    newton(s, p, &it, l);
    if (it.least > it.tolerance && limits->max_iterations > PLAIN_STEPS) {
        it.most = limits->max_iterations;
        it.done = false;
        MECH_TRY(proximal(s, p, &it, l));
    }
    return mech_iterate_end(&it, p, l, result);
}

const struct mech_vi_type mech_vi_semismooth = {
    .name = "semismooth",
    .doc = "nonsmooth Newton (Alart–Curnier) with line search, then the proximal point method; "
           "hard friction problems of up to some hundred contacts",
    .kinds = MECH_VI_CONES,
    .factors = true,
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
