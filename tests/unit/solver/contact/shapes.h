/* Convex shapes for tests of distances, made without the types of items: points, segments and
 * polyhedra (by their vertices), cylinders; random numbers and placements. */
#pragma once

#include "solver/items/shape/polyhedron.h"
#include "solver/linalg/so3.h"

#include <string.h>

/* S. Vigna's splitmix64: the same numbers everywhere */
static inline double random_between(uint64_t *seed, double low, double high)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return low + (high - low) * ((double)(z >> 11) / 9007199254740992.);
}

static inline void random_direction(uint64_t *seed, double out[3])
{
    double length;

    do {
        for (int i = 0; i < 3; i++) {
            out[i] = random_between(seed, -1., 1.);
        }
        length = mech_v3_norm(out);
    } while (length > 1. || length < 0.1);
    for (int i = 0; i < 3; i++) {
        out[i] /= length;
    }
}

static inline void random_rotation(uint64_t *seed, double R[9])
{
    double x[3];

    random_direction(seed, x);
    const double angle = random_between(seed, 0., 3.14159);
    for (int i = 0; i < 3; i++) {
        x[i] *= angle;
    }
    mech_so3_exp(x, R);
}

static inline void vertices_support(const struct mech_shape *s, const double d[3], double out[3])
{
    const int32_t i = mech_polyhedron_farthest(&s->hull, d);

    memcpy(out, s->hull.vertex + 3 * i, 3 * sizeof *out);
}

static inline void cylinder_support(const struct mech_shape *s, const double d[3], double out[3])
{
    const double across = hypot(d[0], d[1]);

    out[0] = across > 0. ? s->radius * d[0] / across : s->radius;
    out[1] = across > 0. ? s->radius * d[1] / across : 0.;
    out[2] = d[2] < 0. ? -s->half_length : s->half_length;
}

static const struct mech_shape_ops vertices_ops = {.support = vertices_support};
static const struct mech_shape_ops cylinder_ops = {.support = cylinder_support};

/* of points that stay the caller's; no faces */
static inline struct mech_shape points_shape(const double *x, int32_t n, double rounding)
{
    return (struct mech_shape){
        .ops = &vertices_ops, .rounding = rounding, .hull = {.vertices = n, .vertex = x}};
}

static inline struct mech_shape box_shape(const double half[3], struct mech_arena *arena)
{
    struct mech_shape s = {.ops = &vertices_ops, .half = {half[0], half[1], half[2]}};

    return mech_polyhedron_box(half, arena, &s.hull) == 0 ? s : (struct mech_shape){.ops = NULL};
}

static inline struct mech_shape hull_shape(const double *x, int32_t n, struct mech_arena *arena)
{
    struct mech_shape s = {.ops = &vertices_ops};

    return mech_polyhedron_hull(x, n, arena, &s.hull) == 0 ? s : (struct mech_shape){.ops = NULL};
}

static inline struct mech_shape cylinder_shape(double radius, double half_length)
{
    return (struct mech_shape){.ops = &cylinder_ops, .radius = radius, .half_length = half_length};
}
