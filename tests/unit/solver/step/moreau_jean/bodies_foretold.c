/* Contacts that may close within a step: what is near, what waits, what the motion meets. */
#include "tests/unit/solver/step/moreau_jean/bodies.h"

static const double h = 0.01;

#define BALL_AT(z, v)                                                                              \
    BODIES_MODEL("[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, " z "]", "[0, 0, " v "]"),           \
                 BODIES_PLANE("{}") "," BODIES_BALL("ball", "n", "1", "{}"))

/* How many contacts act at the start of a step. */
static int32_t acting(const char *text)
{
    struct bodies b;

    bodies_open(&b, text, h);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_detect(b.s, &b.c.state, &b.result), 0);
    const int32_t n = b.s->list.n;

    for (int32_t i = 0; i < n; i++) {
        CU_ASSERT_EQUAL(b.s->foretold.of[i].mark, MECH_FORETOLD_NEAR);
    }
    bodies_close(&b);
    return n;
}

static void what_the_motion_can_reach_is_near(void)
{
    CU_ASSERT_EQUAL(acting(BALL_AT("0.1", "0")), 1);
    CU_ASSERT_EQUAL(acting(BALL_AT("0.15", "0")), 0);
    CU_ASSERT_EQUAL(acting(BALL_AT("0.15", "-10")), 1);
    CU_ASSERT_EQUAL(acting(BALL_AT("0.19", "-10")), 1);
    CU_ASSERT_EQUAL(acting(BALL_AT("5", "-10")), 0);
}

/* Impulses make it faster than was looked for: it is found in the motion after them. */
static void what_the_motion_after_impulses_meets_is_added(void)
{
    struct mech_foretold_change change;
    struct bodies b;

    bodies_open(&b, BALL_AT("0.15", "0"), h);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_detect(b.s, &b.c.state, &b.result), 0);
    CU_ASSERT_EQUAL_FATAL(b.s->list.n, 0);
    CU_ASSERT_EQUAL_FATAL(
        mech_moreau_bodies_look(b.s, &b.c.state, mech_moreau_bodies_undo_sweeps, &change), 0);
    CU_ASSERT_EQUAL(change.added, 0);
    b.c.state.v[2] = -20.;
    CU_ASSERT_EQUAL_FATAL(
        mech_moreau_bodies_look(b.s, &b.c.state, mech_moreau_bodies_undo_sweeps, &change), 0);
    CU_ASSERT_EQUAL(change.added, 1);
    CU_ASSERT_FALSE(change.out);
    CU_ASSERT_EQUAL(b.s->list.n, 1);
    CU_ASSERT_EQUAL(b.s->foretold.rounds, 1);
    bodies_close(&b);
}

/* A ball and a box slide over the seam of two boxes that are flush, 0.1 mm into them: what acts is
 * vertical, no side of the second one. */
static void a_seam_of_flush_boxes_bars_nothing(void)
{
#define SEAM(node, body)                                                                           \
    "{'mechd': 1, 'gravity': [0, 0, -10], 'nodes': [" node "], 'objects': [{'name': 'floor', "     \
    "'type': 'Ground', 'geometry': [{'shape': 'Box', 'size': [1, 1, 0.2], 'position': "            \
    "[-0.5, 0, -0.1]}, {'shape': 'Box', 'size': [1, 1, 0.2], 'position': [0.5, 0, -0.1]}]}, " body \
    "], 'solver': {'integrator': 'MoreauJean'}}"
    static const char *const texts[] = {
        SEAM(BODIES_NODE("n", "[-0.004, 0, 0.0999]", "[2, 0, 0]"),
             BODIES_BALL("ball", "n", "1", "{}")),
        SEAM("{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': "
             "[-0.105, 0, 0.0999, 1, 0, 0, 0], 'initialVelocities': [2, 0, 0, 0, 0, 0, 0]}",
             "{'name': 'box', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, "
             "'physicsInertia': [0.01, 0.01, 0.01, 0, 0, 0], 'geometry': [{'shape': 'Box', "
             "'size': [0.2, 0.2, 0.2]}]}")};

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct bodies b;

        bodies_open(&b, texts[k], h);
        CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_detect(b.s, &b.c.state, &b.result), 0);
        CU_ASSERT(b.s->list.n > 0);
        for (int32_t i = 0; i < b.s->list.n; i++) {
            CHECK_NEAR(fabs(b.s->list.at[i].normal[2]), 1., 1e-9);
        }
        bodies_close(&b);
    }
#undef SEAM
}

/* A box falls past the edge of another one, 1 mm beside it: the nearest features are edges, 20 mm
 * above each other, whose row would stop it. */
static void what_passes_an_edge_is_not_stopped(void)
{
    static const char text[] =
        "{'mechd': 1, 'gravity': [0, 0, -10], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP', "
        "'referenceCoordinates': [0.101, 0, 0.145, 1, 0, 0, 0], 'initialVelocities': "
        "[0, 0, -5, 0, 0, 0, 0]}], 'objects': [{'name': 'table', 'type': 'Ground', 'geometry': "
        "[{'shape': 'Box', 'size': [1, 1, 1], 'position': [-0.5, 0, -0.5]}]}, {'name': 'box', "
        "'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.01, 0.01, 0.01, "
        "0, 0, 0], 'geometry': [{'shape': 'Box', 'size': [0.2, 0.2, 0.2]}]}], 'solver': "
        "{'integrator': 'MoreauJean'}}";
    struct bodies b;

    bodies_open(&b, text, h);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_detect(b.s, &b.c.state, &b.result), 0);
    CU_ASSERT(b.s->foretold.near.n > 0);
    for (int32_t i = 0; i < b.s->list.n; i++) {
        CHECK_NEAR(b.s->list.at[i].normal[2], 0., 1e-9);
    }
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_sweep(b.s, &b.c.state, &b.result), 0);
    CHECK_NEAR(b.c.state.v[2], -5. - 10. * h, 1e-12);
    bodies_close(&b);
}

UNIT_TESTS(UNIT_TEST(what_the_motion_can_reach_is_near),
           UNIT_TEST(what_the_motion_after_impulses_meets_is_added),
           UNIT_TEST(a_seam_of_flush_boxes_bars_nothing),
           UNIT_TEST(what_passes_an_edge_is_not_stopped))
