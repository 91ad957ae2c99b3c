/* What a point of a sweep is: built with its values, advanced in slices to the end that the plan
 * names, recorded, destroyed. Lanes (lanes.c) drive points of all kinds in the same way. A kind is
 * one `const` table; those of models are in model.c.
 *
 *     if (ops->build(p)) {
 *         ops->record(p, row);                                // its start
 *         while ((state = ops->advance(p, now + slice)) == MECHD_POINT_GOES_ON) { … }
 *     }
 *     ops->destroy(p);
 *
 * owner: the lane that has the point; what the kind keeps in the plan is read by all lanes. */
#pragma once

#include "protocol/wire/codes.h"
#include "server/os/stop.h"

#include <stdbool.h>
#include <stdint.h>

struct mechd_sweep;

enum { MECHD_POINT_REASON = 192 };

/* The state of a point after a slice. */
enum mechd_point_state {
    MECHD_POINT_GOES_ON,
    MECHD_POINT_ROW,   /* a row is due, and it goes on */
    MECHD_POINT_ENDED, /* it is at its end */
    MECHD_POINT_FAILED /* with code and reason; CANCELLED: as mechd_point_asks says */
};

/* A point in progress. */
struct mechd_point {
    const struct mechd_sweep *sweep;
    const double *values; /* [sweep->plan.places] */
    uint64_t rows;        /* of it, recorded so far */
    void *self;           /* what `build` makes */
    double step_ns;       /* measured in the points before, ns; 0: unknown */
    enum mechp_code code; /* of a failure */
    char reason[MECHD_POINT_REASON];
};

/* A kind of points. */
struct mechd_point_ops {
    /* Make p->self from the plan and the values of the point, at its start. False: it has failed,
     * with code and reason (CANCELLED: as mechd_point_asks says); destroyed all the same. */
    bool (*build)(struct mechd_point *p);
    /* Work until about mechd_now() == until, or the next row. */
    enum mechd_point_state (*advance)(struct mechd_point *p, uint64_t until);
    /* Time and outputs of the present, as many as the plan's columns have values. */
    void (*record)(const struct mechd_point *p, double *row);
    /* Free p->self, which may be NULL or half built. */
    void (*destroy)(struct mechd_point *p);
    /* Free plan.of, once no lane reads it; accepts NULL. */
    void (*drop)(void *of);
};

/* One model with other values of its parameters: plan.of is its document (json_t), plan.index the
 * places in the list of parameters. */
extern const struct mechd_point_ops mechd_points_of_model;
/* One hosted FMU with other start values: plan.of is an engine of it (struct mechd_engine) that has
 * not begun, plan.index the places in the list of parameters, behind which are the inputs. */
extern const struct mechd_point_ops mechd_points_of_fmu;

/* Why the point must end, within a long step too: the sweep has been deleted, or the daemon shuts
 * down. `point`: a struct mechd_point. */
enum mechd_stop_reason mechd_point_asks(const void *point);
/* The same with the signature of mech_sim_set_interrupt. */
bool mechd_point_ends(void *point);
/* It has failed: false. */
bool mechd_point_fail(struct mechd_point *p, enum mechp_code code, const char *reason);
