/* Cylinder and plane: points of the two rims, and where the ends look toward the plane four points
 * that stay with the body, so that it rests stably.
 *
 * Of each end k, features 8 k + 0: the lowest point of the rim; 8 k + 1 … 4: at the body's axes x,
 * y, −x, −y, for the end that looks toward the plane when that is within 60 degrees. The lowest is
 * left out where one of these is as low. */
#include "solver/contact/segment.h"

/* part of the radius by which the lowest point is lower where it counts */
#define LOWER 1e-10

static void find(const struct mech_convex *plane, const struct mech_convex *cylinder,
                 struct mech_touching *out)
{
    const double R = cylinder->shape->radius, h = cylinder->shape->half_length;
    double normal[3], n[3], from[3];

    mech_m3_mul(plane->R, plane->shape->normal, normal);
    mech_m3_mul_transposed(cylinder->R, normal, n);
    mech_v3_add(cylinder->p, -1., plane->p, from);
    const double height = mech_v3_dot(normal, from);
    const double across = sqrt(n[0] * n[0] + n[1] * n[1]);

    for (uint32_t k = 0; k < 2; k++) {
        const double z = k == 0 ? -h : h;
        const bool flat = z * n[2] < -0.5 * h;
        const double fixed = flat ? fmax(fabs(n[0]), fabs(n[1])) : 0.;

        for (uint32_t j = 0; j < 5; j++) {
            const double c[] = {across > 0. ? -n[0] / across : 0., 1., 0., -1., 0.};
            const double s[] = {across > 0. ? -n[1] / across : 0., 0., 1., 0., -1.};
            const double x[3] = {R * c[j], R * s[j], z};
            const double gap = height + mech_v3_dot(n, x);
            double first[3], second[3];

            if (j == 0 ? across <= LOWER || (flat && across - fixed <= LOWER) : !flat) {
                continue;
            }
            mech_m3_mul(cylinder->R, x, second);
            mech_v3_add(second, 1., cylinder->p, second);
            mech_v3_add(second, -gap, normal, first);
            mech_touching_add(out, 8 * k + j, normal, first, second, gap);
        }
    }
}

const struct mech_shape_pair mech_shape_pair_cylinder_plane = {
    .first = "Plane",
    .second = {"Cylinder"},
    .find = find,
};
