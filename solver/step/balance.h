/* Residuals of an iteration relative to the balanced terms of the equations (model/balance.h): for
 * each class of equations the largest ‖r‖/S of its blocks or rows,
 *
 *     forces      Σ|r| over the forces on a body, or its moments;  S = Σ |F| + |rest| + |M v̇|, the
 *                 parts that r is made of anyway; all terms one by one where those are too small
 *     positions   |g|;  S = Σ |G| a/w₀, the motion by accelerations a = |v̇| + S/M that the forces
 *                 make one by one: a g of that size asks for as large forces. Under the rounding of
 *                 the lengths in g it is 0
 *     velocities  |G v + g_t|;  S = Σ |G| (|v| + a w₁/w₀)
 *
 * the same number in any units; light bodies next to heavy ones are judged by their own S. Where
 * iterations make no progress, nudges of all numbers give the rounding level of r, which no
 * iteration undercuts. owner: one stepper or analysis; only init allocates. */
#pragma once

#include "solver/base/arena.h"
#include "solver/model/balance.h"

enum { MECH_NUDGES = 4 };
/* classes of equations, each with its unit */
enum { MECH_FORCES, MECH_POSITIONS, MECH_SPEEDS, MECH_CLASSES };

/* Shares: far above ε and far below nonlinear effects; a jump of a force counts by its share of
 * ε. */
#define MECH_NUDGE 0x1p-30
/* Of sums of absolute values of forces: some thousand ε, as good as met. */
#define MECH_FORCES_MET 0x1p-40
/* Of the same: some ε, under which no correction helps. */
#define MECH_FORCES_ROUND 0x1p-46
/* Of the lengths in g: some ε. */
#define MECH_LENGTHS_MET 0x1p-52
/* Of the model's extent: tolerated error of a redundant joint. Documents fit to 1e-6. */
#define MECH_GAP 1e-5
/* Of the largest S/√M in the model: forces that count as zero, below the rounding of the largest.
 * For a body next to one of 1e12 times its mass, 1e-11 of the force that moves it alike. */
#define MECH_NO_FORCES 0x1p-56
/* Of the largest S/√M in the model, where iterations come no closer: some ε of a solve. */
#define MECH_SOLVES_MET 0x1p-48
/* The same where the time of a limit is searched: above the residual lengths of a step. */
#define MECH_LIMIT_MET 0x1p-43

struct mech_balance {
    const struct mech_model *model;
    int32_t nv, rows, blocks;
    int32_t *start;       /* [blocks + 1] velocities of each */
    int32_t *block;       /* [nv + 1] of each velocity; blocks: of the ground */
    double *S;            /* [blocks] N or N m */
    double *all;          /* [blocks] the same from all terms one by one, 0: not requested */
    double *lightness;    /* [blocks] 1/M, of the largest mass or inertia in it; 0: it has none */
    double *root;         /* [blocks] √M: S/√M is in one unit for forces and moments */
    double *least;        /* [blocks] rounding of S/√M of the same body */
    int32_t *owner;       /* [blocks] body or system */
    int32_t *next;        /* [blocks] the first block of the next one */
    double *per_root;     /* [blocks] 1/√M; 0: it has none */
    double *weight;       /* [blocks] 1 over the tolerance of |r| */
    double *row_weight;   /* [rows] the same of |g| */
    double *way;          /* [nv + 1] of each velocity: the motion of its block; 0: ground */
    double *row_light;    /* [rows] Σ |G|/√M */
    double row_share;     /* c[2] of the last motion */
    double *S_row, *L;    /* [rows] m or rad, S_row also their rates; L 0: not requested */
    double *L_first;      /* [rows] L at the reference positions */
    double *by_length;    /* [rows] 1; of a row of velocities 0: no length makes them round */
    double *gap;          /* [rows] tolerated error of rows left out as redundant */
    double *terms, *work; /* [nv + 1] scratch */
    double *change;       /* [blocks + rows] squares of what nudges change */
    bool whole, lengths;  /* `all` and L are of this step */
};

int mech_balance_init(struct mech_balance *b, const struct mech_model *m, struct mech_arena *arena);
/* A step begins: sizes are unknown. */
void mech_balance_begin(struct mech_balance *b);

/* S from the parts of r = h M v̇ − h f (as `inert`) − push: F, which is part of f; all [nv]. */
struct mech_balance_parts {
    const double *F, *f, *inert, *r;
    double h;
};
void mech_balance_parts(struct mech_balance *b, const struct mech_balance_parts *p);
/* Whether Σ|r| of all blocks is within that share of S of those parts; stops at the first that is
 * not. */
bool mech_balance_within(const struct mech_balance *b, const struct mech_balance_parts *p,
                         double share);
/* Tolerances: some rounding of S or of lengths; of blocks, and of rows. */
void mech_balance_tolerate(struct mech_balance *b);
void mech_balance_tolerate_rows(struct mech_balance *b);
/* The largest |r| over its tolerance, of blocks. */
double mech_balance_over(const struct mech_balance *b, const double *r);
/* Data that follows from S of all blocks, where S was set otherwise. */
void mech_balance_complete(struct mech_balance *b);
/* S := at least that of all terms at a point. */
void mech_balance_all(struct mech_balance *b, const struct mech_eval *e);
/* S_row = Σ |G| |x| of the rows that follow, |x| the sum over its block of c[0] |x| + c[1] |y|, y
 * may be NULL, and c[2] S/M: what forces that balance would do one by one. Then one row; G is all
 * entries of it. */
void mech_balance_motion(struct mech_balance *b, const double *x, const double *y,
                         const double c[3]);
void mech_balance_row(struct mech_balance *b, int32_t row, const double *G);
/* Weights of rows, for mech_balance_rounds; G all their entries. */
void mech_balance_masses(struct mech_balance *b, const double *G);
/* L at the last poses. */
void mech_balance_lengths(struct mech_balance *b);
/* Whether a row is one of velocities from here on; at first all are of positions. */
void mech_balance_speed(struct mech_balance *b, int32_t row, bool is);

/* The largest Σ|r|/S; blocks with Σ|r| ≤ least count as 0. */
double mech_balance_left(const struct mech_balance *b, const double *r, double least);
/* |g|/(S + |g|) of a row; 0 where |g| is within the rounding of L, or at most `least`. */
double mech_balance_row_left(const struct mech_balance *b, int32_t row, double g, double least);

/* Name of the item where |r|/S of r [nv + rows] is largest, into out [size]. */
void mech_balance_worst(const struct mech_balance *b, const double *r, char *out, size_t size);

/* `out` is `s` with its q, v, v̇ and λ each off by a share of itself, and rotations too; `side` of
 * MECH_NUDGES says which. Those four are in the arena, the rest belongs to `s`. 0 or
 * MECH_NO_MEMORY. */
int mech_balance_nudge(const struct mech_balance *b, const struct mech_state *s, int side,
                       struct mech_arena *arena, struct mech_state *out);
/* changes := 0; then, for each side, r [nv + rows] there compared with `before`. */
void mech_balance_still(struct mech_balance *b);
void mech_balance_moved(struct mech_balance *b, const double *r, const double *before);
/* Whether all blocks and rows of r [nv + rows] are within those shares of S, within the rounding
 * level found by the nudges, or within that of solves relative to the largest S/√M in the model. */
bool mech_balance_rounds(const struct mech_balance *b, const double *r, double of_forces,
                         double of_rows);
