/* ExplicitEuler: y += h f(t, y). */
#include "solver/step/erk.h"

static const struct mech_tableau tableau = {.stages = 1, .b = {1.}};

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    return mech_erk_create(m, &tableau, result, self);
}

const struct mech_stepper_type mech_stepper_explicit_euler = {
    .name = "ExplicitEuler",
    .doc = "explicit Euler",
    .order = 1,
    MECH_ERK_OPERATIONS,
};
