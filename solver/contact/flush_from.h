/* Distances of colliders of any type, convex, meshes and planes, in the frame of their body: what
 * flush.c asks of them. Of a mesh, a point is inside that lies behind the nearest triangle, at most
 * the mean length of its edges deep. Const, any thread. */
#pragma once

#include "solver/contact/contact.h"

#include <stdbool.h>

enum mech_flush_kind { MECH_FLUSH_CONVEX, MECH_FLUSH_MESH, MECH_FLUSH_PLANE, MECH_FLUSH_NONE };
enum mech_flush_kind mech_flush_kind_of(const struct mech_collider *c);

/* The smallest side of a convex shape's box, the mean length of a mesh's edges, m; of a plane
 * HUGE_VAL. */
double mech_flush_size(const struct mech_collider *c);

/* Whether two bounded colliders, or one and a plane, are at most `most` apart. */
bool mech_flush_touch(const struct mech_collider *a, const struct mech_collider *b, double most);

struct mech_flush_gap {
    double gap;       /* m; < 0: inside */
    double normal[3]; /* unit, outward */
    double point[3];  /* the nearest of the surface */
    double face[3];   /* the surface's normal there, unit, outward */
    double beside[3]; /* from a mesh's border there, along its plane, to a point that is not over or
                         under it, but 1e-3 of `most` and 2e-6 of the size beside it; else 0 */
};

/* From a collider to a point. False: farther than `most`. */
bool mech_flush_from(const struct mech_collider *c, const double x[3], double most,
                     struct mech_flush_gap *out);

/* Whether x is on the collider, to `on`, which reaches over the plane through x with normal n by
 * more than the sine `leans`: a convex one anywhere, a mesh with the triangles at x. Lengths along
 * `edge` do not count (NULL, 0: all do). */
bool mech_flush_reaches_over(const struct mech_collider *c, const double x[3], const double n[3],
                             const double *edge, double on, double leans);
