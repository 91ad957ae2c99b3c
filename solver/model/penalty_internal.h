/* Contact by penalty inside: what acts at one contact, for penalty.c and penalty_tangent.c. */
#pragma once

#include "solver/model/penalty.h"
#include "solver/model/touch_internal.h"

/* k_t and d_t of those along the normal */
#define MECH_PENALTY_ALONG (2. / 7.)

struct mech_penalty {
    struct mech_contact_list list;
    int32_t n;                  /* velocities of all bodies with shapes; 0: no tangent */
    int32_t *slot;              /* [n] */
    int32_t *at;                /* [nv + 1] place of a velocity among them */
    double *block;              /* [n × n] by rows */
    struct mech_touched *fresh; /* [sizes.contact] scratch */
    struct mech_touch_rows rows;
    /* for exact tangents: how the bodies' nodes move, NULL: by sums [bodies]; scratch: contacts of
     * two colliders that have moved forth and back, and their coordinates [nq + 1] */
    const struct mech_node_ops **moves;
    struct mech_contact_list moved[2];
    double *q;
};

/* One contact at a point: what acts, in its frame. */
struct mech_pushing {
    const struct mech_contact *contact;
    double k, d, mu; /* N/m, N s/m */
    double u[3];     /* m/s, of the second surface against the first: n, t₁, t₂ */
    double s[2];     /* m, stretch along the surfaces */
    double f[3];     /* N, on the second body */
    double wanted;   /* N, of spring and damper along the surfaces, slipping or not */
    bool slips;
};

/* As the law has it; or as if it pressed, and stuck or slipped, on beyond where it does. */
enum mech_penalty_law { MECH_PENALTY_AS_IS, MECH_PENALTY_STICKS, MECH_PENALTY_SLIPS };

/* penalty.c */
/* Contacts at a point into the list: how many; −1: some body is at no place. */
int32_t mech_penalty_find(const struct mech_model *m, const struct mech_eval *e);

/* The record of an id in the state, or NULL; *from moves on with ascending ids. */
const struct mech_touched *mech_penalty_kept(const struct mech_state *s, uint64_t id,
                                             uint64_t *from);

/* What acts at a contact; its rows into the penalty's. */
void mech_penalty_evaluate(const struct mech_model *m, const struct mech_eval *e,
                           const struct mech_contact *c, const struct mech_touched *kept,
                           enum mech_penalty_law law, struct mech_pushing *out);
