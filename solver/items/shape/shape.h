/* Shapes: what bodies touch each other with. A type of shape is an item type of category SHAPE: one
 * file items/shape/<name>.c and one line in items.def. Its description begins with struct
 * mech_shape_place; `build` makes a compiled shape of the rest, in the shape's own frame.
 *
 * A compiled shape is const; pure functions of it, any thread. Lengths in m. */
#pragma once

#include "solver/base/arena.h"
#include "solver/items/material.h"

/* The first member of every description: where the shape sits on its body, and whom it touches. */
struct mech_shape_place {
    double position[3];        /* of the shape's frame in the body's */
    double rotation[3];        /* Tait–Bryan angles of that frame, R = Rx Ry Rz, rad */
    struct mech_shared common; /* kind MECH_SHARED: one of the document's materials, or its own */
    struct mech_material material;
    int32_t group;    /* two of the same group other than 0: > 0 always touch, < 0 never */
    int32_t category; /* bits of its categories */
    int32_t mask;     /* bits of the categories it touches */
};
/* p and R (by rows) of the shape's frame in the body's. */
void mech_shape_frame(const struct mech_shape_place *place, double p[3], double R[9]);

struct mech_shape_ops;
struct mech_shape_tree;

/* A convex polyhedron's faces and edges, outward normals; vertices counterclockwise. */
struct mech_polyhedron {
    int32_t vertices, faces, edges;
    const double *vertex;      /* [3 × vertices] */
    const double *plane;       /* [4 × faces] unit normal n and d: n·x ≤ d inside */
    const int32_t *face_start; /* [faces + 1] */
    const int32_t *face;       /* [face_start[faces]] vertices of each face, in turn */
    const int32_t *edge;       /* [2 × edges] vertices, smaller first */
};

struct mech_shape {
    const struct mech_item_type *type;
    const struct mech_shape_ops *ops;
    double radius;      /* sphere, capsule, cylinder; 0 */
    double half_length; /* capsule, cylinder: along local z, of a capsule between its centers */
    double half[3];     /* box */
    double normal[3];   /* plane: unit, outward; it passes through the origin */
    /* of convex shapes: all points within this distance of the core that `support` describes.
     * Sphere: its radius around a point; capsule: the same around a segment; others: 0 */
    double rounding;
    double low[3], high[3];      /* bounds in the shape's frame, ±∞ if unbounded */
    struct mech_polyhedron hull; /* box and convex hull; vertices 0: none */
    /* mesh: triangles, vertices counterclockwise seen from outside */
    const double *vertex;               /* [3 × vertices] */
    const int32_t *triangle;            /* [3 × triangles] */
    const struct mech_shape_tree *tree; /* over the triangles */
    int32_t vertices, triangles;
};

struct mech_shape_ops {
    bool fixed; /* only on the ground: plane, mesh */
    /* Fill the derived data of the description into *out, which is zeroed except type and ops;
     * faults under `path` into d. 0 or negative. */
    int (*build)(const void *description, struct mech_arena *arena, const char *path,
                 struct mech_diag *d, struct mech_shape *out);
    /* Farthest point of the core along d (any length), in the shape's frame: of a sphere its
     * center. Convex shapes; NULL: not convex or unbounded. */
    void (*support)(const struct mech_shape *s, const double d[3], double out[3]);
};

/* The shape of a description, with its type and operations; faults under `path` into d. *out is
 * good only when there are none. 0 or negative. */
int mech_shape_build(const struct mech_item_type *type, const void *description,
                     struct mech_arena *arena, const char *path, struct mech_diag *d,
                     struct mech_shape *out);
