/* The points of a sweep, from a request. Internal to server/operations. */
#pragma once

#include "server/call/call.h"
#include "server/sweep/sweep.h"

/* Names and values from {"grid": {name: values}} or {"list": [{name: value}]}, where values are
 * numbers or {"from", "to", "count"}: of a grid the last name runs fastest; parameters that a point
 * of a list omits have the document's values. Faults go to c->diag or c->code. */
void mechd_sweep_points_read(struct mechd_call *c, const struct mech_document *document,
                             struct mechd_sweep_plan *plan);
