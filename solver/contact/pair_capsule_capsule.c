/* Two capsules: where their axes are closest; where they run side by side, the two ends of what
 * they have in common, so that one can lie on the other.
 *
 * Features: 0 where the axes are closest, unless an end is as close; 1 + k at end k of the first
 * axis, 3 + k at end k of the second. All along one normal. */
#include "solver/contact/segment.h"

/* part of the radii by which the closest point is closer than the ends where it counts */
#define CLOSER 1e-9
static void normal_between(const struct mech_segment *a, const struct mech_segment *b,
                           const double w[3], double distance, double n[3])
{
    double length = distance;

    for (int i = 0; i < 3; i++) {
        n[i] = w[i];
    }
    if (!(distance > 0.)) {
        mech_v3_cross(a->a, b->a, n);
        length = mech_v3_norm(n);
    }
    if (!(length > 1e-14)) {
        if (distance > 0.) {
            length = distance;
        } else {
            mech_across(a->a, n);
            length = 1.;
        }
    }
    for (int i = 0; i < 3; i++) {
        n[i] /= length;
    }
}

static void find(const struct mech_convex *first, const struct mech_convex *second,
                 struct mech_touching *out)
{
    const struct mech_segment a = mech_segment_of(first), b = mech_segment_of(second);
    const double radius[2] = {first->shape->radius, second->shape->radius};
    double s[2], pa[3], pb[3], w[3], n[3];

    mech_segment_closest(&a, &b, s);
    mech_v3_add(a.p, s[0], a.a, pa);
    mech_v3_add(b.p, s[1], b.a, pb);
    mech_v3_add(pb, -1., pa, w);
    const double distance = mech_v3_norm(w), gap = distance - radius[0] - radius[1];

    if (!(gap <= out->reach)) {
        return;
    }
    normal_between(&a, &b, w, distance, n);
    const double least = mech_segment_ends(&a, &b, n, radius, out);

    if (gap < least - CLOSER * (radius[0] + radius[1])) {
        mech_touching_add_rounded(out, 0, n, pa, pb, radius);
    }
}

const struct mech_shape_pair mech_shape_pair_capsule_capsule = {
    .first = "Capsule",
    .second = {"Capsule"},
    .find = find,
};
