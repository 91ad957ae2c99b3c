/* Distances of colliders; see flush_from.h. The nearest point of a triangle after C. Ericson,
 * Real-Time Collision Detection, Morgan Kaufmann 2005, section 5.1.5. */
#include "solver/contact/flush_from.h"

#include "solver/contact/convex.h"
#include "solver/items/shape/tree.h"
#include "solver/linalg/v3.h"

#include <string.h>

/* of sizes and distances: what is the same; of a mesh's size: how far a point is beyond a border
 * that another shape may be flush with */
static const double same = 1e-10, beyond = 2e-6;

enum mech_flush_kind mech_flush_kind_of(const struct mech_collider *c)
{
    const bool bounded = isfinite(c->shape.high[0] - c->shape.low[0]);

    return c->shape.ops->support && bounded      ? MECH_FLUSH_CONVEX
           : c->shape.tree                       ? MECH_FLUSH_MESH
           : mech_v3_norm(c->shape.normal) > 0.5 ? MECH_FLUSH_PLANE
                                                 : MECH_FLUSH_NONE;
}

double mech_flush_size(const struct mech_collider *c)
{
    double size = HUGE_VAL;

    if (c->shape.tree) {
        return c->shape.tree->edge_length;
    }
    for (int i = 0; i < 3; i++) {
        size = fmin(size, c->shape.high[i] - c->shape.low[i]);
    }
    return size;
}

static struct mech_convex in_body(const struct mech_collider *c)
{
    return (struct mech_convex){.shape = &c->shape, .p = c->p, .R = c->R};
}

static void to_local(const struct mech_collider *c, const double x[3], double out[3])
{
    mech_v3_add(x, -1., c->p, out);
    mech_m3_mul_transposed(c->R, out, out);
}

static void to_body(const struct mech_collider *c, const double x[3], double out[3])
{
    mech_m3_mul(c->R, x, out);
    mech_v3_add(out, 1., c->p, out);
}

/* --- triangles -------------------------------------------------------------------------------- */

/* The corners of triangle t, in the mesh's frame. */
static void corners(const struct mech_shape *s, int32_t t, double x[3][3])
{
    for (int i = 0; i < 3; i++) {
        memcpy(x[i], s->vertex + 3 * (size_t)s->triangle[3 * (size_t)t + (size_t)i], sizeof x[i]);
    }
}

/* The nearest point to p of the triangle abc. */
static void nearest_of(double x[3][3], const double p[3], double out[3])
{
    const double *const a = x[0];
    double ab[3], ac[3], bc[3], d[3];

    mech_v3_add(x[1], -1., a, ab);
    mech_v3_add(x[2], -1., a, ac);
    mech_v3_add(x[2], -1., x[1], bc);
    mech_v3_add(p, -1., a, d);
    const double d1 = mech_v3_dot(ab, d), d2 = mech_v3_dot(ac, d);
    mech_v3_add(p, -1., x[1], d);
    const double d3 = mech_v3_dot(ab, d), d4 = mech_v3_dot(ac, d);
    mech_v3_add(p, -1., x[2], d);
    const double d5 = mech_v3_dot(ab, d), d6 = mech_v3_dot(ac, d);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;

    if (d1 <= 0. && d2 <= 0.) {
        memcpy(out, a, 3 * sizeof *out);
    } else if (d3 >= 0. && d4 <= d3) {
        memcpy(out, x[1], 3 * sizeof *out);
    } else if (d6 >= 0. && d5 <= d6) {
        memcpy(out, x[2], 3 * sizeof *out);
    } else if (vc <= 0. && d1 >= 0. && d3 <= 0.) {
        mech_v3_add(a, d1 / (d1 - d3), ab, out);
    } else if (vb <= 0. && d2 >= 0. && d6 <= 0.) {
        mech_v3_add(a, d2 / (d2 - d6), ac, out);
    } else if (va <= 0. && d4 >= d3 && d5 >= d6) {
        mech_v3_add(x[1], (d4 - d3) / (d4 - d3 + d5 - d6), bc, out);
    } else {
        mech_v3_add(a, vb / (va + vb + vc), ab, out);
        mech_v3_add(out, vc / (va + vb + vc), ac, out);
    }
}

static void support_of_points(const struct mech_shape *s, const double d[3], double out[3])
{
    const double *const x = s->hull.vertex;
    int best = 0;

    for (int i = 1; i < s->hull.vertices; i++) {
        best = mech_v3_dot(d, x + 3 * i) > mech_v3_dot(d, x + 3 * best) ? i : best;
    }
    memcpy(out, x + 3 * best, 3 * sizeof *out);
}

static const struct mech_shape_ops points = {.support = support_of_points};

static struct mech_shape shape_of(const double *x, int32_t n)
{
    return (struct mech_shape){.ops = &points, .hull = {.vertices = n, .vertex = x}};
}

/* Whether a mesh has a triangle at most `most` from a convex shape, whose frame is the body's. */
static bool mesh_touches(const struct mech_collider *mesh, const struct mech_convex *shape,
                         double most)
{
    struct mech_tree_walk walk = {.tree = mesh->shape.tree};
    double low[3], high[3];

    for (int i = 0; i < 3; i++) {
        double d[3] = {mesh->R[i], mesh->R[3 + i], mesh->R[6 + i]}, x[3];

        mech_convex_farthest(shape, d, x);
        to_local(mesh, x, x);
        high[i] = x[i] + most;
        mech_v3_add((const double[3]){0.}, -1., d, d);
        mech_convex_farthest(shape, d, x);
        to_local(mesh, x, x);
        low[i] = x[i] - most;
    }
    for (int32_t t = mech_tree_first(&walk, low, high); t >= 0; t = mech_tree_next(&walk)) {
        double x[3][3];
        struct mech_convex_gap gap;

        corners(&mesh->shape, t, x);
        const struct mech_shape triangle = shape_of(x[0], 3);
        const struct mech_convex placed = {.shape = &triangle, .p = mesh->p, .R = mesh->R};
        if (mech_convex_gap(&placed, shape, most, &gap) == 0) {
            return true;
        }
    }
    return false;
}

static bool meshes_touch(const struct mech_collider *a, const struct mech_collider *b, double most)
{
    for (int32_t t = 0; t < a->shape.triangles; t++) {
        double x[3][3];

        corners(&a->shape, t, x);
        const struct mech_shape triangle = shape_of(x[0], 3);
        if (mesh_touches(b, &(struct mech_convex){.shape = &triangle, .p = a->p, .R = a->R},
                         most)) {
            return true;
        }
    }
    return false;
}

/* --- planes ----------------------------------------------------------------------------------- */

static double height_over(const struct mech_collider *plane, const double x[3], double n[3])
{
    double d[3];

    mech_m3_mul(plane->R, plane->shape.normal, n);
    mech_v3_add(x, -1., plane->p, d);
    return mech_v3_dot(n, d);
}

static bool plane_touches(const struct mech_collider *plane, const struct mech_collider *c,
                          double most)
{
    double n[3], x[3];

    (void)height_over(plane, c->p, n);
    if (mech_flush_kind_of(c) == MECH_FLUSH_CONVEX) {
        const struct mech_convex convex = in_body(c);
        const double down[3] = {-n[0], -n[1], -n[2]};

        mech_convex_farthest(&convex, down, x);
        return height_over(plane, x, n) <= most;
    }
    for (int32_t k = 0; k < c->shape.vertices; k++) {
        to_body(c, c->shape.vertex + 3 * (size_t)k, x);
        if (height_over(plane, x, n) <= most) {
            return true;
        }
    }
    return false;
}

bool mech_flush_touch(const struct mech_collider *a, const struct mech_collider *b, double most)
{
    const enum mech_flush_kind first = mech_flush_kind_of(a), second = mech_flush_kind_of(b);
    const struct mech_convex one = in_body(a), two = in_body(b);
    struct mech_convex_gap gap;

    if (first == MECH_FLUSH_PLANE || second == MECH_FLUSH_PLANE) {
        return first == MECH_FLUSH_PLANE ? plane_touches(a, b, most) : plane_touches(b, a, most);
    }
    if (first == MECH_FLUSH_MESH && second == MECH_FLUSH_MESH) {
        return a->shape.triangles <= b->shape.triangles ? meshes_touch(a, b, most)
                                                        : meshes_touch(b, a, most);
    }
    if (first == MECH_FLUSH_MESH || second == MECH_FLUSH_MESH) {
        return first == MECH_FLUSH_MESH ? mesh_touches(a, &two, most) : mesh_touches(b, &one, most);
    }
    return mech_convex_gap(&one, &two, most, &gap) == 0;
}

/* --- points ----------------------------------------------------------------------------------- */

static bool from_convex(const struct mech_collider *c, const double x[3], double most,
                        struct mech_flush_gap *out)
{
    static const double one[9] = {1., 0., 0., 0., 1., 0., 0., 0., 1.};
    const struct mech_shape point = shape_of((const double[3]){0., 0., 0.}, 1);
    const struct mech_convex a = in_body(c), b = {.shape = &point, .p = x, .R = one};
    double local[3];
    struct mech_convex_gap gap;

    /* outside of its box, first */
    to_local(c, x, local);
    for (int i = 0; i < 3; i++) {
        if (local[i] < c->shape.low[i] - most || local[i] > c->shape.high[i] + most) {
            return false;
        }
    }
    if (mech_convex_gap(&a, &b, most, &gap) != 0) {
        return false;
    }
    *out = (struct mech_flush_gap){.gap = gap.gap};
    memcpy(out->normal, gap.normal, sizeof out->normal);
    memcpy(out->face, gap.normal, sizeof out->face);
    memcpy(out->point, gap.point[0], sizeof out->point);
    return true;
}

static bool from_plane(const struct mech_collider *c, const double x[3], double most,
                       struct mech_flush_gap *out)
{
    *out = (struct mech_flush_gap){.gap = 0.};
    out->gap = height_over(c, x, out->normal);
    memcpy(out->face, out->normal, sizeof out->face);
    mech_v3_add(x, -out->gap, out->normal, out->point);
    return out->gap <= most;
}

static int32_t first_around(struct mech_tree_walk *walk, const double x[3], double around)
{
    double low[3], high[3];

    for (int i = 0; i < 3; i++) {
        low[i] = x[i] - around;
        high[i] = x[i] + around;
    }
    return mech_tree_first(walk, low, high);
}

/* Whether y, on triangle t, is on an edge that is no other triangle's. */
static bool is_at_border(const struct mech_shape *s, int32_t t, const double y[3], double to)
{
    double x[3][3], along[3], d[3];

    corners(s, t, x);
    for (int i = 0; i < 3; i++) {
        const int32_t edge = s->tree->edge_of[3 * (size_t)t + (size_t)i];

        mech_v3_add(x[(i + 1) % 3], -1., x[i], along);
        mech_v3_add(y, -1., x[i], d);
        mech_v3_cross(along, d, d);
        if (s->tree->side_start[edge + 1] - s->tree->side_start[edge] == 1 &&
            mech_v3_norm(d) <= to * mech_v3_norm(along)) {
            return true;
        }
    }
    return false;
}

/* Of a mesh's triangles the one nearest to x, in the mesh's frame. */
struct nearest {
    int32_t triangle; /* −1: none is within `most` */
    double far, over; /* m: to it; over its plane */
    double at[3];
};

/* What is left to look at is as near as what was found. */
static void narrow(struct mech_tree_walk *walk, const double x[3], double far)
{
    for (int i = 0; i < 3; i++) {
        walk->low[i] = fmax(walk->low[i], x[i] - far);
        walk->high[i] = fmin(walk->high[i], x[i] + far);
    }
}

static void find_nearest(const struct mech_shape *s, const double x[3], double most,
                         struct nearest *out)
{
    const double alike = same * s->tree->edge_length;
    struct mech_tree_walk walk = {.tree = s->tree};

    *out = (struct nearest){.triangle = -1, .far = HUGE_VAL};
    for (int32_t t = first_around(&walk, x, most); t >= 0; t = mech_tree_next(&walk)) {
        double corner[3][3], y[3], d[3];

        corners(s, t, corner);
        nearest_of(corner, x, y);
        mech_v3_add(x, -1., y, d);
        const double length = mech_v3_norm(d);
        const double over = mech_v3_dot(s->tree->normal + 3 * (size_t)t, d);
        /* at an edge the triangle that faces the point most has the sign of both */
        if (length < out->far - alike ||
            (length <= out->far + alike && fabs(over) > fabs(out->over))) {
            out->triangle = t;
            out->far = length;
            out->over = over;
            memcpy(out->at, y, sizeof y);
            narrow(&walk, x, length + alike);
        }
    }
}

static bool from_mesh(const struct mech_collider *c, const double at[3], double most,
                      struct mech_flush_gap *out)
{
    const double size = mech_flush_size(c), alike = same * size;
    struct nearest near;
    double x[3], d[3], across[3];

    to_local(c, at, x);
    find_nearest(&c->shape, x, fmax(most, size), &near);
    const double sign = near.over < 0. ? -1. : 1.;
    if (near.triangle < 0 || near.far > (sign < 0. ? size : most)) {
        return false;
    }
    const double *const normal = c->shape.tree->normal + 3 * (size_t)near.triangle;
    mech_v3_add(x, -1., near.at, d);
    mech_v3_add(d, -near.over, normal, across);
    *out = (struct mech_flush_gap){.gap = sign * near.far};
    if (mech_v3_norm(across) > fmax(1e-3 * most, beyond * size) &&
        is_at_border(&c->shape, near.triangle, near.at, alike)) {
        mech_m3_mul(c->R, across, out->beside);
    }
    /* over a face its own, which is exact however near the point is */
    for (int i = 0; i < 3; i++) {
        out->normal[i] = near.far - fabs(near.over) > alike ? sign * d[i] / near.far : normal[i];
    }
    mech_m3_mul(c->R, out->normal, out->normal);
    mech_m3_mul(c->R, normal, out->face);
    to_body(c, near.at, out->point);
    return true;
}

bool mech_flush_from(const struct mech_collider *c, const double x[3], double most,
                     struct mech_flush_gap *out)
{
    const enum mech_flush_kind kind = mech_flush_kind_of(c);

    return kind == MECH_FLUSH_CONVEX  ? from_convex(c, x, most, out)
           : kind == MECH_FLUSH_PLANE ? from_plane(c, x, most, out)
           : kind == MECH_FLUSH_MESH  ? from_mesh(c, x, most, out)
                                      : false;
}

/* --- what reaches over ------------------------------------------------------------------------ */

/* Whether the line from x leaves the plane with the normal n by more than a sine, whatever it goes
 * along the edge (NULL: none). */
static bool is_over(const double to[3], const double x[3], const double n[3], const double *edge,
                    double leans)
{
    double d[3];

    mech_v3_add(to, -1., x, d);
    const double over = mech_v3_dot(d, n) - same * mech_v3_norm(d);
    const double square = edge ? mech_v3_dot(edge, edge) : 0.;
    if (square > 0.) {
        mech_v3_add(d, -mech_v3_dot(d, edge) / square, edge, d);
    }
    return over > leans * mech_v3_norm(d);
}

static bool mesh_reaches_over(const struct mech_collider *c, const double at[3],
                              const double normal[3], const double *along, double on, double leans)
{
    struct mech_tree_walk walk = {.tree = c->shape.tree};
    double x[3], n[3], edge[3] = {0.};

    to_local(c, at, x);
    mech_m3_mul_transposed(c->R, normal, n);
    if (along) {
        mech_m3_mul_transposed(c->R, along, edge);
    }
    for (int32_t t = first_around(&walk, x, on); t >= 0; t = mech_tree_next(&walk)) {
        double corner[3][3], y[3], d[3];

        corners(&c->shape, t, corner);
        nearest_of(corner, x, y);
        mech_v3_add(x, -1., y, d);
        for (int i = 0; i < 3 && mech_v3_norm(d) <= on; i++) {
            if (is_over(corner[i], x, n, edge, leans)) {
                return true;
            }
        }
    }
    return false;
}

bool mech_flush_reaches_over(const struct mech_collider *c, const double x[3], const double n[3],
                             const double *edge, double on, double leans)
{
    struct mech_flush_gap gap;
    double local[3], to[3];

    if (mech_flush_kind_of(c) == MECH_FLUSH_MESH) {
        return mesh_reaches_over(c, x, n, edge, on, leans);
    }
    if (!mech_flush_from(c, x, on, &gap)) {
        return false;
    }
    if (mech_flush_kind_of(c) == MECH_FLUSH_PLANE) {
        double across[3];

        mech_v3_cross(gap.normal, n, across);
        return mech_v3_dot(gap.normal, n) <= 0. || mech_v3_norm(across) > leans;
    }
    mech_m3_mul_transposed(c->R, n, local);
    c->shape.ops->support(&c->shape, local, to);
    to_body(c, to, to);
    return is_over(to, x, n, edge, leans);
}
