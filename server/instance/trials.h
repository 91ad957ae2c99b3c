/* Trials of one instance that are kept under names, so that any of them may be committed: bounded
 * in number; each counts as a snapshot on the account, with its bytes. owner: the instance's.
 *
 * All of them begin at the present state. Every change of it (a step, a commit, inputs, a restore)
 * drops them, as it drops the last trial; a further trial does not. */
#pragma once

#include "server/instance/instance.h"

enum { MECHD_TRIALS_MOST = 16, MECHD_TRIAL_NAME = 32 /* characters at most */ };

struct mechd_kept_trial {
    char name[MECHD_TRIAL_NAME + 1];
    uint64_t number; /* of the trial step */
    double time;     /* of its end, s */
    size_t size;
    void *bytes; /* its end state, as a snapshot of it */
};

struct mechd_trials {
    int count; /* in the order in which they were kept */
    struct mechd_kept_trial at[MECHD_TRIALS_MOST];
};

/* Keep the last trial under a valid name that is not too long, in place of an older one of that
 * name. 0; MECH_NOT_FOUND: there is no trial; MECH_UNSUPPORTED: too many, or a quota (x->which,
 * else MECHD_QUOTAS); negative. */
int mechd_trials_keep(struct mechd_instance *i, const char *name, struct mechd_excess *x,
                      const struct mechd_kept_trial **out);
/* By its name, or by the number of its step; NULL: there is none. */
const struct mechd_kept_trial *mechd_trials_find(const struct mechd_instance *i, const char *name);
const struct mechd_kept_trial *mechd_trials_numbered(const struct mechd_instance *i,
                                                     uint64_t number);
/* Its end state becomes that of the instance, to the bit as if it had been committed at once; the
 * change is not published yet. As mechd_engine_snapshot_read. */
int mechd_trials_commit(struct mechd_instance *i, const struct mechd_kept_trial *t);
void mechd_trials_drop(struct mechd_instance *i, const struct mechd_kept_trial *t);
/* All of them; called by each change. */
void mechd_trials_drop_all(struct mechd_instance *i);
