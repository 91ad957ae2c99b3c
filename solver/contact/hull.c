/* Contact points by what faces what: hull.h.
 *
 * The faces are cut in the plane across the normal (I. Sutherland and G. Hodgman, Comm. ACM 17
 * (1974)); each corner of the result is where two edges meet, of one face or of both, and its
 * feature is made of these two. Corners outside by less than 1e-6 of the size count as inside, so
 * that faces of the same outline do not change features with rounding. */
#include "solver/contact/hull.h"
#include "solver/items/shape/polyhedron.h"
#include "solver/linalg/v3.h"

#include <string.h>

static const double facing_cos = 0.9986, facing_sin = 0.0523; /* 3° */
static const double beside_sin = 0.0087;                      /* half a degree */
static const double flush = 1e-6;

enum { CUT_MOST = 2 * MECH_FACING_MOST, CAP_CORNERS = 8, SECOND = 1 << 16, WITNESS = 1 << 17 };

uint32_t mech_feature_of(uint32_t a, uint32_t b)
{
    uint64_t z = (uint64_t)a << 32 | b;

    /* the mixing of S. Vigna's splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (uint32_t)(z & (MECH_FEATURES_MOST - 1));
}

/* --- what faces a direction ------------------------------------------------------------------- */

static void corner(const struct mech_convex *c, const double local[3], uint32_t id,
                   struct mech_facing *out)
{
    mech_m3_mul(c->R, local, out->x[out->n]);
    mech_v3_add(out->x[out->n], 1., c->p, out->x[out->n]);
    out->id[out->n++] = id;
}

static void face_of_hull(const struct mech_convex *c, int32_t f, struct mech_facing *out)
{
    const struct mech_polyhedron *const h = &c->shape->hull;
    const int32_t *const at = h->face + h->face_start[f];
    const int32_t n = h->face_start[f + 1] - h->face_start[f];
    /* of faces with more corners than fit, some in equal steps */
    const int32_t step = (n + MECH_FACING_MOST - 1) / MECH_FACING_MOST;

    for (int32_t i = 0; i < n; i += step) {
        corner(c, h->vertex + 3 * at[i], (uint32_t)at[i], out);
    }
    mech_m3_mul(c->R, h->plane + 4 * f, out->normal);
}

static void edge_of_hull(const struct mech_convex *c, const double d[3], struct mech_facing *out)
{
    const struct mech_polyhedron *const h = &c->shape->hull;
    const int32_t deepest = mech_polyhedron_farthest(h, d);
    double least = facing_sin;
    int32_t other = -1;

    for (int32_t e = 0; e < h->edges; e++) {
        const int32_t from = h->edge[2 * e], to = h->edge[2 * e + 1];
        double along[3];

        if (from != deepest && to != deepest) {
            continue;
        }
        mech_v3_add(h->vertex + 3 * to, -1., h->vertex + 3 * from, along);
        const double slope = fabs(mech_v3_dot(along, d)) / mech_v3_norm(along);
        if (slope < least) {
            least = slope;
            other = from == deepest ? to : from;
        }
    }
    if (other < 0) {
        corner(c, h->vertex + 3 * deepest, (uint32_t)deepest, out);
        return;
    }
    const int32_t low = other < deepest ? other : deepest, high = other < deepest ? deepest : other;
    corner(c, h->vertex + 3 * low, (uint32_t)low, out);
    corner(c, h->vertex + 3 * high, (uint32_t)high, out);
}

static void facing_hull(const struct mech_convex *c, const double d[3], struct mech_facing *out)
{
    const struct mech_polyhedron *const h = &c->shape->hull;
    double most = facing_cos;
    int32_t face = -1;

    for (int32_t f = 0; f < h->faces; f++) {
        const double along = mech_v3_dot(h->plane + 4 * f, d);

        if (along > most) {
            most = along;
            face = f;
        }
    }
    if (face >= 0) {
        face_of_hull(c, face, out);
    } else {
        edge_of_hull(c, d, out);
    }
}

/* a cap by corners on its rim, a line along the side, or a point of the rim */
static void facing_cylinder(const struct mech_convex *c, const double d[3], struct mech_facing *out)
{
    static const double cosine[CAP_CORNERS] = {1.,  0.70710678118654752,  0., -0.70710678118654752,
                                               -1., -0.70710678118654752, 0., 0.70710678118654752};
    const double r = c->shape->radius, up = d[2] < 0. ? -1. : 1., z = up * c->shape->half_length;
    const double across = hypot(d[0], d[1]);

    if (fabs(d[2]) > facing_cos) {
        const double axis[3] = {0., 0., up};

        for (int i = 0; i < CAP_CORNERS; i++) {
            const int k = up > 0. ? i : (CAP_CORNERS - i) % CAP_CORNERS;
            const double x[3] = {r * cosine[k], r * cosine[(k + 6) % CAP_CORNERS], z};

            corner(c, x, (uint32_t)(k + (up > 0. ? 0 : CAP_CORNERS)), out);
        }
        mech_m3_mul(c->R, axis, out->normal);
        return;
    }
    const double rim[3] = {r * d[0] / across, r * d[1] / across, z};
    const double end[3] = {rim[0], rim[1], -z};
    const bool line = fabs(d[2]) < facing_sin;
    if (line && up > 0.) {
        corner(c, end, 0, out);
    }
    corner(c, rim, up > 0., out);
    if (line && up < 0.) {
        corner(c, end, 1, out);
    }
}

/* The part of c that faces the global unit vector n. Faces and edges count when they are within 3°
 * of a right angle to it. */
static void find_facing(const struct mech_convex *c, const double n[3], struct mech_facing *out)
{
    const struct mech_shape *const s = c->shape;
    double d[3], x[3];

    out->n = 0;
    mech_m3_mul_transposed(c->R, n, d);
    if (s->hull.edges > 0) {
        facing_hull(c, d, out);
    } else if (s->rounding == 0. && s->radius > 0.) {
        facing_cylinder(c, d, out);
    } else if (s->half_length > 0. && fabs(d[2]) < facing_sin) {
        const double low[3] = {0., 0., -s->half_length}, high[3] = {0., 0., s->half_length};

        corner(c, low, 0, out);
        corner(c, high, 1, out);
    } else {
        s->ops->support(s, d, x);
        corner(c, x, s->half_length > 0. && d[2] >= 0., out);
    }
}

/* --- cutting ---------------------------------------------------------------------------------- */

/* A corner of the second's part as it is cut: its place, and the edges before and after it. */
struct cut_corner {
    double x[3], u, v;
    uint32_t in, out;
};

struct cut {
    struct cut_corner at[CUT_MOST];
    int32_t n;
};

/* A line u a + v b = c with the inside below c. */
struct cut_side {
    double a, b, c;
    uint32_t id;
};

static void cut_by(struct cut *p, const struct cut_side *side, double eps)
{
    struct cut q;
    const bool open = p->n == 2;

    q.n = 0;
    for (int32_t i = 0; i < p->n; i++) {
        const struct cut_corner *const from = &p->at[i], *const to = &p->at[(i + 1) % p->n];
        const double s = from->u * side->a + from->v * side->b - side->c;
        const double t = to->u * side->a + to->v * side->b - side->c;
        const bool inside = s <= eps;

        if (inside && q.n < CUT_MOST) {
            q.at[q.n++] = *from;
        }
        /* also no new corner where one that counts as inside lies beyond the line */
        if (inside == (t <= eps) || !(s * t < 0.) || q.n == CUT_MOST || (open && i == 1)) {
            continue;
        }
        struct cut_corner *const new = &q.at[q.n++];
        const double w = s / (s - t);
        for (int k = 0; k < 3; k++) {
            new->x[k] = from->x[k] + w *(to->x[k] - from->x[k]);
        }
        new->u = from->u + w *(to->u - from->u);
        new->v = from->v + w *(to->v - from->v);
        new->in = inside ? from->out : side->id;
        new->out = inside ? side->id : from->out;
    }
    p->n = q.n;
    memcpy(p->at, q.at, (size_t)q.n * sizeof *q.at);
}

/* Axes across n. */
static void axes_of(const double n[3], double u[3], double v[3])
{
    const int i = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2)
                                          : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
    const double axis[3] = {i == 0, i == 1, i == 2};

    mech_v3_cross(n, axis, u);
    const double length = mech_v3_norm(u);
    for (int k = 0; k < 3; k++) {
        u[k] /= length;
    }
    mech_v3_cross(n, u, v);
}

/* What is cut, and the frame in which it is: u, v across the normal, about an origin nearby. */
struct cutting {
    const struct mech_facing *a, *b;
    const double *n;
    double u[3], v[3], origin[3], size;
};

static void flatten(const struct cutting *c, const double x[3], double *u, double *v)
{
    double d[3];

    mech_v3_add(x, -1., c->origin, d);
    *u = mech_v3_dot(d, c->u);
    *v = mech_v3_dot(d, c->v);
}

static void start_cut(const struct cutting *c, struct cut *p)
{
    const struct mech_facing *const b = c->b;

    p->n = b->n;
    for (int32_t i = 0; i < b->n; i++) {
        struct cut_corner *const at = &p->at[i];

        memcpy(at->x, b->x[i], sizeof at->x);
        flatten(c, at->x, &at->u, &at->v);
        at->out = SECOND | b->id[i];
        at->in = SECOND | b->id[(i + b->n - 1) % b->n];
    }
    if (b->n == 2) {
        /* the edge goes both ways: its ends are distinguished by one of them */
        p->at[0].out = p->at[1].in = SECOND | b->id[0];
        p->at[0].in = p->at[1].out = SECOND | b->id[1];
    }
}

/* The sides of a's face, inside of it. */
static void cut_by_face(const struct cutting *c, struct cut *p)
{
    for (int32_t i = 0; i < c->a->n && p->n > 0; i++) {
        const int32_t next = (i + 1) % c->a->n;
        double u, v, w, x;

        flatten(c, c->a->x[i], &u, &v);
        flatten(c, c->a->x[next], &w, &x);
        const double length = hypot(w - u, x - v);
        if (!(length > 0.)) {
            continue;
        }
        const struct cut_side side = {.a = (x - v) / length,
                                      .b = -(w - u) / length,
                                      .c = (u * (x - v) - v * (w - u)) / length,
                                      .id = c->a->id[i]};
        cut_by(p, &side, flush * c->size);
    }
}

/* The ends of a's edge. */
static void cut_by_edge(const struct cutting *c, struct cut *p)
{
    double u, v, w, x;

    flatten(c, c->a->x[0], &u, &v);
    flatten(c, c->a->x[1], &w, &x);
    const double length = hypot(w - u, x - v), a = (w - u) / length, b = (x - v) / length;
    const struct cut_side high = {.a = a, .b = b, .c = a * w + b * x, .id = c->a->id[1]};
    const struct cut_side low = {.a = -a, .b = -b, .c = -a * u - b * v, .id = c->a->id[0]};

    cut_by(p, &high, flush * c->size);
    cut_by(p, &low, flush * c->size);
}

/* Points of the cut, each against a's face along n. */
static int32_t points_on_face(const struct cutting *c, const struct cut *p,
                              struct mech_hull_point *out)
{
    const double down = mech_v3_dot(c->a->normal, c->n);

    for (int32_t i = 0; i < p->n; i++) {
        const struct cut_corner *const at = &p->at[i];
        struct mech_hull_point *const to = &out[i];
        double d[3];

        mech_v3_add(at->x, -1., c->a->x[0], d);
        to->gap = mech_v3_dot(c->a->normal, d) / down;
        memcpy(to->x[1], at->x, sizeof to->x[1]);
        mech_v3_add(at->x, -to->gap, c->n, to->x[0]);
        to->feature = mech_feature_of(at->in, at->out);
    }
    return p->n;
}

/* The same against a's edge: the point of its line beside each corner. */
static int32_t points_on_edge(const struct cutting *c, const struct cut *p,
                              struct mech_hull_point *out)
{
    double along[3];

    mech_v3_add(c->a->x[1], -1., c->a->x[0], along);
    const double square = mech_v3_dot(along, along);
    for (int32_t i = 0; i < p->n; i++) {
        const struct cut_corner *const at = &p->at[i];
        struct mech_hull_point *const to = &out[i];
        double d[3], foot[3];

        mech_v3_add(at->x, -1., c->a->x[0], d);
        mech_v3_add(c->a->x[0], mech_v3_dot(d, along) / square, along, foot);
        mech_v3_add(at->x, -1., foot, d);
        to->gap = mech_v3_dot(d, c->n);
        mech_v3_add(foot, to->gap, c->n, to->x[1]);
        memcpy(to->x[0], foot, sizeof foot);
        to->feature = mech_feature_of(at->in, at->out);
    }
    return p->n;
}

/* Two edges side by side to within half a degree. */
static bool parallel(const struct cutting *c)
{
    double d[3], e[3], cross[3];

    mech_v3_add(c->a->x[1], -1., c->a->x[0], d);
    mech_v3_add(c->b->x[1], -1., c->b->x[0], e);
    mech_v3_cross(d, e, cross);
    return mech_v3_norm(cross) < beside_sin * mech_v3_norm(d) * mech_v3_norm(e);
}

/* All points of what faces what; 0 where one of the two is a point, or two edges cross. */
static int32_t meet(const struct cutting *c, struct mech_hull_point *out)
{
    struct cut p;

    if (c->a->n == 1 || c->b->n == 1) {
        return 0;
    }
    start_cut(c, &p);
    if (c->a->n == 2) {
        if (c->b->n > 2 || !parallel(c)) {
            return 0;
        }
        cut_by_edge(c, &p);
        return points_on_edge(c, &p, out);
    }
    cut_by_face(c, &p);
    return points_on_face(c, &p, out);
}

/* --- choice ----------------------------------------------------------------------------------- */

static double square_between(const struct mech_hull_point *a, const struct mech_hull_point *b)
{
    double d[3];

    mech_v3_add(a->x[1], -1., b->x[1], d);
    return mech_v3_dot(d, d);
}

/* Twice the area of a, b, c, with a sign about the direction d; as a part of |d|. */
static double area_about(const struct mech_hull_point *a, const struct mech_hull_point *b,
                         const struct mech_hull_point *c, const double d[3])
{
    double e[3], f[3], cross[3];

    mech_v3_add(b->x[1], -1., a->x[1], e);
    mech_v3_add(c->x[1], -1., a->x[1], f);
    mech_v3_cross(e, f, cross);
    return mech_v3_dot(cross, d);
}

static void take(struct mech_hull_point *at, int32_t place, int32_t from)
{
    const struct mech_hull_point swap = at[place];

    at[place] = at[from];
    at[from] = swap;
}

/* The deepest; of those as deep to rounding the one farthest from the middle, then the first. */
static int32_t deepest_of(const struct mech_hull_point *at, int32_t n, double size)
{
    struct mech_hull_point middle = {.gap = INFINITY};
    double most = -1.;
    int32_t best = 0;

    for (int32_t i = 0; i < n; i++) {
        mech_v3_add(middle.x[1], 1. / n, at[i].x[1], middle.x[1]);
        middle.gap = fmin(middle.gap, at[i].gap);
    }
    for (int32_t i = 0; i < n; i++) {
        const double far = square_between(&at[i], &middle);

        if (at[i].gap <= middle.gap + flush * size && far > most + flush * size * size) {
            most = far;
            best = i;
        }
    }
    return best;
}

int32_t mech_hull_choose(struct mech_hull_point *at, int32_t n, double size)
{
    const double tie = flush * size * size;

    if (n <= 4) {
        return n;
    }
    take(at, 0, deepest_of(at, n, size));
    int32_t best = 1;
    for (int32_t i = 2; i < n; i++) {
        best = square_between(&at[i], &at[0]) > square_between(&at[best], &at[0]) + tie ? i : best;
    }
    take(at, 1, best);

    /* the farthest to one side of the line of the two, and to the other of the outline so far */
    double e[3], f[3], about[3] = {0.}, widest = 0.;
    best = 2;
    for (int32_t i = 2; i < n; i++) {
        double cross[3];

        mech_v3_add(at[1].x[1], -1., at[0].x[1], e);
        mech_v3_add(at[i].x[1], -1., at[0].x[1], f);
        mech_v3_cross(e, f, cross);
        const double area = mech_v3_norm(cross);
        if (area > widest + tie) {
            widest = area;
            best = i;
            memcpy(about, cross, sizeof about);
        }
    }
    take(at, 2, best);
    const double length = mech_v3_norm(about);
    if (!(length > 0.)) {
        return 2;
    }
    double most = tie * length;
    best = -1;
    for (int32_t i = 3; i < n; i++) {
        const double beyond = fmax(fmax(-area_about(&at[0], &at[1], &at[i], about),
                                        -area_about(&at[1], &at[2], &at[i], about)),
                                   -area_about(&at[2], &at[0], &at[i], about));
        if (beyond > most) {
            most = beyond + tie * length;
            best = i;
        }
    }
    if (best < 0) {
        return 3;
    }
    take(at, 3, best);
    return 4;
}

/* --- contacts --------------------------------------------------------------------------------- */

/* Those within reach; how many. */
static int32_t within(struct mech_hull_point *at, int32_t n, double most)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < n; i++) {
        if (at[i].gap <= most) {
            at[kept++] = at[i];
        }
    }
    return kept;
}

static void number(struct mech_hull_point *at, int32_t n)
{
    /* two features of the same 24 bits: the later one moves on */
    for (int32_t i = 1; i < n; i++) {
        for (int32_t k = 0; k < i; k++) {
            if (at[k].feature == at[i].feature) {
                at[i].feature = (at[i].feature + 1) & (MECH_FEATURES_MOST - 1);
                k = -1;
            }
        }
    }
}

void mech_hull_touch(const struct mech_convex *a, const struct mech_convex *b,
                     const struct mech_convex_gap *gap, struct mech_touching *out)
{
    const double back[3] = {-gap->normal[0], -gap->normal[1], -gap->normal[2]};
    const double ra = a->shape->rounding, rb = b->shape->rounding;
    struct mech_facing first, second;
    struct mech_hull_point at[CUT_MOST + 1];
    double low = INFINITY;

    find_facing(a, gap->normal, &first);
    find_facing(b, back, &second);
    /* what is cut is the second's, by what is a face or by an edge */
    const bool swap = first.n < second.n && first.n < 3;
    struct cutting c = {
        .a = swap ? &second : &first, .b = swap ? &first : &second, .n = swap ? back : gap->normal};
    memcpy(c.origin, gap->point[0], sizeof c.origin);
    axes_of(c.n, c.u, c.v);
    for (int32_t i = 0; i < c.a->n; i++) {
        double d[3];

        mech_v3_add(c.a->x[i], -1., c.a->x[0], d);
        c.size = fmax(c.size, mech_v3_norm(d));
    }
    int32_t n = meet(&c, at);
    for (int32_t i = 0; i < n; i++) {
        at[i].gap -= ra + rb;
        low = fmin(low, at[i].gap);
    }
    n = within(at, n, out->reach);
    n = mech_hull_choose(at, n, c.size);
    /* the closest points, where faces leave them out: corners, crossing edges, rims */
    if (!(low <= gap->gap + flush * c.size)) {
        struct mech_hull_point *const w = &at[n == 4 ? 3 : n++];

        w->gap = gap->gap;
        mech_v3_add(gap->point[swap], swap ? rb : -ra, gap->normal, w->x[0]);
        mech_v3_add(gap->point[!swap], swap ? -ra : rb, gap->normal, w->x[1]);
        w->feature = mech_feature_of(WITNESS | c.a->id[0], c.b->id[0]);
    }
    number(at, n);
    for (int32_t i = 0; i < n; i++) {
        double x[3], y[3];

        mech_v3_add(at[i].x[swap], ra, gap->normal, x);
        mech_v3_add(at[i].x[!swap], -rb, gap->normal, y);
        mech_touching_add(out, at[i].feature, gap->normal, x, y, at[i].gap);
    }
}
