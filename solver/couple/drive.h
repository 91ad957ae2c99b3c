/* Couplings whose participants are tables of functions, performed one after the other. */
#pragma once

#include "solver/couple/couple.h"

/* Each function performs a task of its action and returns task->code; reason may be written.
 * `discard` may be NULL: a trial that is not committed does no harm. */
struct mech_couple_functions {
    int (*outputs)(void *self, struct mech_couple_task *task);
    int (*trial)(void *self, struct mech_couple_task *task);
    int (*commit)(void *self, struct mech_couple_task *task);
    int (*discard)(void *self, struct mech_couple_task *task);
};

struct mech_couple_partner {
    const struct mech_couple_functions *functions;
    void *self;
};

/* partners [participants]. Outcome of the report, 0 included; MECH_INVALID as of start, begin. */
int mech_couple_run_start(struct mech_couple *c, const struct mech_couple_partner *partners,
                          double time);
int mech_couple_run_window(struct mech_couple *c, const struct mech_couple_partner *partners,
                           double size);
