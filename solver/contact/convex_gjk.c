/* The closest points of two convex cores (E. Gilbert, D. Johnson and S. Keerthi, IEEE J. Robotics
 * Automation 4 (1988)): a simplex of points of W = B − A moves toward the origin. Of all subsets of
 * up to four points that hold the newest, the one with the closest valid projection stays; that
 * costs some 300 flops an iteration and needs no decision by the sign of a difference alone. */
#include "solver/contact/convex_internal.h"
#include "solver/linalg/v3.h"

#include <float.h>
#include <string.h>

enum { ITERATIONS_MOST = 128 };

/* points this near to each other's cores, as a part of the size, go the way of overlapping ones:
 * below, rounding would spoil the direction of v */
static const double meets = 1e-9;

static void subtract(const double a[3], const double b[3], double out[3])
{
    mech_v3_add(a, -1., b, out);
}

struct projection {
    double weight[3], v[3], square; /* |v|² */
};

static void finish(struct projection *p)
{
    p->square = mech_v3_dot(p->v, p->v);
}

/* Foot of the perpendicular from the origin on the line; false: outside of the segment. */
static bool on_segment(const double a[3], const double b[3], struct projection *out)
{
    double d[3];

    subtract(b, a, d);
    const double square = mech_v3_dot(d, d), t = -mech_v3_dot(a, d);
    if (!(t > 0. && t < square)) {
        return false;
    }
    out->weight[1] = t / square;
    out->weight[0] = 1. - out->weight[1];
    mech_v3_add(a, out->weight[1], d, out->v);
    finish(out);
    return true;
}

/* The same on the plane of three points. v lies along its normal, which keeps its direction however
 * short it is; of a thin triangle, whose normal is not known as well, it is the weighted sum. */
static bool on_triangle(const double a[3], const double b[3], const double c[3],
                        struct projection *out)
{
    double d[3], e[3], n[3], cross[3];

    subtract(b, a, d);
    subtract(c, a, e);
    mech_v3_cross(d, e, n);
    const double square = mech_v3_dot(n, n);
    /* a sliver as thin as rounding has no normal; its edges are checked anyway */
    if (!(square > 1e-28 * mech_v3_dot(d, d) * mech_v3_dot(e, e))) {
        return false;
    }
    mech_v3_cross(e, a, cross);
    const double at_b = mech_v3_dot(cross, n);
    mech_v3_cross(a, d, cross);
    const double at_c = mech_v3_dot(cross, n);
    if (!(at_b > 0. && at_c > 0. && at_b + at_c < square)) {
        return false;
    }
    out->weight[1] = at_b / square;
    out->weight[2] = at_c / square;
    out->weight[0] = 1. - out->weight[1] - out->weight[2];
    const double height = mech_v3_dot(a, n) / square;
    double off = 0., size = 0.;
    for (int i = 0; i < 3; i++) {
        const double sum = a[i] + out->weight[1] * d[i] + out->weight[2] * e[i];

        out->v[i] = sum;
        n[i] *= height;
        off = fmax(off, fabs(sum - n[i]));
        size = fmax(size, fmax(fabs(a[i]), fmax(fabs(b[i]), fabs(c[i]))));
    }
    if (off <= 4. * DBL_EPSILON * size) {
        memcpy(out->v, n, sizeof n);
    }
    finish(out);
    return true;
}

/* The origin lies inside of four points that are not flat. */
static bool inside(const struct mech_convex_point *at, double weight[4])
{
    double d[3], e[3], f[3], n[3];

    subtract(at[1].w, at[0].w, d);
    subtract(at[2].w, at[0].w, e);
    subtract(at[3].w, at[0].w, f);
    mech_v3_cross(e, f, n);
    const double volume = mech_v3_dot(d, n);
    if (!(fabs(volume) > 1e-13 * mech_v3_norm(d) * mech_v3_norm(e) * mech_v3_norm(f))) {
        return false;
    }
    weight[1] = -mech_v3_dot(at[0].w, n) / volume;
    mech_v3_cross(f, d, n);
    weight[2] = -mech_v3_dot(at[0].w, n) / volume;
    mech_v3_cross(d, e, n);
    weight[3] = -mech_v3_dot(at[0].w, n) / volume;
    weight[0] = 1. - weight[1] - weight[2] - weight[3];
    return weight[0] >= 0. && weight[1] >= 0. && weight[2] >= 0. && weight[3] >= 0.;
}

/* If p is closer than the best: it is. `members` are the points that its weights belong to. */
static void prefer(const struct projection *p, const int members[3], int count,
                   struct projection *best, double weight[4])
{
    if (p->square < best->square) {
        *best = *p;
        memset(weight, 0, 4 * sizeof *weight);
        for (int i = 0; i < count; i++) {
            weight[members[i]] = p->weight[i];
        }
    }
}

/* The weights [n] of simplex points closest to the origin among all of their subsets that hold the
 * last; v the closest point. True when the origin lies inside of four. */
static bool closest(const struct mech_convex_point *at, int n, double *weight, double v[3])
{
    const int last = n - 1;
    struct projection best = {.square = INFINITY}, p = {.weight = {1.}};
    double w[4] = {0.};

    if (n == 4 && inside(at, w)) {
        memcpy(weight, w, sizeof w);
        memset(v, 0, 3 * sizeof *v);
        return true;
    }
    memcpy(p.v, at[last].w, sizeof p.v);
    finish(&p);
    prefer(&p, (const int[3]){last}, 1, &best, w);
    for (int i = 0; i < last; i++) {
        if (on_segment(at[i].w, at[last].w, &p)) {
            prefer(&p, (const int[3]){i, last}, 2, &best, w);
        }
        for (int k = i + 1; k < last; k++) {
            if (on_triangle(at[i].w, at[k].w, at[last].w, &p)) {
                prefer(&p, (const int[3]){i, k, last}, 3, &best, w);
            }
        }
    }
    memcpy(weight, w, (size_t)n * sizeof *weight);
    memcpy(v, best.v, sizeof best.v);
    return false;
}

/* Points without weight are dropped. */
static void compact(struct mech_convex_simplex *s)
{
    int kept = 0;

    for (int i = 0; i < s->n; i++) {
        if (s->weight[i] > 0.) {
            s->at[kept] = s->at[i];
            s->weight[kept++] = s->weight[i];
        }
    }
    s->n = kept;
}

static bool known(const struct mech_convex_simplex *s, const double w[3])
{
    for (int i = 0; i < s->n; i++) {
        if (s->at[i].w[0] == w[0] && s->at[i].w[1] == w[1] && s->at[i].w[2] == w[2]) {
            return true;
        }
    }
    return false;
}

enum mech_convex_end mech_convex_distance(const struct mech_convex_pair *pair, double most,
                                          struct mech_convex_simplex *s)
{
    double length = mech_v3_norm(pair->shift);
    double m[3] = {-pair->shift[0], -pair->shift[1], -pair->shift[2]};

    if (!(length > 0.)) {
        m[0] = 1.;
    }
    s->n = 1;
    s->weight[0] = 1.;
    mech_convex_support(pair, m, &s->at[0]);
    memcpy(s->v, s->at[0].w, sizeof s->v);
    length = s->scale = mech_v3_norm(s->v);
    /* of curved cores the last digits of |v| cost those of its direction: the step with the largest
     * bound from below is the answer, not the last one */
    struct mech_convex_simplex best = *s;
    double highest = -INFINITY;
    for (int k = 0; k < ITERATIONS_MOST && length > meets * s->scale; k++) {
        struct mech_convex_simplex next = *s;
        struct mech_convex_point *const p = &next.at[next.n++];

        for (int i = 0; i < 3; i++) {
            m[i] = -s->v[i];
        }
        mech_convex_support(pair, m, p);
        next.scale = fmax(s->scale, mech_v3_norm(p->w));
        const double bound = mech_v3_dot(s->v, p->w) / length;
        if (bound > most) {
            return MECH_CONVEX_FAR;
        }
        if (bound >= highest - 4. * DBL_EPSILON * next.scale) {
            highest = fmax(highest, bound);
            best = *s;
        }
        if (length - highest <= 2. * DBL_EPSILON * next.scale || known(s, p->w)) {
            break;
        }
        if (closest(next.at, next.n, next.weight, next.v)) {
            *s = next;
            return MECH_CONVEX_MEETS;
        }
        const double shorter = mech_v3_norm(next.v);
        if (!(shorter < length)) {
            break;
        }
        compact(&next);
        *s = next;
        length = shorter;
    }
    if (!(length > meets * s->scale)) {
        return MECH_CONVEX_MEETS;
    }
    best.scale = s->scale;
    *s = best;
    return MECH_CONVEX_APART;
}
