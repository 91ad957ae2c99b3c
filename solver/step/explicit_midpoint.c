/* ExplicitMidpoint: y += h f(t + h/2, y + h/2 f(t, y)). */
#include "solver/step/erk.h"

static const struct mech_tableau tableau = {
    .stages = 2, .a = {{0.}, {0.5}}, .b = {0., 1.}, .c = {0., 0.5}};

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    return mech_erk_create(m, &tableau, result, self);
}

const struct mech_stepper_type mech_stepper_explicit_midpoint = {
    .name = "ExplicitMidpoint",
    .doc = "explicit midpoint rule",
    .order = 2,
    MECH_ERK_OPERATIONS,
};
