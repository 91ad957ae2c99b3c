/* Box and plane: the vertices of the face that looks most toward the plane, the lowest among them;
 * features are vertices, bit i: at +half[i]. */
#include "solver/contact/pair.h"
#include "solver/linalg/v3.h"

static void find(const struct mech_convex *plane, const struct mech_convex *box,
                 struct mech_touching *out)
{
    double normal[3], n[3], from[3];
    int face = 0;

    mech_m3_mul(plane->R, plane->shape->normal, normal);
    mech_m3_mul_transposed(box->R, normal, n);
    for (int i = 1; i < 3; i++) {
        face = fabs(n[i]) > fabs(n[face]) ? i : face;
    }
    mech_v3_add(box->p, -1., plane->p, from);
    const double height = mech_v3_dot(normal, from);

    for (uint32_t k = 0; k < 8; k++) {
        // the face's outward direction is against the plane's normal
        if ((k >> face & 1) == (n[face] > 0.)) {
            continue;
        }
        double x[3], first[3], second[3];

        for (int i = 0; i < 3; i++) {
            x[i] = (k >> i & 1) ? box->shape->half[i] : -box->shape->half[i];
        }
        const double gap = height + mech_v3_dot(n, x);

        mech_m3_mul(box->R, x, second);
        mech_v3_add(second, 1., box->p, second);
        mech_v3_add(second, -gap, normal, first);
        mech_touching_add(out, k, normal, first, second, gap);
    }
}

const struct mech_shape_pair mech_shape_pair_box_plane = {
    .first = "Plane",
    .second = {"Box"},
    .find = find,
};
