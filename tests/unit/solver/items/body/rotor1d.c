/* Rotor1D: outputs about its axis; conventions of Exudyn's ObjectRotationalMass1D. */
#include "tests/unit/model.h"

/* axis of rotation: global y (R₀ = [z x; …] turns the local z-axis to y), φ_ref = 0.4, u = 0.1, ω =
 * 2 */
static struct mech_sim *rotor(void)
{
    return model_of("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D',"
                    "'referenceCoordinates': [0.4], 'initialCoordinates': [0.1],"
                    "'initialVelocities': [2]}], 'objects': [{'name': 'r', 'type': 'Rotor1D',"
                    "'node': 'n', 'physicsInertia': 3, 'referencePosition': [1, 0, 0],"
                    "'referenceRotation': [[0, 1, 0], [0, 0, 1], [1, 0, 0]]}]}");
}

static void read_output(const struct mech_sim *s, enum mech_output variable,
                        enum mech_configuration configuration, double *values, size_t expected)
{
    const double local[3] = {0.5, 0., 0.25};
    size_t count = 0;

    CU_ASSERT_EQUAL(mech_sim_item_output(
                        s,
                        &(struct mech_item_query){MECH_OBJECT, "r", variable, configuration, local},
                        9, values, &count),
                    0);
    CU_ASSERT_EQUAL(count, expected);
}

/* local [0.5, 0, 0.25] turned by φ about z, then x → z, y → x, z → y */
static void points_move_on_circles_about_the_axis(void)
{
    struct mech_sim *const s = rotor();
    double x[9];

    read_output(s, MECH_OUTPUT_POSITION, MECH_CURRENT, x, 3);
    CHECK_NEAR(x[0], 1. + 0.5 * sin(0.5), 1e-15);
    CHECK_NEAR(x[1], 0.25, 1e-15);
    CHECK_NEAR(x[2], 0.5 * cos(0.5), 1e-15);
    read_output(s, MECH_OUTPUT_DISPLACEMENT, MECH_CURRENT, x, 3);
    CHECK_NEAR(x[0], 0.5 * (sin(0.5) - sin(0.4)), 1e-15);
    CHECK_NEAR(x[1], 0., 1e-15);
    CHECK_NEAR(x[2], 0.5 * (cos(0.5) - cos(0.4)), 1e-15);
    read_output(s, MECH_OUTPUT_VELOCITY, MECH_CURRENT, x, 3);
    CHECK_NEAR(x[0], 2. * 0.5 * cos(0.5), 1e-15);
    CHECK_NEAR(x[1], 0., 1e-15);
    CHECK_NEAR(x[2], -2. * 0.5 * sin(0.5), 1e-15);
    read_output(s, MECH_OUTPUT_POSITION, MECH_REFERENCE, x, 3);
    CHECK_NEAR(x[0], 1. + 0.5 * sin(0.4), 1e-15);
    mech_sim_destroy(s);
}

static void rotation_is_the_angle_and_omega_stands_on_the_axis(void)
{
    struct mech_sim *const s = rotor();
    double x[9];

    read_output(s, MECH_OUTPUT_ROTATION, MECH_CURRENT, x, 1);
    CHECK_NEAR(x[0], 0.5, 1e-15);
    read_output(s, MECH_OUTPUT_ROTATION, MECH_REFERENCE, x, 1);
    CHECK_NEAR(x[0], 0.4, 1e-15);
    read_output(s, MECH_OUTPUT_ANGULAR_VELOCITY, MECH_CURRENT, x, 3);
    CU_ASSERT(x[0] == 0. && x[1] == 2. && x[2] == 0.);
    read_output(s, MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL, MECH_CURRENT, x, 3);
    CU_ASSERT(x[0] == 0. && x[1] == 0. && x[2] == 2.);
    read_output(s, MECH_OUTPUT_ROTATION_MATRIX, MECH_CURRENT, x, 9);
    const double expected[] = {sin(0.5), cos(0.5), 0., 0., 0., 1., cos(0.5), -sin(0.5), 0.};
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(x[i], expected[i], 1e-15);
    }
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(points_move_on_circles_about_the_axis),
           UNIT_TEST(rotation_is_the_angle_and_omega_stands_on_the_axis))
