/* Any two convex shapes: the direction by their supports, then what faces what. */
#include "solver/contact/hull.h"

static void find(const struct mech_convex *a, const struct mech_convex *b,
                 struct mech_touching *out)
{
    struct mech_convex_gap gap;

    if (mech_convex_gap(a, b, out->reach, &gap) == 0) {
        mech_hull_touch(a, b, &gap, out);
    }
}

const struct mech_shape_pair mech_shape_pair_convex = {.find = find};
