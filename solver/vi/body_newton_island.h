/* Inside body_newton: its memory, and one island. Not for other modules. */
#pragma once

#include "solver/vi/body_newton_blocks.h"

enum {
    MECH_NEWTON_ROWS = 6
}; /* N, T1, T2, S, R1, R2; the first three where nothing resists turns */

/* One contact of the island. Couples are over an arm, and turns times it, so that all rows are of
 * speeds and impulses, and about as large. */
struct mech_newton_contact {
    int32_t of;      /* contact */
    int32_t slot[2]; /* body's place in the island or −1 */
    int32_t pair;    /* of bodies (body_newton_blocks.h) or −1 */
    double G[2][MECH_NEWTON_ROWS * MECH_NEWTON_BLOCK]; /* G M⁻½ by rows */
    double q[MECH_NEWTON_ROWS], E[MECH_NEWTON_ROWS];   /* speeds with b before impulses; E */
    double c[MECH_NEWTON_ROWS]; /* q + G M⁻½ ŷ + E l̂ of the proximal point */
    double axes[9];             /* n, t₁, t₂ by rows */
    double W_N, mean; /* of W with E: the normal diagonal entry; the mean of the first three */
    double arm;       /* m, as body_contacts.c has it; 1 where it is not ROLLING */
    double kappa;
    /* multipliers: at the last y, of the proximal point, of the one before, the best */
    double l[MECH_NEWTON_ROWS], hat[MECH_NEWTON_ROWS], before[MECH_NEWTON_ROWS],
        best[MECH_NEWTON_ROWS];
    struct mech_set set; /* CONE or ROLLING, its resistances over the arm */
};

/* Working memory. */
struct mech_body_newton {
    int32_t most_bodies, most_contacts, most_touches;
    struct mech_newton_contact *touch; /* [most_touches] contacts of one island */
    int32_t *parent;                   /* [most_bodies] towards the least body of an island */
    int32_t *slot;                     /* [most_bodies] number, then place in the island */
    int32_t *first, *next;        /* [most_bodies], [most_contacts] lists of islands; −1: end */
    int32_t *body, *body_next;    /* [most_bodies] the same of bodies */
    double *L;                    /* [most_bodies × 9] roots of inverse inertia */
    double *y, *F, *trial, *step; /* [most_bodies × 6] of an island, by places */
    struct mech_newton_blocks blocks;
    /* of the island */
    int32_t bodies, count;
    double scale; /* of the rows of G M⁻½, the largest of a contact */
    double still; /* m/s: contacts that part no faster rest on each other */
    enum mech_friction friction;
    int32_t most; /* steps */
};

/* The best multipliers of the island, from `hat`; goal: of what they miss, squared. Returns steps.
 */
int32_t mech_body_newton_island(struct mech_body_newton *s, double goal,
                                struct mech_interrupt *interrupt);
