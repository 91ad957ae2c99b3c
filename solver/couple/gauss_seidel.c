/* Gauss–Seidel: the participants step in turn, each with the results of those before it at the
 * window's end and inputs extrapolated from those behind it. Of order hold + 1. */
#include "solver/couple/scheme.h"

const struct mech_scheme_type mech_scheme_gauss_seidel = {
    .name = "GaussSeidel",
    .doc = "participants in turn, once per window, with extrapolated outputs of later ones",
    .turns = MECH_SCHEME_IN_TURN,
};
