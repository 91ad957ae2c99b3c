/* What the two halves of convex.h share: points of the difference W = B − A of two cores, relative
 * to the first shape's frame's origin, in global axes. Private to convex*.c. */
#pragma once

#include "solver/contact/convex.h"

/* A point of W and the points of the cores that it comes from, w = b − a. */
struct mech_convex_point {
    double w[3], a[3], b[3];
};

struct mech_convex_pair {
    const struct mech_convex *a, *b;
    double shift[3]; /* frame of b against that of a */
};

/* The farthest point of W along m. */
void mech_convex_support(const struct mech_convex_pair *pair, const double m[3],
                         struct mech_convex_point *out);

/* Closest point v of W to the origin so far, by n points with weights that sum up to 1. */
struct mech_convex_simplex {
    struct mech_convex_point at[4];
    double weight[4], v[3], scale; /* the largest |w| met */
    int n;
};

enum mech_convex_end { MECH_CONVEX_APART, MECH_CONVEX_MEETS, MECH_CONVEX_FAR };

/* Cores apart by more than rounding: v to its last digits. FAR: farther apart than `most`. */
enum mech_convex_end mech_convex_distance(const struct mech_convex_pair *pair, double most,
                                          struct mech_convex_simplex *s);

/* The unit direction n, from a to b, of the least translation that parts the cores; scale as
 * mech_convex_distance found it. */
void mech_convex_part(const struct mech_convex_pair *pair, double scale, double n[3]);
