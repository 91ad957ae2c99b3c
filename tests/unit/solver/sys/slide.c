/* Cones beside fast sliding: the map of slow ones, and closed forms of fast ones, of which the map
 * keeps no digit. */
#include "solver/sys/slide.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdint.h>

static const struct mech_set plane = {.kind = MECH_SET_CONE, .rows = 2, .mu = 0.5};
static const struct mech_set space = {.kind = MECH_SET_CONE, .rows = 3, .mu = 0.5};
static const struct mech_set turning = {
    .kind = MECH_SET_ROLLING, .rows = 6, .mu = 0.5, .spinning = 0.1, .rolling = 0.3};

/* uniform in −1 … 1, xorshift */
static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 4503599627370496. - 1.;
}

static double miss(const struct mech_set *set, const double *l, const double *c)
{
    double map[MECH_SET_ROWS];

    mech_set_map(set, MECH_COULOMB, l, c, map);
    return mech_slide_miss(set, l, c, map);
}

static void at_moderate_speeds_it_is_the_map(void)
{
    const struct mech_set *const sets[] = {&plane, &space, &turning};
    uint64_t seed = 88172645463325252u;

    for (int k = 0; k < 6000; k++) {
        const struct mech_set *const set = sets[k % 3];
        double l[MECH_SET_ROWS], c[MECH_SET_ROWS], map[MECH_SET_ROWS], size = 0.;

        for (int i = 0; i < set->rows; i++) {
            /* parts that stick are among them */
            l[i] = (i == 0 ? 5. : 1.) * uniform(&seed);
            c[i] = (k % 2 ? 1. : 0.05) * uniform(&seed);
        }
        mech_set_map(set, MECH_COULOMB, l, c, map);
        for (int i = 0; i < set->rows; i++) {
            size = hypot(size, map[i]);
        }
        CHECK_NEAR(mech_slide_miss(set, l, c, map), size, 4e-15); /* some ε of 5 */
    }
}

/* What opens at w and slides along −l_T has the normal part l_N − w/(1 + μ²). */
static void what_slides_fast_misses_by_its_normal_speed(void)
{
    for (double fast = 1.; fast < 1e300; fast *= 1e4) {
        for (double w = 1e-12; w < 1.; w *= 10.) {
            const double flat[] = {2., -1.}, c[] = {w, fast}, round[] = {2., -0.6, 0.8};
            const double turned[] = {w, 0.6 * fast, -0.8 * fast};

            CHECK_NEAR(miss(&plane, flat, c), w / sqrt(1.25), 1e-15);
            CHECK_NEAR(miss(&space, round, turned), w / sqrt(1.25), 1e-15);
        }
        CHECK_NEAR(miss(&plane, (double[]){2., -0.5}, (double[]){0., fast}),
                   /* l_T short of the cone by 1/2: n by μ/(1 + μ²) of that */
                   hypot(0.5 * 0.5 / 1.25, 0.5 - 0.5 * 0.25 / 1.25), 1e-15);
    }
}

/* its other parts stick, and count in full */
static void a_part_that_slides_fast_hides_no_other(void)
{
    for (double fast = 10.; fast < 1e300; fast *= 1e5) {
        const double l[] = {1., 0.2, 0., 0., -0.3, 0.};

        CHECK_NEAR(miss(&turning, l, (double[]){0., 0., 0., 0., fast, 0.}), 0., 1e-16);
        CHECK_NEAR(miss(&turning, l, (double[]){1e-6, 0., 0., 0., fast, 0.}), 1e-6 / sqrt(1.09),
                   1e-15);
        /* ĉ_N by μ 1e-3 larger: n by that over 1 + ρ² */
        CHECK_NEAR(miss(&turning, l, (double[]){0., 0., 1e-3, 0., fast, 0.}),
                   hypot(1e-3, 0.5e-3 / sqrt(1.09)), 1e-15);
        CHECK_NEAR(miss(&turning, l, (double[]){0., 0., 0., 1e-3, fast, 0.}),
                   hypot(1e-3, 0.1e-3 / sqrt(1.09)), 1e-15);
    }
}

static void without_a_force_that_is_asked_for_all_of_l_is_off(void)
{
    CHECK_NEAR(miss(&space, (double[]){3., 0., -1.}, (double[]){10., 1e12, 0.}), sqrt(10.), 1e-15);
    CHECK_NEAR(miss(&space, (double[]){0., 0., 0.}, (double[]){0., 1e12, 0.}), 0., 0.);
}

static void what_is_not_a_number_stays_so(void)
{
    for (int i = 0; i < 6; i++) {
        double l[] = {1., 0.2, 0., 0., -0.3, 0.}, c[] = {0., 0., 0., 0., 1e12, 0.};

        c[i] = NAN;
        CU_ASSERT(isnan(miss(&turning, l, c)));
        c[i] = 0.;
        l[i] = NAN;
        CU_ASSERT(isnan(miss(&turning, l, c)));
    }
    CU_ASSERT(isnan(mech_slide_norm(2, (double[]){NAN, 1.})));
    CU_ASSERT(isnan(mech_slide_norm(2, (double[]){1., NAN})));
}

static void lengths_neither_overflow_nor_vanish(void)
{
    CHECK_NEAR(mech_slide_norm(2, (double[]){3e200, -4e200}) / 5e200, 1., 1e-15);
    CHECK_NEAR(mech_slide_norm(3, (double[]){3e-200, 0., 4e-200}) / 5e-200, 1., 1e-15);
    CHECK_NEAR(mech_slide_norm(1, (double[]){-2.}), 2., 0.);
    CHECK_NEAR(mech_slide_of(&space, (double[]){-9., 3., -4.}), 2.5, 1e-15);
    CHECK_NEAR(mech_slide_of(&turning, (double[]){-9., 3., -4., -2., 0., 1.}), 3., 1e-15);
}

UNIT_TESTS(UNIT_TEST(at_moderate_speeds_it_is_the_map),
           UNIT_TEST(what_slides_fast_misses_by_its_normal_speed),
           UNIT_TEST(a_part_that_slides_fast_hides_no_other),
           UNIT_TEST(without_a_force_that_is_asked_for_all_of_l_is_off),
           UNIT_TEST(what_is_not_a_number_stays_so), UNIT_TEST(lengths_neither_overflow_nor_vanish))
