/* How the bodies of a contact move along its normal, for events.c: where its row was taken, and how
 * it turns from there.
 *
 * A record holds a contact as it was in the middle of its step, q_m = q_k ⊕ (1 − θ) h v_k (see
 * step/moreau_jean/bodies_touch.c). A velocity of either end of the step, with its lever of the
 * middle, is off by what the row turns by until there, u':
 *
 *     H_k v_k ≈ H_m v_k − (1 − θ) h u',   H_{k+1} v_{k+1} ≈ H_m v_{k+1} + θ h u'
 *
 * and what is left is of the next order, h |u'| times the angle that the bodies turn by within the
 * step: less than that is no motion along the normal. A body
 * that rolls has the contact's place move along with it, so that its lever, and no other, has it
 * neither part nor approach.
 *
 * owner: one simulation, one thread; allocates where the search for contacts does. */
#pragma once

#include "solver/contact/contact.h"
#include "solver/model/model.h"

/* Zeroed before its first use. */
struct mech_event_motion {
    struct mech_contact_list list; /* scratch */
    double *memory, *q, *d;        /* [nq + 1], [nv + 1] scratch */
    double *v0;                    /* [nv + 1] velocities at the start of the step that is over */
    double h, before, after; /* s: of the step, from its start to where it is placed, to its end */
};

/* A speed is more than what solvers leave at rest: against the speeds that it is a difference of,
 * and by the lengths in the contact, over a step of h. */
bool mech_event_counts(double speed, double speeds, double lengths, double h);

/* 0; MECH_NO_MEMORY. */
int mech_event_motion_make(struct mech_event_motion *m, const struct mech_model *model);
void mech_event_motion_fini(struct mech_event_motion *m);

/* v0 of the step that has led to a state, v − h v̇. */
void mech_event_motion_back(struct mech_event_motion *m, const struct mech_model *model,
                            const struct mech_state *state);

/* Places the bodies in the middle of a step of h that starts at `state`; or, `over`, of one that
 * has ended there, whose v0 stands. Their rows turn by the velocities of its start.
 * 0; MECH_NOT_FINITE; MECH_NO_MEMORY. */
int mech_event_motion_place(struct mech_event_motion *m, const struct mech_model *model,
                            const struct mech_state *state, double h, bool over);

struct mech_event_parting {
    double row;      /* at which they part along the row of the record, m/s */
    double speed;    /* along the row as it has turned, m/s */
    bool approaches; /* by more than rounding and what the turn leaves open */
};
/* Of a contact of that step, as the bodies are placed, with the velocities v [nv] of its start or
 * its end.
 * Returns as above. */
int mech_event_motion_of(struct mech_event_motion *m, const struct mech_model *model,
                         const double *v, const struct mech_touched *t, bool end,
                         struct mech_event_parting *out);
