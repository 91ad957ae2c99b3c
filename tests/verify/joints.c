/* Nonlinear bodies, springs between points and joints against published numbers (Exudyn 1.11, and
 * ADAMS for the joints in space) and closed forms. Where nothing else is said: 100 steps to 1 s,
 * generalized-α with ρ = 0.9. */
#include "tests/unit/model.h"

/* First `n` values of an object's output at a local origin. */
static void values_of(const struct mech_sim *s, enum mech_category category, const char *name,
                      enum mech_output variable, double *values)
{
    size_t count = 0;

    CU_ASSERT_EQUAL(mech_sim_item_output(
                        s, &(struct mech_item_query){category, name, variable, MECH_CURRENT, NULL},
                        9, values, &count),
                    0);
}

static void mass_points_fly_straight(void)
{
    const char *const nodes[] = {
        "'NodePoint', 'referenceCoordinates': [1, 1, 0], 'initialCoordinates': [0.5, 0, 0],"
        "'initialVelocities': [0.5, 0, 0]",
        "'NodePoint2D', 'referenceCoordinates': [1, 1], 'initialCoordinates': [0.5, 0],"
        "'initialVelocities': [0.5, 0]"};
    const char *const bodies[] = {"MassPoint", "MassPoint2D"};

    for (int i = 0; i < 2; i++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': %s}], 'objects': [{'name': 'b',"
                 "'type': '%s', 'node': 'n', 'physicsMass': 1}], 'solver': {'stepSize': 0.01}}",
                 nodes[i], bodies[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION), 2., 1e-13);
        CHECK_NEAR(model_value(s, MECH_NODE, "n", MECH_OUTPUT_POSITION), 2., 1e-13);
        mech_sim_destroy(s);
    }
}

static void rigid_body_2d_turns_and_flies(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D',"
        "'referenceCoordinates': [1, 1, 0.78539816339744831],"
        "'initialCoordinates': [0.5, 0, 0], 'initialVelocities': [0.5, 0, 2.3561944901923448]}],"
        "'objects': [{'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': 1,"
        "'physicsInertia': 2}], 'solver': {'stepSize': 0.01}}");
    double u[3];

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    values_of(s, MECH_NODE, "n", MECH_OUTPUT_COORDINATES, u);
    CHECK_NEAR(model_value(s, MECH_NODE, "n", MECH_OUTPUT_POSITION) + u[2], 4.356194490192344,
               1e-13);
    mech_sim_destroy(s);
}

static void gravity_falls_by_half_g(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n',"
                 "'type': 'NodePoint'}], 'objects': [{'name': 'b', 'type': 'MassPoint',"
                 "'node': 'n', 'physicsMass': 2}], 'solver': {'stepSize': 0.01}}");
    double p[3];

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    values_of(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, p);
    CHECK_NEAR(p[2], -4.905, 1e-13);
    mech_sim_destroy(s);
}

static void spring_damper_swings_along_its_line(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint',"
                 "'referenceCoordinates': [1.05, 0, 0]}], 'objects': ["
                 "{'name': 'g', 'type': 'Ground'},"
                 "{'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1},"
                 "{'name': 's', 'type': 'SpringDamper', 'markers': ['m0', 'm1'],"
                 "'referenceLength': 1, 'stiffness': 100, 'damping': 1}], 'markers': ["
                 "{'name': 'm0', 'type': 'MarkerBodyPosition', 'object': 'g'},"
                 "{'name': 'm1', 'type': 'MarkerBodyPosition', 'object': 'b'}],"
                 "'solver': {'stepSize': 0.01}}");

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION), 0.9733828995763039, 1e-9);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "s", MECH_OUTPUT_DISTANCE), 0.9733828995763039, 1e-9);
    mech_sim_destroy(s);
}

static void four_masses_on_three_rods(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': ["
        "{'name': 'g0', 'type': 'NodePointGround'},"
        "{'name': 'g1', 'type': 'NodePointGround', 'referenceCoordinates': [4, 0, 0]},"
        "{'name': 'n1', 'type': 'NodePoint', 'referenceCoordinates': [0, 2, 0],"
        "'initialVelocities': [4, 0, 0]},"
        "{'name': 'n2', 'type': 'NodePoint', 'referenceCoordinates': [4, 5, 0],"
        "'initialVelocities': [10, 0, 0]}],"
        "'objects': [{'name': 'b1', 'type': 'MassPoint', 'node': 'n1', 'physicsMass': 3},"
        "{'name': 'b2', 'type': 'MassPoint', 'node': 'n2', 'physicsMass': 3},"
        "{'name': 'd0', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 2},"
        "{'name': 'd1', 'type': 'DistanceConstraint', 'markers': ['m1', 'm2'], 'distance': 5},"
        "{'name': 'd2', 'type': 'DistanceConstraint', 'markers': ['m2', 'm3'], 'distance': 5}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g0'},"
        "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n1'},"
        "{'name': 'm2', 'type': 'MarkerNodePosition', 'node': 'n2'},"
        "{'name': 'm3', 'type': 'MarkerNodePosition', 'node': 'g1'}],"
        "'loads': [{'name': 'f1', 'type': 'LoadForceVector', 'marker': 'm1',"
        "'load': [0, -29.43, 0]}, {'name': 'f2', 'type': 'LoadForceVector', 'marker': 'm2',"
        "'load': [0, -29.43, 0]}],"
        "'solver': {'stepSize': 0.001, 'spectralRadius': 0.5}}");
    double u[3];

    CU_ASSERT_EQUAL(model_steps(s, 2000), 0);
    values_of(s, MECH_NODE, "n1", MECH_OUTPUT_COORDINATES, u);
    CHECK_NEAR(u[1], -2.376335780518, 2e-7);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(mass_points_fly_straight), UNIT_TEST(rigid_body_2d_turns_and_flies),
           UNIT_TEST(gravity_falls_by_half_g), UNIT_TEST(spring_damper_swings_along_its_line),
           UNIT_TEST(four_masses_on_three_rods))
