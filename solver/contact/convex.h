/* Signed distance of two convex shapes that are known by their support functions.
 *
 * A shape is its core and all points within `rounding` of it (shape.h); so spheres and capsules are
 * a point and a segment, whose cores seldom overlap. Cores apart: the closest points (GJK). Cores
 * that touch or overlap: the least translation that parts them, by a polytope inside the
 * difference of the cores that grows toward the origin.
 *
 *   const struct mech_convex a = {&box, pa, Ra}, b = {&cylinder, pb, Rb};
 *   struct mech_convex_gap gap;
 *   if (mech_convex_gap(&a, &b, 0.01, &gap) == 0) … gap.gap, gap.normal, gap.point …
 *
 * Errors, for sizes of 1 m: the gap 1e-14 m between polyhedra, 1e-11 m with curved cores (1e-5 m
 * where one's middle lies on the other's axis, and all directions across are nearly as long). Where
 * a face takes part the normal is the face's; between curved cores it is right to 1e-5. No memory
 * but the stack's (about 75 KB), no state, bounded iterations, never NaN: the same bits for the
 * same input. Any thread. */
#pragma once

#include "solver/items/shape/shape.h"

struct mech_convex {
    const struct mech_shape *shape; /* with a support function */
    const double *p, *R;            /* its frame, global, R by rows */
};

struct mech_convex_gap {
    double gap;         /* m; < 0: overlap */
    double normal[3];   /* unit, from the first to the second; never zero */
    double point[2][3]; /* on each surface, global: point[1] − point[0] = gap · normal */
};

/* 0; 1: the gap is larger than `most`, and out is not written. */
int mech_convex_gap(const struct mech_convex *a, const struct mech_convex *b, double most,
                    struct mech_convex_gap *out);

/* The farthest point of a placed shape along the global direction d, rounding included. */
void mech_convex_farthest(const struct mech_convex *c, const double d[3], double out[3]);
