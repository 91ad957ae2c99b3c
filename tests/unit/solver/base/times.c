/* Times: near means a few units in the last place, whatever the step; sums lose nothing. */
#include "solver/base/times.h"

#include "tests/unit/unit.h"

static const double starts[] = {0., 1e-3, 3600., 86400., 1e6, 1e9, -1e6};
enum { STARTS = sizeof starts / sizeof *starts };

static void rounding_parts_no_times_and_a_thousandth_of_a_step_does(void)
{
    for (int i = 1; i < STARTS; i++) {
        const double t = starts[i], next = nextafter(nextafter(t, INFINITY), INFINITY);

        CU_ASSERT(mech_time_same(t, next, 0.));
        CU_ASSERT_FALSE(mech_time_before(t, next, 0.));
        CU_ASSERT_FALSE(mech_time_same(t, t + 1e-14 * fabs(t), 0.));
        CU_ASSERT(mech_time_before(t, t + 1e-14 * fabs(t), 0.));
        CU_ASSERT_FALSE(mech_time_before(t + 1e-14 * fabs(t), t, 0.));
    }
    CU_ASSERT(mech_time_same(0., 0., 0.));
    CU_ASSERT_FALSE(mech_time_same(0., 1e-300, 0.));
    CU_ASSERT_FALSE(mech_time_same(NAN, 0., 0.));
    CU_ASSERT_FALSE(mech_time_before(0., NAN, 0.));
    CU_ASSERT(mech_time_before(1e9, INFINITY, 0.));
    /* past 0 a sum of steps is as good as the steps are */
    CU_ASSERT(mech_time_same(0., 1e-19, 1e-3));
    CU_ASSERT_FALSE(mech_time_before(-1e-19, 0., 1e-3));
}

static void a_multiple_of_a_step_is_that_many_steps(void)
{
    const double sizes[] = {1e-3, 1. / 3., 0.1, 7e-5, 1.};

    for (int i = 0; i < STARTS; i++) {
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            const double t0 = starts[i], h = sizes[j];

            for (int k = 0; k < 20000; k++) {
                double size = 0.;
                const double n = mech_time_steps(
                    (struct mech_time_part){t0, t0 + k * h, t0 + (k + 1 + k % 3) * h}, h, 0.,
                    &size);

                CU_ASSERT(n == 1 + k % 3);
                CU_ASSERT(size == h);
            }
        }
    }
}

static void what_is_no_multiple_is_divided_evenly(void)
{
    double size = 0.;

    CU_ASSERT_EQUAL(mech_time_steps((struct mech_time_part){.to = 0.01}, 0.003, 0., &size), 4.);
    CU_ASSERT_EQUAL(size, 0.0025);
    CU_ASSERT_EQUAL(
        mech_time_steps((struct mech_time_part){.to = 0.003 * (1. + 1e-12)}, 0.003, 0., &size), 2.);
    CU_ASSERT_EQUAL(mech_time_steps((struct mech_time_part){.to = 1e-9}, 0.003, 0., &size), 1.);
    CU_ASSERT_EQUAL(size, 1e-9);
}

/* A period that is no multiple of h gives steps of one size for as long as it lasts. */
static void the_size_before_is_kept_where_it_fits(void)
{
    double last = 0.;

    mech_time_steps((struct mech_time_part){1e6, 1e6, 1e6 + 0.0015}, 0.001, 0., &last);
    for (int k = 1; k < 5000; k++) {
        double size = 0.;

        CU_ASSERT_EQUAL(
            mech_time_steps((struct mech_time_part){1e6, 1e6 + k * 0.0015, 1e6 + (k + 1) * 0.0015},
                            0.001, last, &size),
            2.);
        CU_ASSERT(size == last);
        CU_ASSERT_DOUBLE_EQUAL(size, 0.00075, 1e-9);
    }
}

static void a_sum_of_steps_is_their_product(void)
{
    for (int i = 0; i < STARTS; i++) {
        struct mech_moment m = {starts[i], 0.};

        for (int k = 1; k <= 100000; k++) {
            mech_moment_add(&m, 0.001);
            if (k % 97 == 0) {
                const struct mech_moment p =
                    mech_moment_after((struct mech_moment){starts[i], 0.}, k, 0.001);

                CU_ASSERT(m.time == p.time && m.rest == p.rest);
                CU_ASSERT(starts[i] != 0. || m.time == k * 0.001);
            }
        }
    }
}

static void a_guard_passes_rounding_and_sees_a_step(void)
{
    for (int i = 0; i < STARTS; i++) {
        double sum = starts[i];

        for (uint64_t k = 0; k < 100000; k++) {
            const double now = starts[i] + (double)k * 0.001;

            CU_ASSERT(fabs(sum - now) > 2e-4 || mech_time_expected(now, sum, k, 0.001));
            CU_ASSERT_FALSE(mech_time_expected(now, now - 0.001, k, 0.001));
            CU_ASSERT_FALSE(mech_time_expected(now, now + 0.001, k, 0.001));
            sum += 0.001;
        }
    }
    CU_ASSERT_FALSE(mech_time_expected(1., 1.001, 1000, 0.));
    CU_ASSERT_FALSE(mech_time_expected(1., NAN, 1000, 0.001));
}

/* start + k h near 0 is known to an ulp of start. */
static void steps_from_a_start_before_0_are_whole(void)
{
    static const double befores[] = {-1., -0.1, -0.3, -1000.};

    for (int i = 0; i < 4; i++) {
        const double h = befores[i] / -200.;
        struct mech_moment m = {befores[i], 0.};

        for (int k = 1; k <= 400; k++) {
            double size;

            CU_ASSERT_EQUAL(
                mech_time_steps((struct mech_time_part){befores[i], m.time, befores[i] + k * h}, h,
                                0., &size),
                1.);
            CU_ASSERT_EQUAL(size, h);
            mech_moment_add(&m, h);
            CU_ASSERT_TRUE(
                mech_time_same(m.time, befores[i] + k * h, mech_time_scale(m.time, befores[i], h)));
        }
    }
}

UNIT_TESTS(UNIT_TEST(steps_from_a_start_before_0_are_whole),
           UNIT_TEST(rounding_parts_no_times_and_a_thousandth_of_a_step_does),
           UNIT_TEST(a_multiple_of_a_step_is_that_many_steps),
           UNIT_TEST(what_is_no_multiple_is_divided_evenly),
           UNIT_TEST(the_size_before_is_kept_where_it_fits),
           UNIT_TEST(a_sum_of_steps_is_their_product),
           UNIT_TEST(a_guard_passes_rounding_and_sees_a_step))
