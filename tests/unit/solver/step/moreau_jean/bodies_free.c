/* Steps of free bodies by sweeps: closed forms of velocities, positions and what is kept. */
#include "tests/unit/solver/step/moreau_jean/bodies.h"

static const double h = 0.01, g = 10.;

#define BALL_AT(z, v, material)                                                                    \
    BODIES_MODEL("[0, 0, -10]", "0.6", BODIES_NODE("n", "[0, 0, " z "]", "[0, 0, " v "]"),         \
                 BODIES_PLANE(material) "," BODIES_BALL("ball", "n", "4", material))

static void sweep(struct bodies *b, const char *text)
{
    bodies_open(b, text, h);
    CU_ASSERT_TRUE_FATAL(b->s->sweeps.on);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_sweep(b->s, &b->c.state, &b->result), 0);
}

/* q_{k+1} − q_k = h (v_k + v_{k+1})/2; coordinates are those of the reference, so q = 0 */
static void what_touches_nothing_falls(void)
{
    struct bodies b;

    sweep(&b, BALL_AT("5", "3", "{}"));
    CHECK_NEAR(b.c.state.v[2], 3. - g * h, 1e-15);
    CHECK_NEAR(b.c.state.vdot[2], -g, 1e-12);
    CHECK_NEAR(b.c.state.q[2] - b.s->q0[2], h * (3. - 0.5 * g * h), 1e-15);
    CU_ASSERT_EQUAL(b.c.state.at->touched, 0);
    CU_ASSERT_EQUAL(b.result.contacts, 0);
    bodies_close(&b);
}

static void what_lies_stays(void)
{
    struct bodies b;

    sweep(&b, BALL_AT("0.1", "0", "{}"));
    CHECK_NEAR(b.c.state.v[2], 0., 1e-15);
    CHECK_NEAR(b.c.state.q[2] - b.s->q0[2], 0., 1e-17);
    CU_ASSERT_EQUAL_FATAL(b.c.state.at->touched, 1);
    CHECK_NEAR(fabs(b.c.state.touched[0].impulse[2]), 4. * g * h, 1e-14);
    CHECK_NEAR(b.result.impact_gain, 0., 1e-15);
    bodies_close(&b);
}

/* at 2 m/s, e = ½: up at 1 m/s, and the way down within the step is closed */
static void what_falls_rebounds(void)
{
    struct bodies b;

    sweep(&b, BALL_AT("0.1", "-2", "{'restitution': 0.5}"));
    CHECK_NEAR(b.c.state.v[2], 1., 1e-14);
    CHECK_NEAR(b.c.state.vdot[2], 3. / h, 1e-10);
    CU_ASSERT_EQUAL_FATAL(b.c.state.at->touched, 1);
    CHECK_NEAR(fabs(b.c.state.touched[0].impulse[2]), 4. * (3. + g * h), 1e-13);
    CHECK_NEAR(b.c.state.q[2] - b.s->q0[2], 0., 1e-9 * h);
    bodies_close(&b);
}

/* at 0.1 m/s it does not: e y' is less than minBounceSpeed */
static void what_falls_slowly_stays(void)
{
    struct bodies b;

    sweep(&b, BALL_AT("0.1", "-0.1", "{'restitution': 0.5}"));
    CHECK_NEAR(b.c.state.v[2], 0., 1e-15);
    bodies_close(&b);
}

/* 6 mm above the plane at 1 m/s: 1 mm is left in the middle, closed at half of v_{k+1} */
static void what_comes_near_touches_at_the_end(void)
{
    struct bodies b;

    sweep(&b, BALL_AT("0.106", "-1", "{}"));
    CHECK_NEAR(b.c.state.v[2], -2. * (0.006 - 0.5 * h) / h, 1e-10);
    CHECK_NEAR(b.c.state.q[2] - b.s->q0[2], -0.006, 1e-12);
    bodies_close(&b);
}

UNIT_TESTS(UNIT_TEST(what_touches_nothing_falls), UNIT_TEST(what_lies_stays),
           UNIT_TEST(what_falls_rebounds), UNIT_TEST(what_falls_slowly_stays),
           UNIT_TEST(what_comes_near_touches_at_the_end))
