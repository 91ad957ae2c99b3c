/* VelocityVerlet: see leapfrog.c. */
#include "solver/step/leapfrog.h"

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    return mech_leapfrog_create(m, true, result, self);
}

const struct mech_stepper_type mech_stepper_velocity_verlet = {
    .name = "VelocityVerlet",
    .doc = "velocity Verlet, symplectic where forces do not depend on velocities",
    .order = 2,
    MECH_LEAPFROG_OPERATIONS,
};
