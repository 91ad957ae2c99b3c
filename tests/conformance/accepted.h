/* Acceptance of an answer by its definition (solver/sys/acceptance.h), entry by entry: what the
 * solvers' own verdict is compared with. For problems whose N is formed. */
#pragma once

#include "solver/sys/problem.h"
#include "solver/sys/slide.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* N by columns; free it */
static inline double *accepted_matrix(const struct mech_problem *p)
{
    const size_t m = (size_t)p->m;
    double *const N = calloc(m * m + 1, sizeof *N);

    for (int32_t j = 0; N && j < p->m; j++) {
        mech_problem_add_column(p, j, 1., N + (size_t)j * m);
    }
    return N;
}

/* island[i] of each set: the smallest set that entries lead to */
static inline void accepted_islands(const struct mech_problem *p, const double *N,
                                    const int32_t *of, int32_t *island)
{
    const size_t m = (size_t)p->m;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        island[i] = i;
    }
    for (bool again = true; again;) {
        again = false;
        for (size_t k = 0; k < m * m; k++) {
            int32_t *const a = &island[of[k % m]], *const b = &island[of[k / m]];

            if (N[k] != 0. && *a != *b) {
                *a = *b = *a < *b ? *a : *b;
                again = true;
            }
        }
    }
}

/* of[i] of each row: its set */
static inline void accepted_rows(const struct mech_problem *p, int32_t *of)
{
    for (int32_t i = 0, row = 0; i < mech_problem_sets(p); i++) {
        for (int32_t k = 0; k < mech_problem_set(p, i).rows; k++) {
            of[row++] = i;
        }
    }
}

/* Σ μ‖x_T‖ of a cone. */
static inline double accepted_slide(const struct mech_set *set, const double *x)
{
    const double along = set->mu * (set->rows == 2 ? fabs(x[1]) : hypot(x[1], x[2]));

    return set->kind != MECH_SET_ROLLING
               ? along
               : along + set->spinning * fabs(x[3]) + set->rolling * hypot(x[4], x[5]);
}

/* What of r [its rows], in speeds, may ask for a force of a set; *sure: without any l. */
static inline double accepted_data(const struct mech_problem *p, const struct mech_set *set,
                                   const double *r, double *sure)
{
    double x[MECH_SET_ROWS], whole = 0., size = 0.;

    for (int32_t k = 0; k < set->rows; k++) {
        x[k] = -r[k];
        whole = hypot(whole, r[k]);
    }
    if (set->kind >= MECH_SET_CONE && p->friction == MECH_COULOMB) {
        *sure = fmax(0., x[0]);
        return x[0] > 0. && accepted_slide(set, r) > 0. ? whole : *sure;
    }
    mech_set_project(set, x);
    for (int32_t k = 0; k < set->rows; k++) {
        size = hypot(size, x[k]);
    }
    *sure = fmin(size, whole); /* squares overflow in the projection */
    return *sure;
}

/* How far c [its rows] of a set, in speeds, opens it or holds it at its bound; 0 for others. */
static inline double accepted_held(const struct mech_problem *p, const struct mech_set *set,
                                   const double *l, const double *c)
{
    if (set->kind == MECH_SET_BOX) {
        return l[0] <= set->lower || l[0] >= set->upper ? fabs(c[0]) : 0.;
    }
    if (set->kind == MECH_SET_BILATERAL || l[0] != 0.) {
        return 0.;
    }
    const bool slides = set->kind >= MECH_SET_CONE && p->friction == MECH_ASSOCIATED;

    return fmax(c[0] - (slides ? accepted_slide(set, c) : 0.), 0.);
}

/* Of a set: the left side of the first line, l and c [its rows] in speeds. */
static inline double accepted_miss(const struct mech_problem *p, const struct mech_set *set,
                                   const double *l, const double *c)
{
    double map[MECH_SET_ROWS], size = 0.;

    mech_set_map(set, p->friction, l, c, map);
    for (int32_t k = 0; k < set->rows; k++) {
        size = hypot(size, map[k]);
    }
    if (p->friction == MECH_COULOMB && set->kind >= MECH_SET_CONE) {
        /* tests/unit/solver/sys/slide.c compares it with the map */
        size = fmax(mech_slide_miss(set, l, c, map), fabs(fmin(l[0], c[0])));
    }
    return size;
}

/* Each set of a problem in speeds. */
struct accepted_set {
    struct mech_set set;                                 /* bounds and lengths too */
    double g, turned, arm, reach, sum, most, sure, made; /* as in acceptance.c */
    double l[MECH_SET_ROWS], c[MECH_SET_ROWS], r[MECH_SET_ROWS];
};

/* g, arm, reach and sum of each set. */
static inline void accepted_lengths(const struct mech_problem *p, const double *N, const double *l,
                                    const int32_t *of, struct accepted_set *x)
{
    const size_t m = (size_t)p->m, sets = (size_t)mech_problem_sets(p);
    bool *const turns = calloc(m + 1, sizeof *turns);
    double longest = 0.;

    for (size_t i = 3; i < m; i++) {
        turns[i] = of[i] == of[i - 3];
    }
    for (size_t k = 0; k < m * m; k++) {
        struct accepted_set *const at = &x[of[k % m]], *const from = &x[of[k / m]];
        const bool turning = turns[k % m] || turns[k / m];

        *(turning ? &at->turned : &at->g) += k % m == k / m ? fabs(N[k]) : 0.;
        at->reach = fmax(at->reach, turning ? 0. : fabs(N[k]));
        from->reach = fmax(from->reach, turning ? 0. : fabs(N[k]));
        at->sum += turns[k % m] ? 0. : fabs(N[k] * l[k / m]);
    }
    free(turns);
    for (size_t i = 0; i < sets; i++) {
        const int32_t rows = mech_problem_set(p, (int32_t)i).rows;

        x[i].arm = x[i].g > 0. && x[i].turned > 0. ? sqrt(x[i].g / x[i].turned) : 1.;
        x[i].g /= rows < 3 ? rows : 3;
        x[i].g = x[i].g > 1.5e-8 * x[i].reach ? x[i].g : x[i].reach;
        longest = fmax(longest, x[i].g);
    }
    for (size_t i = 0; i < sets; i++) {
        x[i].g = longest == 0.      ? 1.
                 : x[i].reach == 0. ? longest
                                    : fmax(x[i].g, DBL_EPSILON * longest);
    }
}

/* The larger of both lines, and of the published residual, for a tolerance; nothing is left out as
 * rounding, and r is taken as exact. */
static inline double accepted(const struct mech_problem *p, const double *l, double tolerance)
{
    const size_t m = (size_t)p->m, sets = (size_t)mech_problem_sets(p);
    double *const N = accepted_matrix(p), *const c = calloc(m + 1, sizeof *c);
    struct accepted_set *const x = calloc(sets + 1, sizeof *x);
    int32_t *const of = calloc(m + 1, sizeof *of), *const island = calloc(sets + 1, sizeof *island);

    mech_problem_speed(p, l, c);
    double worst = mech_problem_residual(p, l, c);

    accepted_rows(p, of);
    accepted_lengths(p, N, l, of, x);
    accepted_islands(p, N, of, island);
    for (size_t i = 0, row = 0; i < sets; i++) {
        struct mech_set set = mech_problem_set(p, (int32_t)i);

        set.lower *= x[i].g;
        set.upper *= x[i].g;
        set.spinning /= x[i].arm;
        set.rolling /= x[i].arm;
        x[i].set = set;
        for (int32_t k = 0; k < set.rows; k++, row++) {
            const double arm = k < 3 ? 1. : x[i].arm;

            x[i].l[k] = x[i].g * l[row] / arm;
            x[i].c[k] = c[row] * arm;
            x[i].r[k] = p->r[row] * arm;
            x[i].sum = fmax(x[i].sum, fabs(x[i].l[k]));
        }
        struct accepted_set *const all = &x[island[i]];
        double sure;

        all->most = fmax(all->most, accepted_data(p, &set, x[i].r, &sure));
        all->sure = fmax(all->sure, sure);
        for (int32_t k = 0; k < set.rows; k++) {
            all->made = fmax(all->made, fabs(x[i].l[k]));
        }
    }
    for (size_t i = 0; i < sets; i++) {
        const struct accepted_set *const all = &x[island[i]];
        const double never = fmax(all->sure, 1e-6 * all->sure / tolerance);
        const double data = fmax(all->sure, fmin(fmin(all->most, all->made), never));
        const double size = accepted_miss(p, &x[i].set, x[i].l, x[i].c);
        const double beside = fmax(data, accepted_held(p, &x[i].set, x[i].l, x[i].c));

        worst = fmax(worst, size > 0. ? size / data : 0.);
        worst = fmax(worst, x[i].sum > 0. ? DBL_EPSILON * x[i].sum / beside : 0.);
    }
    free(N);
    free(c);
    free(x);
    free(of);
    free(island);
    return worst;
}
