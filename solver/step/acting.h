/* What acts in the step that has led to a state: the set for which derivatives of that step hold,
 * with what each of it does.
 *
 *   interactions   a contact is open, acts, or sticks or slides; a relay is at its lower bound, at
 *                  its upper one, or between
 *   joints         a one-sided row acts or is open
 *   bodies         a pair of shapes has an impulse (under penalty a force), and points of it stick,
 *                  slide, spin or roll; pairs, not points, so that contacts that wander along a
 *                  face change nothing
 *
 * Pure functions of model and state, the simulation's thread; nothing is allocated. */
#pragma once

#include "solver/model/model.h"
#include "solver/sys/sets.h"

enum mech_relay { MECH_RELAY_LOWER, MECH_RELAY_BETWEEN, MECH_RELAY_UPPER };
/* Where a multiplier l is between the bounds of a BOX, times `unit`: within 1e-6 of their distance
 * (of |l| where one is infinite) it is at a bound. */
enum mech_relay mech_relay_of(const struct mech_set *box, double unit, double l);

/* Whether a contact between shapes has an impulse, or a force. */
static inline bool mech_touched_pushes(const struct mech_touched *t)
{
    return t->impulse[0] != 0. || t->impulse[1] != 0. || t->impulse[2] != 0.;
}
/* The pair of shapes of a contact's id, its upper bits (contact/contact.h). */
static inline uint64_t mech_touched_pair(const struct mech_touched *t)
{
    return t->id >> 24;
}
/* Whether a row of joints is one-sided and acts. */
bool mech_row_holds(const struct mech_model *m, const struct mech_state *s, int32_t row);

/* All of it mixed into a number, from so_far on: the same for the same. at->last_step is that of
 * the step. */
uint64_t mech_acting(const struct mech_model *m, const struct mech_state *s, uint64_t so_far);
