/* z_next = z + ω r, shared by the schemes with constant relaxation. */
#pragma once

#include "solver/couple/scheme.h"

struct mech_scheme_relax {
    double relaxation;
};

void mech_scheme_relax_lay(void *self, const struct mech_scheme_space *space,
                           struct mech_room *room);
int mech_scheme_relax_correct(void *self, const struct mech_scheme_iterate *at, double *z_next);
