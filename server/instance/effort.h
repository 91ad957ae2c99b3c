/* What the owner spends on an instance right now, so that the solver can be told to end within one
 * internal step or one equilibrium, which may take hours: when it is stopped, deleted or over its
 * quota, when the daemon ends, and when nobody waits for it any more.
 *
 * A carrying thread (http/, zmq/) retreats from a step that is longer than it looked: the step ends
 * without effect and begins again in the pool.
 *
 *     struct mechd_effort e = {.start = mechd_now(), .worked = s->worked, .direct = true};
 *     mechd_effort_begin(i, &e);
 *     … the solver computes, and asks mechd_effort_ends …
 *     mechd_effort_end(i);                      // e.retreat: it was for that
 *
 * owner: the instance's owner. */
#pragma once

#include "server/instance/instance.h"

enum mechd_effort_kind {
    MECHD_EFFORT_STEP, /* a step, a derivative, an equilibrium: ends with stop, and by a quota */
    MECHD_EFFORT_RUN,  /* a run's period: ended as that, and never over a quota */
    MECHD_EFFORT_ANALYSIS, /* ends with stop, never by a quota */
    MECHD_EFFORT_READER    /* comes between slices of another command, which stop means */
};

struct mechd_effort {
    uint64_t start;  /* mechd_now of its begin */
    uint64_t worked; /* ns that count before it, for the quota */
    enum mechd_effort_kind kind;
    bool direct;                      /* may retreat: a step on a carrying thread */
    bool retreat;                     /* out: did */
    bool (*unwanted)(const void *of); /* nobody waits for it; NULL: somebody does */
    const void *of;
};

void mechd_effort_begin(struct mechd_instance *i, struct mechd_effort *e);
void mechd_effort_end(struct mechd_instance *i);

/* What has been cancelled was so by the end of the daemon: nobody has stopped it or deleted its
 * instance. As owner, before the command is over. */
bool mechd_effort_drained(const struct mechd_instance *i);

/* Shall the solver end? `instance`: whose effort it is; as mech_sim_set_interrupt asks. */
bool mechd_effort_ends(void *instance);
