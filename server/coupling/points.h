/* Points of sweeps that are couplings (sweep/point.h): private instances of all participants, made
 * from their models with the point's values, and a coupling of the solver, which the lane drives
 * itself, task after task: without queue, face, leases, sharing and store.
 *
 * What is swept: parameters of the models, "left/k", and numbers of the coupling's document, by
 * pointers such as "/stepSize". Rows and ends count windows. */
#pragma once

#include "server/call/call.h"
#include "server/sweep/sweep.h"

extern const struct mechd_point_ops mechd_points_of_coupling;

struct mechd_coupling;

/* What a name stands for. */
struct mechd_swept {
    int32_t part; /* place of the participant in the document, or −1: the name is a pointer */
    int32_t parameter; /* of its model */
    bool whole;        /* a whole number */
    double own;        /* its value in the document */
};

/* plan.of. owner: the request, then const, read by all lanes. */
struct mechd_points {
    json_t *document;                                   /* without the models */
    size_t count;                                       /* participants */
    json_t **models;                                    /* [count] */
    struct mechd_swept targets[MECHD_SWEEP_PARAMETERS]; /* by plan.index */
    int32_t target_count;
};

/* Take over a document of the request's own, in which each participant has a model. NULL: no
 * memory. */
struct mechd_points *mechd_points_make(json_t *document);

/* The coupling with the document's own values, or with those of `point` in the order of the plan,
 * not yet connected; faults go to diag at places in the document, other failures to g->reading.
 * NULL: no memory. */
struct mechd_coupling *mechd_points_couple(const struct mechd_points *points,
                                           struct mechd_service *d, struct mech_diag *diag,
                                           const struct mech_interrupt *ask,
                                           const struct mechd_point *point);

/* --- from a request (points_read.c) ----------------------------------------------------------- */

/* Whether there is a coupling (NULL: no memory) without faults and failures, which refuse the
 * request; faults from number `before` on are at places in its member "coupling". */
bool mechd_points_good(struct mechd_call *c, const struct mechd_coupling *g, size_t before);

/* The number of the target that a name stands for, a new one if need be; −1: a fault at `path`. g:
 * the coupling with the document's own values, as it is read. */
int32_t mechd_points_target(struct mechd_points *points, const struct mechd_coupling *g,
                            const char *name, const char *path, struct mech_diag *diag);
/* The smallest window that the points of the plan have, s. Before it is connected. */
double mechd_points_window(const struct mechd_coupling *g, const struct mechd_sweep_plan *plan);
/* Outputs of the plan: those named ("left.x"), or those that the coupling shows. False: no memory.
 * Before it is connected; `diag` is that of its reading. */
bool mechd_points_outputs(const struct mechd_coupling *g, const json_t *names,
                          struct mech_diag *diag, struct mechd_sweep_plan *plan);
/* What one lane holds: instances, coordinates, bytes. When it is connected. */
void mechd_points_charge(const struct mechd_coupling *g, struct mechd_sweep_plan *plan);
