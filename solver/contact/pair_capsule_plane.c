/* Capsule and plane: the lowest point of the half sphere that is lower, and the end of the side
 * above the other one, unless the capsule is upright. Features 0 and 1, by the ends. */
#include "solver/contact/segment.h"

/* part of the normal at right angles to the axis from which on both ends count */
#define LYING 0.3

static void find(const struct mech_convex *plane, const struct mech_convex *capsule,
                 struct mech_touching *out)
{
    const struct mech_segment axis = mech_segment_of(capsule);
    const double radius = capsule->shape->radius;
    double n[3], side[3], center[3], from[3], first[3], second[3];

    mech_m3_mul(plane->R, plane->shape->normal, n);
    const double up = mech_v3_dot(n, axis.a);

    mech_v3_add(n, -up, axis.a, side);
    const double across = mech_v3_norm(side);

    for (uint32_t k = 0; k < 2; k++) {
        const bool lower = k == 0 ? up >= 0. : up <= 0.;

        if (!lower && across < LYING) {
            continue;
        }
        mech_v3_add(axis.p, k == 0 ? -axis.h : axis.h, axis.a, center);
        mech_v3_add(center, lower ? -radius : -radius / across, lower ? n : side, second);
        mech_v3_add(second, -1., plane->p, from);
        const double gap = mech_v3_dot(n, from);

        mech_v3_add(second, -gap, n, first);
        mech_touching_add(out, k, n, first, second, gap);
    }
}

const struct mech_shape_pair mech_shape_pair_capsule_plane = {
    .first = "Plane",
    .second = {"Capsule"},
    .find = find,
};
