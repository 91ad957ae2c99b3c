/* Convex hull and plane: vertices within reach, of more than four those that span the most.
 * Features are vertices. */
#include "solver/contact/hull.h"
#include "solver/linalg/v3.h"

#include <string.h>

/* Half way from `most` to `lowest`; where rounding leaves it at `most`, `lowest` itself. */
static double nearer(double lowest, double most)
{
    const double middle = lowest + 0.5 * (most - lowest);

    return middle < most ? middle : lowest;
}

static void find(const struct mech_convex *plane, const struct mech_convex *hull,
                 struct mech_touching *out)
{
    const struct mech_polyhedron *const h = &hull->shape->hull;
    struct mech_hull_point at[MECH_FACING_MOST];
    double normal[3], n[3], from[3], lowest = INFINITY, size = 0.;
    int32_t count = MECH_FACING_MOST + 1;

    mech_m3_mul(plane->R, plane->shape->normal, normal);
    mech_m3_mul_transposed(hull->R, normal, n);
    mech_v3_add(hull->p, -1., plane->p, from);
    const double height = mech_v3_dot(normal, from);
    for (int32_t i = 0; i < h->vertices; i++) {
        lowest = fmin(lowest, height + mech_v3_dot(n, h->vertex + 3 * i));
        size = fmax(size, mech_v3_norm(h->vertex + 3 * i));
    }
    /* the lowest half of those within reach, until they are few enough */
    for (double most = out->reach; most >= lowest && count > MECH_FACING_MOST;
         most = nearer(lowest, most)) {
        count = 0;
        for (int32_t i = 0; i < h->vertices && count <= MECH_FACING_MOST; i++) {
            const double gap = height + mech_v3_dot(n, h->vertex + 3 * i);

            if (gap > most) {
                continue;
            }
            if (count < MECH_FACING_MOST) {
                struct mech_hull_point *const p = &at[count];

                p->gap = gap;
                p->feature = (uint32_t)i;
                mech_m3_mul(hull->R, h->vertex + 3 * i, p->x[1]);
                mech_v3_add(p->x[1], 1., hull->p, p->x[1]);
                mech_v3_add(p->x[1], -gap, normal, p->x[0]);
            }
            count++;
        }
        if (most == lowest) {
            count = count < MECH_FACING_MOST ? count : MECH_FACING_MOST;
        }
    }
    count = count > MECH_FACING_MOST ? 0 : mech_hull_choose(at, count, size);
    for (int32_t i = 0; i < count; i++) {
        mech_touching_add(out, at[i].feature, normal, at[i].x[0], at[i].x[1], at[i].gap);
    }
}

const struct mech_shape_pair mech_shape_pair_hull_plane = {
    .first = "Plane",
    .second = {"ConvexHull"},
    .find = find,
};
