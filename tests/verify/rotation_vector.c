/* NodeRigidBodyRotVecLG beside NodeRigidBodyEP: the same motion with either description of the
 * rotation, over many turns and with every kind of integrator. */
#include "solver/linalg/so3.h"
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"

/* the initial rotation vector (0.4, −0.7, 0.3) and Ω = (1, −2, 12) in the words of both */
static void words_of(bool vector, char *text, size_t size)
{
    const double rho[3] = {0.4, -0.7, 0.3}, omega[4] = {0., 1., -2., 12.};
    double e[4], rate[4];

    mech_so3_parameters(rho, e);
    mech_so3_compose(e, omega, rate);
    if (vector) {
        snprintf(text, size,
                 "'type': 'NodeRigidBodyRotVecLG', 'referenceCoordinates': [1, 2, 3, 0.4, -0.7, 0],"
                 "'initialCoordinates': [0, 0, 0, 0, 0, 0.3], 'initialVelocities':"
                 "[0, 0, 0, 1, -2, 12]");
    } else {
        snprintf(text, size,
                 "'type': 'NodeRigidBodyEP', 'referenceCoordinates': [1, 2, 3, %.17g, %.17g, %.17g,"
                 "%.17g], 'initialVelocities': [0, 0, 0, %.17g, %.17g, %.17g, %.17g]",
                 e[0], e[1], e[2], e[3], 0.5 * rate[0], 0.5 * rate[1], 0.5 * rate[2],
                 0.5 * rate[3]);
    }
}

/* a body with its centre of mass off the node on a spring, or on a ball joint, under gravity */
static struct mech_sim *swinging(bool vector, const char *connector, const char *solver)
{
    char node[512], text[4096];

    words_of(vector, node, sizeof node);
    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', %s}], 'objects': ["
             "{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2, 'physicsInertia':"
             "[0.9, 1.2, 1.16, 0.21, -0.2, 0.15], 'physicsCenterOfMass': [0.3, -0.2, 0.4]},"
             "{'name': 'g', 'type': 'Ground'}, {'name': 'c', 'markers': ['m0', 'm1'], %s}],"
             "'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g',"
             "'localPosition': [1, 2, 3]}, {'name': 'm1', 'type': 'MarkerNodeRigid', 'node': 'n'}],"
             "'solver': {%s}}",
             node, connector, solver);
    return model_of(text);
}

/* largest difference of position, rotation, velocity and angular velocity after 2 s */
static double difference(const char *connector, const char *solver, uint64_t steps)
{
    static const enum mech_output variables[] = {MECH_OUTPUT_POSITION, MECH_OUTPUT_ROTATION_MATRIX,
                                                 MECH_OUTPUT_VELOCITY,
                                                 MECH_OUTPUT_ANGULAR_VELOCITY};
    struct mech_sim *const s[2] = {swinging(false, connector, solver),
                                   swinging(true, connector, solver)};
    double worst = 0.;

    CU_ASSERT_EQUAL(mech_sim_sizes(s[1]).q, 6);
    for (uint64_t k = 0; k < 10; k++) {
        for (int i = 0; i < 2; i++) {
            CU_ASSERT_EQUAL(model_steps(s[i], steps / 10), 0);
        }
        for (size_t v = 0; v < sizeof variables / sizeof *variables; v++) {
            double x[2][9] = {{0.}};

            model_values(s[0], MECH_NODE, "n", variables[v], x[0]);
            model_values(s[1], MECH_OBJECT, "b", variables[v], x[1]);
            for (int i = 0; i < 9; i++) {
                worst = fmax(worst, fabs(x[0][i] - x[1][i]));
            }
        }
        CU_ASSERT(mech_v3_norm(model_state(s[1]).q + 3) <= 3.1415926535897936);
        CHECK_NEAR(mech_sim_energy(s[0]), mech_sim_energy(s[1]), 1e-4);
    }
    for (int i = 0; i < 2; i++) {
        mech_sim_destroy(s[i]);
    }
    return worst;
}

#define SPRING "'type': 'CartesianSpringDamper', 'stiffness': [30, 40, 50], 'damping': [1, 1, 1]"
#define BALL "'type': 'SphericalJoint'"

/* Schemes that move on the group do the same with both, up to Newton's tolerance and rounding;
 * Runge–Kutta integrates the coordinates, and both meet the motion to its error. */
static void motion_does_not_depend_on_the_coordinates(void)
{
    const char *const tight = ", 'stepSize': 0.002, 'newton': {'relativeTolerance': 1e-11}";
    char text[256];

    snprintf(text, sizeof text, "'spectralRadius': 0.8%s", tight);
    CHECK_NEAR(difference(SPRING, text, 1000), 0., 1e-9);
    CHECK_NEAR(difference(BALL, text, 1000), 0., 1e-9);
    snprintf(text, sizeof text, "'integrator': 'TrapezoidalIndex2'%s", tight);
    CHECK_NEAR(difference(BALL, text, 1000), 0., 1e-9);
    CHECK_NEAR(difference(SPRING, "'integrator': 'VelocityVerlet', 'stepSize': 0.002", 1000), 0.,
               1e-11);
    CHECK_NEAR(difference(SPRING, "'integrator': 'RK67', 'stepSize': 0.001", 2000), 0., 1e-10);
    CHECK_NEAR(difference(SPRING,
                          "'integrator': 'DOPRI5', 'stepSize': 0.01, 'adaptive':"
                          "{'relativeTolerance': 1e-11, 'absoluteTolerance': 1e-11}",
                          200),
               0., 1e-8);
    CHECK_NEAR(difference(SPRING,
                          "'integrator': 'DOPRI5', 'stepSize': 0.01, 'adaptive': {'denseOutput':"
                          "true, 'relativeTolerance': 1e-10, 'absoluteTolerance': 1e-10}",
                          200),
               0., 1e-6);
}

static double runge_kutta_error(int n)
{
    char solver[128];
    double exact[9], R[9], sum = 0.;
    struct mech_sim *const fine = swinging(true, SPRING, "'integrator': 'RK67', 'stepSize': 5e-4");

    snprintf(solver, sizeof solver, "'integrator': 'RK44', 'stepSize': %.17g", 1. / n);
    struct mech_sim *const s = swinging(true, SPRING, solver);
    CU_ASSERT_EQUAL(model_steps(fine, 2000), 0);
    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n), 0);
    model_values(fine, MECH_NODE, "n", MECH_OUTPUT_ROTATION_MATRIX, exact);
    model_values(s, MECH_NODE, "n", MECH_OUTPUT_ROTATION_MATRIX, R);
    for (int i = 0; i < 9; i++) {
        sum += (R[i] - exact[i]) * (R[i] - exact[i]);
    }
    mech_sim_destroy(fine);
    mech_sim_destroy(s);
    return sqrt(sum);
}

/* through two turns, where the vector changes its sign at π */
static void runge_kutta_keeps_its_order_over_turns(void)
{
    CHECK_ORDER("RK44", log2(runge_kutta_error(200) / runge_kutta_error(400)), 4., 0.1);
}

/* J = 1 turns about z at 20 rad/s for 3 s: 9.5 turns, then back at rest by a torque */
static void many_turns_are_counted_out(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha", "TrapezoidalIndex2", "RK44",
                                          "VelocityVerlet", "ExplicitMidpoint"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char text[1024];
        double R[9];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyRotVecLG',"
                 "'initialVelocities': [0, 0, 0, 0, 0, 20]}], 'objects': [{'name': 'b',"
                 "'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia':"
                 "[1, 1, 1, 0, 0, 0]}], 'markers': [{'name': 'm', 'type': 'MarkerBodyRigid',"
                 "'object': 'b'}], 'loads': [{'name': 'T', 'type': 'LoadTorqueVector',"
                 "'marker': 'm', 'load': [0, 0, -5]}], 'solver': {'integrator': '%s',"
                 "'stepSize': 0.01}}",
                 schemes[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 300), 0);
        /* φ = 20 t − 2.5 t², quadratic: exact in all of them but where q ⊕ d is not integrated */
        const double phi = 60. - 22.5, tolerance = i == 2 ? 1e-5 : i == 4 ? 2e-2 : 1e-10;
        model_values(s, MECH_NODE, "n", MECH_OUTPUT_ROTATION_MATRIX, R);
        CHECK_NEAR(R[0], cos(phi), tolerance);
        CHECK_NEAR(R[3], sin(phi), tolerance);
        CHECK_NEAR(model_state(s).v[5], 5., 1e-12);
        mech_sim_destroy(s);
    }
}

/* derivatives of steps go through the same transport */
static void steps_have_the_derivatives_of_runs(void)
{
    const struct mech_step_request request = {.kind = MECH_STEP_COUNT, .count = 20};
    const char *const solver = "'stepSize': 0.005, 'newton': {'relativeTolerance': 1e-12}";
    double v[6], dv[6], ends[2][6];
    static const double direction[6] = {0., 0., 0., 1., -0.5, 0.7};
    struct mech_sim *const s = swinging(true, BALL, solver);
    const double h = 1e-4;

    memcpy(v, model_state(s).v, sizeof v);
    struct mech_jvp jvp = {.step = &request, .v = direction, .dv = dv};
    CU_ASSERT_EQUAL(mech_sim_jvp(s, &jvp), 0);
    for (int k = 0; k < 2; k++) {
        struct mech_sim *const run = swinging(true, BALL, solver);
        double at[6];

        for (int i = 0; i < 6; i++) {
            at[i] = v[i] + (k ? h : -h) * direction[i];
        }
        CU_ASSERT_EQUAL(mech_sim_set_state(run, &(struct mech_state_view){.time = NAN, .v = at}),
                        0);
        CU_ASSERT_EQUAL(model_steps(run, 20), 0);
        memcpy(ends[k], model_state(run).v, sizeof ends[k]);
        mech_sim_destroy(run);
    }
    for (int i = 0; i < 6; i++) {
        CHECK_NEAR(dv[i], (ends[1][i] - ends[0][i]) / (2. * h), 1e-5);
    }
    mech_sim_destroy(s);
}

#define ON_VECTOR(objects, markers)                                                                \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyRotVecLG'}], 'objects': [" objects \
    "], 'markers': [" markers "]}"

static void rotation_vectors_are_no_plain_coordinates(void)
{
    CU_ASSERT(model_refused(ON_VECTOR("{'name': 'o', 'type': 'GenericODE2', 'nodes': ['n'],"
                                      "'massMatrix': {'diag': [1, 1, 1, 1, 1, 1]}}",
                                      ""),
                            "/objects/0/nodes", "without rotations"));
#define BODY                                                                                       \
    "{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia':"          \
    "[1, 1, 1, 0, 0, 0]}"
    CU_ASSERT(model_refused(ON_VECTOR(BODY, "{'name': 'm', 'type': 'MarkerNodeCoordinate',"
                                            "'node': 'n', 'coordinate': 3}"),
                            "/markers/0/coordinate", "rotation parameters"));
    CU_ASSERT(model_refused(
        ON_VECTOR(BODY, "{'name': 'm', 'type': 'MarkerNodeCoordinates', 'node': 'n'}"),
        "/markers/0/node", "rotation parameters"));
}

/* a turn of 2π, where ρ' is not regular, is none; Euler parameters of length 0 are no rotation */
static void states_are_set_where_rotations_belong(void)
{
    struct mech_sim *s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyRotVecLG',"
        "'initialVelocities': [0, 0, 0, 0.1, 0.5, 0.3]}], 'objects': [{'name': 'b', 'type':"
        "'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.1, 0.1, 0.1, 0, 0, 0]}],"
        "'solver': {'integrator': 'RK44', 'stepSize': 0.01}}");
    const double turned[6] = {0., 0., 0., 6.283185307179586, 0., 0.};
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .q = turned}), 0);
    CU_ASSERT_EQUAL(model_steps(s, 20), 0);
    CHECK_NEAR(model_state(s).q[3], 0.02, 1e-12);
    CHECK_NEAR(model_state(s).q[4], 0.1, 1e-12);
    CHECK_NEAR(model_state(s).q[5], 0.06, 1e-12);
    mech_sim_destroy(s);

    s = model_of("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'}], 'objects':"
                 "[{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"
                 "'physicsInertia': [0.1, 0.1, 0.1, 0, 0, 0]}]}");
    const double none[7] = {0.};
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .q = none}),
                    MECH_NOT_FINITE);
    CHECK_NEAR(model_state(s).q[3], 1., 0.);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(states_are_set_where_rotations_belong),
           UNIT_TEST(motion_does_not_depend_on_the_coordinates),
           UNIT_TEST(runge_kutta_keeps_its_order_over_turns), UNIT_TEST(many_turns_are_counted_out),
           UNIT_TEST(steps_have_the_derivatives_of_runs),
           UNIT_TEST(rotation_vectors_are_no_plain_coordinates))
