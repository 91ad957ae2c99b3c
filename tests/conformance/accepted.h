/* Acceptance of an answer by its definition (solver/sys/acceptance.h), entry by entry: what the
 * solvers' own verdict is compared with. For problems whose N is formed. */
#pragma once

#include "solver/sys/problem.h"

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

/* ‖r‖ of a set as far as it asks for a force, g the speed of a unit of l. */
static inline double accepted_data(const struct mech_problem *p, const struct mech_set *set,
                                   const double *r, double g)
{
    double x[MECH_SET_ROWS], whole = 0., size = 0.;

    for (int32_t k = 0; k < set->rows; k++) {
        x[k] = -r[k];
        whole = hypot(whole, r[k]);
    }
    if (set->kind == MECH_SET_BOX) {
        return fabs(fmin(fmax(x[0], g * set->lower), g * set->upper));
    }
    if (set->kind == MECH_SET_CONE && p->friction == MECH_COULOMB) {
        return x[0] > 0. ? whole : 0.;
    }
    mech_set_project(set, x);
    for (int32_t k = 0; k < set->rows; k++) {
        size = hypot(size, x[k]);
    }
    return fmin(size, whole); /* squares overflow in the projection */
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
    double open = c[0];

    for (int32_t k = 1; k < set->rows && p->friction == MECH_ASSOCIATED; k++) {
        open = c[0] - set->mu * hypot(k == 1 ? 0. : c[1], c[k]);
    }
    return fmax(open, 0.);
}

/* The larger of both lines, and of the published residual; without ROLLING sets. */
static inline double accepted(const struct mech_problem *p, const double *l)
{
    const size_t m = (size_t)p->m, sets = (size_t)mech_problem_sets(p);
    double *const N = accepted_matrix(p), *const c = calloc(m + 1, sizeof *c);
    double *const g = calloc(sets + 1, sizeof *g), *const reach = calloc(sets + 1, sizeof *reach);
    double *const data = calloc(sets + 1, sizeof *data), *const sum = calloc(sets + 1, sizeof *sum);
    int32_t *const of = calloc(m + 1, sizeof *of), *const island = calloc(sets + 1, sizeof *island);
    double longest = 0.;

    mech_problem_speed(p, l, c);
    double worst = mech_problem_residual(p, l, c);

    accepted_rows(p, of);
    for (size_t k = 0; k < m * m; k++) {
        const size_t i = k % m, j = k / m;

        g[of[i]] += i == j ? fabs(N[k]) : 0.;
        reach[of[i]] = fmax(reach[of[i]], fabs(N[k]));
        reach[of[j]] = fmax(reach[of[j]], fabs(N[k]));
        sum[of[i]] += fabs(N[k] * l[j]);
    }
    accepted_islands(p, N, of, island);
    for (size_t i = 0; i < sets; i++) {
        g[i] /= mech_problem_set(p, (int32_t)i).rows;
        g[i] = g[i] > 1.5e-8 * reach[i] ? g[i] : reach[i];
        longest = fmax(longest, g[i]);
    }
    for (size_t i = 0, row = 0; i < sets; i++) {
        const struct mech_set set = mech_problem_set(p, (int32_t)i);

        g[i] = longest == 0. ? 1. : reach[i] == 0. ? longest : fmax(g[i], DBL_EPSILON * longest);
        data[island[i]] = fmax(data[island[i]], accepted_data(p, &set, p->r + row, g[i]));
        row += (size_t)set.rows;
    }
    for (size_t i = 0, row = 0; i < sets; i++) {
        struct mech_set set = mech_problem_set(p, (int32_t)i);
        double x[MECH_SET_ROWS], map[MECH_SET_ROWS], size = 0.;

        set.lower *= g[i];
        set.upper *= g[i];
        for (int32_t k = 0; k < set.rows; k++) {
            x[k] = g[i] * l[row + (size_t)k];
        }
        mech_set_map(&set, p->friction, x, c + row, map);
        for (int32_t k = 0; k < set.rows; k++) {
            size = hypot(size, map[k]);
        }
        double rounding = sum[i];

        if (p->friction == MECH_COULOMB && set.kind >= MECH_SET_CONE) {
            size = fmax(size, fabs(fmin(x[0], c[row])));
        }

        for (int32_t k = 0; k < set.rows; k++) {
            rounding = fmax(rounding, fabs(x[k]));
        }
        const double held = accepted_held(p, &set, x, c + row);
        const double beside = fmax(data[island[i]], held);

        worst = fmax(worst, size > 0. ? size / data[island[i]] : 0.);
        worst = fmax(worst, rounding > 0. ? DBL_EPSILON * rounding / beside : 0.);
        row += (size_t)set.rows;
    }
    free(N);
    free(c);
    free(g);
    free(reach);
    free(data);
    free(sum);
    free(of);
    free(island);
    return worst;
}
