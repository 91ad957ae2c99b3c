/* Points of bodies described by positions and slopes in the plane (absolute nodal coordinates).
 *
 *     r = Σ S_i q_i,   r' = Σ D_i q_i      q_i: the i-th pair (x, y) of the coordinates
 *
 * The cross-section at that point is perpendicular to r': θ = atan2(r'_y, r'_x). */
#pragma once

#include "solver/items/ops.h"

enum { MECH_SLOPE_PAIRS = 4 };

struct mech_slope_point {
    int32_t n; /* pairs */
    double S[MECH_SLOPE_PAIRS], D[MECH_SLOPE_PAIRS];
    bool rigid; /* a mean of points: it does not turn, D is not read */
};

/* The frame of the cross-section, at the local position [any, y, z] in it. out->flex is filled. */
void mech_slope_pose(const struct mech_slope_point *at, const struct mech_seat *seat,
                     const struct mech_eval *e, const double local[3], struct mech_pose *out);
