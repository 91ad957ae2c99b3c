/* Two spheres: along the line of their centres. */
#include "solver/contact/pair.h"
#include "solver/linalg/v3.h"

static void find(const struct mech_convex *a, const struct mech_convex *b,
                 struct mech_touching *out)
{
    const double ra = a->shape->radius, rb = b->shape->radius, most = ra + rb + out->reach;
    double n[3], first[3], second[3];

    mech_v3_add(b->p, -1., a->p, n);
    const double square = mech_v3_dot(n, n);
    if (!(square <= most * most && most >= 0.)) {
        return;
    }
    const double distance = sqrt(square);

    for (int i = 0; i < 3; i++) {
        n[i] = distance > 0. ? n[i] / distance : i == 2;
        first[i] = a->p[i] + ra * n[i];
        second[i] = b->p[i] - rb * n[i];
    }
    mech_touching_add(out, 0, n, first, second, distance - ra - rb);
}

const struct mech_shape_pair mech_shape_pair_sphere_sphere = {
    .first = "Sphere",
    .second = {"Sphere"},
    .find = find,
};
