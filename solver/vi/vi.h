/* Complementarity solvers behind one interface: find l with
 *
 *     c = N l + r,    l ∈ K,   −ĉ ∈ normal cone of K at l        (sys/problem.h, sys/sets.h)
 *
 * A member is one file and one line in vis.def. All are judged by the same acceptance
 * (sys/acceptance.h, of the law that the problem specifies), whichever function they minimise, and
 * report the published residual with it.
 * owner: one thread; no allocation in solve for m up to the `most` of create.
 *
 *   MECH_TRY(type->create(most, &s));
 *   int code = type->solve(s, &problem, &limits, l, &result);   // l: start in, solution out
 */
#pragma once

#include "solver/base/interrupt.h"
#include "solver/sys/problem.h"

#include <stddef.h>

struct mech_vi_limits {
    double tolerance;                 /* of the acceptance, > 0 */
    int32_t max_iterations;           /* pivots, sweeps or Newton steps, ≥ 0 */
    struct mech_interrupt *interrupt; /* that ends them earlier, or NULL */
};

struct mech_vi_result {
    int32_t iterations;
    double residual;    /* mech_problem_residual */
    double level;       /* mech_acceptance_residual, or less than the acceptance */
    double acceptance;  /* compared with the tolerance: sys/acceptance.h */
    const char *solver; /* the solver that found it: differs from the requested name in a chain */
};

struct mech_vi_type {
    const char *name; /* as solver.vi.type */
    const char *doc;
    uint32_t kinds; /* mask of 1u << enum mech_set_kind that it takes */
    /* Block Gauss–Seidel: what body_contacts.h does for free bodies without a matrix. */
    bool sweeps;
    /* Factors a matrix of all rows in each iteration: some tens of them, or it stalls. */
    bool factors;
    /* most: rows. Negative: no memory; MECH_UNSUPPORTED: too many rows for this member. */
    int (*create)(int32_t most, void **self);
    /* The same for problems whose N is not formed (problem->schur); NULL: it does not take them. */
    int (*create_implicit)(int32_t most, void **self);
    /* 0 only when the acceptance is at most the tolerance; MECH_VI_NOT_CONVERGED (l: the best seen,
     * finite); MECH_SINGULAR (a zero pivot or diagonal that this method cannot take; l as it came);
     * MECH_UNSUPPORTED (a kind of set that it does not take; l as it came). */
    int (*solve)(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *l, struct mech_vi_result *result);
    void (*destroy)(void *self); /* accepts NULL */
};

#define MECH_VI(name) extern const struct mech_vi_type mech_vi_##name;
#include "solver/vi/vis.def"
#undef MECH_VI

extern const struct mech_vi_type *const mech_vi_types[]; /* sorted, closed by NULL */
const struct mech_vi_type *mech_vi_find(const char *name);

/* Masks: kinds without friction, and with cones; those with friction; all. */
enum {
    MECH_VI_ROWS = 1u << MECH_SET_BILATERAL | 1u << MECH_SET_UNILATERAL | 1u << MECH_SET_BOX,
    MECH_VI_CONES = MECH_VI_ROWS | 1u << MECH_SET_CONE,
    MECH_VI_FRICTION = 1u << MECH_SET_CONE | 1u << MECH_SET_ROLLING,
    MECH_VI_ALL = MECH_VI_ROWS | MECH_VI_FRICTION
};
