/* Newmark: N. Newmark, J. Eng. Mech. 85 (1959); α_m = α_f = 0, so that the algorithmic a is v̇. */
#include "solver/step/alpha.h"

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    const struct mech_settings *const settings = mech_model_settings(m);
    const struct mech_alpha_parameters p = {
        .beta = settings->newmark_beta, .gamma = settings->newmark_gamma, .index2 = true};

    return mech_alpha_create(m, p, result, self);
}

const struct mech_stepper_type mech_stepper_newmark = {
    .name = "Newmark",
    .doc = "Newmark's scheme with free beta and gamma; joints at velocity level",
    .order = 2,
    .joints = true,
    .rotations = true,
    .check = mech_alpha_check,
    MECH_ALPHA_OPERATIONS,
};
