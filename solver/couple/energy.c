/* Energy: over each window a bond holds F = k (g_n + g_{n+1})/2 + d (g_{n+1} − g_n)/H, so that its
 * work −F (g_{n+1} − g_n) is exactly what the spring loses, less d H (Δg/H)², whatever the size of
 * the window and the substeps within. A rigid one holds the F that closes its gap. By Newton's
 * method. */
#include "solver/couple/couple.h"
#include "solver/couple/newton.h"

const struct mech_scheme_type mech_scheme_energy = {
    .name = "Energy",
    .doc = "efforts of bonds from the mean of their gap over the window; exact balance of energy",
    .turns = MECH_SCHEME_TOGETHER,
    .iterates = true,
    .matrix = true,
    .bonds = true,
    .laws = 1u << MECH_COUPLE_SPRING | 1u << MECH_COUPLE_RIGID,
    .size = sizeof(struct mech_scheme_newton),
    .lay = mech_scheme_newton_lay,
    .correct = mech_scheme_newton_correct,
};
