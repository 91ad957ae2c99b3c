/* Inside body_newton: a matrix of blocks 6 × 6, one a body and two a pair of bodies that touch, its
 * LU without pivoting between blocks, by rows and columns of least degree first (W. Tinney, J.
 * Walker, Proc. IEEE 55 (1967)). The pattern is symmetric; values need not be. Once ordered, bodies
 * are known by their places in that order. owner: one island. */
#pragma once

#include "solver/vi/body_newton.h"

#include <stddef.h>

enum { MECH_NEWTON_BLOCK = 6, MECH_NEWTON_ENTRIES = 36 };

/* One body in the list of those that another one is tied to. */
struct mech_newton_tie {
    int32_t body, next; /* −1: the end */
};

struct mech_newton_blocks {
    int32_t n, most;     /* bodies; that there is room for */
    int32_t pairs, room; /* tied pairs, with what elimination ties; that there is room for */
    int32_t *place;      /* [most] of a body in the order of elimination; −1: not yet */
    int32_t *start;      /* [most + 1] in `later`, by places */
    int32_t *later;      /* [room] places behind it that it is tied to, ascending */
    /* [most × 36] of bodies, then [room × 72] of pairs p < q: the blocks in row p and in row q */
    double *values;
    int8_t (*pivot)[MECH_NEWTON_BLOCK]; /* [most] */
    /* while it is ordered, by bodies: ties, degrees, bodies of one degree, marks */
    struct mech_newton_tie *tie;                    /* [2 room] */
    int32_t *tied, *degree, *mark;                  /* [most] */
    int32_t *of_degree, *degree_next, *degree_back; /* [most + 1] */
};

/* Room for so many bodies and pairs. 0 or MECH_NO_MEMORY, then fini; fini accepts zeros. */
int mech_newton_blocks_init(struct mech_newton_blocks *b, int32_t bodies, int32_t pairs);
void mech_newton_blocks_fini(struct mech_newton_blocks *b);

static inline double *mech_newton_body(const struct mech_newton_blocks *b, int32_t p)
{
    return b->values + (ptrdiff_t)MECH_NEWTON_ENTRIES * p;
}

/* The block of a pair in the row of its first or its second place. */
static inline double *mech_newton_pair(const struct mech_newton_blocks *b, int32_t pair, int second)
{
    return b->values + (ptrdiff_t)MECH_NEWTON_ENTRIES * (b->most + 2 * (ptrdiff_t)pair + second);
}

/* Pattern: begin, tie pairs of bodies (−1: the ground), order. False: there is not room for all
 * pairs, and nothing else may be called. */
void mech_newton_blocks_begin(struct mech_newton_blocks *b, int32_t n);
bool mech_newton_blocks_tie(struct mech_newton_blocks *b, const int32_t body[2]);
bool mech_newton_blocks_order(struct mech_newton_blocks *b);
/* Number of the pair with these places; −1: one of them is the ground. */
int32_t mech_newton_blocks_pair(const struct mech_newton_blocks *b, const int32_t place[2]);
/* Additions and products of one factor. */
double mech_newton_blocks_flops(const struct mech_newton_blocks *b);
/* Values: := 1, += GᵀDH of three rows of a contact (G, H [3 × 6] of each side) of these places and
 * that pair, factors; false: a pivot is zero. */
void mech_newton_blocks_one(struct mech_newton_blocks *b);
void mech_newton_blocks_add(struct mech_newton_blocks *b, const int32_t place[2], int32_t pair,
                            const double *const G[2], const double *const H[2], const double D[9]);
bool mech_newton_blocks_factor(struct mech_newton_blocks *b);
/* x [6 n] := A⁻¹ x, by places */
void mech_newton_blocks_solve(const struct mech_newton_blocks *b, double *x);
