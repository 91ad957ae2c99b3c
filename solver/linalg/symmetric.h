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
 * and columns: |a − b| ≤ to[0] (|a| + |b|) + to[1] √|ii jj| + rounding. Scratch from the arena. 0 or
 * negative. */
int mech_symmetric(struct mech_arena *arena, const struct mech_mat *A, const double to[2],
                   bool *symmetric);

/* By how much more pairs may differ: those of two indices in one block, by up to `most` of both;
 * and all, by a share of the largest entry of their rows and columns. */
struct mech_symmetric_slack {
    const int32_t *block; /* [n] */
    const double *most;   /* [n] the same in a block, or 0 */
    double known_to;
};
double mech_symmetric_slack_of(const struct mech_symmetric_slack *slack, int32_t i, int32_t j);

/* In the arena: even = ½ (A + Aᵀ), symmetric to the bit; odd = ½ (A − Aᵀ) of the pairs that are not
 * symmetric with that slack, ZERO if there are none. 0 or negative. */
int mech_symmetric_split(struct mech_arena *arena, const struct mech_mat *A, double to,
                         const struct mech_symmetric_slack *slack, struct mech_mat *even,
                         struct mech_mat *odd);
