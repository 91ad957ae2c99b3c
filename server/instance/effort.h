/* The owner's computation in progress, so that the solver can be interrupted within one internal
 * step or one equilibrium, which may take hours: when it is stopped, deleted or over its quota, at
 * shutdown, and when its client has disconnected.
 *
 * A carrying thread (http/, zmq/) abandons a step that takes longer than expected: the step ends
 * without effect and starts again in the pool.
 *
 *     struct mechd_effort e = {.start = mechd_now(), .worked = s->worked, .direct = true};
 *     mechd_effort_begin(i, &e);
 *     … the solver computes, and polls mechd_effort_ends …
 *     mechd_effort_end(i);                      // e.retreat: it was for that
 *
 * owner: the instance's owner. */
#pragma once

#include "server/instance/instance.h"

enum mechd_effort_kind {
    MECHD_EFFORT_STEP, /* a step, a derivative, an equilibrium: ends with stop, and by a quota */
    MECHD_EFFORT_RUN,  /* a run's period: ended as that, and never over a quota */
    MECHD_EFFORT_ANALYSIS, /* ends with stop, never by a quota */
    MECHD_EFFORT_READER    /* runs between slices of another command, to which stop applies */
};

struct mechd_effort {
    uint64_t start;  /* mechd_now of its begin */
    uint64_t worked; /* ns that count before it, for the quota */
    enum mechd_effort_kind kind;
    bool direct;                      /* may retreat: a step on a carrying thread */
    bool retreat;                     /* out: did */
    bool (*unwanted)(const void *of); /* its answer is no longer awaited; NULL: it always is */
    const void *of;
};

void mechd_effort_begin(struct mechd_instance *i, struct mechd_effort *e);
void mechd_effort_end(struct mechd_instance *i);

/* True if the cancellation was caused by the shutdown: it was not stopped and its instance not
 * deleted. As owner, before the command is over. */
bool mechd_effort_drained(const struct mechd_instance *i);

/* True if the solver must end. `instance`: the owner of the effort; signature of
 * mech_sim_set_interrupt. */
bool mechd_effort_ends(void *instance);
