/* HHT: H. Hilber, T. Hughes, R. Taylor, Earthq. Eng. Struct. Dyn. 5 (1977): α_m = 0,
 * α_f = (1 − ρ)/(1 + ρ), which is stable for ρ from ½ to 1. */
#include "solver/step/alpha.h"

static void check(const struct mech_model *m, struct mech_diag *d)
{
    mech_alpha_check_damped(m, d);
    if (mech_model_settings(m)->spectral_radius < 0.5) {
        mech_diag_add(d, "/solver/spectralRadius", "HHT needs at least 0.5");
    }
}

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    const double rho = mech_model_settings(m)->spectral_radius;
    const double alpha_f = (1. - rho) / (1. + rho);
    const struct mech_alpha_parameters p = {
        .alpha_f = alpha_f, .beta = 0.25 * (1. + alpha_f) * (1. + alpha_f), .gamma = 0.5 + alpha_f};

    return mech_alpha_create(m, p, result, self);
}

const struct mech_stepper_type mech_stepper_hht = {
    .name = "HHT",
    .doc = "Hilber, Hughes and Taylor's scheme, numerical damping by the spectral radius",
    .order = 2,
    .joints = true,
    .rotations = true,
    .check = check,
    MECH_ALPHA_OPERATIONS,
};
