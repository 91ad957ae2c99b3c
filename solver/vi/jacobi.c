/* Projected Jacobi, damped: all sets at once with one step length,
 *
 *     l ← P(l − ω D⁻¹ c),   D the diagonal of N (a cone: its largest),   ω = 1/λ
 *
 * where λ, the largest row sum of |D⁻¹ N|, bounds the spectral radius: the step is short enough to
 * converge for every symmetric positive semidefinite N. The associated law, and Coulomb's by
 * desaxce.h. Rows do not wait for each other; sweeps are many. Cost: one product with N a sweep. */
#include "solver/base/err.h"
#include "solver/vi/gradient.h"

#include <math.h>
#include <string.h>

/* 1/D into s->x and Σ|N_ij| into s->y; false: a diagonal that cannot be divided by */
static bool weigh(struct mech_gradient *s, const struct mech_problem *p)
{
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const struct mech_set set = mech_problem_set(p, i);
        double block[MECH_SET_ROWS * MECH_SET_ROWS], largest = 0.;

        mech_problem_block(p, row, set.rows, block);
        for (int32_t k = 0; k < set.rows; k++) {
            const double d = block[k * set.rows + k];

            if (!(d > 0.) || !isfinite(1. / d)) {
                return false;
            }
            largest = fmax(largest, d);
        }
        for (int32_t k = 0; k < set.rows; k++) {
            s->x[row++] = 1. / largest;
        }
    }
    return true;
}

/* ω: rows of |D⁻¹ N| are columns of it, N being symmetric */
static double damping(struct mech_gradient *s, const struct mech_problem *p)
{
    double most = 0.;

    for (int32_t j = 0; j < p->m; j++) {
        double sum = 0.;

        if (p->N->kind == MECH_MAT_DENSE) {
            for (int32_t i = 0; i < p->m; i++) {
                sum += fabs(p->N->values[(size_t)j * (size_t)p->m + (size_t)i]);
            }
        } else {
            for (int32_t k = p->N->colptr[j]; k < p->N->colptr[j + 1]; k++) {
                sum += fabs(p->N->values[k]);
            }
        }
        most = fmax(most, sum * s->x[j]);
    }
    return most > 1. ? 1. / most : 1.;
}

static int associated(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                      double *l, struct mech_vi_result *result)
{
    struct mech_gradient *const s = self;
    struct mech_iterate it = {.c = s->c, .best = s->best, .accept = s->outer.accept};

    MECH_TRY(mech_iterate_start(&it, &mech_vi_jacobi, p, limits, l));
    const double omega = damping(s, p);

    for (int32_t k = 1; !it.done; k++) {
        for (int32_t i = 0; i < p->m; i++) {
            l[i] -= omega * s->x[i] * s->c[i];
        }
        mech_problem_project(p, l);
        mech_problem_speed(p, l, s->c);
        it.done = mech_iterate_judge(&it, p, k, l);
    }
    return mech_iterate_end(&it, p, l, result);
}

static int solve(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *l, struct mech_vi_result *result)
{
    struct mech_gradient *const s = self;

    *result = (struct mech_vi_result){.solver = mech_vi_jacobi.name};
    if (!weigh(s, p)) {
        return MECH_SINGULAR;
    }
    s->outer.member = associated;
    s->outer.self = s;
    return mech_desaxce_solve(&s->outer, p, limits, l, result);
}

const struct mech_vi_type mech_vi_jacobi = {
    .name = "jacobi",
    .doc = "projected Jacobi with damping; simple, many sweeps, symmetric problems",
    .kinds = MECH_VI_ALL,
    .create = mech_gradient_create,
    .solve = solve,
    .destroy = mech_gradient_destroy,
};
