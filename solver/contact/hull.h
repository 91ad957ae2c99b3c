/* Contact points of two convex shapes whose direction is known: what faces the other on each
 * side, a face, an edge or a point, is cut with what faces it there, and up to four points of
 * that stay.
 *
 * Features name the corners and edges that meet in a point, so that they last while those meet. */
#pragma once

#include "solver/contact/pair.h"

enum { MECH_FACING_MOST = 64 };

/* The part of a shape that faces a direction: corners in turn, counterclockwise about it. */
struct mech_facing {
    int32_t n;                     /* 1: a point, 2: an edge, 3 and more: a face */
    double x[MECH_FACING_MOST][3]; /* on the core, global */
    uint32_t id[MECH_FACING_MOST]; /* of the corner in its shape */
    double normal[3];              /* of a face, outward, global */
};

/* All points of contact of a and b along gap's normal. */
void mech_hull_touch(const struct mech_convex *a, const struct mech_convex *b,
                     const struct mech_convex_gap *gap, struct mech_touching *out);

/* A point of contact that may stay: on the first and the second shape. */
struct mech_hull_point {
    double x[2][3], gap;
    uint32_t feature;
};
/* Of n points up to four that span the most, the deepest among them; into at[0 …], how many. The
 * same points in the same order give the same choice. */
int32_t mech_hull_choose(struct mech_hull_point *at, int32_t n, double size);

/* 24 bits of two numbers. */
uint32_t mech_feature_of(uint32_t a, uint32_t b);
