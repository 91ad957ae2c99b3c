/* Coulomb's law by members that solve the associated one: a fixed point over the normal rows
 * (G. De Saxcé, Z.-Q. Feng, 1998),
 *
 *     r_N ← r_N⁰ + μ‖c_T‖,   solve the associated problem,   again
 *
 * until (l, c) fulfils Coulomb's law itself. Rounds go by mech_acceptance_of, with the largest s.
 * Where that is met and the law is not, as beside fast slides, which r_N is rounded to, sweeps
 * part by part (parts.h) try to, then the member for a tenth of it, down to ε, and sweeps once
 * more, as at the limit of iterations, of which they get the last; beside slides 1e4 times as fast
 * as what presses they come first. Without cones, or for the associated law, it is the member
 * alone. */
#pragma once

#include "solver/vi/iterate.h"

/* The associated problem; as mech_vi_type.solve. */
typedef int (*mech_associated_solve)(void *self, const struct mech_problem *p,
                                     const struct mech_vi_limits *limits, double *l,
                                     struct mech_vi_result *result);

struct mech_desaxce {
    double *r, *c, *best;           /* [m] */
    struct mech_acceptance *accept; /* the member's too, formed here */
    mech_associated_solve member;
    void *self; /* of the member */
};

/* Returns as mech_vi_type.solve; iterations are those of the member and sweeps, all
 * together; each round counts at least one. */
int mech_desaxce_solve(const struct mech_desaxce *d, const struct mech_problem *p,
                       const struct mech_vi_limits *limits, double *l,
                       struct mech_vi_result *result);
