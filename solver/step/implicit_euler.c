/* ImplicitEuler: v₁ = v + h v̇₁, q₁ = q ⊕ h v₁, x₁ = x + h ẋ₁; joints hold at velocity level. It is
 * the member α_m = α_f = 0, β = γ = 1 of the family that takes nothing from the start of a step. */
#include "solver/step/alpha.h"

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    const struct mech_alpha_parameters p = {.beta = 1., .gamma = 1., .index2 = true, .euler = true};

    return mech_alpha_create(m, p, result, self);
}

const struct mech_stepper_type mech_stepper_implicit_euler = {
    .name = "ImplicitEuler",
    .doc = "implicit Euler: damps unresolved motion",
    .order = 1,
    .joints = true,
    .rotations = true,
    .check = mech_alpha_check,
    MECH_ALPHA_OPERATIONS,
};
