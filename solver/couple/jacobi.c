/* Jacobi: all participants step at once, with inputs extrapolated from the last windows. Of order
 * hold + 1; stable for small windows alone. */
#include "solver/couple/scheme.h"

const struct mech_scheme_type mech_scheme_jacobi = {
    .name = "Jacobi",
    .doc = "all participants at once, once per window, with extrapolated inputs",
    .turns = MECH_SCHEME_TOGETHER,
};
