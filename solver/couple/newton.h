/* Newton's method on the interface, shared by the schemes that use it: (−∂r/∂z) Δz = r, dense. */
#pragma once

#include "solver/couple/scheme.h"

struct mech_scheme_newton {
    double *lu;   /* [n · n] by columns, rows divided by their largest entry */
    double *row;  /* [n] what they were divided by */
    double *size; /* [n] */
    int32_t *pivot;
    int32_t *ready; /* [1] lu holds the matrix of the last iteration, of that many unknowns */
};

void mech_scheme_newton_lay(void *self, const struct mech_scheme_space *space,
                            struct mech_room *room);
int mech_scheme_newton_correct(void *self, const struct mech_scheme_iterate *at, double *z_next);
