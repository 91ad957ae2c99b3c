/* Numbers of steps between two times, and products without loss; see times.h. */
#include "solver/base/times.h"

double mech_time_steps(struct mech_time_part part, double h, double last, double *size)
{
    const double length = part.to - part.from;
    const double scale = mech_time_scale(part.from, part.start, fabs(part.to));
    const double rounding = mech_time_rounding(part.from, scale);
    const double n = fmax(1., ceil((length - rounding) / h));

    if (fabs(length - n * h) <= rounding) {
        *size = h;
    } else if (fabs(length - n * last) <= rounding) {
        *size = last;
    } else {
        *size = length / n;
    }
    return n;
}

bool mech_time_expected(double now, double asked, uint64_t steps, double h)
{
    const double off = fabs(now - asked);

    return mech_time_same(now, asked, h) ||
           (off <= (1. + (double)steps) * mech_time_rounding(now, h) && off < 0.25 * h);
}

/* The upper half of the digits (T. Dekker, as above), where 2^27 x is finite. */
static double upper(double x)
{
    const double up = 134217729. * x;

    return up - (up - x);
}

struct mech_moment mech_moment_after(struct mech_moment m, double n, double h)
{
    const double product = n * h;
    const double a = upper(n), b = upper(h);
    const double lost = ((a * b - product) + a * (h - b) + (n - a) * b) + (n - a) * (h - b);

    mech_moment_add(&m, product);
    if (isfinite(lost)) {
        mech_moment_add(&m, lost);
    }
    return m;
}
