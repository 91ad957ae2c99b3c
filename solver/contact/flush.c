/* Flush neighbours; see flush.h. */
#include "solver/contact/flush.h"

#include "solver/base/err.h"
#include "solver/contact/broad.h"
#include "solver/contact/convex.h"
#include "solver/contact/flush_from.h"
#include "solver/contact/scene.h"
#include "solver/linalg/v3.h"

#include <stdlib.h>
#include <string.h>

/* of the smaller size: gaps between flush faces; how far is looked beyond a contact's point; what
 * of that a direction must lead on into the neighbour */
#define FLUSH 1e-6
#define LOOK 1e-4
#define LEADS 0.05
/* sine to the surface at x at which a direction leads into a neighbour that ends there */
#define LEANS 1e-5
/* sine at which a collider rises from its neighbour's surface in a groove, where both push */
#define RISES 0.1
/* rad, within which a direction is that of a surface */
#define TURNS 1e-4
/* of a distance, how far a mesh may bend away from the plane of one of its faces */
#define BENDS 0.1
/* of how far is looked: how far below a mesh is more than what is pressed into it; how far beyond
 * its rim a shape must be in it */
#define DEEP 100.
#define IN 20.
/* how much the direction out of a collider counts among a shape's farthest points */
#define TILTS 1e-3

/* Bounds in the frame of the body, a little larger. */
static struct mech_bounds bounds(const struct mech_collider *c)
{
    struct mech_bounds out;

    for (int i = 0; i < 3; i++) {
        double middle = c->p[i], half = FLUSH * mech_flush_size(c);

        for (int k = 0; k < 3 && isfinite(half); k++) {
            middle += 0.5 * c->R[3 * i + k] * (c->shape.high[k] + c->shape.low[k]);
            half += 0.5 * fabs(c->R[3 * i + k]) * (c->shape.high[k] - c->shape.low[k]);
        }
        out.low[i] = middle - half;
        out.high[i] = middle + half;
    }
    return out;
}

static bool is_plane(const struct mech_collider *c)
{
    return mech_flush_kind_of(c) == MECH_FLUSH_PLANE;
}

static bool are_flush(const struct mech_collider *a, const struct mech_collider *b)
{
    return !(is_plane(a) && is_plane(b)) &&
           mech_flush_touch(a, b, FLUSH * fmin(mech_flush_size(a), mech_flush_size(b)));
}

/* --- building --------------------------------------------------------------------------------- */

struct building {
    const struct mech_collider *colliders;
    struct mech_broad broad;
    struct mech_bounds *box; /* [n] */
    int32_t *who, *apart;    /* [n] colliders of one body; 0 … so that each counts as a body */
    int32_t *pair;           /* [2 × count] flush ones */
    int32_t count, capacity;
};

static int add(struct building *b, int32_t i, int32_t j)
{
    if (b->count == b->capacity) {
        const int32_t capacity = 2 * b->capacity + 64;
        int32_t *const pair = realloc(b->pair, 2 * (size_t)capacity * sizeof *pair);

        if (!pair) {
            return MECH_NO_MEMORY;
        }
        b->pair = pair;
        b->capacity = capacity;
    }
    b->pair[2 * b->count] = i;
    b->pair[2 * b->count + 1] = j;
    b->count++;
    return 0;
}

/* Among the n colliders in `who`, of one body. */
static int among(struct building *b, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        b->box[k] = bounds(&b->colliders[b->who[k]]);
        b->apart[k] = k;
    }
    MECH_TRY(mech_broad_find(&b->broad, b->box, b->apart, n));
    for (int32_t k = 0; k < b->broad.pairs; k++) {
        const int32_t i = b->who[b->broad.pair[2 * k]], j = b->who[b->broad.pair[2 * k + 1]];

        if (are_flush(&b->colliders[i], &b->colliders[j])) {
            MECH_TRY(add(b, i, j));
        }
    }
    return 0;
}

/* All bodies, one after the other: colliders sorted by body into `order` [n], the ground first. */
static int find(struct building *b, int32_t n, int32_t bodies, int32_t *order, int32_t *start)
{
    const struct mech_collider *const c = b->colliders;

    for (int32_t i = 0; i < n; i++) {
        start[c[i].body + 2] += mech_flush_kind_of(&c[i]) != MECH_FLUSH_NONE;
    }
    for (int32_t k = 0; k <= bodies; k++) {
        start[k + 1] += start[k];
    }
    for (int32_t i = 0; i < n; i++) {
        if (mech_flush_kind_of(&c[i]) != MECH_FLUSH_NONE) {
            order[start[c[i].body + 1]++] = i;
        }
    }
    /* each start has moved to the next one's */
    for (int32_t k = 0, from = 0; k <= bodies; from = start[k++]) {
        const int32_t count = start[k] - from;

        if (count > 1) {
            memcpy(b->who, order + from, (size_t)count * sizeof *order);
            MECH_TRY(among(b, count));
        }
    }
    return 0;
}

/* The pairs as lists, both ways; a plane has no edges, and none. */
static int list(const struct building *b, int32_t n, struct mech_flush *out)
{
    if (b->count == 0) {
        return 0;
    }
    out->start = calloc((size_t)n + 2, sizeof *out->start);
    out->at = calloc(2 * (size_t)b->count, sizeof *out->at);
    if (!out->start || !out->at) {
        mech_flush_fini(out);
        return MECH_NO_MEMORY;
    }
    for (int32_t k = 0; k < 2 * b->count; k++) {
        out->start[b->pair[k] + 2] += !is_plane(&b->colliders[b->pair[k]]);
    }
    for (int32_t i = 0; i < n; i++) {
        out->start[i + 2] += out->start[i + 1];
    }
    for (int32_t k = 0; k < 2 * b->count; k++) {
        if (!is_plane(&b->colliders[b->pair[k]])) {
            out->at[out->start[b->pair[k] + 1]++] = b->pair[k ^ 1];
        }
    }
    return 0;
}

int mech_flush_build(const struct mech_collider *colliders, int32_t n, int32_t bodies,
                     struct mech_flush *out)
{
    const size_t most = (size_t)n + 1;
    struct building b = {.colliders = colliders};
    int32_t *const order = calloc(most, sizeof *order);
    int32_t *const start = calloc((size_t)bodies + 3, sizeof *start);

    *out = (struct mech_flush){.start = NULL};
    b.box = calloc(most, sizeof *b.box);
    b.who = calloc(most, sizeof *b.who);
    b.apart = calloc(most, sizeof *b.apart);
    int code = order && start && b.box && b.who && b.apart ? 0 : MECH_NO_MEMORY;

    code = code ? code : find(&b, n, bodies, order, start);
    code = code ? code : list(&b, n, out);
    mech_broad_fini(&b.broad);
    free(b.box);
    free(b.who);
    free(b.apart);
    free(b.pair);
    free(order);
    free(start);
    return code;
}

void mech_flush_fini(struct mech_flush *f)
{
    free(f->start);
    free(f->at);
    *f = (struct mech_flush){.start = NULL};
}

size_t mech_flush_memory(const struct mech_flush *f, int32_t n)
{
    return f->start ? ((size_t)n + 2 + (size_t)f->start[n]) * sizeof *f->start : 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Whether x is on the neighbour, which reaches over the plane through x with normal n: then n is
 * no normal of both together. What is on its far side, as the top of the next tile, counts as well
 * as what is near x, since it is convex. */
static bool reaches_over(const struct mech_collider *c, const struct mech_collider *neighbour,
                         const double x[3], const double n[3])
{
    const double size = is_plane(neighbour) ? mech_flush_size(c) : mech_flush_size(neighbour);

    return mech_flush_reaches_over(neighbour, x, n, NULL, FLUSH * size, LEANS);
}

/* How far a point is over the face of the neighbour at the nearest point. */
static double over_face(const struct mech_flush_gap *gap, const double x[3])
{
    double d[3];

    mech_v3_add(x, -1., gap->point, d);
    return mech_v3_dot(d, gap->face);
}

/* Where a line from a point below the face at the nearest point to one over it meets its plane. */
static void cross_face(const struct mech_flush_gap *gap, const double from[3], const double to[3],
                       double at[3])
{
    const double under = fmax(-over_face(gap, from), 0.), over = fmax(over_face(gap, to), 0.);
    double d[3];

    mech_v3_add(to, -1., from, d);
    mech_v3_add(from, over + under > 0. ? under / (over + under) : 0., d, at);
}

/* How far a point in the plane of the face at the nearest point may be from the mesh: it bends. */
static double bend(const struct mech_flush_gap *gap, const double at[3], double look)
{
    double d[3];

    mech_v3_add(at, -1., gap->point, d);
    return look + BENDS * mech_v3_norm(d);
}

/* Whether a point is on the mesh, at most `most` over or under it. */
static bool is_on_mesh(const struct mech_collider *mesh, const double at[3], double most)
{
    struct mech_flush_gap there;

    return mech_flush_from(mesh, at, most, &there) && fabs(there.gap) <= most &&
           mech_v3_norm(there.beside) == 0.;
}

/* A point within a convex shape: the mean of its farthest ones in some directions and against
 * them, which is the middle of all that have one. */
static void middle_of(const struct mech_convex *shape, double out[3])
{
    static const double ways[3][3] = {{1., 0.37, 0.19}, {-0.23, 1., 0.31}, {0.29, -0.17, 1.}};

    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < 6; i++) {
        double d[3] = {0.}, x[3];

        mech_v3_add(d, i % 2 ? -1. : 1., ways[i / 2], d);
        mech_convex_farthest(shape, d, x);
        mech_v3_add(out, 1. / 6., x, out);
    }
}

/* Whether the other, a convex one with its farthest point `top` over the face, is on the mesh also
 * a little farther from `at` toward the middle of what of it is in the plane of the face: it does
 * not only graze the rim there. Between the two the mesh may have a fold of any angle. */
static bool reaches_in(const struct mech_flush_contact *k, const struct mech_collider *mesh,
                       const struct mech_flush_gap *gap, const double top[3], const double at[3],
                       double look)
{
    const struct mech_convex shape = {
        .shape = &k->other->shape, .p = k->other->p, .R = k->other->R};
    double middle[3], d[3], in[3];

    middle_of(&shape, middle);
    if (over_face(gap, middle) > 0.) {
        cross_face(gap, k->x, middle, d);
    } else {
        cross_face(gap, middle, top, d);
    }
    mech_v3_add(d, -1., at, d);
    const double step = fmin(mech_v3_norm(d), IN * look);
    mech_v3_add(at, step > 0. ? step / mech_v3_norm(d) : 0., d, in);
    return is_on_mesh(mesh, in, bend(gap, at, look) + step);
}

/* Whether the other collider of a contact is in the mesh, below which the contact is: over its face
 * and at its point above, too, or, as a cone that stands there, where the line from x to the
 * farthest point over the face, of several the one that is farthest toward the mesh, meets it. */
static bool is_in_both(const struct mech_flush_contact *k, const struct mech_collider *mesh,
                       const struct mech_flush_gap *gap, double look)
{
    const struct mech_convex shape = {
        .shape = &k->other->shape, .p = k->other->p, .R = k->other->R};
    struct mech_flush_gap there;
    double top[3], d[3], at[3];

    /* beside the mesh, and the way out of c leads away from it: not in the groove below a ramp */
    if (mech_v3_norm(gap->beside) > 0. &&
        mech_v3_dot(gap->beside, k->n) > -LEADS * mech_v3_norm(gap->beside)) {
        return false;
    }
    const bool is_here =
        mech_flush_from(k->other, gap->point, fmax(k->gap, 0.) + 2. * look, &there);
    if (mech_flush_kind_of(k->other) != MECH_FLUSH_CONVEX) {
        return is_here;
    }
    mech_convex_farthest(&shape, gap->face, top);
    if (over_face(gap, top) <= 0.) {
        return false;
    }
    if (is_here && gap->gap >= -DEEP * look) {
        return true;
    }
    mech_v3_add(gap->face, TILTS, k->n, d);
    mech_convex_farthest(&shape, d, top);
    if (is_here) {
        return reaches_in(k, mesh, gap, top, gap->point, look);
    }
    cross_face(gap, k->x, top, at);
    return over_face(gap, top) > 0. && is_on_mesh(mesh, at, bend(gap, at, look)) &&
           reaches_in(k, mesh, gap, top, at, look);
}

/* Whether the collider rises from the plane through x with this normal by more than a sine, across
 * the groove that is along `edge`. */
static bool rises(const struct mech_collider *c, const double x[3], const double normal[3],
                  const double edge[3], double sine)
{
    return mech_flush_reaches_over(c, x, normal, edge, FLUSH * mech_flush_size(c), sine);
}

/* Whether a contact over a groove between the collider and its neighbour, whose surface has this
 * normal there, is one of its own side: the groove is deep, or the direction does not lean from
 * the side toward the neighbour: turned away by TURNS, the collider rises over it. */
static bool is_own(const struct mech_collider *c, const struct mech_flush_contact *k,
                   const double normal[3], bool leads)
{
    double edge[3], away[3], turned[3];

    mech_v3_cross(k->n, normal, edge);
    if (mech_v3_norm(edge) < LEANS) {
        memset(edge, 0, sizeof edge);
    }
    if (rises(c, k->x, normal, edge, RISES)) {
        return true;
    }
    if (leads || !rises(c, k->x, normal, edge, 0.5 * LEANS)) {
        return false;
    }
    mech_v3_add(normal, -mech_v3_dot(normal, k->n), k->n, away);
    const double length = mech_v3_norm(away);
    mech_v3_add(k->n, TURNS / fmax(length, TURNS), away, turned);
    return length < TURNS || rises(c, k->x, turned, edge, 0.25 * TURNS);
}

bool mech_flush_hides(const struct mech_collider *c, const struct mech_collider *neighbour,
                      const struct mech_flush_contact *k)
{
    const double look = LOOK * fmin(mech_flush_size(c), mech_flush_size(neighbour));
    double probe[3], along[3], beyond[3];
    struct mech_flush_gap gap, left;

    mech_v3_add(k->x, look, k->n, probe);
    if (!mech_flush_from(neighbour, probe, look, &gap)) {
        return false;
    }
    if (gap.gap < 0. && mech_flush_kind_of(neighbour) == MECH_FLUSH_MESH &&
        !is_in_both(k, neighbour, &gap, look)) {
        return false;
    }
    if (gap.gap > 0.) {
        mech_v3_add(gap.point, -1., k->x, along);
        const bool leads = mech_v3_dot(along, k->n) >= LEADS * look;

        if (is_own(c, k, gap.normal, leads) ||
            (!leads && !reaches_over(c, neighbour, k->x, k->n))) {
            return false;
        }
    }
    mech_v3_add(k->x, 2. * look - fmin(gap.gap, 0.), gap.normal, beyond);
    return !mech_flush_from(c, beyond, 0.5 * look, &left);
}

bool mech_flush_goes_on(const struct mech_flush_of *f, const double x[3])
{
    const struct mech_collider *const mesh = &f->scene->colliders[f->mesh];
    double at[3];

    mech_m3_mul(mesh->R, x, at);
    mech_v3_add(at, 1., mesh->p, at);
    for (int32_t k = 0; k < f->n; k++) {
        const struct mech_collider *const next = &f->scene->colliders[f->at[k]];
        const double most = FLUSH * fmin(mech_flush_size(mesh), mech_flush_size(next));
        struct mech_flush_gap gap;

        /* not below it, where what bounds nothing may be overhead */
        if (mech_scene_may(f->scene, f->at[k], f->other) && mech_flush_from(next, at, most, &gap) &&
            gap.gap >= -most) {
            return true;
        }
    }
    return false;
}
