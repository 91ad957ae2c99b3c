/* Elimination of a saddle matrix along the tree that joints make of bodies:
 *
 *     [ S  Gᵀ ] [ x ]   [ r ]      S couples only bodies that are neighbours in the tree, and a row
 *     [ G  0  ] [ μ ] = [ s ]      of G one body, or two neighbours
 *
 * Leaves first. The rows of a body i towards its parent p leave it some free directions N:
 *
 *     G_i x_i + G_p x_p = s    =>    x_i = P x_p + N f + c,   G_i N = 0
 *
 * so that i, its free directions f and its multipliers are eliminated by a matrix as small as f,
 * and what remains is added to the block of p (the articulated body of R. Featherstone, 1983, in
 * coordinates that are not minimal; A. Jain, Robot and Multibody Dynamics, 2011). Multipliers
 * follow at the end from the body's own equations. S need not be symmetric. Cost and memory are in
 * proportion to the number of bodies. The computations for one body are in tree_link.h.
 *
 * Loops, bodies with more rows than velocities, blocks of more than 6 velocities and rows that
 * couple three bodies do not suit; the caller has another solver for those, and for points at
 * which the rows of one body depend on each other. owner: one stepper.
 *
 *   MECH_TRY(mech_tree_create(&pattern, &t));
 *   … values[mech_tree_place(t, row, col)] += … for all places, values [mech_tree_stored]
 *   MECH_TRY(mech_tree_factor(t, values));
 *   mech_tree_solve(t, x);
 */
#pragma once

#include "solver/linalg/mat.h"

struct mech_tree;

struct mech_tree_pattern {
    int32_t nv, rows;
    int32_t blocks;          /* bodies */
    const int32_t *block_of; /* [nv] body of each velocity; those of a body stand side by side */
    const struct mech_triplet *entry; /* [count] places of the whole matrix, values are not read */
    size_t count;
};

/* 0; MECH_UNSUPPORTED: does not suit; negative. */
int mech_tree_create(const struct mech_tree_pattern *pattern, struct mech_tree **out);
void mech_tree_destroy(struct mech_tree *t); /* accepts NULL */
/* Number of values; their order makes all that belongs to a body contiguous. */
size_t mech_tree_stored(const struct mech_tree *t);
/* Where an entry of the matrix stands among the values; Gᵀ has the places of G. −1: it has none,
 * and is 0. */
int64_t mech_tree_place(const struct mech_tree *t, int32_t row, int32_t col);
/* Factors of these values, which are overwritten, and which solve reads. The result depends on them
 * alone. 0; MECH_SINGULAR: the matrix is, or at least in this order. No allocation. */
int mech_tree_factor(struct mech_tree *t, double *values);
/* x [nv + rows] := matrix⁻¹ x. No allocation. */
void mech_tree_solve(const struct mech_tree *t, double *x);
