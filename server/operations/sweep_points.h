/* The points of a sweep, from a request. Internal to server/operations. */
#pragma once

#include "protocol/wire/bodies.h"
#include "server/call/call.h"
#include "server/engine/engine.h"
#include "server/sweep/sweep.h"

/* One name that can be swept. */
struct mechd_axis {
    int32_t index; /* of it, for plan.index */
    double own;    /* its value where a point omits it */
    bool whole;    /* fractions are refused */
};

/* What can be swept. */
struct mechd_axes {
    /* False: it has no such name, a fault at `path` in c->diag. */
    bool (*find)(struct mechd_call *c, const struct mechd_axes *axes, const char *name,
                 const char *path, struct mechd_axis *out);
    const void *of; /* models: the document (mech_document); couplings: the coupling as read; FMUs:
                       the engine */
    void *points;   /* couplings: mechd_points */
};

/* Names and values from {"grid": {name: values}} or {"list": [{name: value}]}, where values are
 * numbers or {"from", "to", "count"}: of a grid the last name runs fastest; parameters that a point
 * of a list omits have their own values. Faults go to c->diag or c->code. */
void mechd_sweep_points_read(struct mechd_call *c, const json_t *parameters,
                             const struct mechd_axes *axes, struct mechd_sweep_plan *plan);

/* The kind, the FMU with the `start` values of the body, and the points of a sweep of it. The
 * engine, which has not begun and is the plan's; NULL: refused. */
const struct mechd_engine *mechd_sweep_of_fmu(struct mechd_call *c,
                                              const struct mechp_body_sweep_request *in,
                                              struct mechd_sweep_plan *plan);
