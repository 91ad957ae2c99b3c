/* The power series of an angle on one side of a point; see series.h. With f' = x y' - y x' over
 * x² + y²; across y = 0 < -x the angle jumps from π to -π, and at the origin it is that of both
 * over their common power: atan2(t², t) = atan2(t, 1) for t > 0. */
#include "solver/expr/series.h"

enum { LAST = MECH_SERIES_LAST };

static struct mech_series with_rest(double x, double c)
{
    struct mech_series f = {.c = {x}, .moves = true};

    for (int k = 1; k <= LAST; k++) {
        f.c[k] = c;
    }
    return f;
}

/* x less what is before its first coefficient that counts, over r^m. */
static struct mech_series divided(const struct mech_series *x, int first, int m)
{
    struct mech_series f = {.moves = x->moves};

    for (int k = 0; k <= LAST; k++) {
        f.c[k] = k + m > LAST ? (x->moves ? NAN : 0.) : k + m < first ? 0. : x->c[k + m];
    }
    return f;
}

/* With a value, from both at a size near 1. */
static struct mech_series turned(double value, const struct mech_series *a,
                                 const struct mech_series *b, struct mech_series_scale scale)
{
    const double size = fmax(fabs(a->c[0]), fabs(b->c[0]));
    const struct mech_series r = mech_series_of(size);
    struct mech_series f = {.c = {value}, .moves = true};

    if (isinf(size)) {
        const double rest = mech_series_kind(a, scale) + mech_series_kind(b, scale);
        return with_rest(value, rest == 0. ? 0. : NAN);
    }
    const struct mech_series y = mech_series_two(MECH_EXPR_DIVIDE, a, &r, scale);
    const struct mech_series x = mech_series_two(MECH_EXPR_DIVIDE, b, &r, scale);
    const struct mech_series xx = mech_series_two(MECH_EXPR_MULTIPLY, &x, &x, scale);
    const struct mech_series yy = mech_series_two(MECH_EXPR_MULTIPLY, &y, &y, scale);
    const struct mech_series w = mech_series_two(MECH_EXPR_ADD, &xx, &yy, scale);
    const struct mech_series by_x = mech_series_two(MECH_EXPR_DIVIDE, &x, &w, scale);
    const struct mech_series by_y = mech_series_two(MECH_EXPR_DIVIDE, &y, &w, scale);

    for (int k = 1; k <= LAST; k++) {
        double by_k = 0.;

        for (int j = 1; j <= k; j++) {
            by_k += j * (y.c[j] * by_x.c[k - j] - x.c[j] * by_y.c[k - j]);
        }
        f.c[k] = by_k / k;
    }
    return f;
}

struct mech_series mech_series_angle(const struct mech_series *a, const struct mech_series *b,
                                     struct mech_series_scale scale)
{
    if (isnan(a->c[0]) || isnan(b->c[0])) {
        return with_rest(NAN, NAN);
    }
    const int first = mech_series_lead(a, scale), other = mech_series_lead(b, scale);
    const int m = first < other ? first : other;
    const bool origin = a->c[0] == 0. && b->c[0] == 0.;

    if (origin && m > LAST) {
        return mech_series_vague();
    }
    const struct mech_series y = origin ? divided(a, first, m) : *a;
    const struct mech_series x = origin ? divided(b, other, m) : *b;
    const bool broken = origin && (isinf(y.c[0]) || isinf(x.c[0]));
    const double toward = first <= LAST ? a->c[first] : a->c[0];

    if (isnan(y.c[0]) || isnan(x.c[0]) || (broken && isinf(y.c[0]) && isinf(x.c[0])) ||
        (y.c[0] == 0. && x.c[0] < 0. && isnan(toward))) {
        return mech_series_vague();
    }
    const double value = atan2(y.c[0] == 0. ? copysign(0., toward) : y.c[0], x.c[0]);

    // one is larger than the other, by a power that is not known
    return broken ? with_rest(value, NAN) : turned(value, &y, &x, scale);
}
