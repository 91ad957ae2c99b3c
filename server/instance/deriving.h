/* Derivatives of steps in slices, as steps themselves (stepping.h): about a millisecond of work at
 * a time, paid by the instance's account, given up where a step would be. owner: the instance's
 * owner. */
#pragma once

#include "server/instance/instance.h"
#include "solver/sim/analysis.h"

/* Zeroed, but what says otherwise. */
struct mechd_deriving {
    struct mech_derivation *work; /* from mech_sim_…_begin; NULL: not begun, or over */
    int outcome;                  /* once done: 0, an outcome, or negative */
    bool over;                    /* CANCELLED because of `excess` */
    bool retreated;               /* once, from a carrying thread: it is to begin anew */
    uint64_t worked;              /* ns */
    struct mechd_excess excess;
};

/* May it begin? False: over, and CANCELLED. */
bool mechd_deriving_may(struct mechd_instance *i, struct mechd_deriving *s);

/* About a millisecond of work; MORE or MORE_ALONE until it is over. `unwanted`, asked of `of`: give
 * it up. On a carrying thread it ends after 2 ms: MORE with `work` NULL. */
enum mechd_progress mechd_deriving_slice(struct mechd_instance *i, struct mechd_deriving *s,
                                         bool (*unwanted)(const void *of), const void *of);

/* Give it up, as owner: what is over has been freed. */
void mechd_deriving_fini(struct mechd_deriving *s);
