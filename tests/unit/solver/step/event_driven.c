/* When a gap over a substep falls to 0: polynomials whose roots are known. */
#include "solver/step/event_driven.h"
#include "tests/unit/unit.h"

/* the first crossing of a (x − r1)(x − r2) */
static double crossing(double a, double r1, double r2)
{
    return mech_event_crossing(a * r1 * r2, (double[]){-a * (r1 + r2), a, 0., 0.}, 1e-9);
}

static void a_gap_that_closes_is_found(void)
{
    CHECK_NEAR(mech_event_crossing(1., (double[]){-2., 0., 0., 0.}, 0.), 0.5, 1e-15);
    CHECK_NEAR(mech_event_crossing(1., (double[]){-1., 0., 0., 0.}, 0.), 1., 0.);
    CU_ASSERT(mech_event_crossing(1., (double[]){-0.9, 0., 0., 0.}, 0.) > 1.);
    CHECK_NEAR(mech_event_crossing(0.0081, (double[]){0., 0., 0., -1.}, 0.), 0.3, 1e-15);
}

static void a_short_dip_is_found_by_its_bottom(void)
{
    CHECK_NEAR(crossing(1., 0.3, 0.31), 0.3, 1e-14);
    CHECK_NEAR(crossing(1., 0.51, 0.5100001), 0.51, 1e-9);
    CU_ASSERT(mech_event_crossing(0.25 + 1e-9, (double[]){-1., 1., 0., 0.}, 0.) > 1.);
}

/* a flight from 0 that is over long before the first sample */
static void a_short_flight_ends_where_it_does(void)
{
    for (double top = 1.; top > 1e-15; top *= 0.1) {
        CHECK_NEAR(mech_event_crossing(0., (double[]){top, -1., 0., 0.}, 0.) / top, 1., 1e-14);
    }
}

/* at y0 = 0 it is the speed that decides, and where that is none what draws it */
static void at_no_gap_the_motion_decides(void)
{
    CU_ASSERT_EQUAL(mech_event_crossing(0., (double[]){-1., 4., 0., 0.}, 1e-9), 0.);
    CU_ASSERT_EQUAL(mech_event_crossing(0., (double[]){0., -1., 0., 0.}, 1e-9), 0.);
    CU_ASSERT(mech_event_crossing(0., (double[]){0., 1., 0., 0.}, 1e-9) > 1.);
    CU_ASSERT(mech_event_crossing(0., (double[]){-1e-17, 1., 0., 0.}, 1e-9) > 1.);
    CU_ASSERT(mech_event_crossing(0., (double[]){-1e-17, -1e-17, 1., 0.}, 1e-9) > 1.);
    /* up by x², back by x³ within the first sample */
    CHECK_NEAR(mech_event_crossing(0., (double[]){-1e-17, 0.05, -1., 0.}, 1e-9), 0.05, 1e-12);
}

UNIT_TESTS(UNIT_TEST(a_gap_that_closes_is_found), UNIT_TEST(a_short_dip_is_found_by_its_bottom),
           UNIT_TEST(a_short_flight_ends_where_it_does), UNIT_TEST(at_no_gap_the_motion_decides))
