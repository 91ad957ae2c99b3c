/* Overlaps that a step leaves: how far bodies at rest are moved apart. */
#include "tests/unit/solver/step/moreau_jean/bodies.h"

#define OVERLAPS(recovery)                                                                         \
    BODIES_MODEL("[0, 0, 0]", recovery,                                                            \
                 BODIES_NODE("n", "[0, 0, 0.099]",                                                 \
                             "[0, 0, 0]") "," BODIES_NODE("m", "[0, 0, 0.297]", "[0, 0, 0]"),      \
                 BODIES_PLANE("{}") "," BODIES_BALL("a", "n", "1",                                 \
                                                    "{}") "," BODIES_BALL("b", "m", "3", "{}"))
#define ONE(recovery, z)                                                                           \
    BODIES_MODEL("[0, 0, 0]", recovery, BODIES_NODE("n", "[0, 0, " z "]", "[0, 0, 0]"),            \
                 BODIES_PLANE("{}") "," BODIES_BALL("ball", "n", "1", "{}"))

/* The upward motions [count] of the bodies by the pass after sweeps, h = 0.01 s. */
static void part_free(const char *text, int32_t count, double *up)
{
    struct bodies b;

    bodies_open(&b, text, 0.01);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_gather(b.s, &b.c.state, &b.result), 0);
    memset(b.s->sweeps.twist, 0, 6 * (size_t)count * sizeof(double));
    memset(b.s->d, 0, ((size_t)b.s->nv + 1) * sizeof(double));
    mech_moreau_bodies_part_free(b.s);
    for (int32_t i = 0; i < count; i++) {
        up[i] = b.s->d[mech_model_touch_body(b.c.model, i).slot[2]];
    }
    bodies_close(&b);
}

/* The same by Newton's method, from rest: what the coordinates change by. */
static void part(const char *text, int32_t count, double *up)
{
    struct bodies b;

    bodies_open(&b, text, 0.01);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_solve(b.s, &b.c.state, 0.01, &b.result), 0);
    for (int32_t i = 0; i < count; i++) {
        const int32_t k = mech_model_touch_body(b.c.model, i).slot[2];

        up[i] = b.c.state.q[k] - b.s->q0[k];
        CHECK_NEAR(b.c.state.v[k], 0., 1e-15);
    }
    bodies_close(&b);
}

static void check_one(const char *text, double expected)
{
    double up[2];

    part_free(text, 1, up);
    part(text, 1, up + 1);
    CHECK_NEAR(up[0], expected, 1e-9 * 0.01);
    CHECK_NEAR(up[1], expected, 1e-9 * 0.01);
}

static void an_overlap_is_closed_in_a_step_where_that_is_fast_enough(void)
{
    check_one(ONE("10", "0.099"), 0.001);
}

static void it_is_closed_no_faster_than_the_settings_say(void)
{
    check_one(ONE("0.05", "0.099"), 5e-4);
}

static void what_touches_or_is_open_stays(void)
{
    check_one(ONE("10", "0.1"), 0.);
    check_one(ONE("10", "0.1001"), 0.);
}

/* 1 mm into the plane, 2 mm into each other: the upper one goes up by both, whatever they weigh */
static void two_overlaps_are_closed_at_once(void)
{
    double up[2];

    part_free(OVERLAPS("10"), 2, up);
    CHECK_NEAR(up[0], 0.001, 1e-8 * 0.01);
    CHECK_NEAR(up[1], 0.003, 1e-8 * 0.01);
    part(OVERLAPS("10"), 2, up);
    CHECK_NEAR(up[0], 0.001, 1e-8 * 0.01);
    CHECK_NEAR(up[1], 0.003, 1e-8 * 0.01);
}

/* each contact by 0.05 m/s at most: 0.5 mm */
static void two_overlaps_are_closed_no_faster_each(void)
{
    double up[2];

    part_free(OVERLAPS("0.05"), 2, up);
    CHECK_NEAR(up[0], 5e-4, 1e-8 * 0.01);
    CHECK_NEAR(up[1], 1e-3, 1e-8 * 0.01);
    part(OVERLAPS("0.05"), 2, up);
    CHECK_NEAR(up[0], 5e-4, 1e-8 * 0.01);
    CHECK_NEAR(up[1], 1e-3, 1e-8 * 0.01);
}

UNIT_TESTS(UNIT_TEST(an_overlap_is_closed_in_a_step_where_that_is_fast_enough),
           UNIT_TEST(it_is_closed_no_faster_than_the_settings_say),
           UNIT_TEST(what_touches_or_is_open_stays), UNIT_TEST(two_overlaps_are_closed_at_once),
           UNIT_TEST(two_overlaps_are_closed_no_faster_each))
