/* mech.h, continued: change the document of a live simulation.
 *
 * The caller changes it in place, through a struct mech_edit; the model is then compiled again. A
 * change that fails is undone by the same struct; the simulation is as before. owner: as mech.h. */
#pragma once

#include "solver/sim/mech.h"

struct mech_edit {
    /* Change the document; faults go to diag. 0; MECH_INVALID; negative: then undo follows. */
    int (*apply)(struct mech_document *d, void *context, struct mech_diag *diag);
    /* Put back what apply changed. */
    void (*undo)(struct mech_document *d, void *context);
    void *context;
    bool carried; /* states have what it changes: `active` of an object with multipliers */
    bool closed;  /* positions are brought to activated joints; else they must fit */
};

/* 0: the model is the changed document's, the state is kept, accelerations follow with the next
 * step. Deactivated joints (active) keep their rows, with λ = 0. Activating one is an impact:
 * velocities become the nearest that all joints allow, in the metric of M.
 * MECH_INVALID (diag says why: also where coordinates would come or go, or the positions violate
 * an activated joint by more than 1e-6 m or rad); negative; then nothing changed. */
int mech_sim_edit(struct mech_sim *s, const struct mech_edit *edit, struct mech_diag *diag);

/* How many edits the state has come through that states do not carry: a mark for the next. */
uint32_t mech_sim_edits(const struct mech_sim *s);
/* Undo an edit that was taken, when `edits` was the number of those before it: `undo` changes the
 * document. Of several the last comes first. Needs no memory: the model is built with the snapshot
 * that must be read next, which is of the document as it is then. */
void mech_sim_edit_undo(struct mech_sim *s, const struct mech_edit *edit, uint32_t edits);

/* Whether an object of the document has multipliers, active or not. */
bool mech_sim_is_joint(const struct mech_sim *s, size_t object);

/* The impulses on the rows of an object's joint by which the last change of the model, a field or a
 * parameter (or an input on it), activated it: N s or N m s, with the sign of λ; their number, 0 if
 * not activated. They last until inputs, parameters or a field are set, or a step has parameters
 * among its inputs. */
int32_t mech_sim_taken(const struct mech_sim *s, size_t object, const double **impulse);
/* The same of the next object that was activated, its rows from *row on (0 at first; out: behind
 * them). Its number, or -1: no more. */
int32_t mech_sim_taken_next(const struct mech_sim *s, int32_t *row, const double **impulse,
                            int32_t *n);
