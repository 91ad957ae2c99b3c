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
    bool carried; /* states have what it changes: `active` of an object with multipliers */
    bool closed;  /* positions are brought to joints that are taken up; else they must suit */
};

/* 0: the model is the changed document's, the state stays and goes on from there, accelerations
 * follow with the next step. Joints that are let go (active) keep their rows, with λ = 0. To take
 * one up is an impact: velocities become the nearest that all joints allow, in the metric of M.
 * MECH_INVALID (diag says why: also where coordinates would come or go, or the positions miss a
 * joint that is taken up by more than 1e-6 m or rad); negative; then nothing changed. */
int mech_sim_edit(struct mech_sim *s, const struct mech_edit *edit, struct mech_diag *diag);

/* Whether an object of the document has multipliers, acting or let go. */
bool mech_sim_is_joint(const struct mech_sim *s, size_t object);

/* The impulses on the rows of an object's joint by which the last change of the model, a field or a
 * parameter, took it up: N s or N m s, with the sign of λ; how many, 0 where it was not taken up.
 * They last until the next change. */
int32_t mech_sim_taken(const struct mech_sim *s, size_t object, const double **impulse);
