/* The event-driven scheme inside: the steps of the underlying Runge–Kutta pair, and what happens to
 * contacts within one. Equations stand in event_driven.c, those of rows in event_driven_rows.h.
 * owner: one stepper, one thread. */
#pragma once

#include "solver/step/erk_internal.h"
#include "solver/step/event_driven_rows.h"

/* What the state carries: the next substep, whether an impact waits at its time, and of each row
 * its flag (enum of event_driven_rows.h), its gap in m (0 of rows that touch; of others as
 * integrated since they touched last, finer than H q + b rounds), its λ in N. */
enum { MECH_EVENT_NEXT, MECH_EVENT_WAITS, MECH_EVENT_ROWS };

struct mech_event_carry {
    double *flags, *gap, *lambda; /* [rows] */
};

enum mech_event_kind {
    MECH_EVENT_NONE,
    MECH_EVENT_START, /* contacts are looked at anew, impacts among them */
    MECH_EVENT_GAP,   /* a gap closes */
    MECH_EVENT_LIFT   /* a multiplier of a held row falls below 0 */
};

struct mech_event {
    enum mech_event_kind kind;
    int32_t row;
    double h; /* s, since the start of the substep */
};

struct mech_events {
    const struct mech_model *model;
    struct erk *erk;
    struct mech_event_rows rows;
    double gap_tolerance;
    int32_t most;  /* events in one internal step */
    int32_t count; /* of them */
    int32_t stuck; /* those of no time, in a row */
    double *start_memory;
    struct mech_state start; /* of the substep */
    double *memory;
    double *coefficients; /* [4 × rows] of a gap over the substep, see event_driven_events.c */
    double *reach;        /* [rows] s, where λ was seen below 0; 0: nowhere */
    double *free;         /* [nv + 1] v̇ without contacts */
    bool *touch;          /* [rows] */
    double *before;       /* [3 × rows] flag, speed and impulse before an event, for the log */
    int32_t row;          /* of the root that is looked for */
    int failed;           /* outcome of a step on the way to a root */
    struct mech_state *state;
    struct mech_step_result *result;
};

struct mech_event_carry mech_event_carry(const struct mech_events *e, const struct mech_state *s);
/* A step of h from e->start into s, whose time and λ are then those of its end. Outcomes of
 * mech_erk_step. */
int mech_event_take(struct mech_events *e, struct mech_state *s, double h, double t_end,
                    struct mech_step_result *result);
/* The first event within the substep that has just been taken and estimated, and s there (where
 * there is none, at the substep's end t_end). Gaps of s are those of its time. 0 or an outcome. */
int mech_event_find(struct mech_events *e, struct mech_state *s, double h, double t_end,
                    struct mech_event *event, struct mech_step_result *result);
/* ẏ of a row. */
double mech_event_speed(const struct mech_events *e, int32_t row, const double *v);
/* The least θ in [0, 1] at which y0 + c0 θ + … + c3 θ⁴ falls to 0, or 2. At y0 = 0 speeds down to
 * −slow count as 0. */
double mech_event_crossing(double y0, const double c[4], double slow);
