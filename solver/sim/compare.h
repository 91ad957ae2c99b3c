/* What differs between two snapshots of a simulation, by name. owner: as mech.h says of it. */
#pragma once

#include "solver/sim/mech.h"

/* In this order in a comparison. */
enum mech_difference_kind {
    MECH_DIFFERS_JOINT, /* a row of a joint: whether it acts, enum mech_activity */
    MECH_DIFFERS_PARAMETER,
    MECH_DIFFERS_INPUT,      /* index: of the value */
    MECH_DIFFERS_RATE,       /* of an input: its first derivative */
    MECH_DIFFERS_CURVATURE,  /* of an input: its second derivative */
    MECH_DIFFERS_COORDINATE, /* of second order */
    MECH_DIFFERS_VELOCITY,
    MECH_DIFFERS_STATE, /* of first order */
    MECH_DIFFERS_KEPT,  /* data, and angles that count turns */
    MECH_DIFFERS_KINDS
};
/* "joint", "parameter", "input", "inputRate", "inputCurvature", "coordinate", "velocity", "state",
 * "kept" */
extern const char *const mech_difference_names[MECH_DIFFERS_KINDS];

/* Values of a joint's row. */
enum mech_activity { MECH_ACTS, MECH_OPEN, MECH_UNDECIDED, MECH_DEACTIVATED, MECH_ACTIVITIES };
/* "acts", "open" (one-sided and apart, or left out as redundant), "undecided" (until the next
 * step), "deactivated" */
extern const char *const mech_activity_names[MECH_ACTIVITIES];

struct mech_difference {
    enum mech_difference_kind kind;
    const char *name; /* of the joint, parameter, input, node or object; NULL: not known. The
                         simulation's */
    int32_t index;    /* of the number in it, from 0: coordinate, row, component */
    double values[2]; /* in the first and the second; NaN of an input that is not set */
};

struct mech_comparison {
    double times[2]; /* s */
    uint64_t steps[2];
    bool identical; /* all bits of the states that the next step reads, also those without a name;
                       fields of the document (edit.h) are in no snapshot and are not compared */
    size_t counts[MECH_DIFFERS_KINDS];
    struct mech_difference *items; /* [sum of counts] by kind; in it the largest |difference| first
                                      (those that are not numbers before), then by place */
};

/* Two numbers differ when |b − a| > absolute + relative max(|a|, |b|); a joint's rows when they are
 * not the same. */
struct mech_closeness {
    double absolute, relative; /* not negative */
};

struct mech_snapshot_bytes {
    const void *bytes;
    size_t size;
};

/* Compare two snapshots of this simulation's layout. The simulation does not change. *out is the
 * caller's to fini, also after a failure. 0; MECH_MISMATCH (one does not fit); MECH_NO_MEMORY.
 *
 *   struct mech_comparison c;
 *   if (mech_sim_compare(sim, of, &(struct mech_closeness){1e-9, 0.}, &c) == 0) …
 *   mech_comparison_fini(&c); */
int mech_sim_compare(struct mech_sim *s, const struct mech_snapshot_bytes of[2],
                     const struct mech_closeness *close, struct mech_comparison *out);
void mech_comparison_fini(struct mech_comparison *c);
