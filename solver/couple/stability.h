/* Stability of a coupling about a state: the map that one window of size H makes of it, for
 * participants that are linear and solved exactly, ẋ = A x + B u, y = C x + D u.
 *
 * The map acts on the states of all participants, on their outputs at the window's start, and on
 * those at the ends before that the hold reads. Explicit schemes extrapolate, in turn or all at
 * once; schemes that iterate are taken as converged, so that they all have the same map. Windows
 * are of one size. The matrix exponential is a Taylor series with scaling and squaring (C. Moler,
 * C. Van Loan, SIAM Rev. 45 (2003)).
 * owner: one thread; all of it allocates. */
#pragma once

#include "solver/base/interrupt.h"
#include "solver/couple/couple.h"

enum { MECH_COUPLE_STABILITY_MOST = 200 /* numbers that the map acts on */ };

/* By rows; of the participant's inputs and outputs that the coupling has. */
struct mech_couple_linear {
    int32_t states;
    const double *A; /* [states × states] */
    const double *B; /* [states × inputs] */
    const double *C; /* [outputs × states] */
    const double *D; /* [outputs × inputs] */
};

/* How the sizes that are stable from the least one on end. */
enum mech_couple_end {
    MECH_COUPLE_END_FOUND,
    MECH_COUPLE_END_LEAST, /* not even the least size is stable */
    MECH_COUPLE_END_MOST,  /* all sizes are: none grows by 1e-9 a window */
    MECH_COUPLE_END_UNTOLD /* growth vanishes in rounding before it ends, if it does */
};

struct mech_couple_stability {
    double radius; /* spectral radius of the map at the size asked for; INFINITY: beyond doubles */
    /* log(radius) is at most 1e-9, or 1e-12 where the end was found by that; eigenvalues within
     * 1e-6 of 1, which free motions have, count as 1. False where the end is untold */
    bool stable;
    enum mech_couple_end end;
    /* where it was found, s, to 0.1 %; else 0, INFINITY and NAN. 9 % beyond it a window has to grow
     * by 1e-7, or by 1e-10 where none grows by 1e-12 before it. Sizes are looked at 9 % apart:
     * unstable intervals that are shorter may be missed */
    double largest;
    double least, most; /* s, between which it has been looked for: a 1000th of the size, 1000 × */
};

/* parts [participants]; size in s. Checked first, with a reason [MECH_COUPLE_REASON]: MECH_INVALID
 * (a size that is not positive, or so small or large that `least` or `most` is no number);
 * MECH_UNSUPPORTED (bonds, waveforms, more numbers than MECH_COUPLE_STABILITY_MOST);
 * MECH_NOT_FINITE (a matrix; the reason names its participant and entry). Then 0;
 * MECH_NOT_CONVERGED (eigenvalues); MECH_CANCELLED; MECH_NO_MEMORY. A map that is beyond doubles is
 * no error: its radius is INFINITY. */
int mech_couple_stability(const struct mech_couple *c, const struct mech_couple_linear *parts,
                          double size, struct mech_interrupt *ask, char *reason,
                          struct mech_couple_stability *out);
