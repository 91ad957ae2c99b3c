#include "solver/couple/track.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

static char *block;

/* A track of two outputs, t^a and its third, through unequal times in [0, 1]. */
static struct mech_track powers(int32_t samples, int32_t degree, int32_t power)
{
    struct mech_track t = {.outputs = 2, .most = samples, .wanted = degree};
    struct mech_room room = {.base = NULL};
    mech_track_lay(&t, &room);
    free(block);
    block = calloc(1, room.used);
    room = (struct mech_room){.base = block};
    mech_track_lay(&t, &room);
    t.held[0] = samples;
    for (int32_t i = 0; i <= samples; i++) {
        const double s = (double)i / samples;
        t.time[i] = i == samples ? 1. : 0.7 * s + 0.3 * s * s;
        t.value[2 * i] = pow(t.time[i], power);
        t.value[2 * i + 1] = t.value[2 * i] / 3.;
    }
    mech_track_fit(&t);
    return t;
}

static void polynomials_up_to_the_degree_are_reproduced(void)
{
    for (int32_t degree = 1; degree <= 3; degree++) {
        for (int32_t samples = degree; samples <= 12; samples++) {
            for (int32_t power = 0; power <= degree; power++) {
                const struct mech_track t = powers(samples, degree, power);
                for (double x = 0.; x <= 1.; x += 0.0625) {
                    double d[4] = {0.};
                    mech_track_at(&t, 1, x, 3, d);
                    double factor = 1. / 3.;
                    for (int r = 0; r < 4; r++) {
                        const double expected = r > power ? 0. : factor * pow(x, power - r);
                        // each derivative loses what the times resolve
                        CHECK_NEAR(d[r], expected, 1e-13 * pow(100., r));
                        factor *= power - r;
                    }
                }
            }
        }
    }
}

static void few_samples_lower_the_degree(void)
{
    CU_ASSERT_EQUAL(powers(1, 3, 1).held[1], 1);
    CU_ASSERT_EQUAL(powers(2, 3, 1).held[1], 2);
    CU_ASSERT_EQUAL(powers(3, 3, 1).held[1], 3);
}

static void curves_pass_through_their_samples(void)
{
    for (int32_t degree = 1; degree <= 3; degree++) {
        const struct mech_track t = powers(40, degree, 7);
        for (int32_t i = 0; i <= 40; i++) {
            double d = 0.;
            mech_track_at(&t, 0, t.time[i], 0, &d);
            CHECK_NEAR(d, t.value[2 * i], 1e-14);
        }
    }
}

/* largest error against t^7 */
static double error_of(int32_t samples, int32_t degree)
{
    const struct mech_track t = powers(samples, degree, 7);
    double worst = 0.;
    for (double x = 0.; x <= 1.; x += 1. / 1024.) {
        double d = 0.;
        mech_track_at(&t, 0, x, 0, &d);
        worst = fmax(worst, fabs(d - pow(x, 7)));
    }
    return worst;
}

static void splines_are_of_one_order_more_than_their_degree(void)
{
    for (int32_t degree = 1; degree <= 3; degree++) {
        CHECK_NEAR(log2(error_of(64, degree) / error_of(128, degree)), degree + 1., 0.15);
    }
}

UNIT_TESTS(UNIT_TEST(polynomials_up_to_the_degree_are_reproduced),
           UNIT_TEST(few_samples_lower_the_degree), UNIT_TEST(curves_pass_through_their_samples),
           UNIT_TEST(splines_are_of_one_order_more_than_their_degree))
