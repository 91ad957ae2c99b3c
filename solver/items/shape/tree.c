/* Surfaces of triangles: tree.h. The tree halves the triangles at the median of their middles
 * along the axis where these spread most, down to four; a tree of 2^20 triangles is 19 deep. */
#include "solver/items/shape/tree.h"
#include "solver/base/err.h"
#include "solver/linalg/v3.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_MOST = 4 };

/* what is flat, as a height over a length */
static const double flat = 1e-6;

/* --- walk ------------------------------------------------------------------------------------- */

int32_t mech_tree_next(struct mech_tree_walk *w)
{
    const struct mech_shape_tree *const t = w->tree;

    while (w->at == w->end) {
        if (w->depth == 0) {
            return -1;
        }
        const int32_t k = w->stack[--w->depth];
        const struct mech_tree_node *const n = &t->node[k];
        bool apart = false;

        for (int i = 0; i < 3; i++) {
            apart = apart || n->low[i] > w->high[i] || w->low[i] > n->high[i];
        }
        if (!apart && n->count > 0) {
            w->at = n->next;
            w->end = n->next + n->count;
        } else if (!apart) {
            w->stack[w->depth++] = n->next;
            w->stack[w->depth++] = k + 1;
        }
    }
    return t->order[w->at++];
}

int32_t mech_tree_first(struct mech_tree_walk *w, const double low[3], const double high[3])
{
    memcpy(w->low, low, sizeof w->low);
    memcpy(w->high, high, sizeof w->high);
    w->at = w->end = 0;
    w->depth = 1;
    w->stack[0] = 0;
    return mech_tree_next(w);
}

/* --- boxes ------------------------------------------------------------------------------------ */

struct build {
    const double *vertex;
    const int32_t *triangle;
    int32_t vertices, triangles;
    struct mech_tree_node *node;
    int32_t nodes, *order;
    double *middle; /* [3 × triangles] */
    double *normal;
};

static void bounds(const struct build *b, int32_t from, int32_t to, struct mech_tree_node *n)
{
    for (int i = 0; i < 3; i++) {
        n->low[i] = INFINITY;
        n->high[i] = -INFINITY;
    }
    for (int32_t k = from; k < to; k++) {
        for (int c = 0; c < 3; c++) {
            const double *const x = b->vertex + 3 * (size_t)b->triangle[3 * b->order[k] + c];

            for (int i = 0; i < 3; i++) {
                n->low[i] = fmin(n->low[i], x[i]);
                n->high[i] = fmax(n->high[i], x[i]);
            }
        }
    }
}

static int widest(const struct build *b, int32_t from, int32_t to)
{
    double low[3], high[3];
    int axis = 0;

    for (int i = 0; i < 3; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
        for (int32_t k = from; k < to; k++) {
            const double x = b->middle[3 * b->order[k] + i];

            low[i] = x < low[i] ? x : low[i];
            high[i] = x > high[i] ? x : high[i];
        }
        axis = high[i] - low[i] > high[axis] - low[axis] ? i : axis;
    }
    return axis;
}

/* Whether triangle a comes before b along the axis; by number where they are as far. */
static bool before(const struct build *b, int axis, int32_t one, int32_t two)
{
    const double x = b->middle[3 * one + axis], y = b->middle[3 * two + axis];

    return x < y || (!(y < x) && one < two);
}

/* The k-th along the axis to its place in order, smaller ones before it (C. Hoare). */
static void select_middle(struct build *b, int axis, int32_t from, int32_t to, int32_t k)
{
    while (to - from > 1) {
        const int32_t pivot = b->order[from + (to - from) / 2];
        int32_t i = from, j = to - 1;

        while (i <= j) {
            while (before(b, axis, b->order[i], pivot)) {
                i++;
            }
            while (before(b, axis, pivot, b->order[j])) {
                j--;
            }
            if (i <= j) {
                const int32_t swap = b->order[i];

                b->order[i++] = b->order[j];
                b->order[j--] = swap;
            }
        }
        if (k <= j) {
            to = j + 1;
        } else if (k >= i) {
            from = i;
        } else {
            return;
        }
    }
}

static void split(struct build *b, int32_t from, int32_t to)
{
    const int32_t here = b->nodes++;

    bounds(b, from, to, &b->node[here]);
    if (to - from <= LEAF_MOST) {
        b->node[here].next = from;
        b->node[here].count = to - from;
        return;
    }
    const int32_t half = from + (to - from) / 2;
    select_middle(b, widest(b, from, to), from, to, half);
    split(b, from, half);
    b->node[here].next = b->nodes;
    b->node[here].count = 0;
    split(b, half, to);
}

/* --- edges ------------------------------------------------------------------------------------ */

/* An edge of one triangle, from its corner. */
struct half {
    int32_t low, high, triangle, corner;
};

static int by_ends(const void *a, const void *b)
{
    const struct half *const x = a, *const y = b;
    const int32_t p[4] = {x->low, x->high, x->triangle, x->corner};
    const int32_t q[4] = {y->low, y->high, y->triangle, y->corner};

    for (int i = 0; i < 4; i++) {
        if (p[i] != q[i]) {
            return p[i] < q[i] ? -1 : 1;
        }
    }
    return 0;
}

struct edges {
    int32_t count, *edge, *edge_of, *side_start, *side, *patch, *spoke_start, *spoke;
    bool *sharp;
};

static int32_t root_of(int32_t *patch, int32_t t)
{
    while (patch[t] != t) {
        patch[t] = patch[patch[t]];
        t = patch[t];
    }
    return t;
}

/* Two triangles at one edge: whether it is convex, and whether they are in one plane. */
static bool stands_out(const struct build *b, const struct half *one, const struct half *two,
                       bool *same)
{
    const int32_t *const s = b->triangle + 3 * one->triangle, *const t =
                                                                  b->triangle + 3 * two->triangle;
    const int32_t from = s[one->corner], third = t[(two->corner + 2) % 3];
    const double *const n = b->normal + 3 * (size_t)one->triangle;
    double along[3], off[3], across[3];

    *same = false;
    /* one of them is turned over */
    if (t[two->corner] == from) {
        return true;
    }
    mech_v3_add(b->vertex + 3 * (size_t)one->high, -1., b->vertex + 3 * (size_t)one->low, along);
    mech_v3_add(b->vertex + 3 * (size_t)third, -1., b->vertex + 3 * (size_t)one->low, off);
    mech_v3_cross(along, off, across);
    const double far = mech_v3_norm(across) / mech_v3_norm(along), height = mech_v3_dot(n, off);
    if (fabs(height) > flat * far) {
        return height < 0.;
    }
    /* in one plane, or folded back on itself */
    *same = mech_v3_dot(n, b->normal + 3 * (size_t)two->triangle) > 0.;
    return !*same;
}

static void make_edges(const struct build *b, const struct half *half, struct edges *e)
{
    const int32_t n = 3 * b->triangles;

    for (int32_t t = 0; t < b->triangles; t++) {
        e->patch[t] = t;
    }
    for (int32_t k = 0, next = 0; k < n; k = next) {
        bool same = false;

        next = k + 1;
        while (next < n && half[next].low == half[k].low && half[next].high == half[k].high) {
            next++;
        }
        e->edge[2 * e->count] = half[k].low;
        e->edge[2 * e->count + 1] = half[k].high;
        e->side_start[e->count] = k;
        e->sharp[e->count] = next - k != 2 || stands_out(b, &half[k], &half[k + 1], &same);
        for (int32_t i = k; i < next; i++) {
            e->side[i] = half[i].triangle;
            e->edge_of[3 * half[i].triangle + half[i].corner] = e->count;
        }
        if (same) {
            const int32_t p = root_of(e->patch, half[k].triangle);
            const int32_t q = root_of(e->patch, half[k + 1].triangle);

            e->patch[p < q ? q : p] = p < q ? p : q;
        }
        e->count++;
    }
    e->side_start[e->count] = n;
    for (int32_t t = 0; t < b->triangles; t++) {
        e->patch[t] = root_of(e->patch, t);
    }
}

/* Edges by their vertices. */
static void make_spokes(const struct build *b, struct edges *e)
{
    for (int32_t k = 0; k < 2 * e->count; k++) {
        e->spoke_start[e->edge[k] + 1]++;
    }
    for (int32_t v = 0; v < b->vertices; v++) {
        e->spoke_start[v + 1] += e->spoke_start[v];
    }
    /* each start moves to the next one's while the lists fill, and back afterwards */
    for (int32_t k = 0; k < 2 * e->count; k++) {
        e->spoke[e->spoke_start[e->edge[k]]++] = k / 2;
    }
    for (int32_t v = b->vertices; v > 0; v--) {
        e->spoke_start[v] = e->spoke_start[v - 1];
    }
    e->spoke_start[0] = 0;
}

static int find_edges(const struct build *b, struct mech_arena *arena, struct edges *e)
{
    const size_t n = 3 * (size_t)b->triangles;

    *e = (struct edges){.edge = mech_arena_alloc(arena, 2 * n, sizeof *e->edge),
                        .edge_of = mech_arena_alloc(arena, n, sizeof *e->edge_of),
                        .side_start = mech_arena_alloc(arena, n + 1, sizeof *e->side_start),
                        .side = mech_arena_alloc(arena, n, sizeof *e->side),
                        .patch = mech_arena_alloc(arena, n / 3, sizeof *e->patch),
                        .spoke = mech_arena_alloc(arena, 2 * n, sizeof *e->spoke),
                        .sharp = mech_arena_alloc(arena, n, sizeof *e->sharp)};
    e->spoke_start = mech_arena_alloc(arena, (size_t)b->vertices + 1, sizeof *e->spoke_start);
    struct half *const half = calloc(n, sizeof *half);
    const bool all = half && e->edge && e->edge_of && e->side_start && e->side && e->patch &&
                     e->spoke && e->sharp && e->spoke_start;
    if (all) {
        for (int32_t k = 0; k < (int32_t)n; k++) {
            const int32_t t = k / 3, c = k % 3;
            const int32_t from = b->triangle[3 * t + c], to = b->triangle[3 * t + (c + 1) % 3];

            half[k] = (struct half){from < to ? from : to, from < to ? to : from, t, c};
        }
        qsort(half, n, sizeof *half, by_ends);
        make_edges(b, half, e);
        make_spokes(b, e);
    }
    free(half);
    return all ? 0 : MECH_NO_MEMORY;
}

/* --- all -------------------------------------------------------------------------------------- */

static double mean_length(const struct build *b, const struct edges *e)
{
    double sum = 0., d[3];

    for (int32_t k = 0; k < e->count; k++) {
        mech_v3_add(b->vertex + 3 * (size_t)e->edge[2 * k + 1], -1.,
                    b->vertex + 3 * (size_t)e->edge[2 * k], d);
        sum += mech_v3_norm(d);
    }
    return sum / e->count;
}

static void measure(const struct build *b, int32_t t)
{
    const double *const x = b->vertex + 3 * (size_t)b->triangle[3 * t];
    const double *const y = b->vertex + 3 * (size_t)b->triangle[3 * t + 1];
    const double *const z = b->vertex + 3 * (size_t)b->triangle[3 * t + 2];
    double d[3], e[3], *const n = b->normal + 3 * (size_t)t;

    mech_v3_add(y, -1., x, d);
    mech_v3_add(z, -1., x, e);
    mech_v3_cross(d, e, n);
    const double area = mech_v3_norm(n);
    for (int i = 0; i < 3; i++) {
        n[i] /= area;
        b->middle[3 * t + i] = x[i] + y[i] + z[i];
    }
}

int mech_shape_tree_build(const double *vertex, int32_t vertices, const int32_t *triangle,
                          int32_t triangles, struct mech_arena *arena,
                          const struct mech_shape_tree **out)
{
    const size_t n = (size_t)triangles;
    struct mech_shape_tree *const tree = mech_arena_alloc(arena, 1, sizeof *tree);
    struct build b = {.vertex = vertex,
                      .triangle = triangle,
                      .vertices = vertices,
                      .triangles = triangles,
                      .node = mech_arena_alloc(arena, 2 * n, sizeof *b.node),
                      .order = mech_arena_alloc(arena, n, sizeof *b.order),
                      .normal = mech_arena_alloc(arena, 3 * n, sizeof *b.normal),
                      .middle = calloc(3 * n, sizeof *b.middle)};
    struct edges e;
    int code = tree && b.node && b.order && b.normal && b.middle ? 0 : MECH_NO_MEMORY;

    if (code == 0) {
        for (int32_t t = 0; t < triangles; t++) {
            b.order[t] = t;
            measure(&b, t);
        }
        split(&b, 0, triangles);
        code = find_edges(&b, arena, &e);
    }
    if (code == 0) {
        *tree = (struct mech_shape_tree){.nodes = b.nodes,
                                         .edges = e.count,
                                         .edge_length = mean_length(&b, &e),
                                         .node = b.node,
                                         .order = b.order,
                                         .normal = b.normal,
                                         .patch = e.patch,
                                         .edge = e.edge,
                                         .edge_of = e.edge_of,
                                         .side_start = e.side_start,
                                         .side = e.side,
                                         .sharp = e.sharp,
                                         .spoke_start = e.spoke_start,
                                         .spoke = e.spoke};
        *out = tree;
    }
    free(b.middle);
    return code;
}
