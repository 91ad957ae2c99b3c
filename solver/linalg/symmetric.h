/* Whether a matrix is symmetric up to rounding, judged pair by pair: a large entry elsewhere says
 * nothing about two small ones that differ. */
#pragma once

#include "solver/linalg/mat.h"

/* of the sizes of a pair: what is taken for rounding of numbers that are given or computed */
#define MECH_SYMMETRIC_TO 1e-9

/* Of a = A_ij and b = A_ji, ii and jj the entries on the diagonal, and `around` no less than the
 * largest magnitudes that were added up in rows and columns i and j:
 * |a − b| ≤ to (|a| + |b| + √|ii jj|) + 1e-12 around. The first part does not depend on units, the
 * second is what is left of sums and of the differences that they are made of. */
bool mech_symmetric_pair(const double pair[2], const double diagonal[2], double around, double to);

/* Whether all pairs of A [n × n] are, with the largest entries around them. S [n × n] by columns,
 * or NULL: A − Aᵀ of those that are not, else 0. Scratch from the arena. 0 or negative. */
int mech_symmetric(struct mech_arena *arena, const struct mech_mat *A, double to, double *S,
                   bool *symmetric);
