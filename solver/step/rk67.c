/* RK67: order 6 in 7 stages (J. C. Butcher, J. Austral. Math. Soc. 4, 1964). */
#include "solver/step/erk.h"

#define S5 2.2360679774997897 /* √5 */

static const struct mech_tableau tableau = {
    .stages = 7,
    .a =
        {
            {0.},
            {0.5 - S5 / 10.},
            {-S5 / 10., 0.5 + S5 / 5.},
            {7. * S5 / 20. - 0.75, S5 / 4. - 0.25, 1.5 - 7. * S5 / 10.},
            {1. / 12. - S5 / 60., 0., 1. / 6., 7. * S5 / 60. + 0.25},
            {S5 / 60. + 1. / 12., 0., 0.75 - 5. * S5 / 12., 1. / 6., -0.5 + 3. * S5 / 10.},
            {1. / 6., 0., -55. / 12. + 25. * S5 / 12., -7. * S5 / 12. - 25. / 12., 5. - 2. * S5,
             2.5 + S5 / 2.},
        },
    .b = {1. / 12., 0., 0., 0., 5. / 12., 5. / 12., 1. / 12.},
    .c = {0., 0.5 - S5 / 10., 0.5 + S5 / 10., 0.5 - S5 / 10., 0.5 + S5 / 10., 0.5 - S5 / 10., 1.},
};

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    return mech_erk_create(m, &tableau, result, self);
}

const struct mech_stepper_type mech_stepper_rk67 = {
    .name = "RK67",
    .doc = "Butcher's scheme of order 6 in 7 stages",
    .order = 6,
    MECH_ERK_OPERATIONS,
};
