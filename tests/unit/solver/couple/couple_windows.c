/* Windows under error control: their sizes, those that are refused, the least and the largest. */
#include "solver/couple/couple.h"

#include "tests/unit/solver/couple/pair.h"
#include "tests/unit/unit.h"

#include <math.h>

static void errors_are_controlled_by_the_window(void)
{
    double off[2];
    for (int i = 0; i < 2; i++) {
        struct halves h = pair();
        struct mech_couple_setup s = setup_of("GaussSeidel");
        s.options.hold = 2;
        s.options.adaptive_relative = s.options.adaptive_absolute = i == 0 ? 1e-4 : 1e-7;
        s.options.minimum = 1e-6;
        s.options.maximum = 0.5;
        halves_start(&h, HALF_LINEAR, &s);
        while (mech_couple_time(h.couple) < 5. - 1e-9) {
            CU_ASSERT_EQUAL_FATAL(halves_run(&h, 5. - mech_couple_time(h.couple), 1), 0);
            CU_ASSERT(mech_couple_report(h.couple)->error <= 1.);
            CU_ASSERT(mech_couple_report(h.couple)->size <= 0.5);
        }
        CHECK_NEAR(mech_couple_time(h.couple), 5., 1e-12);
        off[i] = fabs(h.half[0].x - 0.5 * (cos(5.) + cos(sqrt(3.) * 5.)));
        const double windows = (double)mech_couple_windows(h.couple);
        CU_ASSERT(i == 0 ? windows < 300. : windows < 3000.);
        mech_couple_destroy(h.couple);
    }
    CU_ASSERT(off[0] < 1e-2);
    CU_ASSERT(off[1] < 1e-5);
}

static void failed_trials_are_tried_with_smaller_windows(void)
{
    struct halves h = pair();
    struct mech_couple_setup s = setup_of("GaussSeidel");
    s.options.adaptive_absolute = 1.;
    s.options.minimum = 0.01;
    s.options.maximum = 0.4;
    h.half[1].fail_trial = 1;
    halves_start(&h, HALF_LINEAR, &s);
    CU_ASSERT_EQUAL(halves_run(&h, 0.4, 1), 0);
    CU_ASSERT_EQUAL(mech_couple_report(h.couple)->refused, 1);
    CHECK_NEAR(mech_couple_time(h.couple), 0.2, 0.);
    CU_ASSERT_EQUAL(h.half[0].commits, 1);
    CU_ASSERT_EQUAL(h.half[1].commits, 1);
    mech_couple_destroy(h.couple);
}

static void windows_below_the_minimum_are_reported(void)
{
    struct halves h = pair();
    struct mech_couple_setup s = setup_of("GaussSeidel");
    s.options.adaptive_absolute = 1e-12;
    s.options.minimum = 0.01;
    s.options.maximum = 0.5;
    h.half[0].v = 1.;
    halves_start(&h, HALF_LINEAR, &s);
    CU_ASSERT_EQUAL(halves_run(&h, 0.5, 1), MECH_STEP_TOO_SMALL);
    CU_ASSERT(mech_couple_report(h.couple)->refused > 0);
    CU_ASSERT_EQUAL(h.half[0].commits, 0);
    CHECK_NEAR(mech_couple_time(h.couple), 0., 0.);
    mech_couple_destroy(h.couple);
}

/* Two free masses at 1 m/s: held inputs are off by the size of the window, in m. */
static void start_ramps(struct halves *h, double absolute, double minimum, double maximum)
{
    struct mech_couple_setup s = setup_of("GaussSeidel");
    *h = pair();
    for (int i = 0; i < 2; i++) {
        h->half[i].k = h->half[i].gain[0] = 0.;
        h->half[i].v = 1.;
    }
    s.options.adaptive_absolute = absolute;
    s.options.minimum = minimum;
    s.options.maximum = maximum;
    halves_start(h, HALF_LINEAR, &s);
}

/* At that size the error is 0.9 of what is allowed. */
static void a_refused_window_leads_to_the_size_that_is_allowed(void)
{
    struct halves h;
    start_ramps(&h, 0.2, 1e-3, 0.5);
    CU_ASSERT_EQUAL(halves_run(&h, 0.5, 1), 0);
    CU_ASSERT_EQUAL(mech_couple_report(h.couple)->refused, 1);
    CHECK_NEAR(mech_couple_time(h.couple), 0.18, 1e-12);
    CHECK_NEAR(mech_couple_report(h.couple)->error, 0.9, 1e-12);
    CHECK_NEAR(mech_couple_report(h.couple)->next_size, 0.18, 1e-12);
    mech_couple_destroy(h.couple);
}

static void windows_stay_between_minimum_and_maximum(void)
{
    /* the last of 0.5, 0.1, 0.02 s is below the minimum, at which the error is just allowed */
    struct halves h;
    start_ramps(&h, 0.021, 0.0205, 0.5);
    CU_ASSERT_EQUAL(halves_run(&h, 0.5, 1), 0);
    CU_ASSERT_EQUAL(mech_couple_report(h.couple)->refused, 2);
    CHECK_NEAR(mech_couple_time(h.couple), 0.0205, 1e-15);
    mech_couple_destroy(h.couple);
    /* no error limits these */
    start_ramps(&h, 100., 1e-3, 0.25);
    CU_ASSERT_EQUAL(halves_run(&h, 10., 8), 0);
    CHECK_NEAR(mech_couple_time(h.couple), 8. * 0.25, 1e-12);
    CHECK_NEAR(mech_couple_report(h.couple)->next_size, 0.25, 0.);
    mech_couple_destroy(h.couple);
}

/* Errors of polynomials through the last q + 1 ends are ∝ H^(q+1). */
static void sizes_follow_the_order_of_the_extrapolation(void)
{
    for (int32_t hold = 0; hold <= 3; hold++) {
        struct halves h = pair();
        struct mech_couple_setup s = setup_of("GaussSeidel");
        s.options.hold = hold;
        s.options.adaptive_absolute = 1e-3;
        s.options.minimum = 1e-9;
        s.options.maximum = 10.;
        halves_start(&h, HALF_LINEAR, &s);
        for (int w = 0; w < 20; w++) {
            CU_ASSERT_EQUAL_FATAL(halves_run(&h, 10., 1), 0);
            const struct mech_couple_report *const r = mech_couple_report(h.couple);
            const double factor = 0.9 * pow(r->error, -1. / (1. + (w < hold ? w : hold)));
            const double next = r->size * fmin(fmax(factor, 0.2), 2.);
            CHECK_NEAR(r->next_size, next, 1e-12 * next);
        }
        mech_couple_destroy(h.couple);
    }
}

UNIT_TESTS(UNIT_TEST(errors_are_controlled_by_the_window),
           UNIT_TEST(failed_trials_are_tried_with_smaller_windows),
           UNIT_TEST(windows_below_the_minimum_are_reported),
           UNIT_TEST(a_refused_window_leads_to_the_size_that_is_allowed),
           UNIT_TEST(windows_stay_between_minimum_and_maximum),
           UNIT_TEST(sizes_follow_the_order_of_the_extrapolation))
