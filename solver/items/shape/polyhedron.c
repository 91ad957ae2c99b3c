/* Boxes as polyhedra, and the hull of points (C. Barber, D. Dobkin and H. Huhdanpaa, ACM Trans.
 * Math. Software 22 (1996)): triangles take in the farthest point above until none is above by
 * more than rounding; then triangles of one plane become one polygon. The triangles' neighbours
 * are kept, so that whatever rounding does, the surface stays closed. Cost: points times
 * triangles. */
#include "solver/items/shape/polyhedron.h"
#include "solver/base/err.h"
#include "solver/linalg/v3.h"

#include <stdlib.h>
#include <string.h>

/* what is flat and what is inside, as a part of the size */
static const double flat = 1e-9;

int32_t mech_polyhedron_farthest(const struct mech_polyhedron *p, const double d[3])
{
    int32_t best = 0;
    double most = -INFINITY;

    for (int32_t i = 0; i < p->vertices; i++) {
        const double along = mech_v3_dot(p->vertex + 3 * i, d);

        if (along > most) {
            most = along;
            best = i;
        }
    }
    return best;
}

/* --- box -------------------------------------------------------------------------------------- */

static const int32_t box_start[7] = {0, 4, 8, 12, 16, 20, 24};
static const int32_t box_face[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                     2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
static const int32_t box_edge[24] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3,
                                     4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7};

int mech_polyhedron_box(const double half[3], struct mech_arena *arena, struct mech_polyhedron *out)
{
    double *const vertex = mech_arena_alloc(arena, 24, sizeof *vertex);
    double *const plane = mech_arena_alloc(arena, 24, sizeof *plane);

    if (!vertex || !plane) {
        return MECH_NO_MEMORY;
    }
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) {
            vertex[3 * i + k] = (i >> k & 1) ? half[k] : -half[k];
        }
    }
    for (int i = 0; i < 6; i++) {
        plane[4 * i + i / 2] = i % 2 ? 1. : -1.;
        plane[4 * i + 3] = half[i / 2];
    }
    *out = (struct mech_polyhedron){.vertices = 8,
                                    .faces = 6,
                                    .edges = 12,
                                    .vertex = vertex,
                                    .plane = plane,
                                    .face_start = box_start,
                                    .face = box_face,
                                    .edge = box_edge};
    return 0;
}

/* --- hull: triangles -------------------------------------------------------------------------- */

struct triangle {
    double n[3], d, area;   /* outward unit normal; n · x = d; twice the area */
    int32_t at[3], next[3]; /* points; the triangle beyond the edge from at[i] to at[i + 1] */
    int32_t region;         /* polygon that it belongs to, −1: none yet */
    bool gone, seen;        /* replaced; seen by the new point */
};

struct hull {
    const double *x; /* [3 × n] */
    int32_t n;
    double size; /* largest extent */
    struct triangle *t;
    int32_t count, capacity;
    int32_t *seen, *rim; /* [capacity] */
    int32_t *fan;        /* [n] triangle of the fan whose outer edge begins at a point, −1 */
    int32_t regions;
    int32_t *left; /* [n] 1 of points taken in; scratch after that */
};

static void triangle_plane(const struct hull *h, struct triangle *t)
{
    const double *const a = h->x + 3 * t->at[0];
    double d[3], e[3];

    mech_v3_add(h->x + 3 * t->at[1], -1., a, d);
    mech_v3_add(h->x + 3 * t->at[2], -1., a, e);
    mech_v3_cross(d, e, t->n);
    t->area = mech_v3_norm(t->n);
    for (int i = 0; i < 3; i++) {
        t->n[i] = t->area > 0. ? t->n[i] / t->area : 0.;
    }
    t->d = mech_v3_dot(t->n, a);
}

static double height(const struct triangle *t, const double *x)
{
    return mech_v3_dot(t->n, x) - t->d;
}

/* A new triangle, or −1: none is left. Those that are gone are not used again: a hull of n points
 * makes few times 2 n. */
static int32_t add_triangle(struct hull *h, int32_t a, int32_t b, int32_t c)
{
    if (h->count == h->capacity) {
        const int32_t capacity = 2 * h->capacity;
        struct triangle *const t = realloc(h->t, (size_t)capacity * sizeof *t);
        h->t = t ? t : h->t;
        int32_t *const seen = t ? realloc(h->seen, (size_t)capacity * sizeof *seen) : NULL;
        h->seen = seen ? seen : h->seen;
        int32_t *const rim = seen ? realloc(h->rim, (size_t)capacity * sizeof *rim) : NULL;
        h->rim = rim ? rim : h->rim;
        if (!rim) {
            return -1;
        }
        h->capacity = capacity;
    }
    h->t[h->count] = (struct triangle){.at = {a, b, c}, .region = -1};
    triangle_plane(h, &h->t[h->count]);
    return h->count++;
}

/* The point with the largest of |(x − a) − its part along d …|: farthest from a point, a line or a
 * plane, by the measure given. */
static int32_t farthest_from(const struct hull *h, const double a[3], const double *line,
                             const double *normal, double *most)
{
    int32_t best = 0;

    *most = -1.;
    for (int32_t i = 0; i < h->n; i++) {
        double d[3];

        mech_v3_add(h->x + 3 * i, -1., a, d);
        if (line) {
            mech_v3_add(d, -mech_v3_dot(d, line), line, d);
        }
        const double far = normal ? fabs(mech_v3_dot(d, normal)) : mech_v3_norm(d);
        if (far > *most) {
            *most = far;
            best = i;
        }
    }
    return best;
}

static int first_triangles(struct hull *h)
{
    static const int32_t corner[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
    static const int32_t next[4][3] = {{2, 3, 1}, {0, 3, 2}, {1, 3, 0}, {2, 1, 0}};
    double far, d[3], e[3], n[3];
    int32_t p[4];

    p[0] = farthest_from(h, h->x, NULL, NULL, &far);
    const double *const a = h->x + 3 * p[0];
    p[1] = farthest_from(h, a, NULL, NULL, &h->size);
    if (!(h->size > 0.)) {
        return MECH_HULL_FLAT;
    }
    mech_v3_add(h->x + 3 * p[1], -1., a, d);
    for (int i = 0; i < 3; i++) {
        d[i] /= h->size;
    }
    p[2] = farthest_from(h, a, d, NULL, &far);
    if (!(far > 10. * flat * h->size)) {
        return MECH_HULL_FLAT;
    }
    mech_v3_add(h->x + 3 * p[2], -1., a, e);
    mech_v3_cross(d, e, n);
    const double length = mech_v3_norm(n);
    for (int i = 0; i < 3; i++) {
        n[i] /= length;
    }
    p[3] = farthest_from(h, a, NULL, n, &far);
    if (!(far > 10. * flat * h->size)) {
        return MECH_HULL_FLAT;
    }
    mech_v3_add(h->x + 3 * p[3], -1., a, e);
    if (mech_v3_dot(n, e) > 0.) {
        const int32_t swap = p[1];

        p[1] = p[2];
        p[2] = swap;
    }
    for (int k = 0; k < 4; k++) {
        const int32_t t = add_triangle(h, p[corner[k][0]], p[corner[k][1]], p[corner[k][2]]);
        if (t < 0) {
            return MECH_NO_MEMORY;
        }
        h->left[p[k]] = 1;
        memcpy(h->t[t].next, next[k], sizeof next[k]);
    }
    return 0;
}

static int32_t mark_seen(struct hull *h, int32_t start, const double *x)
{
    int32_t count = 1;

    h->seen[0] = start;
    h->t[start].seen = true;
    for (int32_t done = 0; done < count; done++) {
        for (int i = 0; i < 3; i++) {
            const int32_t k = h->t[h->seen[done]].next[i];

            if (!h->t[k].seen && height(&h->t[k], x) > flat * h->size) {
                h->t[k].seen = true;
                h->seen[count++] = k;
            }
        }
    }
    return count;
}

static int edge_of(const struct triangle *t, int32_t from, int32_t to)
{
    for (int i = 0; i < 3; i++) {
        if (t->at[i] == from && t->at[(i + 1) % 3] == to) {
            return i;
        }
    }
    return -1;
}

/* The point replaces the triangles that it sees, which hang together with `start`, by a fan. */
static int take_in(struct hull *h, int32_t start, int32_t point)
{
    const int32_t count = mark_seen(h, start, h->x + 3 * point);
    int32_t fans = 0;

    for (int32_t k = 0; k < count; k++) {
        const struct triangle old = h->t[h->seen[k]];

        for (int i = 0; i < 3; i++) {
            const int32_t from = old.at[i], to = old.at[(i + 1) % 3];

            if (h->t[old.next[i]].seen) {
                continue;
            }
            const int32_t added = add_triangle(h, from, to, point);
            if (added < 0) {
                return MECH_NO_MEMORY;
            }
            const int back = edge_of(&h->t[old.next[i]], to, from);
            if (back < 0 || h->fan[from] >= 0) {
                return MECH_HULL_UNCLEAR;
            }
            h->t[added].next[0] = old.next[i];
            h->t[old.next[i]].next[back] = added;
            h->fan[from] = added;
            h->rim[fans++] = added;
        }
    }
    for (int32_t k = 0; k < fans; k++) {
        const int32_t right = h->fan[h->t[h->rim[k]].at[1]];

        if (right < 0) {
            return MECH_HULL_UNCLEAR;
        }
        h->t[h->rim[k]].next[1] = right;
        h->t[right].next[2] = h->rim[k];
    }
    for (int32_t k = 0; k < fans; k++) {
        h->fan[h->t[h->rim[k]].at[0]] = -1;
    }
    for (int32_t k = 0; k < count; k++) {
        h->t[h->seen[k]].gone = true;
        h->t[h->seen[k]].seen = false;
    }
    return 0;
}

static int grow(struct hull *h)
{
    for (int32_t k = 0; k < h->count; k++) {
        int32_t best = -1;
        double most = flat * h->size;

        if (h->t[k].gone) {
            continue;
        }
        for (int32_t i = 0; i < h->n; i++) {
            const double above = height(&h->t[k], h->x + 3 * i);

            if (above > most) {
                most = above;
                best = i;
            }
        }
        /* above a triangle once more: one so thin that its normal is rounding */
        if (best >= 0 && h->left[best]) {
            return MECH_HULL_UNCLEAR;
        }
        if (best >= 0) {
            h->left[best] = 1;
            MECH_TRY(take_in(h, k, best));
        }
    }
    return 0;
}

/* --- hull: polygons --------------------------------------------------------------------------- */

/* Triangles whose corners lie in the plane of a larger one beside them belong to it, the largest
 * first. `seen` is the stack. */
static void find_regions(struct hull *h)
{
    while (true) {
        int32_t seed = -1, depth = 0;

        for (int32_t k = 0; k < h->count; k++) {
            if (!h->t[k].gone && h->t[k].region < 0 &&
                (seed < 0 || h->t[k].area > h->t[seed].area)) {
                seed = k;
            }
        }
        if (seed < 0) {
            return;
        }
        h->t[seed].region = h->regions;
        h->seen[depth++] = seed;
        while (depth > 0) {
            const int32_t k = h->seen[--depth];

            for (int i = 0; i < 3; i++) {
                struct triangle *const beside = &h->t[h->t[k].next[i]];
                bool in = beside->region < 0;

                for (int j = 0; j < 3 && in; j++) {
                    const double off = height(&h->t[seed], h->x + 3 * beside->at[j]);
                    in = fabs(off) <= 2. * flat * h->size;
                }
                if (in) {
                    beside->region = h->regions;
                    h->seen[depth++] = h->t[k].next[i];
                }
            }
        }
        h->regions++;
    }
}

/* An edge between two regions: of the region whose boundary it is, from one point to another. */
struct side {
    int32_t region, beyond, from, to;
};

static int by_region(const void *a, const void *b)
{
    const struct side *const x = a, *const y = b;

    if (x->region != y->region) {
        return x->region < y->region ? -1 : 1;
    }
    return (x->from > y->from) - (x->from < y->from);
}

/* The sides of all regions, sorted; how many. */
static int32_t find_sides(const struct hull *h, struct side *side)
{
    int32_t count = 0;

    for (int32_t k = 0; k < h->count; k++) {
        const struct triangle *const t = &h->t[k];

        for (int i = 0; i < 3 && !t->gone; i++) {
            const int32_t beyond = h->t[t->next[i]].region;

            if (beyond != t->region) {
                side[count++] = (struct side){t->region, beyond, t->at[i], t->at[(i + 1) % 3]};
            }
        }
    }
    qsort(side, (size_t)count, sizeof *side, by_region);
    return count;
}

/* Normal and level of a polygon by the sums of its edges (M. Newell); d so that no corner is
 * outside. */
static void polygon_plane(const double *vertex, const int32_t *at, int32_t n, double plane[4])
{
    double sum[3] = {0.}, d[3], e[3], cross[3];

    for (int32_t i = 1; i + 1 < n; i++) {
        mech_v3_add(vertex + 3 * at[i], -1., vertex + 3 * at[0], d);
        mech_v3_add(vertex + 3 * at[i + 1], -1., vertex + 3 * at[0], e);
        mech_v3_cross(d, e, cross);
        mech_v3_add(sum, 1., cross, sum);
    }
    const double length = mech_v3_norm(sum);
    plane[3] = -INFINITY;
    for (int i = 0; i < 3; i++) {
        plane[i] = sum[i] / length;
    }
    for (int32_t i = 0; i < n; i++) {
        plane[3] = fmax(plane[3], mech_v3_dot(plane, vertex + 3 * at[i]));
    }
}

/* left[point]: its new number if three regions or more meet there, −1 otherwise; how many stay. */
static int32_t number_corners(const struct hull *h, const struct side *side, int32_t sides)
{
    int32_t count = 0;

    memset(h->left, 0, (size_t)h->n * sizeof *h->left);
    for (int32_t i = 0; i < sides; i++) {
        h->left[side[i].from]++;
    }
    for (int32_t i = 0; i < h->n; i++) {
        h->left[i] = h->left[i] >= 3 ? count++ : -1;
    }
    return count;
}

/* The side of `region` that begins at a point, or −1. */
static int32_t side_from(const struct side *side, int32_t sides, int32_t region, int32_t from)
{
    const struct side key = {.region = region, .from = from};
    const struct side *const at = bsearch(&key, side, (size_t)sides, sizeof *side, by_region);

    return at ? (int32_t)(at - side) : -1;
}

struct parts {
    double *vertex, *plane;
    int32_t *start, *face, *edge;
    int32_t vertices, corners, edges;
};

/* The corners of one region in turn; false when its boundary is not one loop. */
static bool walk(const struct hull *h, const struct side *side, int32_t sides, int32_t first,
                 struct parts *out)
{
    const int32_t region = side[first].region, begin = out->corners;
    int32_t length = 0, here = first, total = 0;

    while (first + total < sides && side[first + total].region == region) {
        total++;
    }
    do {
        const int32_t corner = h->left[side[here].from];

        if (corner >= 0) {
            out->face[out->corners++] = corner;
        }
        here = side_from(side, sides, region, side[here].to);
        length++;
    } while (here >= 0 && here != first && length <= total);
    out->start[region + 1] = out->corners;
    return here == first && length == total && out->corners - begin >= 3;
}

static int fill(const struct hull *h, const struct side *side, int32_t sides, struct parts *out)
{
    for (int32_t i = 0; i < h->n; i++) {
        if (h->left[i] >= 0) {
            memcpy(out->vertex + 3 * h->left[i], h->x + 3 * i, 3 * sizeof *h->x);
        }
    }
    for (int32_t i = 0; i < sides; i++) {
        if (i == 0 || side[i].region != side[i - 1].region) {
            if (!walk(h, side, sides, i, out)) {
                return MECH_HULL_UNCLEAR;
            }
        }
    }
    for (int32_t f = 0; f < h->regions; f++) {
        const int32_t *const at = out->face + out->start[f], n = out->start[f + 1] - out->start[f];

        polygon_plane(out->vertex, at, n, out->plane + 4 * f);
        for (int32_t i = 0; i < n; i++) {
            const int32_t from = at[i], to = at[(i + 1) % n];

            if (from < to) {
                out->edge[2 * out->edges] = from;
                out->edge[2 * out->edges++ + 1] = to;
            }
        }
    }
    /* L. Euler's count: each edge came up once in its own direction and once against it */
    const bool closed =
        out->vertices - out->edges + h->regions == 2 && out->corners == 2 * out->edges;
    return closed ? 0 : MECH_HULL_UNCLEAR;
}

static int make_polygons(struct hull *h, struct mech_arena *arena, struct mech_polyhedron *out)
{
    struct side *const side = calloc(3 * (size_t)h->count, sizeof *side);

    if (!side) {
        return MECH_NO_MEMORY;
    }
    find_regions(h);
    const int32_t sides = find_sides(h, side);
    const size_t corners = (size_t)number_corners(h, side, sides);
    struct parts p = {.vertex = mech_arena_alloc(arena, 3 * corners, sizeof *p.vertex),
                      .plane = mech_arena_alloc(arena, 4 * (size_t)h->regions, sizeof *p.plane),
                      .start = mech_arena_alloc(arena, (size_t)h->regions + 1, sizeof *p.start),
                      .face = mech_arena_alloc(arena, (size_t)sides, sizeof *p.face),
                      .edge = mech_arena_alloc(arena, 2 * (size_t)sides, sizeof *p.edge),
                      .vertices = (int32_t)corners};
    const bool all = p.vertex && p.plane && p.start && p.face && p.edge;
    const int code = all ? fill(h, side, sides, &p) : MECH_NO_MEMORY;

    free(side);
    *out = (struct mech_polyhedron){.vertices = p.vertices,
                                    .faces = h->regions,
                                    .edges = p.edges,
                                    .vertex = p.vertex,
                                    .plane = p.plane,
                                    .face_start = p.start,
                                    .face = p.face,
                                    .edge = p.edge};
    return code;
}

int mech_polyhedron_hull(const double *points, int32_t n, struct mech_arena *arena,
                         struct mech_polyhedron *out)
{
    struct hull h = {.x = points, .n = n, .capacity = 64};

    if (n < 4) {
        return MECH_HULL_FLAT;
    }
    h.t = calloc((size_t)h.capacity, sizeof *h.t);
    h.seen = calloc((size_t)h.capacity, sizeof *h.seen);
    h.rim = calloc((size_t)h.capacity, sizeof *h.rim);
    h.fan = calloc((size_t)n, sizeof *h.fan);
    h.left = calloc((size_t)n, sizeof *h.left);
    int code = h.t && h.seen && h.rim && h.fan && h.left ? 0 : MECH_NO_MEMORY;
    if (code == 0) {
        memset(h.fan, -1, (size_t)n * sizeof *h.fan);
        code = first_triangles(&h);
    }
    code = code == 0 ? grow(&h) : code;
    code = code == 0 ? make_polygons(&h, arena, out) : code;
    free(h.t);
    free(h.seen);
    free(h.rim);
    free(h.fan);
    free(h.left);
    return code;
}
