/* Steps so small that the force impulse/h cannot be represented to the absolute tolerance of
 * Newton's method: the balance of terms decides, and impacts have the results of any h. */
#include "tests/unit/model.h"

static const double steps[] = {1e-5, 1e-6, 1e-7};
static const double masses[] = {1., 30., 2000.};

/* three cubes that meet the floor together, μ = ½, e = 0: they are at rest then */
static void a_stack_meets_the_floor(void)
{
    for (int k = 0; k < 9; k++) {
        const double m = masses[k / 3], h = steps[k % 3];
        char text[8192], *at = text;

        at += sprintf(at,
                      "{'mechd': 1, 'gravity': [0, 0, -9.81], 'solver': {'integrator':"
                      "'MoreauJean', 'stepSize': %g, 'vi': {'type': 'semismooth'}}, 'nodes': [",
                      h);
        for (int i = 0; i < 3; i++) {
            at += sprintf(at,
                          "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                          "[0.1, 0, %.17g, 1, 0, 0, 0], 'initialVelocities': [0.3, 0, -3, 0, 0, 0,"
                          "0]}",
                          i ? ", " : "", i, 0.5 + i + 7e-8);
        }
        at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape':"
                          "'Plane'}]}");
        for (int i = 0; i < 3; i++) {
            at += sprintf(at,
                          ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': %g,"
                          "'physicsInertia': [%g, %g, %g, 0, 0, 0], 'geometry': [{'shape': 'Box',"
                          "'size': [1, 1, 1], 'material': {'friction': 0.5}}]}",
                          i, i, m, m / 6., m / 6., m / 6.);
        }
        sprintf(at, "]}");
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL_FATAL(model_steps(s, 12), 0);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(model_state(s).v[6 * i + 2], 0., 1e-8);
        }
        mech_sim_destroy(s);
    }
}

/* a rod of 1 m that turns about a hinge at one end: its other end meets a wall and stays */
static void a_hinged_rod_meets_a_wall(void)
{
    for (int k = 0; k < 9; k++) {
        const double m = masses[k / 3], h = steps[k % 3];
        char text[4096];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'n', 'type':"
                 "'NodeRigidBody2D', 'referenceCoordinates': [0.5, 0, 0], 'initialVelocities':"
                 "[0, -3.5, -7]}], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry':"
                 "[{'shape': 'Box', 'size': [0.2, 2, 2], 'position': [1, %.17g, 0]}]},"
                 "{'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': %g,"
                 "'physicsInertia': %g, 'geometry': [{'shape': 'Sphere', 'radius': 0.05,"
                 "'position': [0.5, 0, 0]}]}, {'name': 'j', 'type': 'RevoluteJoint2D', 'markers':"
                 "['mg', 'm']}], 'markers': [{'name': 'mg', 'type': 'MarkerBodyRigid', 'object':"
                 "'g'}, {'name': 'm', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition':"
                 "[-0.5, 0, 0]}], 'solver': {'integrator': 'MoreauJean', 'stepSize': %g}}",
                 -1.05 - 1.3e-7, m, m / 12., h);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL_FATAL(model_steps(s, 12), 0);
        CHECK_NEAR(model_state(s).v[2], 0., 1e-8);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_stack_meets_the_floor), UNIT_TEST(a_hinged_rod_meets_a_wall))
