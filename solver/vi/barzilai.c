/* Spectral projected gradients (J. Barzilai, J. Borwein, IMA J. Numer. Anal. 8 (1988); E. Birgin,
 * J. Martínez, M. Raydan, SIAM J. Optim. 10 (2000)) for f(l) = ½ lᵀ N l + rᵀ l:
 *
 *     d = P(l − a g) − l,  g = N l + r
 *     l ← l + t d with f(l + t d) ≤ max of the last values + 1e-4 t gᵀd     (a nonmonotone search)
 *     a ← sᵀs/sᵀy  and  sᵀy/yᵀy  in turns,  s and y the changes of l and g
 *
 * f is quadratic, so that one product with N serves the whole search along d. */
#include "solver/base/err.h"
#include "solver/vi/gradient.h"

#include <math.h>

enum { MEMORY = 10, HALVINGS = 30 };

struct search {
    double a, values[MEMORY], smallest, largest;
};

/* f from l and its gradient */
static double value(const struct mech_problem *p, const double *l, const double *c)
{
    return 0.5 * (mech_gradient_dot(p->m, l, c) + mech_gradient_dot(p->m, l, p->r));
}

static void advance(struct mech_gradient *s, const struct mech_problem *p, struct search *b,
                    int32_t k, double *l)
{
    const int32_t m = p->m;
    double highest = -HUGE_VAL, t = 1.;

    for (int32_t i = 0; i < m; i++) {
        s->x[i] = l[i] - b->a * s->c[i];
    }
    mech_problem_project(p, s->x);
    for (int32_t i = 0; i < m; i++) {
        s->x[i] -= l[i];
    }
    mech_problem_product(p, s->x, s->y);
    const double slope = mech_gradient_dot(m, s->x, s->c);
    const double bend = mech_gradient_dot(m, s->x, s->y), f = value(p, l, s->c);

    b->values[k % MEMORY] = f;
    for (int32_t i = 0; i < MEMORY && i <= k; i++) {
        highest = fmax(highest, b->values[i]);
    }
    for (int i = 0; i < HALVINGS && f + t * slope + 0.5 * t * t * bend > highest + 1e-4 * t * slope;
         i++) {
        t *= 0.5;
    }
    for (int32_t i = 0; i < m; i++) {
        l[i] += t * s->x[i];
        s->c[i] += t * s->y[i];
    }
    const double ss = mech_gradient_dot(m, s->x, s->x), yy = mech_gradient_dot(m, s->y, s->y);
    const double next = bend > 0. ? (k % 2 ? ss / bend : bend / yy) : b->largest;

    b->a = fmin(fmax(next, b->smallest), b->largest);
}

static int associated(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                      double *l, struct mech_vi_result *result)
{
    struct mech_gradient *const s = self;
    struct mech_iterate it = {.c = s->c, .best = s->best, .accept = s->outer.accept};

    MECH_TRY(mech_iterate_start(&it, &mech_vi_barzilai, p, limits, l));
    const double size = mech_gradient_largest(s, p);
    struct search b = {.a = 1. / size, .smallest = 1e-3 / size, .largest = 1e8 / size};

    it.done |= !(size > 0.) || !isfinite(size);
    for (int32_t k = 1; !it.done; k++) {
        advance(s, p, &b, k - 1, l);
        it.done = mech_iterate_judge(&it, p, k, l);
    }
    return mech_iterate_end(&it, p, l, result);
}

static int solve(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *l, struct mech_vi_result *result)
{
    struct mech_gradient *const s = self;

    *result = (struct mech_vi_result){.solver = mech_vi_barzilai.name};
    s->outer.member = associated;
    s->outer.self = s;
    return mech_desaxce_solve(&s->outer, p, limits, l, result);
}

const struct mech_vi_type mech_vi_barzilai = {
    .name = "barzilai",
    .doc = "spectral projected gradients (Barzilai–Borwein); many contacts, symmetric problems",
    .kinds = MECH_VI_ALL,
    .create = mech_gradient_create,
    .create_implicit = mech_gradient_create,
    .solve = solve,
    .destroy = mech_gradient_destroy,
};
