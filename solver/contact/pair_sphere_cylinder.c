/* Sphere and cylinder: with the centre at (ρ, z) in the plane through the axis, the closest point
 * of the rectangle (R, L/2) that the cylinder has there; a centre inside goes out through the side
 * or an end, whichever is nearer. */
#include "solver/contact/pair.h"
#include "solver/linalg/v3.h"

/* below this part of the cylinder's size a distance has no direction */
#define TOUCHING 1e-12

static void find(const struct mech_convex *cylinder, const struct mech_convex *sphere,
                 struct mech_touching *out)
{
    const double R = cylinder->shape->radius, h = cylinder->shape->half_length;
    const double radius = sphere->shape->radius;
    double c[3], between[3];

    mech_v3_add(sphere->p, -1., cylinder->p, between);
    mech_m3_mul_transposed(cylinder->R, between, c);
    const double rho = sqrt(c[0] * c[0] + c[1] * c[1]), z = fabs(c[2]), up = c[2] < 0. ? -1. : 1.;
    const double side = rho - R, end = z - h;
    const double across = side > 0. ? side : 0., along = end > 0. ? end : 0.;
    const double away = sqrt(across * across + along * along);
    const double e[2] = {rho > 0. ? c[0] / rho : 1., rho > 0. ? c[1] / rho : 0.};
    double gap, n_rho, n_z; /* the normal's parts across and along the axis */

    if (!(away <= radius + out->reach)) {
        return;
    }
    if (away > TOUCHING * (R + h)) {
        gap = away;
        n_rho = across / away;
        n_z = along / away;
    } else {
        gap = side > end ? side : end;
        n_rho = side > end;
        n_z = !(side > end);
    }
    const double n[3] = {n_rho * e[0], n_rho * e[1], n_z * up};
    double first[3], second[3], normal[3];

    mech_m3_mul(cylinder->R, n, normal);
    mech_v3_add(sphere->p, -gap, normal, first);
    mech_v3_add(sphere->p, -radius, normal, second);
    mech_touching_add(out, 0, normal, first, second, gap - radius);
}

const struct mech_shape_pair mech_shape_pair_sphere_cylinder = {
    .first = "Cylinder",
    .second = {"Sphere"},
    .find = find,
};
