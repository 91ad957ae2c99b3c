/* Points that step one engine (server/engine), whatever it computes: all but how they are built.
 * p->self is a struct mechd_stepped. owner: as point.h says. */
#pragma once

#include "server/engine/engine.h"
#include "server/sweep/point.h"

struct mechd_stepped {
    struct mechd_engine engine; /* ops NULL: there is none yet */
    enum mechp_code invalid;    /* what MECH_INVALID means */
    bool stepping;              /* a command is in progress */
    struct mech_step_report report;
    double *outputs; /* scratch [all outputs] */
};

/* p->self, without an engine. NULL: no memory. */
struct mechd_stepped *mechd_stepped_make(struct mechd_point *p, enum mechp_code invalid);
/* It has its engine: takes room for outputs, and lets the point's end interrupt it. False: failed.
 */
bool mechd_stepped_ready(struct mechd_point *p);
enum mechp_code mechd_stepped_code(const struct mechd_stepped *m, int outcome);

/* For the table of a kind. */
enum mechd_point_state mechd_stepped_advance(struct mechd_point *p, uint64_t until);
void mechd_stepped_record(const struct mechd_point *p, double *row);
void mechd_stepped_destroy(struct mechd_point *p);
