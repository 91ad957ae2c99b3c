/* Outputs of one participant through its substeps: a B-spline of degree p ≤ 3 through the points,
 * with clamped knots of averages of p neighbouring times (C. de Boor, A Practical Guide to Splines,
 * chapter XIII), for equal times the spline without a knot at the second and last but one.
 * p falls to the number of points less 1. Cost: fit about 20 n for each output. */
#pragma once

#include "solver/couple/room.h"

struct mech_track {
    int32_t outputs, most, wanted; /* numbers of values, of samples at most; degree requested */
    int32_t *held;                 /* [2] samples before the start; degree in use */
    double *time;                  /* [most + 1] the first is 0, rising */
    double *value;                 /* [(most + 1) × outputs] */
    double *control;               /* the same */
    double *knot;                  /* [most + 5] */
    double *band;                  /* [(most + 1) × 7] scratch */
};

void mech_track_lay(struct mech_track *t, struct mech_room *room);
/* Fit to held[0] samples and the start; wanted > 0. */
void mech_track_fit(struct mech_track *t);
/* The r-th derivatives, r ≤ order ≤ 3, of an output at that time: d[order + 1]. */
void mech_track_at(const struct mech_track *t, int32_t output, double at, int32_t order, double *d);
