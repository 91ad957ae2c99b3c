/* ODE23: P. Bogacki, L. Shampine, Appl. Math. Lett. 2 (1989): order 3 with an error estimate of
 * order 2 whose last stage is the first of the next step. */
#include "solver/step/erk.h"

static const struct mech_tableau tableau = {
    .stages = 3,
    .a = {{0.}, {0.5}, {0., 0.75}},
    .b = {2. / 9., 1. / 3., 4. / 9.},
    .c = {0., 0.5, 0.75},
    .e = {-5. / 72., 1. / 12., 1. / 9., -1. / 8.},
    .lower = 3,
};

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    return mech_erk_create(m, &tableau, result, self);
}

const struct mech_stepper_type mech_stepper_ode23 = {
    .name = "ODE23",
    .doc = "Bogacki and Shampine's embedded Runge–Kutta pair of order 3 with step size control",
    .order = 3,
    MECH_ERK_PAIR_OPERATIONS,
};
