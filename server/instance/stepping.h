/* A step command in slices: begin, advance, finish, with the time measured and the end published.
 * Used by HTTP, ZeroMQ and runs alike. owner: the instance's owner. */
#pragma once

#include "server/instance/instance.h"

/* What every command needs comes first: a run writes no more of it for each period than that. */
struct mechd_stepping {
    struct mech_step_request request;
    bool begun;                 /* the engine is in it */
    int outcome;                /* once done: 0, an outcome, or negative */
    bool paid;                  /* by a run: neither refused nor cut short by its account */
    bool admitted;              /* its account has been asked before */
    size_t signals;             /* of the request's inputs, the last ones */
    enum mechd_stop_reason why; /* CANCELLED: the reason; QUOTA: with `excess` */
    uint64_t worked;            /* ns */
    uint64_t now; /* the clock at the begin of a slice, 0: not known; and at the end of all */
    enum mechd_stop_reason (*asks)(const void *of); /* as that of its efforts (effort.h) */
    /* Before the end of the command is committed: false if it has been stopped. NULL: nothing
     * stops it */
    bool (*closes)(void *of);
    void *of;
    uint64_t first; /* internal steps before it */
    void *before; /* [before_size] state at its start, of a command in parts; NULL: not in parts */
    size_t before_size;
    struct mech_step_report report;

    struct mechd_excess excess; /* of a quota, if that is the reason */
    /* a command in parts, because forces become due within it */
    struct mech_step_request part; /* in progress */
    struct mech_step_report whole; /* parts that are over */
    struct mech_step_plan plan;    /* of the command as a whole */
};

/* Zeroed, but for what is written before it is read. */
void mechd_stepping_init(struct mechd_stepping *s);

/* Expected time of a command, ns. Any thread. */
uint64_t mechd_stepping_cost(struct mechd_instance *i, const struct mech_step_request *r);

/* As the owner: internal steps took so many ns. By their mean, slices have about a millisecond. */
void mechd_stepping_measure(struct mechd_instance *i, uint64_t ns, uint64_t steps);

/* About a millisecond of work; MORE or MORE_ALONE until it is over. */
enum mechd_progress mechd_stepping_slice(struct mechd_instance *i, struct mechd_stepping *s);

/* True of a command that has succeeded with an impact that its scheme reports, or with an event if
 * these were asked for: the flag EVENT of its frames. */
bool mechd_stepping_eventful(const struct mechd_stepping *s);

/* End a command in progress, between two slices, for a reason; the state is as before it. */
void mechd_stepping_cancel(struct mechd_instance *i, struct mechd_stepping *s,
                           enum mechd_stop_reason why);
