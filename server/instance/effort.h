/* The owner's computation in progress, and whether it must end: the one place where the reasons of
 * server/os/stop.h are put together for work on an instance. It is polled between two slices, and
 * by the solver within one internal step or one equilibrium, which may take hours.
 *
 *     struct mechd_effort e = {.start = mechd_now(), .worked = s->worked, .direct = true};
 *     mechd_effort_begin(i, &e);
 *     … the solver computes, and polls mechd_effort_ends …
 *     mechd_effort_end(i);                      // e.why: why it was interrupted, if it was
 *
 * Which reasons end which kind, in the order in which they are asked for; the first is remembered:
 *
 *     STEP      STOPPED DELETED GONE SHUTDOWN RETREAT QUOTA
 *     RUN       SHUTDOWN DELETED YIELD RETREAT
 *     ANALYSIS  STOPPED DELETED GONE SHUTDOWN RETREAT
 *     READER    DELETED GONE SHUTDOWN RETREAT
 *
 * RETREAT only of an effort that is `direct`: a thread that carries requests abandons a step that
 * takes longer than expected; the step ends without effect and starts again in the pool. RETREAT
 * and YIELD apply within a slice alone.
 *
 * owner: the instance's owner. */
#pragma once

#include "server/instance/instance.h"

enum mechd_effort_kind {
    MECHD_EFFORT_STEP, /* a step, a derivative, an equilibrium */
    MECHD_EFFORT_RUN,  /* a run's period */
    MECHD_EFFORT_ANALYSIS,
    MECHD_EFFORT_READER /* runs between slices of another command, to which a stop applies */
};

struct mechd_effort {
    uint64_t start;  /* mechd_now of its begin */
    uint64_t worked; /* ns that count before it, for the quota */
    enum mechd_effort_kind kind;
    bool direct; /* on a thread that carries requests */
    /* Why no answer is awaited any more, with `of`. NULL: it always is */
    enum mechd_stop_reason (*asks)(const void *of);
    const void *of;
    enum mechd_stop_reason why; /* out: the first reason to end it */
};

void mechd_effort_begin(struct mechd_instance *i, struct mechd_effort *e);
void mechd_effort_end(struct mechd_instance *i);

/* Why the effort, which has not begun, must not begin. As owner, between two slices. */
enum mechd_stop_reason mechd_effort_before(const struct mechd_instance *i,
                                           const struct mechd_effort *e);

/* True if the solver must end. `instance`: the owner of the effort; signature of
 * mech_sim_set_interrupt. */
bool mechd_effort_ends(void *instance);

/* True if one that must end must do so at once, because nothing needs its instance any more: it has
 * been deleted, or the daemon shuts down, after a stop too. The same signature. */
bool mechd_effort_urgent(void *instance);

/* For commands that work on several instances: why this one ends them, STOPPED or DELETED, or NONE.
 * Any thread. */
enum mechd_stop_reason mechd_effort_asked(const struct mechd_instance *i);
/* True if a step command of such a kind has used up the time of the instance's account, after so
 * many ns: *x says of what, and it is counted. */
bool mechd_effort_over(const struct mechd_instance *i, uint64_t worked, struct mechd_excess *x);

/* The excess that a QUOTA is refused with, after so many ns; it is counted. */
void mechd_effort_exceeds(const struct mechd_instance *i, uint64_t worked, struct mechd_excess *x);
