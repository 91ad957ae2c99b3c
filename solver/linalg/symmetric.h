/* Whether a matrix is symmetric up to rounding, judged pair by pair: a large entry elsewhere says
 * nothing about two small ones that differ. */
#pragma once

#include "solver/linalg/mat.h"

/* of the sizes of a pair: what is taken for rounding of numbers that are given or computed */
#define MECH_SYMMETRIC_TO 1e-9

/* Of a = A_ij and b = A_ji, ii and jj the entries on the diagonal:
 * |a − b| ≤ to (|a| + |b| + √|ii jj|) + rounding. The first part does not depend on units;
 * `rounding` is what is left of sums and of the differences that the entries are made of. */
bool mech_symmetric_pair(const double pair[2], const double diagonal[2], double rounding,
                         double to);

/* Whether all pairs of A [n × n] are, with a rounding of 1e-12 of the largest entry of their rows
 * and columns. Scratch from the arena. 0 or negative. */
int mech_symmetric(struct mech_arena *arena, const struct mech_mat *A, double to, bool *symmetric);
