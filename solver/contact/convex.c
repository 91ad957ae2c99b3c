/* Signed distance of two convex shapes: convex.h. Core to core, then a face that fits as well
 * takes the direction's place, then the roundings.
 *
 * For any unit n, sep(n) = min over W of n · w is a lower bound of the signed distance, which is
 * its maximum over n; so a face's normal with the same sep to rounding is as good, and does not
 * carry the error of a short v. */
#include "solver/contact/convex.h"
#include "solver/contact/convex_internal.h"
#include "solver/linalg/v3.h"

#include <float.h>
#include <string.h>

/* farthest point of a core along m, from the frame's origin, in global axes */
static void core_farthest(const struct mech_convex *c, const double m[3], double sign,
                          double out[3])
{
    const double d[3] = {sign * m[0], sign * m[1], sign * m[2]};
    double local[3], at[3];

    mech_m3_mul_transposed(c->R, d, local);
    c->shape->ops->support(c->shape, local, at);
    mech_m3_mul(c->R, at, out);
}

void mech_convex_support(const struct mech_convex_pair *pair, const double m[3],
                         struct mech_convex_point *out)
{
    core_farthest(pair->a, m, -1., out->a);
    core_farthest(pair->b, m, 1., out->b);
    mech_v3_add(out->b, 1., pair->shift, out->b);
    mech_v3_add(out->b, -1., out->a, out->w);
}

void mech_convex_farthest(const struct mech_convex *c, const double d[3], double out[3])
{
    const double length = mech_v3_norm(d);

    core_farthest(c, d, 1., out);
    mech_v3_add(c->p, 1., out, out);
    if (length > 0.) {
        mech_v3_add(out, c->shape->rounding / length, d, out);
    }
}

static double separation(const struct mech_convex_pair *pair, const double n[3])
{
    const double back[3] = {-n[0], -n[1], -n[2]};
    struct mech_convex_point p;

    mech_convex_support(pair, back, &p);
    return mech_v3_dot(n, p.w);
}

/* The outward normal of a flat face of c's core that is nearest to the global unit vector n, in
 * global axes; false: none within a thousandth. */
static bool face_along(const struct mech_convex *c, double sign, const double n[3], double out[3])
{
    const struct mech_shape *const s = c->shape;
    const double d[3] = {sign * n[0], sign * n[1], sign * n[2]};
    double local[3], most = 1. - 1e-6, face[3];

    mech_m3_mul_transposed(c->R, d, local);
    bool found = false;
    for (int32_t i = 0; i < s->hull.faces; i++) {
        const double along = mech_v3_dot(s->hull.plane + 4 * i, local);

        if (along > most) {
            most = along;
            memcpy(face, s->hull.plane + 4 * i, sizeof face);
            found = true;
        }
    }
    /* the caps of a cylinder */
    if (s->rounding == 0. && s->radius > 0. && fabs(local[2]) > most) {
        face[0] = face[1] = 0.;
        face[2] = local[2] < 0. ? -1. : 1.;
        found = true;
    }
    if (found) {
        mech_m3_mul(c->R, face, out);
        for (int i = 0; i < 3; i++) {
            out[i] *= sign;
        }
    }
    return found;
}

/* The direction of a face in the place of n if its separation is not less than the gap. */
static void prefer_faces(const struct mech_convex_pair *pair, double scale, double n[3],
                         double *gap)
{
    const struct mech_convex *const both[2] = {pair->a, pair->b};
    const double rounding = 16. * DBL_EPSILON * scale;
    double most = *gap - rounding;

    for (int i = 0; i < 2; i++) {
        double face[3];

        if (face_along(both[i], i == 0 ? 1. : -1., n, face)) {
            const double s = separation(pair, face);

            if (s > most) {
                /* the second only where it is better than the first */
                most = fmax(s, *gap) + rounding;
                *gap = s;
                memcpy(n, face, sizeof face);
            }
        }
    }
}

/* The points of both cores that belong to the simplex. */
static void combine(const struct mech_convex_simplex *s, double a[3], double b[3])
{
    memset(a, 0, 3 * sizeof *a);
    memset(b, 0, 3 * sizeof *b);
    for (int k = 0; k < s->n; k++) {
        mech_v3_add(a, s->weight[k], s->at[k].a, a);
        mech_v3_add(b, s->weight[k], s->at[k].b, b);
    }
}

/* Where cores part that do so along n: their closest points once b has moved along n until they are
 * half their size apart. */
static void parting_points(const struct mech_convex_pair *pair, const double n[3], double move,
                           double a[3], double b[3])
{
    struct mech_convex_pair moved = *pair;
    struct mech_convex_simplex s;

    mech_v3_add(pair->shift, move, n, moved.shift);
    (void)mech_convex_distance(&moved, INFINITY, &s);
    combine(&s, a, b);
    mech_v3_add(b, -move, n, b);
}

int mech_convex_gap(const struct mech_convex *a, const struct mech_convex *b, double most,
                    struct mech_convex_gap *out)
{
    const double ra = a->shape->rounding, rb = b->shape->rounding;
    struct mech_convex_pair pair = {.a = a, .b = b};
    struct mech_convex_simplex s;
    double gap, n[3], x[3], y[3];

    mech_v3_add(b->p, -1., a->p, pair.shift);
    const enum mech_convex_end end = mech_convex_distance(&pair, most + ra + rb, &s);
    if (end == MECH_CONVEX_FAR) {
        return 1;
    }
    if (end == MECH_CONVEX_APART) {
        gap = mech_v3_norm(s.v);
        for (int i = 0; i < 3; i++) {
            n[i] = s.v[i] / gap;
        }
        combine(&s, x, y);
    } else {
        mech_convex_part(&pair, s.scale, n);
        gap = separation(&pair, n);
    }
    prefer_faces(&pair, s.scale, n, &gap);
    if (gap - ra - rb > most) {
        return 1;
    }
    if (end != MECH_CONVEX_APART) {
        parting_points(&pair, n, 0.5 * s.scale - gap, x, y);
    }
    out->gap = gap - ra - rb;
    memcpy(out->normal, n, sizeof out->normal);
    for (int i = 0; i < 3; i++) {
        const double middle = a->p[i] + 0.5 * (x[i] + y[i]);

        out->point[0][i] = middle + (ra - 0.5 * gap) * n[i];
        out->point[1][i] = middle - (rb - 0.5 * gap) * n[i];
    }
    return 0;
}
