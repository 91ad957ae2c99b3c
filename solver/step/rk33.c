/* RK33: Heun's scheme of order 3 (K. Heun, Z. Math. Phys. 45, 1900). */
#include "solver/step/erk.h"

static const struct mech_tableau tableau = {
    .stages = 3,
    .a = {{0.}, {1. / 3.}, {0., 2. / 3.}},
    .b = {0.25, 0., 0.75},
    .c = {0., 1. / 3., 2. / 3.},
};

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    return mech_erk_create(m, &tableau, result, self);
}

const struct mech_stepper_type mech_stepper_rk33 = {
    .name = "RK33",
    .doc = "Heun's scheme of three stages",
    .order = 3,
    MECH_ERK_OPERATIONS,
};
