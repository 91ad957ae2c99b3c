/* Sphere and box: the point of the box that is closest to the centre, by clamping it in the box's
 * frame; a centre inside goes out through the nearest face. */
#include "solver/contact/pair.h"
#include "solver/linalg/v3.h"

/* below this part of the box's size a distance has no direction */
#define TOUCHING 1e-12

static void find(const struct mech_convex *box, const struct mech_convex *sphere,
                 struct mech_touching *out)
{
    const double *const half = box->shape->half, radius = sphere->shape->radius;
    double c[3], on[3], n[3] = {0.}, between[3];
    int face = 0;

    mech_v3_add(sphere->p, -1., box->p, between);
    mech_m3_mul_transposed(box->R, between, c);
    for (int i = 0; i < 3; i++) {
        on[i] = c[i] < -half[i] ? -half[i] : c[i] > half[i] ? half[i] : c[i];
        between[i] = c[i] - on[i];
        face = half[i] - fabs(c[i]) < half[face] - fabs(c[face]) ? i : face;
    }
    double gap = mech_v3_norm(between);

    if (!(gap <= radius + out->reach)) {
        return;
    }
    if (gap > TOUCHING * (half[0] + half[1] + half[2])) {
        for (int i = 0; i < 3; i++) {
            n[i] = between[i] / gap;
        }
    } else {
        n[face] = c[face] < 0. ? -1. : 1.;
        on[face] = n[face] * half[face];
        gap = fabs(c[face]) - half[face];
    }
    double first[3], second[3], normal[3];

    mech_m3_mul(box->R, n, normal);
    mech_m3_mul(box->R, on, first);
    mech_v3_add(first, 1., box->p, first);
    mech_v3_add(sphere->p, -radius, normal, second);
    mech_touching_add(out, 0, normal, first, second, gap - radius);
}

const struct mech_shape_pair mech_shape_pair_sphere_box = {
    .first = "Box",
    .second = {"Sphere"},
    .find = find,
};
