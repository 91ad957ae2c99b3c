/* Sphere and plane: the point below the centre. */
#include "solver/contact/pair.h"
#include "solver/linalg/v3.h"

static void find(const struct mech_convex *plane, const struct mech_convex *sphere,
                 struct mech_touching *out)
{
    double n[3], from[3], first[3], second[3];

    mech_m3_mul(plane->R, plane->shape->normal, n);
    mech_v3_add(sphere->p, -1., plane->p, from);
    const double height = mech_v3_dot(n, from), radius = sphere->shape->radius;

    mech_v3_add(sphere->p, -height, n, first);
    mech_v3_add(sphere->p, -radius, n, second);
    mech_touching_add(out, 0, n, first, second, height - radius);
}

const struct mech_shape_pair mech_shape_pair_sphere_plane = {
    .first = "Plane",
    .second = {"Sphere"},
    .find = find,
};
