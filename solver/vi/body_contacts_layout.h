/* Inside body_contacts: contacts in colours, and what a colour's contacts are swept from. Not for
 * other modules.
 *
 * A line of 64 bytes a body holds (Δv, 1/m, y, 0): Δv = v⁺ − v and Δω = L y with the inverse
 * inertia L Lᵀ, so that one matrix K = −[r]× L serves both ways, Δu = Δv + K y and y += Kᵀ l.
 * What nothing moves has one of the last MECH_STILL lines, which stay 0; they take turns, since to
 * read a line that was just written takes time. What velocities are at first is in q = G v + b.
 *
 * Contacts of a colour share no body that moves. In a colour they stand by class:
 *
 *   ROUND   K = s n ×, one number a side, and W = G M⁻¹ Gᵀ = w_N n nᵀ + w_T (1 − n nᵀ): in world
 *           axes
 *   BLOCK   any K, one inverse mass a body: in axes n, e₁, e₂ of its own, in which W without its
 *           normal row, W_TT − W_TN W_NT / W_NN, is diagonal
 *   ODD     different inverse masses along the axes, and resistance to rolling: one by one
 *
 * of ROUND and BLOCK first groups of four, slot after slot with the four lanes side by side, then
 * single ones, slot after slot. */
#pragma once

#include "solver/vi/body_contacts.h"

#include <stddef.h>

enum { MECH_LANES = 4, MECH_LINE = 8, MECH_STILL = 32, MECH_ODD_ROWS = 6 };

enum mech_contact_class { MECH_ROUND, MECH_BLOCK, MECH_ODD, MECH_CONTACT_CLASSES };

/* Slots of ROUND. New l: z = l − step_T c − step_D c_N n, into the cone. */
enum mech_round_slot {
    MECH_ROUND_N,          /* 3, n */
    MECH_ROUND_S = 3,      /* 2, (r·n) √j of first and second */
    MECH_ROUND_Q = 5,      /* 3 */
    MECH_ROUND_STEP_T = 8, /* 1/w_T */
    MECH_ROUND_STEP_D,     /* 1/w_N − 1/w_T */
    MECH_ROUND_MU,         /* μ */
    MECH_ROUND_GAMMA,      /* associated: μ w_T/w_N; Coulomb: 0 */
    MECH_ROUND_BETA,       /* associated: 1/(1 + μ γ); Coulomb: 1 */
    MECH_ROUND_SLOTS
};

/* Slots of BLOCK; W with E. */
enum mech_block_slot {
    MECH_BLOCK_AXES,   /* 9, rows n, e₁, e₂ */
    MECH_BLOCK_K = 9,  /* 2 × 9, rows n, e₁, e₂ of K, first and second */
    MECH_BLOCK_Q = 27, /* 3 */
    MECH_BLOCK_E = 30, /* 2, E_N and E_T */
    MECH_BLOCK_MU = 32,
    MECH_BLOCK_STEP_N,                        /* 1/W_NN */
    MECH_BLOCK_M,                             /* 2, W_NT/W_NN */
    MECH_BLOCK_A = MECH_BLOCK_M + 2,          /* 2, W_TT − W_TN W_NT/W_NN */
    MECH_BLOCK_STEP_A = MECH_BLOCK_A + 2,     /* 2, 1/A */
    MECH_BLOCK_KAPPA = MECH_BLOCK_STEP_A + 2, /* Coulomb: where the root was last */
    MECH_BLOCK_BOUND_N = MECH_BLOCK_KAPPA,    /* associated: 1/D_N, D ≥ W diagonal */
    MECH_BLOCK_BOUND_T,                       /* 1/D_T */
    MECH_BLOCK_GAMMA,                         /* μ D_T/D_N */
    MECH_BLOCK_BETA,                          /* 1/(1 + μ γ) */
    MECH_BLOCK_SLOTS
};

struct mech_odd_contact {
    struct mech_set set;
    int32_t line[2];
    const double *L[2], *mass[2]; /* [9] L and [3] inverse masses; NULL: does not move */
    double axes[9], arm[2][3];    /* n, t₁, t₂; r */
    double q[MECH_ODD_ROWS], e[MECH_ODD_ROWS];
    double W[MECH_ODD_ROWS * MECH_ODD_ROWS]; /* with E; [rows × rows] */
    double scale[MECH_ODD_ROWS];             /* W ≤ the diagonal matrix of 1/scale² */
};

/* Contacts of one colour and class. */
struct mech_contact_run {
    double *data;            /* groups, then singles; of ODD struct mech_odd_contact */
    double *l;               /* as data: 3 slots (ODD: 6) */
    double *limit;           /* as data: 1 slot, the square of that of the contact */
    int32_t *pair;           /* lines of the first bodies of a group, then of the second */
    int32_t groups, singles; /* ODD: singles alone */
};

struct mech_contact_colour {
    struct mech_contact_run run[MECH_CONTACT_CLASSES];
};

/* One body, prepared. */
struct mech_contact_body {
    double L[9];
    uint64_t colours; /* that it has */
    double mass;      /* along x */
    int32_t line;
    bool even;  /* one inverse mass */
    bool round; /* even, and L = √j 1 */
};

struct mech_body_contacts { /* working memory */
    int32_t most_bodies, most_contacts;
    int32_t body_count, colour_count, contact_count;
    size_t multipliers; /* numbers in l, with gaps of 0 */
    enum mech_friction friction;
    void *memory;
    double *lines;                           /* [most_bodies + MECH_STILL] × MECH_LINE */
    double *lines_before;                    /* where l_before led, for acceleration */
    double *momenta;                         /* [most_bodies × 6] */
    double *l, *l_before, *l_start, *l_best; /* [most_contacts × 8] */
    double *l_given;                         /* [most_contacts × 8] as it came */
    double *limit;                           /* [most_contacts × 8] */
    double *data;                            /* the pool of all runs */
    struct mech_contact_body *bodies;        /* [most_bodies] */
    struct mech_contact_colour *colours;     /* [most_contacts] */
    int32_t *order;                          /* [most_contacts] contacts by colour, class, index */
    int32_t *colour;                         /* [most_contacts] of each contact; −1: dead */
    int32_t *rest;                           /* [most_contacts] without a colour yet */
    int32_t *start;                          /* [most_contacts × classes + 1] */
    int32_t *pair;                           /* [most_contacts × 2] */
    uint8_t *kind;                           /* [most_contacts] enum mech_contact_class */
    double scale_r;                          /* sum of squares of r */
    double dead_map, dead_speed; /* of the map and of c of contacts that nothing moves */
    bool linear;                 /* all μ = 0: the residual's scale is r alone */
};

/* One contact in a run. */
struct mech_contact_place {
    size_t width;     /* from slot to slot */
    double *data, *l; /* its first slots */
    int32_t *pair;    /* [0] and [width] */
};

/* NULL: ground, or nothing moves it. */
static inline const struct mech_contact_body *
mech_contact_body_of(const struct mech_body_contacts *s, int32_t i)
{
    return i >= 0 && s->bodies[i].line == i ? &s->bodies[i] : NULL;
}

/* Checks, colours and lays out, with l as it comes. 0, MECH_INVALID or MECH_NOT_FINITE with the
 * result's place. */
int mech_contact_lay_out(struct mech_body_contacts *s, const struct mech_contact_bodies *bodies,
                         const struct mech_body_contact *contacts, int32_t count,
                         struct mech_body_contacts_result *result);

/* The contact number p of a run. */
struct mech_contact_place mech_contact_place_of(const struct mech_contact_run *run, int32_t kind,
                                                int32_t p);

/* The slots of one contact; odd: with set, axes and q even when nothing moves it. */
void mech_contact_round_slots(const struct mech_body_contacts *s,
                              const struct mech_contact_bodies *bodies,
                              const struct mech_body_contact *c, double *slot);
void mech_contact_block_slots(const struct mech_body_contacts *s,
                              const struct mech_contact_bodies *bodies,
                              const struct mech_body_contact *c, double *slot);
/* m: √ of what a unit of impulse moves along n over what a unit of couple turns; 1: it has none. */
double mech_contact_arm(const struct mech_odd_contact *odd);
void mech_contact_fill_odd(const struct mech_body_contacts *s,
                           const struct mech_contact_bodies *bodies,
                           const struct mech_body_contact *c, struct mech_odd_contact *odd);
