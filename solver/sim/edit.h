/* mech.h, continued: change the document of a live simulation.
 *
 * The caller changes it in place, through a struct mech_edit; the model is then made anew. What
 * cannot be is undone, by the same struct, and the simulation is as it was. owner: as mech.h. */
#pragma once

#include "solver/sim/mech.h"

struct mech_edit {
    /* Change the document; faults go to diag. 0; MECH_INVALID; negative: then undo follows. */
    int (*apply)(struct mech_document *d, void *context, struct mech_diag *diag);
    /* Put back what apply changed. */
    void (*undo)(struct mech_document *d, void *context);
    void *context;
};

/* 0: the model is the changed document's, the state stays and goes on from there, accelerations
 * follow with the next step. MECH_INVALID (diag says why: also where coordinates would come or go);
 * negative; then nothing changed. */
int mech_sim_edit(struct mech_sim *s, const struct mech_edit *edit, struct mech_diag *diag);
