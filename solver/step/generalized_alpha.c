/* GeneralizedAlpha: parameters of J. Chung, G. Hulbert, J. Appl. Mech. 60 (1993), from the spectral
 * radius. */
#include "solver/step/alpha.h"

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    const double rho = mech_model_settings(m)->spectral_radius;
    const double alpha_m = (2. * rho - 1.) / (rho + 1.), alpha_f = rho / (rho + 1.);
    const double gamma = 0.5 + alpha_f - alpha_m;
    const struct mech_alpha_parameters p = {.alpha_m = alpha_m,
                                            .alpha_f = alpha_f,
                                            .beta = 0.25 * (gamma + 0.5) * (gamma + 0.5),
                                            .gamma = gamma};

    return mech_alpha_create(m, p, result, self);
}

const struct mech_stepper_type mech_stepper_generalized_alpha = {
    .name = "GeneralizedAlpha",
    .doc = "generalized-alpha with numerical damping by the spectral radius",
    .order = 2,
    .joints = true,
    .rotations = true,
    .check = mech_alpha_check_damped,
    MECH_ALPHA_OPERATIONS,
};
