/* Derivatives of steps in slices, as steps themselves (stepping.h): about a millisecond of work at
 * a time, charged to the instance's account, abandoned where a step would be. owner: the instance's
 * owner. */
#pragma once

#include "server/instance/instance.h"
#include "solver/sim/analysis.h"

/* Zeroed, but what says otherwise. */
struct mechd_deriving {
    void *work; /* of the engine's table (derive); NULL: not begun, or over */
    const struct mechd_engine_derive *by;
    int outcome;                /* once done: 0, an outcome, or negative */
    enum mechd_stop_reason why; /* CANCELLED: the reason; QUOTA: with `excess` */
    bool direct;                /* in: its thread carries a request, as mechd_instance_carried */
    uint64_t worked;            /* ns */
    struct mechd_excess excess;
};

/* Whether it has begun and is not over. */
static inline bool mechd_deriving_going(const struct mechd_deriving *s)
{
    return s->work != NULL;
}

/* True if it may start. False: over, and CANCELLED. */
bool mechd_deriving_may(struct mechd_instance *i, struct mechd_deriving *s);

/* The jacobian of a step to come begins, as the engine's table says (derive, which is there). */
int mechd_deriving_begin(const struct mechd_instance *i, struct mechd_deriving *s,
                         const struct mech_jacobian_query *query, double *out,
                         struct mech_derived *derived);
/* Another derivation of the simulation has begun, which it gets. */
void mechd_deriving_take(const struct mechd_instance *i, struct mechd_deriving *s,
                         struct mech_derivation *work);

/* About a millisecond of work; MORE or MORE_ALONE until it is over. `asks` and `of` as those of an
 * effort (effort.h). On a carrying thread it ends after 2 ms: MORE with `work` NULL, and it must
 * start again. */
enum mechd_progress mechd_deriving_slice(struct mechd_instance *i, struct mechd_deriving *s,
                                         enum mechd_stop_reason (*asks)(const void *of),
                                         const void *of);

/* Abandon it, as owner: completed work has been freed. */
void mechd_deriving_fini(struct mechd_deriving *s);
