/* TransmissionLine: bonds are lines with delay and impedance (D. Auslander, J. Dyn. Syst. Meas.
 * Control 90 (1968); P. Krus et al., 1990), by waves that are means over windows: with F and v̄ of
 * one end, F + Z v̄ runs to one side and F − Z v̄ to the other. What a line gives back it has taken
 * before, so that it is stable for any window up to the delay. The participants' own share Z v̄ is
 * solved by Newton's method. */
#include "solver/couple/couple.h"
#include "solver/couple/newton.h"

const struct mech_scheme_type mech_scheme_transmission_line = {
    .name = "TransmissionLine",
    .doc = "efforts of bonds by waves that travel with a delay; stable at any impedance",
    .turns = MECH_SCHEME_TOGETHER,
    .iterates = true,
    .matrix = true,
    .bonds = true,
    .laws = 1u << MECH_COUPLE_LINE,
    .size = sizeof(struct mech_scheme_newton),
    .lay = mech_scheme_newton_lay,
    .correct = mech_scheme_newton_correct,
};
