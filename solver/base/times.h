/* Times: how near two of them are, how many steps lie between them, and sums without loss.
 *
 * A time is known to a unit in its last place (ulp): 1e-13 s at 1,000 s, 1e-7 s at 1e9 s. Two times
 * that a caller has computed in two ways differ by some of these, whatever the step size is. All
 * that compares times asks here, so that one part never sees a rest of a step where another sees
 * none. Times in s. Any thread.
 *
 *     struct mech_moment m = {t};             t + k h for k = 1, 2, … is m.time, correctly rounded,
 *     mech_moment_add(&m, h);                 after k additions
 */
#pragma once

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* By how much a time may differ from t and mean the same: at least 4 ulp, at most 8. A product k h,
 * a sum t + k h, and their difference from the result of the other side leave 3. Near t = 0
 * the ulp is that of h, the length of the steps there. */
static inline double mech_time_rounding(double t, double h)
{
    return 4. * DBL_EPSILON * fmax(fabs(t), h);
}

/* a and b mean the same time; h: length of steps, s. */
static inline bool mech_time_same(double a, double b, double h)
{
    return fabs(a - b) <= mech_time_rounding(a, h);
}

/* a is earlier than b by more than rounding; b may be infinite; false for NaN. */
static inline bool mech_time_before(double a, double b, double h)
{
    return b - a > mech_time_rounding(a, h);
}

/* The h of these functions for a time t that a caller has computed as start + k h: from a start
 * before 0 the sum is near 0 known to an ulp of what was added, not to one of t. */
static inline double mech_time_scale(double t, double start, double h)
{
    return fmax(h, fabs(t - start));
}

/* A length of time, from < to, that steps are to fill; start ≤ from: of the first step of all. */
struct mech_time_part {
    double start, from, to;
};

/* The number of equal steps of at most h that fill it, at least 1 (inf and NaN pass), and their
 * size: h itself where a whole number of steps h ends at its end but for rounding. `last`: the size
 * of steps before; it is taken where as many of it end there, 0: none. */
double mech_time_steps(struct mech_time_part part, double h, double last, double *size);

/* Whether `asked` is the time `now` that was reached in so many steps, the last one of size h, by
 * someone whose own sum has lost up to an ulp a step: never off by a quarter of a step, so that a
 * step that was lost or done twice is seen. */
bool mech_time_expected(double now, double asked, uint64_t steps, double h);

/* A time with what its double cannot hold: the sum of both is the time. */
struct mech_moment {
    double time, rest;
};

/* m += h (T. Dekker, Numer. Math. 18 (1971)): exact while h is not lost in the rest. */
static inline void mech_moment_add(struct mech_moment *m, double h)
{
    const double sum = m->time + h, part = sum - m->time;
    const double lost = (m->time - (sum - part)) + (h - part) + m->rest;

    m->time = sum + lost;
    m->rest = lost - (m->time - sum);
}

/* m + n h, where n < 2^53. */
struct mech_moment mech_moment_after(struct mech_moment m, double n, double h);
