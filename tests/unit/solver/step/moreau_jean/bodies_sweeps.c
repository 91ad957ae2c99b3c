/* Impulses by sweeps, from velocities that forces alone would give: closed forms. */
#include "tests/unit/solver/step/moreau_jean/bodies.h"

static const double h = 0.01, g = 10.;

/* Gathered, and the impulses found for free velocities v_k − g h. */
static void solve(struct bodies *b, const char *text)
{
    bodies_open(b, text, h);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_gather(b->s, &b->c.state, &b->result), 0);
    for (int32_t i = 0; i < mech_model_touch_bodies(b->c.model); i++) {
        b->c.state.v[mech_model_touch_body(b->c.model, i).slot[2]] -= g * h;
    }
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_impulses(b->s, &b->c.state, &b->result), 0);
    CU_ASSERT_FALSE(b->s->accepted);
}

static const double *impulse_of(const struct bodies *b, int32_t contact)
{
    return b->s->sweeps.at[contact].impulse;
}

static void a_weight_is_carried(void)
{
    static const char text[] =
        BODIES_MODEL("[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, 0.1]", "[0, 0, 0]"),
                     BODIES_PLANE("{}") "," BODIES_BALL("ball", "n", "4", "{}"));
    struct bodies b;

    solve(&b, text);
    CU_ASSERT_EQUAL_FATAL(b.s->sweeps.count, 1);
    CHECK_NEAR(fabs(impulse_of(&b, 0)[2]), 4. * g * h, 1e-14);
    CHECK_NEAR(b.c.state.v[2], 0., 1e-15);
    bodies_close(&b);
}

/* 1 kg on 3 kg: the lower contact carries both */
static void a_stack_is_carried(void)
{
    static const char text[] =
        BODIES_MODEL("[0, 0, -10]", "1",
                     BODIES_NODE("n", "[0, 0, 0.1]",
                                 "[0, 0, 0]") "," BODIES_NODE("m", "[0, 0, 0.3]", "[0, 0, 0]"),
                     BODIES_PLANE("{}") "," BODIES_BALL("a", "n", "3",
                                                        "{}") "," BODIES_BALL("b", "m", "1", "{}"));
    struct bodies b;

    solve(&b, text);
    CU_ASSERT_EQUAL_FATAL(b.s->sweeps.count, 2);
    const struct mech_body_contact *const at = b.s->sweeps.at;
    const int upper = at[0].body[0] >= 0 && at[0].body[1] >= 0 ? 0 : 1;
    CHECK_NEAR(fabs(impulse_of(&b, upper)[2]), 1. * g * h, 1e-9);
    CHECK_NEAR(fabs(impulse_of(&b, 1 - upper)[2]), 4. * g * h, 1e-9);
    for (int k = 0; k < 6; k++) {
        CHECK_NEAR(b.c.state.v[k], 0., 1e-9);
    }
    bodies_close(&b);
}

/* μ g h less than it slides, and what slides more slowly stops */
static void friction_slows_what_slides(void)
{
#define SLIDES(v)                                                                                  \
    BODIES_MODEL(                                                                                  \
        "[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, 0.1]", "[" v ", 0, 0]"),                      \
        BODIES_PLANE("{'friction': 0.5}") "," BODIES_BALL("ball", "n", "4", "{'friction': 0.5}"))
    struct bodies b;

    solve(&b, SLIDES("1"));
    CHECK_NEAR(b.c.state.v[0], 1. - 0.5 * g * h, 1e-9);
    CHECK_NEAR(fabs(impulse_of(&b, 0)[0]), 0.5 * 4. * g * h, 1e-9);
    bodies_close(&b);
    solve(&b, SLIDES("0.02"));
    CHECK_NEAR(b.c.state.v[0], 0., 1e-9);
    CHECK_NEAR(fabs(impulse_of(&b, 0)[0]), 4. * 0.02, 1e-9);
    bodies_close(&b);
#undef SLIDES
}

/* few contacts go on to the tolerance */
static void few_contacts_are_not_enough_by_themselves(void)
{
    static const char text[] =
        BODIES_MODEL("[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, 0.1]", "[0, 0, 0]"),
                     BODIES_PLANE("{}") "," BODIES_BALL("ball", "n", "4", "{}"));
    struct bodies b;

    bodies_open(&b, text, h);
    CU_ASSERT(b.s->acceptable > 0.);
    b.s->sweeps.count = MECH_ACCEPTABLE_FROM - 1;
    CU_ASSERT_FALSE(mech_moreau_bodies_own(b.s));
    b.s->sweeps.count = MECH_ACCEPTABLE_FROM;
    CU_ASSERT_TRUE(mech_moreau_bodies_own(b.s));
    b.s->acceptable = 0.;
    CU_ASSERT_FALSE(mech_moreau_bodies_own(b.s));
    bodies_close(&b);
}

UNIT_TESTS(UNIT_TEST(a_weight_is_carried), UNIT_TEST(a_stack_is_carried),
           UNIT_TEST(friction_slows_what_slides),
           UNIT_TEST(few_contacts_are_not_enough_by_themselves))
