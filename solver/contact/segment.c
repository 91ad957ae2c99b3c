/* Closest points of segments, and contacts of what is rounded about them. */
#include "solver/contact/segment.h"

/* square of the sine between axes that run side by side, about 2 degrees */
#define SIDE_BY_SIDE 1e-3
/* cosine between axis and normal above which the end touches, not the side */
#define PITCH 0.1
/* square of the part of the radii by which axes may miss each other */
#define ASIDE 0.1

void mech_segment_closest(const struct mech_segment *a, const struct mech_segment *b, double s[2])
{
    double from[3];

    mech_v3_add(a->p, -1., b->p, from);
    const double c = mech_v3_dot(a->a, b->a), ra = mech_v3_dot(a->a, from);
    const double rb = mech_v3_dot(b->a, from);
    double sine[3];

    mech_v3_cross(a->a, b->a, sine);
    const double square = mech_v3_dot(sine, sine);

    // parallel lines are closest everywhere: start from the middle of where they overlap
    if (square > 1e-20) {
        s[0] = mech_clamp((c * rb - ra) / square, a->h);
    } else {
        const double low = fmax(-a->h, -ra - b->h), high = fmin(a->h, -ra + b->h);

        s[0] = mech_clamp(0.5 * (low + high), a->h);
    }
    s[1] = rb + c * s[0];
    if (fabs(s[1]) > b->h) {
        s[1] = mech_clamp(s[1], b->h);
        s[0] = mech_clamp(c * s[1] - ra, a->h);
    }
}

/* x moved by r to the side of its axis a that looks along d. */
static void to_side(const double x[3], const double a[3], const double d[3], double r,
                    double out[3])
{
    double m[3];

    mech_v3_add(d, -mech_v3_dot(d, a), a, m);
    mech_v3_add(x, r / mech_v3_norm(m), m, out);
}

/* A contact of the sides about x[0] and x[1], points of the axes. Seen along n the axes may miss
 * each other by w, some of the radii: then the sides touch where m = w/(r₁ + r₂) + … n, |m| = 1,
 * points from one axis to the other. */
static double sides(const struct mech_segment *const axis[2], double x[2][3], const double n[3],
                    const double radius[2], uint32_t feature, struct mech_touching *out)
{
    const double both = radius[0] + radius[1];
    double w[3], m[3], first[3], second[3];

    mech_v3_add(x[1], -1., x[0], w);
    mech_v3_add(w, -mech_v3_dot(w, n), n, w);
    const double square = mech_v3_dot(w, w) / (both * both);

    if (!(square <= ASIDE)) {
        return HUGE_VAL;
    }
    for (int i = 0; i < 3; i++) {
        m[i] = w[i] / both + sqrt(1. - square) * n[i];
    }
    to_side(x[0], axis[0]->a, m, radius[0], first);
    to_side(x[1], axis[1]->a, m, -radius[1], second);
    mech_v3_add(second, -1., first, w);
    const double gap = mech_v3_dot(w, n);

    mech_v3_add(first, gap, n, second);
    mech_touching_add(out, feature, n, first, second, gap);
    return gap;
}

double mech_segment_ends(const struct mech_segment *a, const struct mech_segment *b,
                         const double normal[3], const double radius[2], struct mech_touching *out)
{
    const struct mech_segment *const axis[2] = {a, b};
    double from[3], sine[3], least = HUGE_VAL;

    mech_v3_cross(a->a, b->a, sine);
    if (!(mech_v3_dot(sine, sine) < SIDE_BY_SIDE) || fabs(mech_v3_dot(normal, a->a)) > PITCH ||
        fabs(mech_v3_dot(normal, b->a)) > PITCH) {
        return HUGE_VAL;
    }
    mech_v3_add(b->p, -1., a->p, from);
    const double middle = mech_v3_dot(from, a->a), c = mech_v3_dot(a->a, b->a);
    const double reach = b->h * fabs(c);
    const double s[2] = {fmax(-a->h, middle - reach), fmin(a->h, middle + reach)};

    if (!(s[1] > s[0])) {
        return HUGE_VAL;
    }
    for (uint32_t k = 0; k < 2; k++) {
        const bool own = k == 0 ? s[k] <= -a->h : s[k] >= a->h;
        const uint32_t other = (k == 0) == (c > 0.) ? 0 : 1;
        double x[2][3];

        mech_v3_add(a->p, s[k], a->a, x[0]);
        mech_v3_add(x[0], -1., b->p, from);
        mech_v3_add(b->p, mech_clamp(mech_v3_dot(from, b->a), b->h), b->a, x[1]);
        least = fmin(least, sides(axis, x, normal, radius, own ? 1 + k : 3 + other, out));
    }
    return least;
}
