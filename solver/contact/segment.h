/* Segments p ± h a (a unit), and what is rounded about them. */
#pragma once

#include "solver/contact/pair.h"
#include "solver/linalg/v3.h"

struct mech_segment {
    double p[3], a[3], h; /* middle, unit direction, half length ≥ 0 */
};

/* The axis of a capsule or cylinder. */
static inline struct mech_segment mech_segment_of(const struct mech_convex *c)
{
    return (struct mech_segment){.p = {c->p[0], c->p[1], c->p[2]},
                                 .a = {c->R[2], c->R[5], c->R[8]},
                                 .h = c->shape->half_length};
}

static inline double mech_clamp(double x, double most)
{
    return x < -most ? -most : x > most ? most : x;
}

/* A unit vector at right angles to a. */
static inline void mech_across(const double a[3], double out[3])
{
    const int least = fabs(a[0]) <= fabs(a[1]) && fabs(a[0]) <= fabs(a[2]) ? 0
                      : fabs(a[1]) <= fabs(a[2])                           ? 1
                                                                           : 2;
    double e[3] = {0.};

    e[least] = 1.;
    mech_v3_cross(a, e, out);
    const double length = mech_v3_norm(out);

    for (int i = 0; i < 3; i++) {
        out[i] /= length;
    }
}

/* Where two segments are closest, by their parameters s in ±h (C. Ericson, Real-Time Collision
 * Detection, Morgan Kaufmann 2005, section 5.1.9, for unit directions). */
void mech_segment_closest(const struct mech_segment *a, const struct mech_segment *b, double s[2]);

/* Contacts at the ends of what two segments that run side by side have in common, each the axis of
 * a side with its radius: features 1 + k at end k of the first, 3 + k at end k of the second.
 * Points on the sides, gaps along the normal that is given. The least gap, or HUGE_VAL. */
double mech_segment_ends(const struct mech_segment *a, const struct mech_segment *b,
                         const double normal[3], const double radius[2], struct mech_touching *out);
