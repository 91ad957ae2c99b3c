/* SymplecticEuler: see leapfrog.c. */
#include "solver/step/leapfrog.h"

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    return mech_leapfrog_create(m, false, result, self);
}

const struct mech_stepper_type mech_stepper_symplectic_euler = {
    .name = "SymplecticEuler",
    .doc = "symplectic Euler: velocities first",
    .order = 1,
    MECH_LEAPFROG_OPERATIONS,
};
