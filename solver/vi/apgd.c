/* Accelerated projected gradient descent with adaptive restart (Y. Nesterov; H. Mazhar, T. Heyn, D.
 * Negrut, A. Tasora, ACM Trans. Graph. 34 (2015)):
 *
 *     x₊ = P(y − t g(y)),  g = N y + r,  with L = 1/t doubled until f(x₊) is below its model at y
 *     y₊ = x₊ + β (x₊ − x),  β from θ₊² = (1 − θ₊) θ²
 *     restart when g(y)ᵀ (x₊ − x) > 0
 *
 * Cost: two products with N an iteration, more while L grows. */
#include "solver/base/err.h"
#include "solver/vi/gradient.h"

#include <math.h>
#include <string.h>

enum { GROWTHS = 60 };

struct descent {
    double L, theta;
};

/* x₊ into s->z and N x₊ into s->gx, from y with N y in s->gy; L as far as it must grow */
static void advance(struct mech_gradient *s, const struct mech_problem *p, struct descent *d)
{
    const int32_t m = p->m;

    for (int k = 0; k < GROWTHS; k++, d->L *= 2.) {
        double model = 0., rise = 0.;

        for (int32_t i = 0; i < m; i++) {
            s->z[i] = s->y[i] - (s->gy[i] + p->r[i]) / d->L;
        }
        mech_problem_project(p, s->z);
        mech_problem_product(p, s->z, s->gx);
        /* f(x₊) − f(y) − g(y)ᵀΔ = ½ Δᵀ N Δ, against ½ L ΔᵀΔ */
        for (int32_t i = 0; i < m; i++) {
            const double step = s->z[i] - s->y[i];

            model += step * step;
            rise += step * (s->gx[i] - s->gy[i]);
        }
        if (!(rise > d->L * model)) {
            return;
        }
    }
}

static void extrapolate(struct mech_gradient *s, const struct mech_problem *p, struct descent *d,
                        double *l)
{
    const double squared = d->theta * d->theta;
    const double theta = 0.5 * (-squared + d->theta * sqrt(squared + 4.));
    double beta = d->theta * (1. - d->theta) / (squared + theta), uphill = 0.;

    for (int32_t i = 0; i < p->m; i++) {
        uphill += (s->gy[i] + p->r[i]) * (s->z[i] - l[i]);
    }
    d->theta = theta;
    if (uphill > 0.) {
        d->theta = 1.;
        beta = 0.;
    }
    for (int32_t i = 0; i < p->m; i++) {
        s->y[i] = s->z[i] + beta * (s->z[i] - l[i]);
        l[i] = s->z[i];
        s->c[i] = s->gx[i] + p->r[i];
    }
    mech_problem_product(p, s->y, s->gy);
    d->L *= 0.9;
}

static int associated(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                      double *l, struct mech_vi_result *result)
{
    struct mech_gradient *const s = self;
    struct mech_iterate it = {.c = s->c, .best = s->best, .accept = s->outer.accept};
    struct descent d = {.theta = 1.};

    MECH_TRY(mech_iterate_start(&it, &mech_vi_apgd, p, limits, l));
    d.L = mech_gradient_largest(s, p);
    it.done |= !(d.L > 0.) || !isfinite(d.L);
    memcpy(s->y, l, (size_t)p->m * sizeof *l);
    mech_problem_product(p, s->y, s->gy);
    for (int32_t k = 1; !it.done; k++) {
        advance(s, p, &d);
        extrapolate(s, p, &d, l);
        it.done = mech_iterate_judge(&it, p, k, l);
    }
    return mech_iterate_end(&it, p, l, result);
}

static int solve(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *l, struct mech_vi_result *result)
{
    struct mech_gradient *const s = self;

    *result = (struct mech_vi_result){.solver = mech_vi_apgd.name};
    s->outer.member = associated;
    s->outer.self = s;
    return mech_desaxce_solve(&s->outer, p, limits, l, result);
}

const struct mech_vi_type mech_vi_apgd = {
    .name = "apgd",
    .doc = "accelerated projected gradient descent; many contacts, symmetric problems",
    .kinds = MECH_VI_ALL,
    .create = mech_gradient_create,
    .create_implicit = mech_gradient_create,
    .solve = solve,
    .destroy = mech_gradient_destroy,
};
