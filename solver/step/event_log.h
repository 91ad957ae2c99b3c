/* Events of a step: impacts, contacts and ropes that close or open, relays and expressions that
 * switch. A command that asks for them (sim/mech.h) hands down a list; where there is none, nothing
 * is compared. What else can be stepped has a list of the same form, with kinds of its own.
 *
 * An event that its scheme locates has since = time; every other one happened within the internal
 * step from `since` to `time`, the state at `time` being the first that shows it. Of an expression
 * that makes no difference at first (model/switches.h) `since` is the start of the step in which it
 * switched, which may be one of an earlier command.
 *
 * owner: the caller, who provides the room; the simulation's thread writes it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum mech_logged_kind {
    MECH_LOGGED_IMPACT,   /* velocities jumped: a contact met at `speed`, whether it lasts or not */
    MECH_LOGGED_CLOSES,   /* a contact, a rope or a diode acts from here on */
    MECH_LOGGED_OPENS,    /* it no longer does */
    MECH_LOGGED_SWITCHES, /* the multiplier of a relay reaches or leaves one of its bounds; an
                             expression takes another branch (items/switches.h) */
    /* of a whole model, never of the solver's: */
    MECH_LOGGED_UPDATES, /* its discrete states are updated */
    MECH_LOGGED_RETURNS  /* it ends its step early, without such an update */
};
enum mech_logged_of {
    MECH_LOGGED_INTERACTION,
    MECH_LOGGED_JOINT,
    MECH_LOGGED_BODIES,
    MECH_LOGGED_MODEL,
    MECH_LOGGED_EXPRESSION /* of an object or a load */
};

struct mech_logged {
    enum mech_logged_kind kind;
    enum mech_logged_of of;
    int32_t row;        /* of the interaction or joint, or of the item's expressions, from 0;
                           between bodies 0 */
    double since, time; /* s */
    double speed;       /* of an impact, m/s: with which it was met, > 0; else 0 */
    const char *item;   /* name of the interaction, the joint, the first body, the object or the
                           load, which is the document's, or of the model */
    const char *with;   /* name of the second body; NULL of all others */
};

struct mech_event_log {
    struct mech_logged *at; /* [room]; the first `count` are written, in their order of time */
    size_t room, count;
    uint64_t total; /* with those for which there was no room */
};

static inline void mech_event_log_add(struct mech_event_log *log, const struct mech_logged *event)
{
    if (log->count < log->room) {
        log->at[log->count++] = *event;
    }
    log->total++;
}

/* Undo what has been added since total was this: a part of a step that is taken again. */
static inline void mech_event_log_cut(struct mech_event_log *log, uint64_t total)
{
    log->total = total;
    log->count = log->count < total ? log->count : (size_t)total;
}

/* "impact", "closes", "opens", "switches", "updates", "returns"; "interaction", "joint", "bodies",
 * "model", "expression". */
extern const char *const mech_logged_kinds[];
extern const char *const mech_logged_ofs[];
