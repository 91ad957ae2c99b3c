/* What sweeps start from: closed forms of one contact and of two. */
#include "tests/unit/solver/step/moreau_jean/bodies.h"

/* points: v + ω × r */
static void the_approach_is_that_of_the_points_of_contact(void)
{
    const double twist[12] = {0., 0., 1., 0., 2., 0., 1., 2., 3., 4., 0., 0.};
    struct mech_body_contact c = {
        .body = {0, 1}, .n = {0., 0., 1.}, .arm = {{0.5, 0., 0.}, {0., 0.25, 0.}}};

    CHECK_NEAR(mech_moreau_bodies_approach(&c, twist), 4., 0.);
    c.body[0] = -1;
    CHECK_NEAR(mech_moreau_bodies_approach(&c, twist), 4., 0.);
    c.body[1] = -1;
    c.body[0] = 0;
    CHECK_NEAR(mech_moreau_bodies_approach(&c, twist), 0., 0.);
    c.arm[0][0] = 0.25;
    CHECK_NEAR(mech_moreau_bodies_approach(&c, twist), -0.5, 0.);
}

/* at 2 m/s onto a plane: c = v⁺ + b, b = e y' */
static void a_bounce_asks_for_its_part_of_the_speed(void)
{
    static const char text[] =
        BODIES_MODEL("[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, 0.1]", "[0, 0, -2]"),
                     BODIES_PLANE("{'friction': 0.5, 'restitution': 0.75}") "," BODIES_BALL(
                         "ball", "n", "4", "{'friction': 0.25, 'restitution': 0.5}"));
    struct bodies b;

    bodies_open(&b, text, 0.01);
    const struct mech_sweeps *const w = &b.s->sweeps;
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_gather(b.s, &b.c.state, &b.result), 0);
    CU_ASSERT_EQUAL_FATAL(w->count, 1);
    CU_ASSERT_EQUAL(w->lasting, 0);
    const struct mech_body_contact *const c = w->at;
    CHECK_NEAR(fabs(c->n[2]), 1., 0.);
    CHECK_NEAR(c->b[0], -1., 1e-15);
    CHECK_NEAR(c->b[1], 0., 0.);
    CHECK_NEAR(c->cfm[0], 0., 0.);
    CHECK_NEAR(c->mu, 0.25, 0.);
    CHECK_NEAR(c->impulse[2], 0., 0.);
    CU_ASSERT_EQUAL(c->body[0] + c->body[1], -1);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(w->inverse_mass[k], 0.25, 0.);
    }
    for (int k = 0; k < 9; k++) {
        CHECK_NEAR(w->inverse_inertia[k], 0., 0.);
    }
    CHECK_NEAR(w->before[2], -2., 0.);
    bodies_close(&b);
}

/* two balls on each other; the state keeps the upper contact */
static void contacts_begin_with_the_impulses_that_the_state_keeps(void)
{
    static const char text[] =
        BODIES_MODEL("[0, 0, -10]", "1",
                     BODIES_NODE("n", "[0, 0, 0.1]",
                                 "[0, 0, 0]") "," BODIES_NODE("m", "[0, 0, 0.3]", "[0, 0, 0]"),
                     BODIES_PLANE("{}") "," BODIES_BALL("a", "n", "1",
                                                        "{}") "," BODIES_BALL("b", "m", "1", "{}"));
    const double impulse[3] = {0.125, 0., 0.5};
    struct bodies b;

    bodies_open(&b, text, 0.01);
    const struct mech_sweeps *const w = &b.s->sweeps;
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_gather(b.s, &b.c.state, &b.result), 0);
    CU_ASSERT_EQUAL_FATAL(w->count, 2);
    const int upper = w->at[0].body[0] >= 0 && w->at[0].body[1] >= 0 ? 0 : 1;
    struct mech_touched *const kept = mech_state_touch(&b.c.state, 1);
    kept->id = b.s->list.at[w->of[upper]].id;
    memcpy(kept->impulse, impulse, sizeof impulse);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_gather(b.s, &b.c.state, &b.result), 0);
    CU_ASSERT_EQUAL_FATAL(w->count, 2);
    CU_ASSERT_EQUAL(w->lasting, 1);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(w->at[upper].impulse[k], impulse[k], 0.);
        CHECK_NEAR(w->at[1 - upper].impulse[k], 0., 0.);
    }
    bodies_close(&b);
}

UNIT_TESTS(UNIT_TEST(the_approach_is_that_of_the_points_of_contact),
           UNIT_TEST(a_bounce_asks_for_its_part_of_the_speed),
           UNIT_TEST(contacts_begin_with_the_impulses_that_the_state_keeps))
