/* RK44: the classical scheme (W. Kutta, Z. Math. Phys. 46, 1901). */
#include "solver/step/erk.h"

static const struct mech_tableau tableau = {
    .stages = 4,
    .a = {{0.}, {0.5}, {0., 0.5}, {0., 0., 1.}},
    .b = {1. / 6., 1. / 3., 1. / 3., 1. / 6.},
    .c = {0., 0.5, 0.5, 1.},
};

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    return mech_erk_create(m, &tableau, result, self);
}

const struct mech_stepper_type mech_stepper_rk44 = {
    .name = "RK44",
    .doc = "the classical Runge-Kutta scheme",
    .order = 4,
    MECH_ERK_OPERATIONS,
};
