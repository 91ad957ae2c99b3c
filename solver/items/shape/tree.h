/* A surface of triangles made ready: boxes in a tree, normals, edges with the triangles at them,
 * and which of the edges stand out. Built once, const afterwards.
 *
 *   struct mech_tree_walk w = {.tree = tree};
 *   for (int32_t t = mech_tree_first(&w, low, high); t >= 0; t = mech_tree_next(&w)) …
 */
#pragma once

#include "solver/items/shape/shape.h"

struct mech_tree_node {
    double low[3], high[3];
    int32_t next;  /* inner: the second child; the first one comes right after */
    int32_t count; /* leaf: triangles, order[next …]; inner: 0 */
};

struct mech_shape_tree {
    int32_t nodes, edges;
    double edge_length;                /* m, of all edges in the mean */
    const struct mech_tree_node *node; /* [nodes] */
    const int32_t *order;              /* [triangles] of the leaves */
    const double *normal;              /* [3 × triangles] unit */
    const int32_t *patch;   /* [triangles] the first triangle of the flat region it belongs to */
    const int32_t *edge;    /* [2 × edges] vertices, the smaller first */
    const int32_t *edge_of; /* [3 × triangles] from corner i to corner i + 1 */
    /* triangles at each edge, ascending: side[side_start[e]] …, [edges + 1] */
    const int32_t *side_start, *side;
    /* [edges] one that a shape can touch with neither face: convex, at a border, or of three
     * triangles and more; not between triangles in one plane to 1e-6, and not in a groove */
    const bool *sharp;
    /* edges at each vertex: spoke[spoke_start[v]] …, [vertices + 1] */
    const int32_t *spoke_start, *spoke;
};

/* Triangles with three different vertices that are not all on a line. 0 or negative: no memory. */
int mech_shape_tree_build(const double *vertex, int32_t vertices, const int32_t *triangle,
                          int32_t triangles, struct mech_arena *arena,
                          const struct mech_shape_tree **out);

enum { MECH_TREE_DEPTH = 64 };

/* The triangles of all leaves whose boxes overlap low … high, always in the same order. Between two
 * triangles low … high may be narrowed. */
struct mech_tree_walk {
    const struct mech_shape_tree *tree;
    double low[3], high[3];
    int32_t stack[MECH_TREE_DEPTH], depth, at, end;
};
int32_t mech_tree_first(struct mech_tree_walk *w, const double low[3], const double high[3]);
int32_t mech_tree_next(struct mech_tree_walk *w); /* −1: no more */
