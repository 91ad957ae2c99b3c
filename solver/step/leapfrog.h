/* Schemes that treat coordinates and velocities in turn, one evaluation of forces a step: velocity
 * Verlet and symplectic Euler. owner: see stepper.h. */
#pragma once

#include "solver/step/stepper.h"

void mech_leapfrog_check(const struct mech_model *m, struct mech_diag *d);
/* `verlet`: the scheme of order 2, otherwise symplectic Euler. */
int mech_leapfrog_create(const struct mech_model *m, bool verlet, struct mech_step_result *result,
                         void **self);
int mech_leapfrog_start(void *self, struct mech_state *s, struct mech_step_result *result);
int mech_leapfrog_step(void *self, struct mech_state *s, double h, double t_end,
                       struct mech_step_result *result);
const char *mech_leapfrog_linear(const void *self);
void mech_leapfrog_destroy(void *self);

/* The part of a member's table that the family shares. */
#define MECH_LEAPFROG_OPERATIONS                                                                   \
    .explicit_scheme = true, .pins = true, .rotations = true, .check = mech_leapfrog_check,        \
    .create = create, .start = mech_leapfrog_start, .step = mech_leapfrog_step,                    \
    .linear = mech_leapfrog_linear, .destroy = mech_leapfrog_destroy
