/* Central quotients; see quotient.h. The narrow step, 2^-17, balances rounding and truncation of a
 * central difference (the cube root of the machine's epsilon is 2^-17.3). */
#include "solver/analysis/quotient.h"

#include <float.h>
#include <math.h>

static const double wide = 0x1p-4, narrow = 0x1p-17;
/* Steps that show what is left of the narrow one: parts of it that round otherwise than it. */
static const double beside[2] = {0.85, 0.6};
/* By how much of what was left of it the next may differ, and how much less is left of that at
 * least. */
static const double most = 4., less = 0x1p5;
/* What may be left of the narrow one, of itself: more is no rounding, but a kink or a bump within
 * the step. */
static const double smooth = 0x1p-3;
/* From step to step, and at most, of the narrow one. */
static const double longer = 0x1p8, longest = 0x1p56;
/* Of a value: rounding of itself; and what is so little that no more is to be had. */
static const double rounding = 16. * DBL_EPSILON, exact = 0x1p-33;

void mech_quotient_begin(struct mech_quotient *q, size_t n, double *memory, double unit)
{
    *q = (struct mech_quotient){
        .n = n,
        .phase = MECH_QUOTIENT_AFFINE,
        .unit = unit,
        .step = {narrow * unit, wide * unit},
        .sample = {memory, memory + n, memory + 2 * n, memory + 3 * n},
        .best = memory + 4 * n,
        .off = memory + 5 * n,
        .open = memory + 6 * n,
    };
}

/* D of value i with step k. */
static double quotient(const struct mech_quotient *q, size_t i, int k)
{
    return (q->sample[2 * k][i] - q->sample[2 * k + 1][i]) / (2. * q->step[k]);
}

static void take_affine(struct mech_quotient *q, size_t i)
{
    const double close = quotient(q, i, 0), far = quotient(q, i, 1);
    const double size = fmax(fabs(q->sample[0][i]), fabs(q->sample[1][i]));
    const bool affine = fabs(far - close) <= rounding * size / q->step[0];

    q->best[i] = affine ? far : close;
    q->open[i] = affine ? 0. : 1.;
}

static void take_narrow(struct mech_quotient *q, size_t i)
{
    q->off[i] = fmax(fabs(q->best[i] - quotient(q, i, 0)), fabs(q->best[i] - quotient(q, i, 1)));
    q->open[i] = q->off[i] <= smooth * fabs(q->best[i]) ? 1. : 0.;
}

static void take_longer(struct mech_quotient *q, size_t i)
{
    const double whole = quotient(q, i, 0), half = quotient(q, i, 1);
    const double value = half + (half - whole) / 3.;

    if (!(fabs(value - q->best[i]) <= most * q->off[i])) {
        q->open[i] = 0.;
        return;
    }
    q->best[i] = value;
    q->off[i] /= less;
    q->open[i] = q->off[i] <= exact * fabs(value) ? 0. : 1.;
}

static bool any_open(const struct mech_quotient *q)
{
    bool some = false;

    for (size_t i = 0; i < q->n; i++) {
        some = some || q->open[i] != 0.;
    }
    return some;
}

/* What comes next; true: nothing. */
static bool proceed(struct mech_quotient *q)
{
    const double first = narrow * q->unit;

    switch (q->phase) {
    case MECH_QUOTIENT_AFFINE:
        q->phase = MECH_QUOTIENT_NARROW;
        q->step[0] = beside[0] * first;
        q->step[1] = beside[1] * first;
        break;
    case MECH_QUOTIENT_NARROW:
        q->phase = MECH_QUOTIENT_GROW;
        q->step[0] = longer * first;
        q->step[1] = 0.5 * q->step[0];
        break;
    case MECH_QUOTIENT_GROW:
        q->step[0] *= longer;
        q->step[1] *= longer;
        break;
    }
    return !any_open(q) || q->step[0] > longest * first;
}

bool mech_quotient_take(struct mech_quotient *q)
{
    for (size_t i = 0; i < q->n; i++) {
        if (q->phase == MECH_QUOTIENT_AFFINE) {
            take_affine(q, i);
        } else if (q->open[i] != 0. && q->phase == MECH_QUOTIENT_NARROW) {
            take_narrow(q, i);
        } else if (q->open[i] != 0.) {
            take_longer(q, i);
        }
    }
    return proceed(q);
}
