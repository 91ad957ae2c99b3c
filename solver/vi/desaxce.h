/* Coulomb's law by members that solve the associated one: a fixed point over the normal rows
 * (G. De Saxcé, Z.-Q. Feng, 1998),
 *
 *     r_N ← r_N⁰ + μ‖c_T‖,   solve the associated problem,   again
 *
 * until (l, c) fulfils Coulomb's law itself. Without cones, or for the associated law, it is the
 * member alone. */
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

/* Returns as mech_vi_type.solve; iterations are those of the member, all together. */
int mech_desaxce_solve(const struct mech_desaxce *d, const struct mech_problem *p,
                       const struct mech_vi_limits *limits, double *l,
                       struct mech_vi_result *result);
