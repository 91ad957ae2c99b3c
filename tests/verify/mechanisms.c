/* Joints in space against closed forms: pendulums at release and their reactions, a cylindrical and
 * a universal joint made of GenericJoint. */
#include "tests/unit/model.h"

/* A bar of 1 kg with J = diag(0.04, 0.1, 0.1) about its center, which hangs 2 m from the origin
 * along x; gravity g = 9.80665 along −z, a joint `j` there. */
#define BAR(joint, velocities)                                                                     \
    "{'mechd': 1, 'gravity': [0, 0, -9.80665], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'," \
    "'referenceCoordinates': [2, 0, 0, 1, 0, 0, 0]" velocities "}], 'objects': ["                  \
    "{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"             \
    "'physicsMass': 1, 'physicsInertia': [0.04, 0.1, 0.1, 0, 0, 0]},"                              \
    "{'name': 'j', " joint ", 'markers': ['m0', 'm1']}], 'markers': ["                             \
    "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'm1', 'type':"             \
    "'MarkerBodyRigid', 'object': 'b', 'localPosition': [-2, 0, 0]}], 'solver': {'stepSize': "     \
    "1e-3}}"

static const double g = 9.80665;

/* hinge about y: ω' = m g l/(J + m l²), the bearing carries what does not fall */
static void a_released_pendulum_and_its_bearing(void)
{
    struct mech_sim *const s =
        model_of(BAR("'type': 'GenericJoint', 'constrainedAxes': [1, 1, 1, 1, 0, 1]", ""));
    const double rate = g * 2. / 4.1;
    double x[3];

    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_ANGULAR_ACCELERATION, x);
    CHECK_NEAR(x[1], rate, 1e-12);
    model_values(s, MECH_OBJECT, "j", MECH_OUTPUT_FORCE, x);
    CHECK_NEAR(x[0], 0., 1e-12);
    /* what the ground gets: the weight, as far as it does not fall */
    CHECK_NEAR(x[2], -(g - 2. * rate), 1e-12);
    model_values(s, MECH_OBJECT, "j", MECH_OUTPUT_TORQUE, x);
    CHECK_NEAR(x[0], 0., 1e-12);
    CHECK_NEAR(x[2], 0., 1e-12);
    mech_sim_destroy(s);
}

/* hinge z inclined by −45° about x: ω' = −m g l sin(−45°)/(J_z + m l²) = 3.382609 */
static void an_inclined_pendulum_starts_with_the_closed_form(void)
{
    struct mech_sim *const s = model_of(
        BAR("'type': 'RevoluteJointZ', 'rotationMarker0': [[1, 0, 0],"
            "[0, 0.70710678118654757, 0.70710678118654757], [0, -0.70710678118654757,"
            "0.70710678118654757]], 'rotationMarker1': [[1, 0, 0], [0, 0.70710678118654757,"
            "0.70710678118654757], [0, -0.70710678118654757, 0.70710678118654757]]",
            ""));
    double x[3];

    /* J about the joint's axis is 0.1 too */
    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_ANGULAR_ACCELERATION, x);
    CHECK_NEAR(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), 3.382609, 5e-7);
    CHECK_NEAR(fabs(x[1]), fabs(x[2]), 1e-12);
    CHECK_NEAR(x[0], 0., 1e-12);
    mech_sim_destroy(s);
}

/* free along z and about z: it falls by g t²/2 and spins on, the spin off its axis is carried */
static void a_cylindrical_joint_lets_fall_and_spin(void)
{
    struct mech_sim *const s =
        model_of(BAR("'type': 'GenericJoint', 'constrainedAxes': [1, 1, 0, 1, 1, 0]",
                     ", 'initialVelocities': [0, 6, 0, 0, 0, 0, 1.5]"));
    double p[3], w[3], f[3];

    CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, p);
    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_ANGULAR_VELOCITY, w);
    model_values(s, MECH_OBJECT, "j", MECH_OUTPUT_FORCE, f);
    /* h² ω³/12 of the scheme */
    CHECK_NEAR(p[0], 2. * cos(3.), 1e-5);
    CHECK_NEAR(p[1], 2. * sin(3.), 1e-5);
    CHECK_NEAR(p[2], -0.5 * g, 1e-10);
    CHECK_NEAR(w[2], 3., 1e-5);
    /* m ω² l towards the axis; nothing along it */
    CHECK_NEAR(hypot(f[0], f[1]), 18., 1e-4);
    CHECK_NEAR(f[2], 0., 1e-9);
    mech_sim_destroy(s);
}

/* Two shafts at an angle β coupled by a universal joint (GenericJoint that leaves the rotations
 * about x and y free): tan φ₁ = cos β tan φ₀. The output shaft has a bearing of its own, so that
 * the joint's three translations repeat it. */
static void a_universal_joint_turns_unevenly(void)
{
    const double beta = 0.5, c = cos(beta), n = sin(beta);
    char text[4096];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'NodeRigidBodyEP',"
             "'initialVelocities': [0, 0, 0, 0, 0, 0, 1]}, {'name': 'n1',"
             "'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0, %.17g, 0, %.17g, 0],"
             "'initialVelocities': [0, 0, 0, 0, %.17g, 0, %.17g]}], 'objects': ["
             "{'name': 'g', 'type': 'Ground'},"
             "{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 1,"
             "'physicsInertia': [0.1, 0.1, 0.2, 0, 0, 0]},"
             "{'name': 'b1', 'type': 'RigidBody', 'node': 'n1', 'physicsMass': 1,"
             "'physicsInertia': [0.1, 0.1, 0.2, 0, 0, 0]},"
             "{'name': 'in', 'type': 'RevoluteJointZ', 'markers': ['mg', 'm0']},"
             "{'name': 'out', 'type': 'RevoluteJointZ', 'markers': ['mg', 'm1'],"
             "'rotationMarker0': [[%.17g, 0, %.17g], [0, 1, 0], [%.17g, 0, %.17g]]},"
             "{'name': 'cross', 'type': 'GenericJoint', 'markers': ['m0', 'm1'],"
             "'constrainedAxes': [1, 1, 1, 0, 0, 1]},"
             "{'name': 'drive', 'type': 'CoordinateConstraint', 'markers': ['ground', 'axle'],"
             "'velocityLevel': true, 'offset': 2}], 'markers': ["
             "{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'},"
             "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0'},"
             "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b1'},"
             "{'name': 'ground', 'type': 'MarkerGroundCoordinate'},"
             "{'name': 'axle', 'type': 'MarkerNodeRotationCoordinate', 'node': 'n0',"
             "'rotationCoordinate': 2}], 'solver': {'stepSize': 1e-3}}",
             cos(0.5 * beta), sin(0.5 * beta), 0.5 * 2. * c * sin(0.5 * beta),
             0.5 * 2. * c * cos(0.5 * beta), c, n, -n, c);
    struct mech_diag diag;
    struct mech_sim *s = NULL;

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(model_read(text, &diag, &s), 0);
    CU_ASSERT_EQUAL(diag.warning_count, 1);
    mech_diag_fini(&diag);
    for (int i = 1; i <= 10; i++) {
        double w[3];
        const double input = 2. * 0.15 * i;

        CU_ASSERT_EQUAL(model_steps(s, 150), 0);
        model_values(s, MECH_OBJECT, "b1", MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL, w);
        const double t = tan(input), speed = 2. * c * (1. + t * t) / (1. + c * c * t * t);
        /* h² times the third derivative, some 10/s³ */
        CHECK_NEAR(w[2], speed, 5e-5);
        CHECK_NEAR(w[0], 0., 1e-5);
        CHECK_NEAR(w[1], 0., 1e-5);
    }
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(a_released_pendulum_and_its_bearing),
           UNIT_TEST(an_inclined_pendulum_starts_with_the_closed_form),
           UNIT_TEST(a_cylindrical_joint_lets_fall_and_spin),
           UNIT_TEST(a_universal_joint_turns_unevenly))
