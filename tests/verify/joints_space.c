/* Rigid bodies and joints in space: 5 s of pendulums against ADAMS (m = 1, J = diag(0.04, 0.1,
 * 0.1), g = 9.80665 along −z, released at rest), a free top against its closed form. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

/* position of the body "b" */
static void position_of(const struct mech_sim *s, double p[3])
{
    size_t count = 0;

    CU_ASSERT_EQUAL(
        mech_sim_item_output(
            s,
            &(struct mech_item_query){MECH_OBJECT, "b", MECH_OUTPUT_POSITION, MECH_CURRENT, NULL},
            3, p, &count),
        0);
}

/* %s: position, markers' fields, joint, integrator */
#define SPACE(position, ground, local, joint, solver)                                              \
    "{'mechd': 1, 'gravity': [0, 0, -9.80665], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'," \
    "'referenceCoordinates': [" position ", 1, 0, 0, 0]}], 'objects': [{'name': 'g',"              \
    "'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"         \
    "'physicsInertia': [0.04, 0.1, 0.1, 0, 0, 0]}, {'name': 'j', 'markers': ['m0', 'm1'], " joint  \
    "}], 'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': "   \
    "[" ground                                                                                     \
    "]}, {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [" local        \
    "]}], 'solver': {'stepSize': 0.001" solver "}}"

/* positions at 0.5, 1, 2 and 5 s; they are printed with 6 digits, the peers' own bar is 1e-3 */
static void check_flight(const char *text, const double expected[4][3])
{
    static const uint64_t steps[] = {500, 500, 1000, 3000};
    struct mech_sim *const s = model_of(text);

    for (int i = 0; i < 4; i++) {
        double p[3];

        CU_ASSERT_EQUAL_FATAL(model_steps(s, steps[i]), 0);
        position_of(s, p);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(p[k], expected[i][k], 2e-4);
        }
    }
    mech_sim_destroy(s);
}

static const double hinge[4][3] = {{1.66081, 0, -1.11432},
                                   {-0.892381, 0, -1.78988},
                                   {-1.95112, 0, -0.439479},
                                   {-1.99968, 0, -0.0355587}};

#define Z_IS_Y "[[1, 0, 0], [0, 0, 1], [0, -1, 0]]"

static void pendulum_on_a_hinge(void)
{
    check_flight(SPACE("2, 0, 0", "0, 0, 0", "-2, 0, 0",
                       "'type': 'RevoluteJointZ', 'rotationMarker0': " Z_IS_Y
                       ", 'rotationMarker1': " Z_IS_Y,
                       ""),
                 hinge);
    check_flight(SPACE("2, 0, 0", "0, 0, 0", "-2, 0, 0",
                       "'type': 'GenericJoint', 'constrainedAxes': [1, 1, 1, 1, 0, 1]",
                       ", 'integrator': 'TrapezoidalIndex2'"),
                 hinge);
}

static void slide_at_45_degrees(void)
{
    static const double expected[4][3] = {{3, 1.38708, 2.38708},
                                          {3, -0.451662, 0.548338},
                                          {3, -7.80665, -6.80665},
                                          {3, -59.2916, -58.2916}};

#define SLOPE                                                                                      \
    "[[0, 1, 0], [0.70710678118654757, 0, 0.70710678118654757],"                                   \
    "[0.70710678118654757, 0, -0.70710678118654757]]"
    check_flight(SPACE("3, 2, 3", "1, 2, 3", "-2, 0, 0",
                       "'type': 'PrismaticJointX', 'rotationMarker0': " SLOPE
                       ", 'rotationMarker1': " SLOPE,
                       ""),
                 expected);
}

static void pendulum_on_a_ball(void)
{
    /* the hinge's flight, seen from (1, 2, 3) */
    static const double expected[4][3] = {{2.66081, 2, 1.88568},
                                          {0.107619, 2, 1.21012},
                                          {-0.951117, 2, 2.56052},
                                          {-0.999684, 2, 2.96444}};

    check_flight(SPACE("3, 2, 3", "1, 2, 3", "-2, 0, 0", "'type': 'SphericalJoint'", ""), expected);
}

static void body_on_a_rod_and_on_a_spring(void)
{
    static const double rod[4][3] = {{0, 1.64457, -1.138152},
                                     {0, -0.956545, -1.756423},
                                     {0, -1.933289, -0.5122448},
                                     {0, -1.999998, -0.00277958}};
    static const double spring[4][3] = {{0, 1.773547, -1.162133},
                                        {0, -0.5973274, -2.189069},
                                        {0, -1.983834, -0.3247606},
                                        {0, -1.945198, -0.7674010}};

    check_flight(
        SPACE("0, 2, 0", "0, 0, 0", "0, 0, 0", "'type': 'DistanceConstraint', 'distance': 2", ""),
        rod);
    check_flight(SPACE("0, 2, 0", "0, 0, 0", "0, 0, 0",
                       "'type': 'SpringDamper', 'referenceLength': 2, 'stiffness': 100,"
                       "'damping': 5",
                       ""),
                 spring);
}

/* a top with J = (0.1, 0.1, 0.04): Ω turns about the body's axis with (J₁ − J₃)/J₁ Ω₃ */
static double top_error(double h, uint64_t steps)
{
    char text[1024];

    /* ė = ½ e ∘ (0, Ω) at e = (1, 0, 0, 0) */
    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
             "'initialVelocities': [1, 2, 3, 0, 0.5, 0, 2.5]}], 'objects': [{'name': 'b',"
             "'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"
             "'physicsInertia': [0.1, 0.1, 0.04, 0, 0, 0]}],"
             "'solver': {'stepSize': %.17g, 'integrator': 'TrapezoidalIndex2'}}",
             h);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, steps), 0);
    const struct mech_state_view at = model_state(s);
    const double rate = (0.1 - 0.04) / 0.1 * 5., angle = rate * at.time;
    const double error = hypot(at.v[3] - cos(angle), at.v[4] + sin(angle));

    CHECK_NEAR(at.q[0], at.time, 1e-12);
    CHECK_NEAR(at.v[5], 5., 1e-12);
    const double length =
        at.q[3] * at.q[3] + at.q[4] * at.q[4] + at.q[5] * at.q[5] + at.q[6] * at.q[6];
    CHECK_NEAR(length, 1., 1e-14);

    /* angular momentum in space, R J Ω: at rest in direction and size, to the scheme's order */
    double R[9];
    size_t count = 0;
    const struct mech_item_query query = {MECH_OBJECT, "b", MECH_OUTPUT_ROTATION_MATRIX,
                                          MECH_CURRENT, NULL};
    CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 9, R, &count), 0);
    const double L[3] = {0.1 * at.v[3], 0.1 * at.v[4], 0.04 * at.v[5]};
    const double start[3] = {0.1, 0., 0.2};
    for (int i = 0; i < 3; i++) {
        const double now = R[3 * i] * L[0] + R[3 * i + 1] * L[1] + R[3 * i + 2] * L[2];

        CHECK_NEAR(now, start[i], 20. * h * h);
    }
    mech_sim_destroy(s);
    return error;
}

static void free_top_precesses_at_second_order(void)
{
    const double coarse = top_error(0.02, 100), fine = top_error(0.01, 200);

    CHECK_ORDER("the top's motion", log2(coarse / fine), 2., 0.1);
}

static void joints_that_do_not_fit_are_named(void)
{
    CU_ASSERT(
        model_refused(SPACE("2, 0, 0", "0, 0, 0.5", "-2, 0, 0", "'type': 'SphericalJoint'", ""),
                      "/objects/2", "equation 2"));
    CU_ASSERT(model_refused(SPACE("2, 0, 0", "0, 0, 0", "-2, 0, 0", "'type': 'SphericalJoint'",
                                  ", 'integrator': 'RK44'"),
                            "/solver/integrator", "does not support joints"));
}

static struct mech_sim *ball_pendulum(void)
{
    return model_of(SPACE("2, 0, 0", "0, 0, 0", "-2, 0, 0",
                          "'type': 'GenericJoint', 'constrainedAxes': [1, 1, 1, 0, 0, 1]", ""));
}

/* every linear solver of the list allocates nothing in a step, joints and rotations included */
static void steps_with_joints_allocate_nothing(void)
{
    const char *const solvers[] = {"", ", 'linear': 'dense_lu'", ", 'linear': 'klu'"};

    for (int i = 0; i < 3; i++) {
        char text[2048];

        snprintf(text, sizeof text,
                 SPACE("2, 0, 0", "0, 0, 0", "-2, 0, 0", "'type': 'SphericalJoint'", "%s"),
                 solvers[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 10), 0);
        alloc_count_start();
        const int code = model_steps(s, 1000);
        const long count = alloc_count_stop();
        CU_ASSERT_EQUAL(code, 0);
        CU_ASSERT_EQUAL(count, 0);
        mech_sim_destroy(s);
    }
}

/* q, v, v̇, a, λ in the snapshot: restored and uninterrupted agree to the bit */
static void restored_joints_go_on_alike(void)
{
    struct mech_sim *const one = ball_pendulum(), *const two = ball_pendulum();
    const size_t size = mech_sim_snapshot_size(one);
    void *const bytes = malloc(size);
    bool same = false;

    CU_ASSERT_EQUAL(model_steps(one, 300), 0);
    mech_sim_snapshot_write(one, bytes);
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(two, bytes, size, &same), 0);
    CU_ASSERT_EQUAL(model_steps(one, 300), 0);
    CU_ASSERT_EQUAL(model_steps(two, 300), 0);
    CU_ASSERT_EQUAL(mech_sim_sizes(one).q, 7);
    CU_ASSERT_EQUAL(mech_sim_sizes(one).lambda, 4);
    CU_ASSERT(memcmp(model_state(one).q, model_state(two).q, 7 * sizeof(double)) == 0);
    CU_ASSERT(memcmp(model_state(one).v, model_state(two).v, 6 * sizeof(double)) == 0);
    CU_ASSERT(memcmp(model_state(one).lambda, model_state(two).lambda, 4 * sizeof(double)) == 0);
    free(bytes);
    mech_sim_destroy(one);
    mech_sim_destroy(two);
}

/* potential and kinetic energy of the hinged pendulum: with the trapezoidal rule it stays */
static void hinged_pendulum_keeps_its_energy(void)
{
    struct mech_sim *const s =
        model_of(SPACE("2, 0, 0", "0, 0, 0", "-2, 0, 0",
                       "'type': 'GenericJoint', 'constrainedAxes': [1, 1, 1, 1, 0, 1]",
                       ", 'integrator': 'TrapezoidalIndex2'"));
    double worst = 0.;

    for (int i = 0; i < 50; i++) {
        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        worst = fmax(worst, fabs(mech_sim_energy(s)));
    }
    /* of 20 J in exchange; h² = 1e-6 with ω² ≈ 5 */
    CHECK_NEAR(worst, 0., 2e-3);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(steps_with_joints_allocate_nothing), UNIT_TEST(restored_joints_go_on_alike),
           UNIT_TEST(hinged_pendulum_keeps_its_energy), UNIT_TEST(pendulum_on_a_hinge),
           UNIT_TEST(slide_at_45_degrees), UNIT_TEST(pendulum_on_a_ball),
           UNIT_TEST(body_on_a_rod_and_on_a_spring), UNIT_TEST(free_top_precesses_at_second_order),
           UNIT_TEST(joints_that_do_not_fit_are_named))
