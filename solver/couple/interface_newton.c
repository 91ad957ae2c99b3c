/* InterfaceNewton: z + (1 − ∂g/∂z)⁻¹ r, with the Jacobians of participants that have them and
 * difference quotients by trials of those that do not. Linear couplings take one correction. */
#include "solver/couple/couple.h"
#include "solver/couple/newton.h"

const struct mech_scheme_type mech_scheme_interface_newton = {
    .name = "InterfaceNewton",
    .doc = "Newton's method with the Jacobian of outputs with respect to inputs",
    .turns = MECH_SCHEME_TOGETHER,
    .iterates = true,
    .matrix = true,
    .size = sizeof(struct mech_scheme_newton),
    .lay = mech_scheme_newton_lay,
    .correct = mech_scheme_newton_correct,
};
