/* TrapezoidalIndex2: the trapezoidal rule, Newmark's scheme with β = ¼ and γ = ½. */
#include "solver/step/alpha.h"

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    const struct mech_alpha_parameters p = {.beta = 0.25, .gamma = 0.5, .index2 = true};

    return mech_alpha_create(m, p, result, self);
}

const struct mech_stepper_type mech_stepper_trapezoidal_index2 = {
    .name = "TrapezoidalIndex2",
    .doc = "trapezoidal rule; joints at velocity level",
    .order = 2,
    .joints = true,
    .rotations = true,
    .check = mech_alpha_check,
    MECH_ALPHA_OPERATIONS,
};
