/* The least translation that parts two convex cores which touch or overlap: an expanding polytope
 * (G. van den Bergen, Game Developers Conference 2001) inside W = B − A.
 *
 * A face with outward unit normal m, at distance s from the origin, is a lower bound of the depth;
 * the support h(m) of W is an upper one: moving b by h along −m parts them. The face with the least
 * s takes in the farthest point of W along m, until h = s to rounding. The direction with the least
 * h met is the answer whatever rounding does to thin faces. The origin need not lie inside the
 * first polytope, nor inside of W: cores that merely touch come out with a depth of ±1e-16. */
#include "solver/contact/convex_internal.h"
#include "solver/linalg/v3.h"

#include <float.h>
#include <string.h>

enum { POINTS_MOST = 320, FACES_MOST = 2 * POINTS_MOST };

struct face {
    double m[3], s;  /* outward unit normal; s = ∞: too thin to have one */
    int16_t at[3];   /* points, counterclockwise from outside */
    int16_t next[3]; /* the face beyond the edge from at[i] to at[i + 1] */
    bool gone, seen; /* taken out; visible from the newest point */
};

struct polytope {
    struct mech_convex_point point[POINTS_MOST];
    struct face face[FACES_MOST];
    int16_t free[FACES_MOST]; /* faces that are gone */
    int points, faces, free_count;
    double scale;
};

static void face_plane(const struct polytope *p, struct face *f)
{
    const double *const a = p->point[f->at[0]].w;
    double d[3], e[3];

    mech_v3_add(p->point[f->at[1]].w, -1., a, d);
    mech_v3_add(p->point[f->at[2]].w, -1., a, e);
    mech_v3_cross(d, e, f->m);
    const double area = mech_v3_norm(f->m);
    if (!(area > 1e-14 * mech_v3_norm(d) * mech_v3_norm(e))) {
        memset(f->m, 0, sizeof f->m);
        f->s = INFINITY;
        return;
    }
    for (int i = 0; i < 3; i++) {
        f->m[i] /= area;
    }
    f->s = mech_v3_dot(f->m, a);
}

static int add_face(struct polytope *p, int a, int b, int c)
{
    if (p->free_count == 0 && p->faces == FACES_MOST) {
        return -1;
    }
    const int k = p->free_count > 0 ? p->free[--p->free_count] : p->faces++;
    p->face[k] = (struct face){.at = {(int16_t)a, (int16_t)b, (int16_t)c}};
    face_plane(p, &p->face[k]);
    return k;
}

/* --- the first four points -------------------------------------------------------------------- */

static void support_along(const struct mech_convex_pair *pair, const double m[3], double sign,
                          struct mech_convex_point *out)
{
    const double d[3] = {sign * m[0], sign * m[1], sign * m[2]};

    mech_convex_support(pair, d, out);
}

/* Two points far from each other along the axis of the largest extent; their distance. */
static double first_edge(const struct mech_convex_pair *pair, struct polytope *p)
{
    double longest = -1.;

    for (int i = 0; i < 3; i++) {
        const double axis[3] = {i == 0, i == 1, i == 2};
        struct mech_convex_point low, high;

        support_along(pair, axis, -1., &low);
        support_along(pair, axis, 1., &high);
        p->scale = fmax(p->scale, fmax(mech_v3_norm(low.w), mech_v3_norm(high.w)));
        if (high.w[i] - low.w[i] > longest) {
            longest = high.w[i] - low.w[i];
            p->point[0] = low;
            p->point[1] = high;
        }
    }
    return longest;
}

/* A unit vector across d. */
static void across(const double d[3], double out[3])
{
    const int i = fabs(d[0]) <= fabs(d[1]) ? (fabs(d[0]) <= fabs(d[2]) ? 0 : 2)
                                           : (fabs(d[1]) <= fabs(d[2]) ? 1 : 2);
    const double axis[3] = {i == 0, i == 1, i == 2};

    mech_v3_cross(axis, d, out);
    const double length = mech_v3_norm(out);
    for (int k = 0; k < 3; k++) {
        out[k] = length > 0. ? out[k] / length : axis[k];
    }
}

/* The farthest of the points along ±m from where m · w = level; how far it is. */
static double farthest_of(const struct mech_convex_pair *pair, const double m[3], double level,
                          struct mech_convex_point *out)
{
    struct mech_convex_point low;

    support_along(pair, m, 1., out);
    support_along(pair, m, -1., &low);
    const double above = mech_v3_dot(m, out->w) - level, below = level - mech_v3_dot(m, low.w);
    if (below > above) {
        *out = low;
    }
    return fmax(above, below);
}

/* How many dimensions W has, with that many + 1 points of it and, below 3, a direction m across. */
static int first_points(const struct mech_convex_pair *pair, struct polytope *p, double m[3])
{
    double d[3], e[3], f[3];
    struct mech_convex_point third;
    const double extent = first_edge(pair, p), flat = 1e-10 * extent;

    memset(m, 0, 3 * sizeof *m);
    if (!(extent > 1e-12 * p->scale)) {
        return 0;
    }
    mech_v3_add(p->point[1].w, -1., p->point[0].w, d);
    across(d, e);
    mech_v3_cross(d, e, f);
    const double length = mech_v3_norm(f);
    for (int i = 0; i < 3; i++) {
        f[i] /= length;
    }
    memcpy(m, e, sizeof e);
    const double wide = farthest_of(pair, e, mech_v3_dot(e, p->point[0].w), &p->point[2]);
    const double high = farthest_of(pair, f, mech_v3_dot(f, p->point[0].w), &third);
    if (high > wide) {
        p->point[2] = third;
    }
    if (!(fmax(wide, high) > flat)) {
        return 1;
    }
    mech_v3_add(p->point[2].w, -1., p->point[0].w, e);
    mech_v3_cross(d, e, m);
    const double area = mech_v3_norm(m);
    for (int i = 0; i < 3; i++) {
        m[i] /= area;
    }
    return farthest_of(pair, m, mech_v3_dot(m, p->point[0].w), &p->point[3]) > flat ? 3 : 2;
}

static void first_faces(struct polytope *p)
{
    static const int16_t at[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
    static const int16_t next[4][3] = {{2, 3, 1}, {0, 3, 2}, {1, 3, 0}, {2, 1, 0}};
    double d[3], e[3], f[3], n[3];

    /* counterclockwise from outside: the fourth point lies below the first three */
    mech_v3_add(p->point[1].w, -1., p->point[0].w, d);
    mech_v3_add(p->point[2].w, -1., p->point[0].w, e);
    mech_v3_add(p->point[3].w, -1., p->point[0].w, f);
    mech_v3_cross(d, e, n);
    if (mech_v3_dot(n, f) > 0.) {
        const struct mech_convex_point swap = p->point[1];

        p->point[1] = p->point[2];
        p->point[2] = swap;
    }
    p->points = 4;
    for (int k = 0; k < 4; k++) {
        const int added = add_face(p, at[k][0], at[k][1], at[k][2]);
        memcpy(p->face[added].next, next[k], sizeof next[k]);
    }
}

/* --- growth ----------------------------------------------------------------------------------- */

/* Mark the faces that the newest point sees, from `start` across edges; how many. */
static int mark_seen(struct polytope *p, int start, int16_t *seen)
{
    const double *const w = p->point[p->points - 1].w;
    int count = 1;

    seen[0] = (int16_t)start;
    p->face[start].seen = true;
    for (int done = 0; done < count; done++) {
        for (int i = 0; i < 3; i++) {
            const int k = p->face[seen[done]].next[i];
            struct face *const f = &p->face[k];

            if (!f->seen && mech_v3_dot(f->m, w) > f->s + 1e-12 * p->scale) {
                f->seen = true;
                seen[count++] = (int16_t)k;
            }
        }
    }
    return count;
}

static int edge_to(const struct face *f, int from, int to)
{
    for (int i = 0; i < 3; i++) {
        if (f->at[i] == from && f->at[(i + 1) % 3] == to) {
            return i;
        }
    }
    return -1;
}

/* The newest point replaces what it sees by a fan to the horizon. False: it cannot. */
static bool grow(struct polytope *p, int start)
{
    int16_t seen[FACES_MOST], rim[FACES_MOST], fan_at[POINTS_MOST];
    const int top = p->points - 1, count = mark_seen(p, start, seen);
    int fans = 0;

    memset(fan_at, -1, sizeof fan_at);
    for (int k = 0; k < count; k++) {
        const struct face f = p->face[seen[k]];

        for (int i = 0; i < 3; i++) {
            struct face *const beyond = &p->face[f.next[i]];
            const int from = f.at[i], to = f.at[(i + 1) % 3];

            if (beyond->seen && !beyond->gone) {
                continue;
            }
            const int added = add_face(p, from, to, top), back = edge_to(beyond, to, from);
            /* a horizon that passes a point twice comes of rounding: the polytope ends here */
            if (added < 0 || back < 0 || fan_at[from] >= 0) {
                return false;
            }
            p->face[added].next[0] = f.next[i];
            beyond->next[back] = (int16_t)added;
            fan_at[from] = (int16_t)added;
            rim[fans++] = (int16_t)added;
        }
    }
    for (int k = 0; k < fans; k++) {
        const int right = fan_at[p->face[rim[k]].at[1]];

        if (right < 0) {
            return false;
        }
        p->face[rim[k]].next[1] = (int16_t)right;
        p->face[right].next[2] = rim[k];
    }
    for (int k = 0; k < count; k++) {
        p->face[seen[k]].gone = true;
        p->face[seen[k]].seen = false;
        p->free[p->free_count++] = seen[k];
    }
    return true;
}

static int nearest_face(const struct polytope *p)
{
    int best = -1;

    for (int k = 0; k < p->faces; k++) {
        if (!p->face[k].gone && (best < 0 || p->face[k].s < p->face[best].s)) {
            best = k;
        }
    }
    return best;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* W is flat and the origin lies in it: any direction across will do, that to b's frame if it can */
static void part_flat(const struct mech_convex_pair *pair, int dimensions, const double m[3],
                      const struct polytope *p, double out[3])
{
    double n[3] = {pair->shift[0], pair->shift[1], pair->shift[2]};

    if (dimensions == 1) {
        double d[3];

        mech_v3_add(p->point[1].w, -1., p->point[0].w, d);
        mech_v3_add(n, -mech_v3_dot(n, d) / mech_v3_dot(d, d), d, n);
    } else if (dimensions == 2) {
        const double sign = mech_v3_dot(n, m) < 0. ? -1. : 1.;

        for (int i = 0; i < 3; i++) {
            n[i] = sign * m[i];
        }
    }
    const double length = mech_v3_norm(n);
    for (int i = 0; i < 3; i++) {
        out[i] = length > 1e-9 * p->scale ? n[i] / length : dimensions ? m[i] : i == 2;
    }
}

static bool is_curved(const struct mech_convex *c)
{
    return c->shape->rounding == 0. && c->shape->radius > 0.;
}

void mech_convex_part(const struct mech_convex_pair *pair, double scale, double n[3])
{
    struct polytope p;
    /* the faces of a polyhedron are reached; a curved one is approached, by a part of the error a
     * step */
    const double enough = (is_curved(pair->a) || is_curved(pair->b) ? 3e-13 : 4. * DBL_EPSILON);
    double m[3], best[3], least = INFINITY;

    p.points = p.faces = p.free_count = 0;
    p.scale = scale;
    const int dimensions = first_points(pair, &p, m);
    if (dimensions < 3) {
        part_flat(pair, dimensions, m, &p, n);
        return;
    }
    memcpy(best, m, sizeof best);
    first_faces(&p);
    while (p.points < POINTS_MOST) {
        const int k = nearest_face(&p);

        /* no face is below what has been reached: the least h is the depth */
        if (k < 0 || p.face[k].s >= least - DBL_EPSILON * p.scale) {
            break;
        }
        struct mech_convex_point *const top = &p.point[p.points];
        mech_convex_support(pair, p.face[k].m, top);
        const double h = mech_v3_dot(p.face[k].m, top->w);
        if (h < least) {
            least = h;
            memcpy(best, p.face[k].m, sizeof best);
        }
        if (h - p.face[k].s <= enough * p.scale) {
            break;
        }
        p.points++;
        if (!grow(&p, k)) {
            break;
        }
    }
    for (int i = 0; i < 3; i++) {
        n[i] = -best[i];
    }
}
