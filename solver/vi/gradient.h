/* What members that descend along the gradient N l + r of ½ lᵀ N l + rᵀ l share (symmetric N; the
 * associated law, and Coulomb's by desaxce.h). */
#pragma once

#include "solver/vi/desaxce.h"
#include "solver/vi/iterate.h"

struct mech_gradient {
    struct mech_desaxce outer;
    double *c, *best;            /* [most] */
    double *x, *y, *z, *gx, *gy; /* [most] as the member names them */
    double *memory;
};

int mech_gradient_create(int32_t most, void **self);
void mech_gradient_destroy(void *self);
double mech_gradient_dot(int32_t m, const double *a, const double *b);
/* A bound that the largest eigenvalue of N is likely to stay below: from a few steps of the power
 * method, started from the diagonal. 0: N is 0. */
double mech_gradient_largest(struct mech_gradient *s, const struct mech_problem *p);
