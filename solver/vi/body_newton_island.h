/* Inside body_newton: its memory, and one island. Not for other modules. */
#pragma once

#include "solver/vi/body_newton_blocks.h"

/* One contact of the island. */
struct mech_newton_contact {
    int32_t of;                         /* contact */
    int32_t slot[2];                    /* body's place in the island or −1 */
    int32_t pair;                       /* of bodies (body_newton_blocks.h) or −1 */
    double G[2][3 * MECH_NEWTON_BLOCK]; /* rows N, T1, T2 of G M⁻½ */
    double q[3], E[3];                  /* speeds with b before impulses; E */
    double c[3];                        /* q + G M⁻½ ŷ + E l̂ of the proximal point */
    double axes[9];                     /* n, t₁, t₂ by rows */
    double W_N, mean; /* of W with E: the normal diagonal entry; the mean of all three */
    double kappa;
    /* multipliers: at the last y, of the proximal point, of the one before, the best */
    double l[3], hat[3], before[3], best[3];
    struct mech_set set;
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
