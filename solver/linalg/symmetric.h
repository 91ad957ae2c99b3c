/* Whether a matrix is symmetric up to rounding, judged pair by pair: a large entry elsewhere says
 * nothing about two small ones that differ. */
#pragma once

#include "solver/linalg/mat.h"

/* of the sizes of a pair: what is taken for rounding of numbers that are given */
#define MECH_SYMMETRIC_TO 1e-9

/* Whether all pairs of A [n × n] are, with a rounding of 1e-12 of the largest entry of their rows
 * and columns: |a − b| ≤ to[0] (|a| + |b|) + to[1] √|ii jj| + rounding. Scratch from the arena.
 * 0 or negative. */
int mech_symmetric(struct mech_arena *arena, const struct mech_mat *A, const double to[2],
                   bool *symmetric);

/* What is known of the pairs of a matrix besides. */
struct mech_symmetric_slack {
    /* pairs of two indices in one block may differ by up to `most` of both more; [n], [n] */
    const int32_t *block;
    const double *most;
    /* [n] or NULL: entries where both indices have one are known to the smaller share, if that is
     * more than 1e-12, of the largest entry of their rows and columns */
    const double *share;
    /* [n], [n], or NULL: place 0, 1, 2 of an index among three neighbours i, j, k, for which
     * A_ij − A_ji = ε_ijk moment_k; −1: it is none of three */
    const int8_t *place;
    const double *moment;
};

/* In the arena: even = ½ (A + Aᵀ), symmetric to the bit; odd = ½ (A − Aᵀ) less what is known of it,
 * of the pairs of which more is left than they are known to; and what entries are known to, 1e-15
 * in place of 1e-12, which says what sums and differences may leave of a pair. The last two are
 * ZERO if there are no such pairs. `slack` may be NULL. 0 or negative. */
int mech_symmetric_split(struct mech_arena *arena, const struct mech_mat *A,
                         const struct mech_symmetric_slack *slack, struct mech_mat *even,
                         struct mech_mat *odd, struct mech_mat *known);
