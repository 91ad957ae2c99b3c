/* Output variables of markers, sensors and first-order states against closed forms, and each type's
 * variables against each other in every configuration. */
#include "solver/items/ops.h"
#include "tests/unit/model.h"

#define BODY                                                                                       \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"      \
    "[1, 2, 3, 1, 0, 0, 0], 'initialVelocities': [0.5, 0, 0, 0, 0, 0, 1]}], 'objects': [{'name':"  \
    "'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2, 'physicsInertia':"                   \
    "[3, 3, 5, 0, 0, 0]}], 'markers': [{'name': 'r', 'type': 'MarkerBodyRigid', 'object': 'b',"    \
    "'localPosition': [1, 0, 0]}, {'name': 'p', 'type': 'MarkerBodyPosition', 'object': 'b',"      \
    "'localPosition': [0, 2, 0]}, {'name': 'm', 'type': 'MarkerBodyMass', 'object': 'b'}],"        \
    "'sensors': [{'name': 's', 'type': 'SensorMarker', 'marker': 'r', 'outputVariable':"           \
    "'AccelerationLocal'}], 'outputs': [{'name': 'a', 'sensor': 's', 'component': 0}],"            \
    "'solver': {'integrator': 'RK44', 'stepSize': 0.001}}"

static void near(const double *found, const double *expected, int n, double tolerance)
{
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(found[i], expected[i], tolerance);
    }
}

/* free spin about z at 2 rad/s: a point 1 m out is pulled inwards with 4 m/s² */
static void markers_of_a_spinning_body(void)
{
    struct mech_sim *const s = model_of(BODY);
    double x[9];

    CU_ASSERT_EQUAL(model_steps(s, 250), 0);
    const double t = mech_sim_time(s), c = cos(2. * t), d = sin(2. * t);
    model_values(s, MECH_MARKER, "r", MECH_OUTPUT_POSITION, x);
    near(x, (double[]){1. + 0.5 * t + c, 2. + d, 3.}, 3, 1e-12);
    model_values(s, MECH_MARKER, "r", MECH_OUTPUT_DISPLACEMENT, x);
    near(x, (double[]){0.5 * t + c - 1., d, 0.}, 3, 1e-12);
    model_values(s, MECH_MARKER, "r", MECH_OUTPUT_VELOCITY, x);
    near(x, (double[]){0.5 - 2. * d, 2. * c, 0.}, 3, 1e-12);
    model_values(s, MECH_MARKER, "r", MECH_OUTPUT_ACCELERATION, x);
    near(x, (double[]){-4. * c, -4. * d, 0.}, 3, 1e-12);
    model_values(s, MECH_MARKER, "r", MECH_OUTPUT_ROTATION, x);
    near(x, (double[]){0., 0., 2. * t}, 3, 1e-12);
    model_values(s, MECH_MARKER, "r", MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL, x);
    near(x, (double[]){0., 0., 2.}, 3, 1e-12);
    model_values(s, MECH_MARKER, "p", MECH_OUTPUT_POSITION, x);
    near(x, (double[]){1. + 0.5 * t - 2. * d, 2. + 2. * c, 3.}, 3, 1e-12);
    model_values(s, MECH_MARKER, "m", MECH_OUTPUT_VELOCITY, x);
    near(x, (double[]){0.5, 0., 0.}, 3, 1e-12);
    // the sensor, by its name and as an output
    model_values(s, MECH_SENSOR, "s", MECH_OUTPUT_ACCELERATION_LOCAL, x);
    near(x, (double[]){-4., 0., 0.}, 3, 1e-12);
    mech_sim_get_outputs(s, x);
    CHECK_NEAR(x[0], -4., 1e-12);
    mech_sim_destroy(s);
}

#define COORDINATES                                                                                \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2', 'referenceCoordinates':"      \
    "[1, 2], 'initialCoordinates': [0.5, 0], 'initialCoordinates_t': [0, 3]}, {'name': 'y',"       \
    "'type': 'NodeGenericODE1', 'referenceCoordinates': [0, 1], 'initialCoordinates': [5, 1]}],"   \
    "'objects': [{'name': 'o', 'type': 'GenericODE2', 'nodes': ['n'], 'massMatrix':"               \
    "{'diag': [2, 4]}, 'stiffnessMatrix': {'diag': [8, 0]}}, {'name': 'f', 'type': 'GenericODE1'," \
    "'nodes': ['y'], 'systemMatrix': [[0, 1], [-4, 0]], 'rhsVector': [0, 7]}], 'markers': ["       \
    "{'name': 'q', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 1}, {'name': 'x',"   \
    "'type': 'MarkerNodeCoordinate', 'node': 'y', 'coordinate': 1}, {'name': 'all', 'type':"       \
    "'MarkerNodeCoordinates', 'node': 'n'}, {'name': 'g', 'type': 'MarkerGroundCoordinate'}],"     \
    "'loads': [{'name': 'r', 'type': 'LoadCoordinate', 'marker': 'x', 'load': '=10+t'}, {'name':"  \
    "'F', 'type': 'LoadCoordinate', 'marker': 'q', 'load': 6}]}"

static void coordinates_of_markers_and_states(void)
{
    struct mech_sim *const s = model_of(COORDINATES);
    double x[9];

    model_values(s, MECH_NODE, "n", MECH_OUTPUT_COORDINATES, x);
    near(x, (double[]){0.5, 0.}, 2, 0.);
    model_values(s, MECH_NODE, "n", MECH_OUTPUT_COORDINATES_TOTAL, x);
    near(x, (double[]){1.5, 2.}, 2, 0.);
    model_values(s, MECH_OBJECT, "o", MECH_OUTPUT_COORDINATES_TOTAL, x);
    near(x, (double[]){1.5, 2.}, 2, 0.);
    model_values(s, MECH_MARKER, "all", MECH_OUTPUT_COORDINATES, x);
    near(x, (double[]){0.5, 0.}, 2, 0.);
    model_values(s, MECH_MARKER, "all", MECH_OUTPUT_COORDINATES_T, x);
    near(x, (double[]){0., 3.}, 2, 0.);
    CHECK_NEAR(model_value(s, MECH_MARKER, "q", MECH_OUTPUT_COORDINATES_T), 3., 0.);
    CHECK_NEAR(model_value(s, MECH_MARKER, "q", MECH_OUTPUT_COORDINATES), 0., 0.);
    CHECK_NEAR(model_value(s, MECH_MARKER, "g", MECH_OUTPUT_COORDINATES), 0., 0.);
    // a step, so that accelerations are known: 6 N on 4 kg
    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    CHECK_NEAR(model_value(s, MECH_MARKER, "q", MECH_OUTPUT_COORDINATES_TT), 1.5, 1e-12);
    model_values(s, MECH_MARKER, "all", MECH_OUTPUT_COORDINATES_TT, x);
    CHECK_NEAR(x[1], 1.5, 1e-12);
    // x' = A x + r with r = 7 + 10 + t in the second row
    const struct mech_state_view now = model_state(s);
    const double rates[] = {now.x[1], -4. * now.x[0] + 17. + mech_sim_time(s)};
    model_values(s, MECH_NODE, "y", MECH_OUTPUT_COORDINATES_T, x);
    near(x, rates, 2, 1e-12);
    model_values(s, MECH_OBJECT, "f", MECH_OUTPUT_COORDINATES_T, x);
    near(x, rates, 2, 1e-12);
    CHECK_NEAR(model_value(s, MECH_MARKER, "x", MECH_OUTPUT_COORDINATES_T), rates[1], 1e-12);
    model_values(s, MECH_NODE, "y", MECH_OUTPUT_COORDINATES_TOTAL, x);
    near(x, now.x, 2, 0.);
    mech_sim_destroy(s);
}

#define AXES                                                                                       \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'}, {'name': 'k', 'type': 'Node1D', "     \
    "'initialVelocities': [3]}], 'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', "        \
    "'physicsMass': 2, 'referenceRotation': [[0, 0, 1], [1, 0, 0], [0, 1, 0]]}, {'name': 'r', "    \
    "'type': 'Rotor1D', 'node': 'k', 'physicsInertia': 4}], 'markers': [{'name': 'x', 'type': "    \
    "'MarkerNodeCoordinate', 'node': 'n'}, {'name': 'p', 'type': 'MarkerBodyRigid', 'object': "    \
    "'m'}, {'name': 'b', 'type': 'MarkerBodyRigid', 'object': 'r'}, {'name': 'w', 'type': "        \
    "'MarkerNodeCoordinate', 'node': 'k'}], 'loads': [{'name': 'F', 'type': 'LoadCoordinate', "    \
    "'marker': 'x', 'load': 10}, {'name': 'T', 'type': 'LoadCoordinate', 'marker': 'w', 'load': "  \
    "8}]}"

static void markers_of_bodies_on_an_axis_have_accelerations(void)
{
    struct mech_sim *const s = model_of(AXES);
    double x[9];

    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    model_values(s, MECH_MARKER, "p", MECH_OUTPUT_ACCELERATION, x);
    near(x, (double[]){0., 5., 0.}, 3, 1e-12);
    model_values(s, MECH_MARKER, "p", MECH_OUTPUT_ACCELERATION_LOCAL, x);
    near(x, (double[]){5., 0., 0.}, 3, 1e-12);
    model_values(s, MECH_MARKER, "b", MECH_OUTPUT_ANGULAR_ACCELERATION, x);
    near(x, (double[]){0., 0., 2.}, 3, 1e-12);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(markers_of_a_spinning_body), UNIT_TEST(coordinates_of_markers_and_states),
           UNIT_TEST(markers_of_bodies_on_an_axis_have_accelerations))
