/* Inside body_newton: a matrix of blocks 6 × 6, one a body and two a pair of bodies that touch, its
 * LU without pivoting between blocks, by rows and columns of least degree first. The pattern is
 * symmetric; values need not be. owner: one island. */
#pragma once

#include "solver/vi/body_newton.h"

#include <stddef.h>

enum { MECH_NEWTON_BLOCK = 6, MECH_NEWTON_ENTRIES = 36 };

struct mech_newton_blocks {
    int32_t n, most;
    uint64_t mask[MECH_BODY_NEWTON_BODIES]; /* neighbours, with what elimination ties, and itself */
    int32_t order[MECH_BODY_NEWTON_BODIES];
    uint64_t later[MECH_BODY_NEWTON_BODIES]; /* neighbours that are eliminated after it */
    double *values; /* [most × most × 36] by rows of blocks, then of entries */
    int8_t pivot[MECH_BODY_NEWTON_BODIES][MECH_NEWTON_BLOCK];
};

static inline double *mech_newton_block(const struct mech_newton_blocks *b, int32_t i, int32_t j)
{
    return b->values + (ptrdiff_t)MECH_NEWTON_ENTRIES * ((ptrdiff_t)i * b->most + j);
}

/* Pattern: begin, tie pairs (−1: the ground), order. */
void mech_newton_blocks_begin(struct mech_newton_blocks *b, int32_t n);
void mech_newton_blocks_tie(struct mech_newton_blocks *b, const int32_t pair[2]);
void mech_newton_blocks_order(struct mech_newton_blocks *b);
/* Additions and products of one factor. */
double mech_newton_blocks_flops(const struct mech_newton_blocks *b);
/* Values: := 1, += s GᵀDG of a contact (G [2 × 3 × 6], sides and rows), factors; false: a pivot is
 * zero. */
void mech_newton_blocks_one(struct mech_newton_blocks *b);
void mech_newton_blocks_add(struct mech_newton_blocks *b, const int32_t pair[2], const double *G,
                            const double D[9], double s);
bool mech_newton_blocks_factor(struct mech_newton_blocks *b);
/* x [6 n] := A⁻¹ x */
void mech_newton_blocks_solve(const struct mech_newton_blocks *b, double *x);
