#include "solver/analysis/quotient.h"
#include "tests/unit/unit.h"

#include <math.h>

enum { VALUES = 12 };

/* Rounded as a sum with a term of that size is, which does not show in it. */
static double hidden(double x, double term)
{
    const volatile double sum = x + term;

    return sum - term;
}

static void values_at(double s, double *f)
{
    f[0] = 3. - 2. * s;
    f[1] = sin(s);
    f[2] = hidden(0.04 * s, 1.);
    f[3] = hidden(0.04 * s + 0.01 * s * s * s, 40.);
    f[4] = hidden(333.3 * s + 777.8 * fmax(0., s + 1e-4), 40.); /* engaged by 1e-4 */
    f[5] = hidden(333.3 * s + 777.8 * fmax(0., s - 1e-4), 40.); /* not yet */
    f[6] = copysign(fmax(0., fabs(s) - 1e-4), s);               /* a backlash */
    f[7] = 1e-3 * exp(-(s / 1e-4 - 1.) * (s / 1e-4 - 1.));      /* a bump */
    f[8] = 1e9 + 500. * s;
    f[9] = 0.;
    f[10] = log(1. + s) + 1e3 * log(1. + s / 1e3);
    f[11] = copysign(fmax(0., fabs(s) - 5.8e-6), s); /* within the narrow step, 2^-17 */
}

/* To rounding; of the bump to what its third derivative leaves over the narrow step of 2^-17. The
 * last one is the quotient of that step, as no step sees its slope. */
static const struct {
    double slope, off;
} expected[VALUES] = {
    {-2., 1e-14},   {1., 1e-12},   {0.04, 1e-12}, {0.04, 1e-12},
    {1111.1, 1e-8}, {333.3, 1e-8}, {0., 0.},      {7.3575888234288464, 0.02},
    {500., 1e-6},   {0., 0.},      {2., 1e-10},   {1. - 5.8e-6 * 0x1p17, 1e-9},
};

static void slopes(double unit, double *out)
{
    double memory[MECH_QUOTIENT_EACH * VALUES], f[VALUES];
    struct mech_quotient q;

    mech_quotient_begin(&q, VALUES, memory, unit);
    do {
        for (int k = 0; k < 4; k++) {
            values_at((k % 2 ? -1. : 1.) * q.step[k / 2], f);
            for (int i = 0; i < VALUES; i++) {
                q.sample[k][i] = f[i];
            }
        }
    } while (!mech_quotient_take(&q));
    for (int i = 0; i < VALUES; i++) {
        out[i] = q.best[i];
    }
}

static void kinks_bumps_and_hidden_terms_have_their_slopes(void)
{
    double d[VALUES];

    slopes(1., d);
    for (int i = 0; i < VALUES; i++) {
        CHECK_NEAR(d[i], expected[i].slope, expected[i].off);
    }
}

/* A value is the same beside others and alone: here beside one that is not finite. */
static void samples_need_not_be_finite(void)
{
    double memory[2 * MECH_QUOTIENT_EACH];
    struct mech_quotient q;

    mech_quotient_begin(&q, 2, memory, 1.);
    do {
        for (int k = 0; k < 4; k++) {
            const double s = (k % 2 ? -1. : 1.) * q.step[k / 2];

            q.sample[k][0] = s < 1e-3 ? sin(s) : NAN;
            q.sample[k][1] = NAN;
        }
    } while (!mech_quotient_take(&q));
    CHECK_NEAR(q.best[0], 1., 1e-9);
    CU_ASSERT(isnan(q.best[1]));
}

UNIT_TESTS(UNIT_TEST(samples_need_not_be_finite),
           UNIT_TEST(kinks_bumps_and_hidden_terms_have_their_slopes))
