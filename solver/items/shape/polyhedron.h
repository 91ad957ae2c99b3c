/* Convex polyhedra (struct mech_polyhedron of shape.h): of a box, and the hull of points. */
#pragma once

#include "solver/items/shape/shape.h"

enum {
    MECH_HULL_POINTS_MOST = 4096, /* work grows with points times faces */
    MECH_HULL_FLAT = 1,           /* fewer than four points, or all near one plane */
    MECH_HULL_UNCLEAR = 2         /* indistinguishable faces: points too near */
};

/* The box of these half edges, m: vertex i has the sign of its bit k along axis k, faces −x, +x,
 * −y, +y, −z, +z. 0 or negative: no memory. */
int mech_polyhedron_box(const double half[3], struct mech_arena *arena,
                        struct mech_polyhedron *out);

/* The convex hull of points [3 × n], finite. Faces that are flat to 1e-9 of the size are one
 * polygon; points inside, on faces or on edges are left out. Vertices keep the order of the points.
 * 0; MECH_HULL_FLAT; MECH_HULL_UNCLEAR; negative: no memory. */
int mech_polyhedron_hull(const double *points, int32_t n, struct mech_arena *arena,
                         struct mech_polyhedron *out);

/* Farthest vertex along d, local frame. */
int32_t mech_polyhedron_farthest(const struct mech_polyhedron *p, const double d[3]);
