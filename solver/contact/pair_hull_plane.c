/* Convex hull and plane: vertices within reach, of more than four those of the face on which the
 * hull lies or comes to lie, of these the ones that span the most. Features are vertices. */
#include "solver/contact/hull.h"
#include "solver/linalg/v3.h"

#include <string.h>

/* Half way from `most` to `lowest`; where rounding leaves it at `most`, `lowest` itself. */
static double nearer(double lowest, double most)
{
    const double middle = lowest + 0.5 * (most - lowest);

    return middle < most ? middle : lowest;
}

/* as a part of the hull's size: what counts as one plane */
static const double flush = 1e-6;

/* A vertex as seen from another: how far it is, and how much higher than what is compared. */
struct seen {
    double far, rise;
};

/* Whether a is reached by a smaller turn than b, or by the same and is farther. */
static bool is_sooner(const struct seen *a, const struct seen *b)
{
    const double left = a->rise * b->far, right = b->rise * a->far;

    return left < right || (!(left > right) && a->far > b->far);
}

/* The plane over the plane of contact on which the hull comes to lie: turned first about its lowest
 * vertex until another one is down, then about the line of both. */
struct face {
    double from[3], along[3], across[3]; /* the lowest vertex's foot, and unit vectors */
    double gap, slope[2];                /* there, and along both */
};

static struct seen from_line(const struct face *f, const struct mech_hull_point *p, double *side)
{
    double d[3];

    mech_v3_add(p->x[0], -1., f->from, d);
    *side = mech_v3_dot(f->across, d);
    return (struct seen){fabs(*side), p->gap - f->gap - f->slope[0] * mech_v3_dot(f->along, d)};
}

/* False: all vertices are on one line. */
static bool find_face(const struct mech_hull_point *at, int32_t n, double size,
                      const double normal[3], struct face *f)
{
    struct seen best = {.rise = 1.};
    const struct mech_hull_point *low = at;
    double d[3], side;

    for (int32_t i = 1; i < n; i++) {
        low = at[i].gap < low->gap ? &at[i] : low;
    }
    *f = (struct face){.gap = low->gap};
    memcpy(f->from, low->x[0], sizeof f->from);
    for (int32_t i = 0; i < n; i++) {
        mech_v3_add(at[i].x[0], -1., low->x[0], d);
        struct seen next = {mech_v3_norm(d), at[i].gap - low->gap};

        next.rise = next.rise > flush * size ? next.rise : 0.;
        if (&at[i] != low && is_sooner(&next, &best)) {
            best = next;
            memcpy(f->along, d, sizeof d);
        }
    }
    if (!(best.far > 0.)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        f->along[i] /= best.far;
    }
    f->slope[0] = best.rise / best.far;
    mech_v3_cross(normal, f->along, f->across);
    best = (struct seen){.rise = 1.};
    for (int32_t i = 0; i < n; i++) {
        struct seen next = from_line(f, &at[i], &side);

        next.rise = next.rise > flush * size ? next.rise : 0.;
        if (next.far > flush * size && is_sooner(&next, &best)) {
            best = next;
            f->slope[1] = (side > 0. ? 1. : -1.) * next.rise / next.far;
        }
    }
    return best.far > 0.;
}

/* Of more than four vertices those of that face, up to four; of a triangle also the lowest of the
 * others. Into at[0 …], how many. */
static int32_t choose(struct mech_hull_point *at, int32_t n, double size, const double normal[3])
{
    struct mech_hull_point rest[MECH_FACING_MOST];
    struct face f;
    int32_t on = 0, off = 0, low = 0;

    if (n <= 4 || !find_face(at, n, size, normal, &f)) {
        return mech_hull_choose(at, n, size);
    }
    for (int32_t i = 0; i < n; i++) {
        double side;
        const double rise = from_line(&f, &at[i], &side).rise;

        if (rise - f.slope[1] * side <= flush * size) {
            at[on++] = at[i];
        } else {
            rest[off++] = at[i];
        }
    }
    for (int32_t i = 1; i < off; i++) {
        low = rest[i].gap < rest[low].gap ? i : low;
    }
    if (on < 4 && off > 0) {
        at[on++] = rest[low];
    }
    return mech_hull_choose(at, on, size);
}

static void find(const struct mech_convex *plane, const struct mech_convex *hull,
                 struct mech_touching *out)
{
    const struct mech_polyhedron *const h = &hull->shape->hull;
    struct mech_hull_point at[MECH_FACING_MOST];
    double normal[3], n[3], from[3], lowest = INFINITY, size = 0.;
    int32_t count = MECH_FACING_MOST + 1;

    mech_m3_mul(plane->R, plane->shape->normal, normal);
    mech_m3_mul_transposed(hull->R, normal, n);
    mech_v3_add(hull->p, -1., plane->p, from);
    const double height = mech_v3_dot(normal, from);
    for (int32_t i = 0; i < h->vertices; i++) {
        lowest = fmin(lowest, height + mech_v3_dot(n, h->vertex + 3 * i));
        size = fmax(size, mech_v3_norm(h->vertex + 3 * i));
    }
    /* the lowest half of those within reach, until they are few enough */
    for (double most = out->reach; most >= lowest && count > MECH_FACING_MOST;
         most = nearer(lowest, most)) {
        count = 0;
        for (int32_t i = 0; i < h->vertices && count <= MECH_FACING_MOST; i++) {
            const double gap = height + mech_v3_dot(n, h->vertex + 3 * i);

            if (gap > most) {
                continue;
            }
            if (count < MECH_FACING_MOST) {
                struct mech_hull_point *const p = &at[count];

                p->gap = gap;
                p->feature = (uint32_t)i;
                mech_m3_mul(hull->R, h->vertex + 3 * i, p->x[1]);
                mech_v3_add(p->x[1], 1., hull->p, p->x[1]);
                mech_v3_add(p->x[1], -gap, normal, p->x[0]);
            }
            count++;
        }
        if (most == lowest) {
            count = count < MECH_FACING_MOST ? count : MECH_FACING_MOST;
        }
    }
    count = count > MECH_FACING_MOST ? 0 : choose(at, count, size, normal);
    for (int32_t i = 0; i < count; i++) {
        mech_touching_add(out, at[i].feature, normal, at[i].x[0], at[i].x[1], at[i].gap);
    }
}

const struct mech_shape_pair mech_shape_pair_hull_plane = {
    .first = "Plane",
    .second = {"ConvexHull"},
    .find = find,
};
