/* Sphere and capsule: the point of the capsule's axis that is closest to the centre. */
#include "solver/contact/segment.h"

static void find(const struct mech_convex *capsule, const struct mech_convex *sphere,
                 struct mech_touching *out)
{
    const struct mech_segment axis = mech_segment_of(capsule);
    const double radius[2] = {capsule->shape->radius, sphere->shape->radius};
    double n[3], on[3];

    mech_v3_add(sphere->p, -1., axis.p, n);
    mech_v3_add(axis.p, mech_clamp(mech_v3_dot(n, axis.a), axis.h), axis.a, on);
    mech_v3_add(sphere->p, -1., on, n);
    const double distance = mech_v3_norm(n);

    if (!(distance <= radius[0] + radius[1] + out->reach)) {
        return;
    }
    if (distance > 0.) {
        for (int i = 0; i < 3; i++) {
            n[i] /= distance;
        }
    } else {
        mech_across(axis.a, n);
    }
    mech_touching_add_rounded(out, 0, n, on, sphere->p, radius);
}

const struct mech_shape_pair mech_shape_pair_sphere_capsule = {
    .first = "Capsule",
    .second = {"Sphere"},
    .find = find,
};
