/* Two joint frames that turn beside each other about an axis k of both, by coordinates that count
 * turns: bodies in the plane, rotors on one axis, the ground. By them the angle about k is known
 * with its turns, whatever it was before:
 *
 *     θ = θ_ref + ±u₁ − ±u₀,   θ_ref in (−π, π] between the frames in the reference configuration
 *
 * u_s the displacement of the angle of marker s, ± as k of its frame points along the axis. */
#pragma once

#include "solver/items/ops.h"

#include <math.h>

/* 1 − cosine up to which axes count as one: frames are given to 1e-6 (mech_joint_rotations_check).
 */
#define MECH_TURNED_TILT 1e-5

/* rad, that θ may be beyond the half turn that it is nearest within, so that π between frames in
 * the reference is π, not −π by rounding */
#define MECH_TURNED_PART 1e-4

/* Of frames with these rotations (by rows) in those of the markers: whether it is so, if their axes
 * k are one in space. *last: what θ is the nearest to (mech_so3_near). */
static inline bool mech_turned(const double rotation[2][9], const struct mech_pose *const pose[2],
                               int k, double *last)
{
    double u[2] = {0.};

    for (int s = 0; s < 2; s++) {
        const double along = rotation[s][6 + k];

        if (pose[s]->n > 0) {
            if (!pose[s]->counted || fabs(along) < 1. - MECH_TURNED_TILT) {
                return false;
            }
            u[s] = copysign(pose[s]->turned, along * pose[s]->turned);
        }
    }
    *last = u[1] - u[0] + MECH_TURNED_PART;
    return true;
}
