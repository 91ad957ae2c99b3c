/* One-sided rows: which act, which open, and what an impact leaves of the velocities. Two ropes of
 * 5 m meet at a mass of 2 kg below them: G = [0.6 −0.8; −0.6 −0.8]. */
#include "solver/step/sided.h"

#include "solver/base/err.h"
#include "tests/unit/compiled.h"

static const char ropes[] =
    "{'mechd': 1, 'nodes': ["
    "{'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [0, -4]},"
    "{'name': 'g0', 'type': 'NodePointGround', 'referenceCoordinates': [-3, 0, 0]},"
    "{'name': 'g1', 'type': 'NodePointGround', 'referenceCoordinates': [3, 0, 0]}],"
    "'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 2},"
    "{'name': 'r0', 'type': 'DistanceConstraint', 'markers': ['m0', 'm'], 'distance': 5,"
    "'unilateral': true}, {'name': 'r1', 'type': 'DistanceConstraint', 'markers': ['m1', 'm'],"
    "'distance': 5, 'unilateral': true}], 'markers': ["
    "{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g0'},"
    "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'g1'},"
    "{'name': 'm', 'type': 'MarkerNodePosition', 'node': 'n'}]}";

/* velocities after an impact of both rows, and which are open then */
static void check_impact(const double before[2], const double after[2], const double open[2])
{
    struct mech_step_result result = {.iterations = 0};
    struct compiled c;
    struct mech_rates r;

    compiled_open(&c, ropes);
    CU_ASSERT_EQUAL_FATAL(mech_rates_init(&r, c.model, NULL, &result), 0);
    for (int i = 0; i < 2; i++) {
        c.state.open[i] = 0.;
        c.state.v[i] = before[i];
    }
    CU_ASSERT_EQUAL(mech_sided_impact(&r, &c.state, &result), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(c.state.v[i], after[i], 1e-14 * (1. + fabs(before[0]) + fabs(before[1])));
        CHECK_NEAR(c.state.open[i], open[i], 0.);
    }
    mech_rates_fini(&r);
    compiled_close(&c);
}

static void an_impact_takes_what_both_ropes_forbid(void)
{
    const double zero[2] = {0., 0.};

    check_impact((const double[2]){0., -1.}, zero, zero);
    check_impact((const double[2]){0., -1e12}, zero, zero);
    check_impact((const double[2]){0., -1e-12}, zero, zero);
    check_impact(zero, zero, zero);
}

static void a_rope_that_would_pull_back_opens(void)
{
    /* v = d₁ − d₀/2 with the ropes' directions d₀ = (0.6, −0.8), d₁ = (−0.6, −0.8): r0 would have
     * to push; without it v − d₁ (d₁ · v) is left, which lets r0 go slack */
    check_impact((const double[2]){-0.9, -0.4}, (const double[2]){-0.384, 0.288},
                 (const double[2]){1., 0.});
    check_impact((const double[2]){0.9, -0.4}, (const double[2]){0.384, 0.288},
                 (const double[2]){0., 1.});
}

static void the_row_that_pulls_hardest_opens_first(void)
{
    struct compiled c;

    compiled_open(&c, ropes);
    const double side = mech_model_joints(c.model)->side[0];
    CU_ASSERT_EQUAL_FATAL(fabs(side), 1.);
    for (int i = 0; i < 2; i++) {
        c.state.open[i] = 0.;
        c.state.lambda[i] = -side * (1. + i);
    }
    CU_ASSERT_FALSE(mech_sided_release(c.model, 2., &c.state));
    CU_ASSERT_TRUE(mech_sided_release(c.model, 0., &c.state));
    CHECK_NEAR(c.state.open[0], 0., 0.);
    CHECK_NEAR(c.state.open[1], 1., 0.);
    CHECK_NEAR(c.state.lambda[1], 0., 0.);
    CU_ASSERT_TRUE(mech_sided_release(c.model, 0., &c.state));
    CU_ASSERT_FALSE(mech_sided_release(c.model, 0., &c.state));
    for (int i = 0; i < 2; i++) {
        c.state.open[i] = 0.;
        c.state.lambda[i] = -side * (2. - i);
    }
    CU_ASSERT_TRUE(mech_sided_release(c.model, 0., &c.state));
    CHECK_NEAR(c.state.open[0], 1., 0.);
    CHECK_NEAR(c.state.open[1], 0., 0.);
    compiled_close(&c);
}

UNIT_TESTS(UNIT_TEST(an_impact_takes_what_both_ropes_forbid),
           UNIT_TEST(a_rope_that_would_pull_back_opens),
           UNIT_TEST(the_row_that_pulls_hardest_opens_first))
