/* GaussSeidelIterated: the participants step in turn, again until the inputs agree, with constant
 * relaxation. Converges where the windows are small or the coupling is weak. */
#include "solver/couple/relax.h"

const struct mech_scheme_type mech_scheme_gauss_seidel_iterated = {
    .name = "GaussSeidelIterated",
    .doc = "participants in turn, iterated with constant relaxation",
    .turns = MECH_SCHEME_IN_TURN,
    .iterates = true,
    .size = sizeof(struct mech_scheme_relax),
    .lay = mech_scheme_relax_lay,
    .correct = mech_scheme_relax_correct,
};
