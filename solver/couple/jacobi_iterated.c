/* JacobiIterated: the participants step all at once, again until the inputs agree, with constant
 * relaxation. Converges where the windows are small or the coupling is weak. */
#include "solver/couple/relax.h"

const struct mech_scheme_type mech_scheme_jacobi_iterated = {
    .name = "JacobiIterated",
    .doc = "all participants at once, iterated with constant relaxation",
    .turns = MECH_SCHEME_TOGETHER,
    .iterates = true,
    .size = sizeof(struct mech_scheme_relax),
    .lay = mech_scheme_relax_lay,
    .correct = mech_scheme_relax_correct,
};
