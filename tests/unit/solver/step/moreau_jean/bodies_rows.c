/* One-sided rows of a step: what is appended, which act, and what they ask for. */
#include "tests/unit/solver/step/moreau_jean/bodies.h"

/* H = [1 2; 0 3] */
static void rows_push_along_their_entries(void)
{
    struct mech_impact_rows r = {.count = 0};
    double x[2] = {0.5, -1.};

    CU_ASSERT_EQUAL_FATAL(mech_impact_rows_reserve(&r, 2, 3), 0);
    const int32_t first = mech_impact_rows_open(&r, 2, 0.1, 0.2, 0.3);
    CU_ASSERT_EQUAL_FATAL(first, 0);
    r.column[0] = 0;
    r.column[1] = 1;
    r.value[0] = 1.;
    r.value[1] = 2.;
    mech_impact_rows_set(&r, (struct mech_set){.kind = MECH_SET_UNILATERAL, .rows = 1},
                         MECH_IMPACT_LAW, 7);
    CU_ASSERT_EQUAL_FATAL(mech_impact_rows_open(&r, 1, 0., 0., 0.), 2);
    r.column[2] = 1;
    r.value[2] = 3.;
    CU_ASSERT_EQUAL(r.count, 2);
    CU_ASSERT_EQUAL(r.sets, 1);
    CU_ASSERT_EQUAL(r.who[0].of, 7);
    CHECK_NEAR(r.b[0], 0.1, 0.);
    CHECK_NEAR(r.E[0], 0.2, 0.);
    CHECK_NEAR(r.guess[0], 0.3, 0.);
    CHECK_NEAR(r.P[0], 0., 0.);
    mech_moreau_bodies_push(&r, 0.5, (const double[2]){4., 5.}, x);
    CHECK_NEAR(x[0], 0.5 + 2., 0.);
    CHECK_NEAR(x[1], -1. + 11.5, 0.);
    mech_impact_rows_fini(&r);
}

/* two coordinates above 0.1, of which one is there and closes at 2 m/s */
static void interactions_that_close_ask_for_a_rebound(void)
{
    static const char text[] =
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag': "
        "[1, 1]}, 'q0': [5, 0.1], 'v0': [0, -2]}], 'interactions': [{'name': 'c', 'systems': ['s'],"
        "'relation': {'type': 'LagrangianLinearTIR', 'H': [[1, 0], [0, 3]], 'b': [-0.1, -0.3]},"
        "'law': {'type': 'NewtonImpact', 'e': 0.5}}], 'solver': {'integrator': 'MoreauJean'}}";
    struct bodies b;

    bodies_open(&b, text, 0.01);
    b.c.state.impulse[1] = 0.25;
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_find(b.s, &b.c.state, &b.result), 0);
    const struct mech_impact_rows *const r = &b.s->impacts;
    CU_ASSERT_EQUAL_FATAL(r->count, 1);
    CU_ASSERT_EQUAL(r->who[0].kind, MECH_IMPACT_LAW);
    CU_ASSERT_EQUAL(r->who[0].of, 1);
    CHECK_NEAR(r->b[0], 0.5 * 3. * -2., 0.);
    CHECK_NEAR(r->guess[0], 0.25, 0.);
    double H[3] = {0.};
    for (int32_t k = r->start[0]; k < r->start[1]; k++) {
        H[r->column[k]] += r->value[k];
    }
    CHECK_NEAR(H[0], 0., 0.);
    CHECK_NEAR(H[1], 3., 0.);
    r->P[0] = 1.5;
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_keep(b.s, &b.c.state, &b.result), 0);
    CHECK_NEAR(b.c.state.impulse[0], 0., 0.);
    CHECK_NEAR(b.c.state.impulse[1], 1.5, 0.);
    CU_ASSERT_EQUAL(b.result.contacts, 1);
    bodies_close(&b);
}

/* a mass at rest at (0, −4) on a rope of 5.5 m from (−3, 0), which has 0.5 m left */
static void a_rope_may_become_taut_at_the_end_of_the_step(void)
{
    static const char text[] =
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [0, "
        "-4]}, {'name': 'g', 'type': 'NodePointGround', 'referenceCoordinates': [-3, 0, 0]}], "
        "'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 2}, {'name': "
        "'r', 'type': 'DistanceConstraint', 'markers': ['o', 'm'], 'distance': 5.5, 'unilateral': "
        "true}], 'markers': [{'name': 'o', 'type': 'MarkerNodePosition', 'node': 'g'}, {'name': "
        "'m', 'type': 'MarkerNodePosition', 'node': 'n'}], 'solver': {'integrator': "
        "'MoreauJean'}}";
    const double h = 0.01, theta = 0.5;
    struct bodies b;

    bodies_open(&b, text, h);
    const double side = mech_model_joints(b.c.model)->side[0];
    CU_ASSERT_EQUAL_FATAL(fabs(side), 1.);
    b.c.state.lambda[0] = side * 2.;
    mech_moreau_bodies_open(b.s, &b.c.state);
    CHECK_NEAR(b.c.state.lambda[0], 0., 0.);
    CHECK_NEAR(b.c.state.open[0], 1., 0.);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_find(b.s, &b.c.state, &b.result), 0);
    const struct mech_impact_rows *const r = &b.s->impacts;
    CU_ASSERT_EQUAL_FATAL(r->count, 1);
    CU_ASSERT_EQUAL(r->who[0].kind, MECH_IMPACT_SIDE);
    CHECK_NEAR(r->who[0].gap, 0.5, 1e-15);
    CHECK_NEAR(r->b[0], 0.5 / (theta * h), 1e-13);
    CHECK_NEAR(r->guess[0], 2. * h, 1e-17);
    double H[3] = {0.};
    for (int32_t k = r->start[0]; k < r->start[1]; k++) {
        H[r->column[k]] += r->value[k];
    }
    CHECK_NEAR(H[0], -0.6, 1e-15);
    CHECK_NEAR(H[1], 0.8, 1e-15);
    r->P[0] = 0.03;
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_keep(b.s, &b.c.state, &b.result), 0);
    CHECK_NEAR(b.c.state.lambda[0], side * 3., 1e-15);
    CHECK_NEAR(b.c.state.open[0], 0., 0.);
    bodies_close(&b);
}

UNIT_TESTS(UNIT_TEST(rows_push_along_their_entries),
           UNIT_TEST(interactions_that_close_ask_for_a_rebound),
           UNIT_TEST(a_rope_may_become_taut_at_the_end_of_the_step))
