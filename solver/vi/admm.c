/* Alternating direction method of multipliers (S. Boyd et al., Found. Trends Mach. Learn. 3 (2011);
 * A. Tasora, D. Mangoni, S. Benatti, R. Garziera, Comput. Methods Appl. Mech. Eng. 380 (2021)) for
 * ½ lᵀ N l + rᵀ l over the sets:
 *
 *     (N + ρ 1) x = ρ (z − u) − r        x := 1.6 x − 0.6 z
 *     z ← P(x + u),   u ← u + x − z
 *
 * z is the solution. Instead of u, w = −ρ u − r is kept for the first line, which becomes N z: a
 * contact that opens fast has a large u, and x would be rounded to it; and c = −ρ u for the second,
 * N z + r of a solution: of closed contacts w + r would be rounding of r, and over a small ρ no z
 * is as exact. ρ follows the balance of ‖x − z‖ to ‖z‖ and of ρ‖z − z₋‖ to ‖w‖, each row by its own
 * mass: l times √N_ii, w over it. N + ρ 1 is factored again then. The associated law, and Coulomb's
 * by desaxce.h. It takes hyperstatic problems as they are. Dense: 2/3 m³ flops a factor, 2 m² an
 * iteration. Of an N that is not formed, the first line is solved with a sparse factor of the
 * system (schur.h). */
#include "solver/base/err.h"
#include "solver/linalg/dense.h"
#include "solver/vi/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 4096, BALANCE_EVERY = 10 };
/* under this part of its column, a diagonal entry gives no scale: √ε */
static const double negligible = 1.5e-8;

struct admm {
    struct mech_gradient *vectors;
    double *factors; /* [most × most] */
    double *size;    /* [most] */
    double *weight;  /* [most] of each row: √N_ii */
    double *speed;   /* [most] w + r: −ρ u, which becomes c */
    int32_t *pivot;
    double rho;
};

static void destroy(void *self)
{
    struct admm *const s = self;

    if (s) {
        mech_gradient_destroy(s->vectors);
        free(s->factors);
        free(s->pivot);
        free(s->weight);
        free(s);
    }
}

static int create_implicit(int32_t most, void **self)
{
    struct admm *const s = calloc(1, sizeof *s);

    if (!s) {
        return MECH_NO_MEMORY;
    }
    void *vectors = NULL;
    const int code = mech_gradient_create(most, &vectors);

    s->vectors = vectors;
    s->weight = malloc((most > 0 ? 2 * (size_t)most : 2) * sizeof *s->weight);
    s->speed = s->weight ? s->weight + (most > 0 ? most : 1) : NULL;
    if (code || !s->weight) {
        destroy(s);
        return code ? code : MECH_NO_MEMORY;
    }
    *self = s;
    return 0;
}

static int create(int32_t most, void **self)
{
    const size_t n = most > 0 ? (size_t)most : 1;
    void *made = NULL;

    if (most > ROWS_MOST) {
        return MECH_UNSUPPORTED;
    }
    MECH_TRY(create_implicit(most, &made));
    struct admm *const s = made;

    s->factors = malloc((n + 1) * n * sizeof *s->factors);
    s->pivot = malloc(n * sizeof *s->pivot);
    if (!s->factors || !s->pivot) {
        destroy(s);
        return MECH_NO_MEMORY;
    }
    s->size = s->factors + n * n;
    *self = s;
    return 0;
}

/* False: N + ρ 1 is singular. */
static bool factor(struct admm *s, const struct mech_problem *p)
{
    const size_t m = (size_t)p->m;

    if (p->schur) {
        return p->schur->shift(p->schur->self, s->rho) == 0;
    }
    mech_dense_load(p->N, s->factors);
    for (size_t j = 0; j < m; j++) {
        s->factors[j * m + j] += s->rho;
        s->size[j] = 0.;
        for (size_t i = 0; i < m; i++) {
            s->size[j] = fmax(s->size[j], fabs(s->factors[j * m + i]));
        }
    }
    return mech_dense_lu_factor(p->m, s->factors, s->size, s->pivot) < 0;
}

/* √N_ii, or where that is negligible beside its column, √ of the largest there; 1 where N is not
 * formed. */
static void weigh(struct admm *s, const struct mech_problem *p)
{
    const size_t m = (size_t)p->m;

    if (!p->schur) {
        mech_dense_load(p->N, s->factors);
    }
    for (size_t j = 0; j < m; j++) {
        double own = p->schur ? 1. : fabs(s->factors[j * m + j]), most = own;

        for (size_t i = 0; i < m && !p->schur; i++) {
            most = fmax(most, fabs(s->factors[j * m + i]));
        }
        own = own > negligible * most ? own : most;
        s->weight[j] = own > 0. ? sqrt(own) : 1.;
    }
}

struct balance {
    double primal, dual; /* ‖x − z‖ to ‖z‖, ρ‖z − z₋‖ to ‖w‖, weighted */
};

/* x, z, w in the vectors x, z (l itself holds z) and y */
static struct balance advance(struct admm *s, const struct mech_problem *p, double *l)
{
    struct mech_gradient *const g = s->vectors;
    double apart = 0., moved = 0., size_x = 0., size_z = 0., size_w = 0.;

    for (int32_t i = 0; i < p->m; i++) {
        g->x[i] = s->rho * l[i] + g->y[i];
    }
    if (!p->schur) {
        mech_dense_lu_solve(p->m, s->factors, s->pivot, g->x);
    } else if (p->schur->divide(p->schur->self, g->x) != 0) {
        g->x[0] = NAN; /* the judge sees it */
    }
    for (int32_t i = 0; i < p->m; i++) {
        g->x[i] = 1.6 * g->x[i] - 0.6 * l[i];
        g->z[i] = g->x[i] - s->speed[i] / s->rho;
    }
    mech_problem_project(p, g->z);
    for (int32_t i = 0; i < p->m; i++) {
        const double gap = g->x[i] - g->z[i], move = g->z[i] - l[i], weight = s->weight[i];

        g->y[i] -= s->rho * gap;
        s->speed[i] -= s->rho * gap;
        l[i] = g->z[i];
        apart += pow(gap * weight, 2.);
        moved += pow(move / weight, 2.);
        size_x += pow(g->x[i] * weight, 2.);
        size_z += pow(l[i] * weight, 2.);
        size_w += pow(g->y[i] / weight, 2.);
    }
    const double length = sqrt(fmax(size_x, size_z)), force = sqrt(size_w);

    return (struct balance){length > 0. ? sqrt(apart) / length : 0.,
                            force > 0. ? s->rho * sqrt(moved) / force : 0.};
}

/* ρ towards the balance of both. False: singular. */
static bool rebalance(struct admm *s, const struct mech_problem *p, struct balance b)
{
    const double ratio = b.dual > 0. && b.primal > 0. ? sqrt(b.primal / b.dual) : 1.;

    if (ratio < 2. && ratio > 0.5) {
        return true;
    }
    s->rho *= fmin(fmax(ratio, 0.1), 10.);
    return factor(s, p);
}

static int associated(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                      double *l, struct mech_vi_result *result)
{
    struct admm *const s = self;
    struct mech_gradient *const g = s->vectors;
    struct mech_iterate it = {.c = g->c, .best = g->best, .accept = g->outer.accept};
    int32_t every = BALANCE_EVERY;

    MECH_TRY(mech_iterate_start(&it, &mech_vi_admm, p, limits, l));
    s->rho = 0.1 * mech_gradient_largest(g, p);
    weigh(s, p);
    if (!it.done && (!(s->rho > 0.) || !isfinite(s->rho) || !factor(s, p))) {
        it.done = true;
    }
    mech_problem_product(p, l, g->y); /* u = −c/ρ is what a solution has */
    mech_problem_speed(p, l, s->speed);
    for (int32_t k = 1; !it.done; k++) {
        const struct balance b = advance(s, p, l);

        mech_problem_speed(p, l, it.c);
        it.done = mech_iterate_judge(&it, p, k, l);
        if (!it.done && k % every == 0) {
            it.done = !rebalance(s, p, b);
            every += BALANCE_EVERY; /* ever rarer, so that it settles */
        }
    }
    return mech_iterate_end(&it, p, l, result);
}

static int solve(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *l, struct mech_vi_result *result)
{
    struct admm *const s = self;

    *result = (struct mech_vi_result){.solver = mech_vi_admm.name};
    s->vectors->outer.member = associated;
    s->vectors->outer.self = s;
    return mech_desaxce_solve(&s->vectors->outer, p, limits, l, result);
}

const struct mech_vi_type mech_vi_admm = {
    .name = "admm",
    .doc = "alternating direction method of multipliers with a factored matrix; symmetric "
           "problems, also hyperstatic ones",
    .kinds = MECH_VI_ALL,
    .create = create,
    .create_implicit = create_implicit,
    .solve = solve,
    .destroy = destroy,
};
