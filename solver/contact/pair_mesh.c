/* A mesh and any convex shape, triangle by triangle and edge by edge.
 *
 * Faces: what the shape has in contact with the triangle's plane, where that lies over the
 * triangle. Points of one flat region count once, whichever of its triangles they lie over, so
 * that a flat mesh is a plane. A point that is below its plane counts if nothing of the mesh lies
 * between the two and the shape is not below as a whole; of several ways out of the mesh the
 * shortest, but in a groove all. Convex edges: their distance to the shape as a
 * segment's, where the direction lies between the faces at the edge, or at its ends between all
 * edges there (J. Voronoi's regions). Edges in a plane or in a groove are never touched, so that
 * nothing catches on them.
 *
 * At most 512 points of one shape are reported. */
#include "solver/contact/flush.h"
#include "solver/contact/hull.h"
#include "solver/items/shape/tree.h"
#include "solver/linalg/v3.h"

#include <string.h>

enum { POINTS_MOST = 512, EDGES = 1 << 30 };

/* what counts as on a line, as a part of the shape's size; as between faces: sines of angles, for
 * shapes whose normals are their own faces' and for rounded ones */
static const double on_line = 1e-9, between_faces = 0.01, between_round = 1e-9;
/* what counts as one place, as a part of the shape's size */
static const double beside = 1e-6;

struct work {
    const struct mech_convex *mesh, *shape;
    const struct mech_shape_tree *tree;
    struct mech_touching *out;
    const struct mech_shape_pair *plane; /* of planes and the shape */
    double low[3], high[3], size;        /* the shape with its reach, in the mesh's frame */
    int32_t first;                       /* place of the pair's first contact in the list */
    struct {
        uint32_t feature; /* as of a plane */
        bool below, gone;
    } point[POINTS_MOST];
};

static const double *vertex_of(const struct work *w, int32_t v)
{
    return w->mesh->shape->vertex + 3 * (size_t)v;
}

static void to_local(const struct work *w, const double x[3], double out[3])
{
    mech_v3_add(x, -1., w->mesh->p, out);
    mech_m3_mul_transposed(w->mesh->R, out, out);
}

static void measure(struct work *w)
{
    for (int i = 0; i < 3; i++) {
        double d[3] = {w->mesh->R[i], w->mesh->R[3 + i], w->mesh->R[6 + i]}, x[3];

        mech_convex_farthest(w->shape, d, x);
        to_local(w, x, x);
        w->high[i] = x[i] + w->out->reach;
        for (int k = 0; k < 3; k++) {
            d[k] = -d[k];
        }
        mech_convex_farthest(w->shape, d, x);
        to_local(w, x, x);
        w->low[i] = x[i] - w->out->reach;
        w->size = fmax(w->size, w->high[i] - w->low[i]);
    }
}

/* --- faces ------------------------------------------------------------------------------------ */

/* The triangle at edge i of t if both meet in a groove there; −1: they do not. */
static int32_t beyond_groove(const struct work *w, int32_t t, int i)
{
    const int32_t e = w->tree->edge_of[3 * (size_t)t + (size_t)i], at = w->tree->side_start[e];
    const int32_t *const side = w->tree->side + at;

    if (w->tree->sharp[e] || w->tree->patch[side[0]] == w->tree->patch[side[1]]) {
        return -1;
    }
    return side[0] == t ? side[1] : side[0];
}

static double height_over(const struct work *w, int32_t t, const double x[3])
{
    double d[3];

    mech_v3_add(x, -1., vertex_of(w, w->mesh->shape->triangle[3 * (size_t)t]), d);
    return mech_v3_dot(w->tree->normal + 3 * (size_t)t, d);
}

/* Whether edge e is a border at which another shape goes on at the point x. */
static bool is_seam(const struct work *w, int32_t e, const double x[3])
{
    return w->tree->side_start[e + 1] - w->tree->side_start[e] == 1 && w->out->flush &&
           mech_flush_goes_on(w->out->flush, x);
}

enum over { APART, OVER, BEHIND };

/* Whether the foot of a local point x on the triangle's plane lies over the triangle: up to its
 * edges, and of a point below not up to convex ones, where another way out is as near, but up to
 * borders at which another shape goes on. A point below both sides of a groove is BEHIND the one
 * across whose edge its foot lies. */
static enum over over(const struct work *w, int32_t t, const double foot[3], const double *x)
{
    const int32_t *const at = w->mesh->shape->triangle + 3 * (size_t)t;
    enum over found = OVER;

    for (int i = 0; i < 3; i++) {
        const double *const from = vertex_of(w, at[i]), *const to = vertex_of(w, at[(i + 1) % 3]);
        const int32_t e = w->tree->edge_of[3 * (size_t)t + (size_t)i];
        double along[3], inward[3], d[3];

        mech_v3_add(to, -1., from, along);
        mech_v3_cross(w->tree->normal + 3 * (size_t)t, along, inward);
        mech_v3_add(foot, -1., from, d);
        const double inside = mech_v3_dot(inward, d) / mech_v3_norm(along);
        if (inside >= (x && w->tree->sharp[e] ? on_line : -on_line) * w->size ||
            (inside >= -on_line * w->size && is_seam(w, e, foot))) {
            continue;
        }
        const int32_t other = x ? beyond_groove(w, t, i) : -1;
        if (other < 0 || !(height_over(w, other, x) < 0.)) {
            return APART;
        }
        found = BEHIND;
    }
    return found;
}

/* Whether the mesh lies between two local points, the triangles of one flat region left out. */
static bool covered(const struct work *w, const double x[3], const double y[3], int32_t patch)
{
    struct mech_tree_walk walk = {.tree = w->tree};
    double low[3], high[3];

    for (int i = 0; i < 3; i++) {
        low[i] = fmin(x[i], y[i]);
        high[i] = fmax(x[i], y[i]);
    }
    for (int32_t t = mech_tree_first(&walk, low, high); t >= 0; t = mech_tree_next(&walk)) {
        const double from = height_over(w, t, x), to = height_over(w, t, y);
        const double least = on_line * w->size;
        double d[3], at[3];

        /* also one that lies where y is, and is seen from x */
        if (w->tree->patch[t] == patch || fabs(from) <= least ||
            (fabs(to) <= least ? from < 0. : from * to > 0.)) {
            continue;
        }
        mech_v3_add(y, -1., x, d);
        mech_v3_add(x, from / (from - to), d, at);
        if (over(w, t, at, NULL) == OVER) {
            return true;
        }
    }
    return false;
}

/* Whether contact c with the plane of triangle t is one with the mesh; *below: of a point that is
 * below, and may have other ways out. */
static bool is_touching(const struct work *w, int32_t t, const struct mech_contact *c, bool *below)
{
    const struct mech_touching *const out = w->out;
    const double rounding = w->shape->shape->rounding, sign = out->turned ? -1. : 1.;
    double n[3], foot[3], x[3];

    to_local(w, c->point[out->turned], foot);
    *below = c->gap + rounding < -on_line * w->size;
    if (!*below) {
        return over(w, t, foot, NULL) == OVER;
    }
    for (int i = 0; i < 3; i++) {
        n[i] = sign * c->normal[i];
    }
    mech_convex_farthest(w->shape, n, x);
    mech_v3_add(x, -1., c->point[out->turned], x);
    if (mech_v3_dot(n, x) <= 0.) {
        return false;
    }
    mech_v3_add(c->point[!out->turned], rounding, n, x);
    to_local(w, x, x);
    const enum over where = over(w, t, foot, x);
    *below = where == OVER;
    return where == BEHIND || (where == OVER && !covered(w, x, foot, w->tree->patch[t]));
}

static bool known(const struct work *w, uint64_t id, int32_t before)
{
    for (int32_t k = w->first; k < before; k++) {
        if (w->out->list->at[k].id == id) {
            return true;
        }
    }
    return false;
}

static void touch_face(struct work *w, int32_t t)
{
    const double *const n = w->tree->normal + 3 * (size_t)t;
    struct mech_contact_list *const list = w->out->list;
    const struct mech_shape shape = {.normal = {n[0], n[1], n[2]}};
    double at[3];
    const int32_t before = list->n;
    int32_t kept = before;

    mech_m3_mul(w->mesh->R, vertex_of(w, w->mesh->shape->triangle[3 * (size_t)t]), at);
    mech_v3_add(at, 1., w->mesh->p, at);
    const struct mech_convex plane = {.shape = &shape, .p = at, .R = w->mesh->R};
    w->plane->find(&plane, w->shape, w->out);
    for (int32_t k = before; k < list->n && kept - w->first < POINTS_MOST; k++) {
        struct mech_contact c = list->at[k];
        const uint64_t low = MECH_FEATURES_MOST - 1;
        const uint32_t feature = (uint32_t)(c.id & low), patch = (uint32_t)w->tree->patch[t];
        bool below;

        c.id = (c.id & ~low) | mech_feature_of(patch, feature);
        if (!known(w, c.id, kept) && is_touching(w, t, &c, &below)) {
            w->point[kept - w->first].feature = feature;
            w->point[kept - w->first].below = below;
            list->at[kept++] = c;
        }
    }
    list->n = kept;
}

/* Of the contacts of one point of the shape that is below several planes, the shallowest stays. */
static void keep_shallowest(struct work *w)
{
    const int32_t n = w->out->list->n - w->first;

    if (n == 0) {
        return;
    }
    struct mech_contact *const at = w->out->list->at + w->first;
    int32_t kept = 0;

    for (int32_t i = 0; i < n; i++) {
        bool least = true;

        for (int32_t k = 0; k < n && w->point[i].below; k++) {
            const bool same =
                k != i && w->point[k].below && w->point[k].feature == w->point[i].feature;
            least = least && !(same && (at[k].gap > at[i].gap ||
                                        (at[k].gap >= at[i].gap && at[k].id < at[i].id)));
        }
        w->point[i].gone = !least;
    }
    for (int32_t i = 0; i < n; i++) {
        if (!w->point[i].gone) {
            at[kept++] = at[i];
        }
    }
    w->out->list->n = w->first + kept;
}

/* --- edges ------------------------------------------------------------------------------------ */

static void segment_support(const struct mech_shape *s, const double d[3], double out[3])
{
    const double *const x = s->hull.vertex;
    const bool second = mech_v3_dot(d, x + 3) > mech_v3_dot(d, x);

    memcpy(out, second ? x + 3 : x, 3 * sizeof *out);
}

static const struct mech_shape_ops segment_ops = {.support = segment_support};
static const int32_t segment_edge[2] = {0, 1};

/* Whether the local direction n points away from vertex v along none of its edges. */
static bool between_edges(const struct work *w, int32_t v, const double n[3], double most)
{
    for (int32_t k = w->tree->spoke_start[v]; k < w->tree->spoke_start[v + 1]; k++) {
        const int32_t *const ends = w->tree->edge + 2 * (size_t)w->tree->spoke[k];
        double along[3];

        mech_v3_add(vertex_of(w, ends[0] == v ? ends[1] : ends[0]), -1., vertex_of(w, v), along);
        if (mech_v3_dot(n, along) > most * mech_v3_norm(along)) {
            return false;
        }
    }
    return true;
}

/* The same of edge e, into none of its triangles. */
static bool between_sides(const struct work *w, int32_t e, const double n[3], double most)
{
    const double *const from = vertex_of(w, w->tree->edge[2 * (size_t)e]);
    double along[3];

    mech_v3_add(vertex_of(w, w->tree->edge[2 * (size_t)e + 1]), -1., from, along);
    const double square = mech_v3_dot(along, along);
    for (int32_t k = w->tree->side_start[e]; k < w->tree->side_start[e + 1]; k++) {
        const int32_t *const at = w->mesh->shape->triangle + 3 * (size_t)w->tree->side[k];

        for (int i = 0; i < 3; i++) {
            double inward[3];

            /* of the three corners the one beside the edge; the others are on it */
            mech_v3_add(vertex_of(w, at[i]), -1., from, inward);
            mech_v3_add(inward, -mech_v3_dot(inward, along) / square, along, inward);
            if (mech_v3_dot(n, inward) > most * mech_v3_norm(inward)) {
                return false;
            }
        }
    }
    return true;
}

/* Whether x, a point of a border in the mesh's frame, lies on a triangle beside it that has no
 * vertices there, as where one side of a seam is divided and the other is not, and n points into
 * that. */
static bool is_covered(const struct work *w, const double x[3], const double n[3])
{
    const double near = beside * w->size;
    double low[3], high[3];

    for (int i = 0; i < 3; i++) {
        low[i] = x[i] - near;
        high[i] = x[i] + near;
    }
    struct mech_tree_walk walk = {.tree = w->tree};

    for (int32_t t = mech_tree_first(&walk, low, high); t >= 0; t = mech_tree_next(&walk)) {
        const int32_t *const at = w->mesh->shape->triangle + 3 * (size_t)t;
        const double *const normal = w->tree->normal + 3 * (size_t)t;
        bool on = true, into = false;
        double d[3], side[3], across[3];

        for (int i = 0; i < 3; i++) {
            mech_v3_add(x, -1., vertex_of(w, at[i]), d);
            mech_v3_add(vertex_of(w, at[(i + 1) % 3]), -1., vertex_of(w, at[i]), side);
            mech_v3_cross(normal, side, across);
            on = on && fabs(mech_v3_dot(d, normal)) <= near &&
                 mech_v3_dot(d, across) >= -near * mech_v3_norm(across);
            into = into || -mech_v3_dot(n, d) > near;
        }
        if (on && into) {
            return true;
        }
    }
    return false;
}

/* A contact that a face has reported, or another edge. */
static bool is_double(const struct work *w, const struct mech_contact *c, int32_t before)
{
    for (int32_t k = w->first; k < before; k++) {
        const struct mech_contact *const other = &w->out->list->at[k];
        double d[3];

        mech_v3_add(other->point[w->out->turned], -1., c->point[w->out->turned], d);
        if (mech_v3_norm(d) <= beside * w->size && mech_v3_dot(other->normal, c->normal) > 0.99) {
            return true;
        }
    }
    return false;
}

static void touch_edge(struct work *w, int32_t e)
{
    const int32_t *const ends = w->tree->edge + 2 * (size_t)e;
    const double most = w->shape->shape->rounding > 0. ? between_round : between_faces;
    struct mech_contact_list *const list = w->out->list;
    const bool border = w->tree->side_start[e + 1] - w->tree->side_start[e] == 1;
    double x[6], n[3], at[3], on[3], along[3];
    struct mech_convex_gap gap;

    memcpy(x, vertex_of(w, ends[0]), 3 * sizeof *x);
    memcpy(x + 3, vertex_of(w, ends[1]), 3 * sizeof *x);
    const struct mech_shape shape = {
        .ops = &segment_ops,
        .hull = {.vertices = 2, .edges = 1, .vertex = x, .edge = segment_edge}};
    const struct mech_convex edge = {&shape, w->mesh->p, w->mesh->R};
    for (int i = 0; i < 3; i++) {
        if (fmin(x[i], x[3 + i]) > w->high[i] || fmax(x[i], x[3 + i]) < w->low[i]) {
            return;
        }
    }
    if (mech_convex_gap(&edge, w->shape, w->out->reach, &gap) != 0) {
        return;
    }
    mech_m3_mul_transposed(w->mesh->R, gap.normal, n);
    to_local(w, gap.point[0], at);
    mech_v3_add(x + 3, -1., x, along);
    mech_v3_add(at, -1., x, at);
    const double place = mech_v3_dot(at, along) / mech_v3_dot(along, along);
    const double end = on_line * w->size / mech_v3_norm(along);
    mech_v3_add(x, fmin(1., fmax(0., place)), along, on);
    if (!(place <= end        ? between_edges(w, ends[0], n, most)
          : place >= 1. - end ? between_edges(w, ends[1], n, most)
                              : between_sides(w, e, n, most)) ||
        (border && is_covered(w, on, n))) {
        return;
    }
    const int32_t before = list->n;
    int32_t kept = before;
    mech_hull_touch(&edge, w->shape, &gap, w->out);
    for (int32_t k = before; k < list->n && kept - w->first < POINTS_MOST; k++) {
        struct mech_contact c = list->at[k];
        const uint64_t low = MECH_FEATURES_MOST - 1;

        c.id = (c.id & ~low) | mech_feature_of((uint32_t)e | EDGES, (uint32_t)(c.id & low));
        if (!is_double(w, &c, kept)) {
            list->at[kept++] = c;
        }
    }
    list->n = kept;
}

static void touch_edges(struct work *w, int32_t t)
{
    for (int i = 0; i < 3; i++) {
        const int32_t e = w->tree->edge_of[3 * (size_t)t + (size_t)i];

        /* once, by its first triangle; all of them overlap what the edge overlaps */
        if (w->tree->sharp[e] && w->tree->side[w->tree->side_start[e]] == t) {
            touch_edge(w, e);
        }
    }
}

/* --- all -------------------------------------------------------------------------------------- */

/* Ids of one pair differ: of equal 24 bits the later ones move on. */
static void part_ids(const struct work *w)
{
    const uint64_t low = MECH_FEATURES_MOST - 1;

    for (int32_t i = w->first + 1; i < w->out->list->n; i++) {
        struct mech_contact *const c = &w->out->list->at[i];

        while (known(w, c->id, i)) {
            c->id = (c->id & ~low) | ((c->id + 1) & low);
        }
    }
}

static void find(const struct mech_convex *mesh, const struct mech_convex *shape,
                 struct mech_touching *out)
{
    struct work w = {.mesh = mesh,
                     .shape = shape,
                     .tree = mesh->shape->tree,
                     .out = out,
                     .plane = mech_shape_pair_named("Plane", shape->shape),
                     .first = out->list->n};
    struct mech_tree_walk walk = {.tree = w.tree};

    measure(&w);
    for (int32_t t = mech_tree_first(&walk, w.low, w.high); t >= 0; t = mech_tree_next(&walk)) {
        touch_face(&w, t);
    }
    keep_shallowest(&w);
    for (int32_t t = mech_tree_first(&walk, w.low, w.high); t >= 0; t = mech_tree_next(&walk)) {
        touch_edges(&w, t);
    }
    part_ids(&w);
}

const struct mech_shape_pair mech_shape_pair_mesh = {
    .first = "Mesh",
    .second = {"Sphere", "Capsule", "Box", "Cylinder", "ConvexHull"},
    .find = find,
};
