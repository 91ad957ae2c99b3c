/* Nonlinear bodies, springs between points and joints against published numbers (Exudyn 1.11, and
 * ADAMS for the joints in space) and closed forms. Where nothing else is said: 100 steps to 1 s,
 * generalized-α with ρ = 0.9. */
#include "tests/unit/model.h"

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
    model_values(s, MECH_NODE, "n", MECH_OUTPUT_COORDINATES, u);
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
    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, p);
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
    model_values(s, MECH_NODE, "n1", MECH_OUTPUT_COORDINATES, u);
    CHECK_NEAR(u[1], -2.376335780518, 2e-7);
    mech_sim_destroy(s);
}

static void cartesian_spring_bends_under_its_load(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint'},"
                 "{'name': 'g', 'type': 'NodePointGround'}], 'objects': ["
                 "{'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 5},"
                 "{'name': 's', 'type': 'CartesianSpringDamper', 'markers': ['m0', 'm1'],"
                 "'stiffness': [5000, 5000, 0], 'damping': [0, 250, 0]}], 'markers': ["
                 "{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"
                 "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}], 'loads': ["
                 "{'name': 'F', 'type': 'LoadForceVector', 'marker': 'm1', 'load': [0, -5, 0]}],"
                 "'solver': {'stepSize': 0.01}}");
    double u[3];

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    model_values(s, MECH_NODE, "n", MECH_OUTPUT_DISPLACEMENT, u);
    CHECK_NEAR(u[1], -0.0009999999999750209, 1e-9);
    mech_sim_destroy(s);
}

/* the prescribed motion is met to Newton's tolerance at every end of a step */
static void coordinate_follows_its_law(void)
{
    const char *const schemes[] = {"GeneralizedAlpha", "HHT"};

    for (int i = 0; i < 2; i++) {
        char text[1024];

        snprintf(text, sizeof text,
                 MODEL_OSCILLATOR("", "5",
                                  ", {'name': 'c', 'type': 'CoordinateConstraint',"
                                  "'markers': ['g', 'x'],"
                                  "'offsetUserFunction': '=0.05*(1-cos(pi*t/2))'}",
                                  "", ", 'solver': {'integrator': '%s', 'stepSize': 0.01}"),
                 schemes[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        CHECK_NEAR(model_state(s).q[0], 0.05, 1e-12);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "c", MECH_OUTPUT_CONSTRAINT_EQUATION), 0., 1e-12);
        mech_sim_destroy(s);
    }
}

/* the force that moves the mass is m ü, up to the error of the scheme: λ, and Exudyn's sign */
static void reaction_of_a_prescribed_motion_is_m_a(void)
{
    struct mech_sim *const s =
        model_of(MODEL_OSCILLATOR("", "5",
                                  ", {'name': 'c', 'type': 'CoordinateConstraint',"
                                  "'markers': ['g', 'x'],"
                                  "'offsetUserFunction': '=0.05*(1-cos(pi*t/2))'}",
                                  "", ", 'solver': {'stepSize': 0.001}"));
    const double a0 = 0.05 * 9.869604401089358 / 4.;

    /* at the start from the consistent accelerations, differenced in time: 1e-6 */
    CHECK_NEAR(model_state(s).vdot[0], a0, 1e-6);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "c", MECH_OUTPUT_FORCE), -5. * a0, 1e-5);
    CU_ASSERT_EQUAL(model_steps(s, 500), 0);
    /* h² of a second order scheme with ω = π/2 */
    CHECK_NEAR(model_state(s).lambda[0], 5. * a0 * sqrt(0.5), 1e-5);
    mech_sim_destroy(s);
}

/* factor and offset: q1 = 2 q0 + 0.1 while a force accelerates both (masses 1 and 1) */
static void coordinates_are_geared(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'Node1D'}, {'name': 'b', 'type': 'Node1D',"
        "'initialCoordinates': [0.1]}], 'objects': [{'name': 'ma', 'type': 'Mass1D', 'node': 'a',"
        "'physicsMass': 1}, {'name': 'mb', 'type': 'Mass1D', 'node': 'b', 'physicsMass': 1},"
        "{'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['xa', 'xb'],"
        "'factorValue1': 0.5, 'offset': 0.05}], 'markers': [{'name': 'xa', 'type':"
        "'MarkerNodeCoordinate', 'node': 'a'}, {'name': 'xb', 'type': 'MarkerNodeCoordinate',"
        "'node': 'b'}], 'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'xa',"
        "'load': 5}], 'solver': {'stepSize': 0.01}}");

    /* (1 + 4) q̈0 = 5 */
    CHECK_NEAR(model_state(s).vdot[0], 1., 1e-13);
    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(model_state(s).q[0], 0.5, 1e-10);
    CHECK_NEAR(model_state(s).q[1], 1.1, 1e-10);
    mech_sim_destroy(s);
}

/* crank L = 0.1, rod L = 0.3, slider; straight along x, at rest, torque 0.1 on the crank's angle */
#define SLIDER_CRANK(solver)                                                                       \
    "{'mechd': 1, 'nodes': ["                                                                      \
    "{'name': 'nc', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [0.05, 0, 0]},"             \
    "{'name': 'nr', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [0.25, 0, 0]},"             \
    "{'name': 'ns', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [0.4, 0, 0]}],"             \
    "'objects': [{'name': 'g', 'type': 'Ground'},"                                                 \
    "{'name': 'crank', 'type': 'RigidBody2D', 'node': 'nc', 'physicsMass': 0.2,"                   \
    "'physicsInertia': 0.00016666666666666669},"                                                   \
    "{'name': 'rod', 'type': 'RigidBody2D', 'node': 'nr', 'physicsMass': 0.2,"                     \
    "'physicsInertia': 0.0015},"                                                                   \
    "{'name': 'slider', 'type': 'RigidBody2D', 'node': 'ns', 'physicsMass': 0.4,"                  \
    "'physicsInertia': 0.001},"                                                                    \
    "{'name': 'j0', 'type': 'RevoluteJoint2D', 'markers': ['g0', 'c0']},"                          \
    "{'name': 'j1', 'type': 'RevoluteJoint2D', 'markers': ['c1', 'r0']},"                          \
    "{'name': 'j2', 'type': 'RevoluteJoint2D', 'markers': ['r1', 's0']},"                          \
    "{'name': 'j3', 'type': 'PrismaticJoint2D', 'markers': ['g0', 's0']}],"                        \
    "'markers': [{'name': 'g0', 'type': 'MarkerBodyRigid', 'object': 'g'},"                        \
    "{'name': 'c0', 'type': 'MarkerBodyRigid', 'object': 'crank', 'localPosition': [-0.05, 0, "    \
    "0]},"                                                                                         \
    "{'name': 'c1', 'type': 'MarkerBodyRigid', 'object': 'crank', 'localPosition': [0.05, 0, 0]}," \
    "{'name': 'r0', 'type': 'MarkerBodyRigid', 'object': 'rod', 'localPosition': [-0.15, 0, 0]},"  \
    "{'name': 'r1', 'type': 'MarkerBodyRigid', 'object': 'rod', 'localPosition': [0.15, 0, 0]},"   \
    "{'name': 's0', 'type': 'MarkerBodyRigid', 'object': 'slider'},"                               \
    "{'name': 'phi', 'type': 'MarkerNodeCoordinate', 'node': 'nc', 'coordinate': 2}],"             \
    "'loads': [{'name': 'T', 'type': 'LoadCoordinate', 'marker': 'phi', 'load': 0.1}],"            \
    "'solver': {" solver "}}"

static void slider_crank_turns(void)
{
    struct mech_sim *const s =
        model_of(SLIDER_CRANK("'integrator': 'Newmark', 'stepSize': 0.00006"));
    double p[3];

    CU_ASSERT_EQUAL(model_steps(s, 5000), 0);
    model_values(s, MECH_OBJECT, "slider", MECH_OUTPUT_POSITION, p);
    CHECK_NEAR(p[0], 0.29485999, 1e-8);
    mech_sim_destroy(s);
}

/* position and velocity level agree, whichever linear solver */
static void slider_crank_agrees_among_schemes_and_solvers(void)
{
    const char *const solvers[] = {
        "'integrator': 'GeneralizedAlpha', 'stepSize': 0.0001",
        "'integrator': 'TrapezoidalIndex2', 'stepSize': 0.0001",
        "'integrator': 'GeneralizedAlpha', 'stepSize': 0.0001, 'linear': 'klu'",
        "'integrator': 'GeneralizedAlpha', 'stepSize': 0.0001, 'linear': 'dense_lu'"};
    double x[4];

    for (int i = 0; i < 4; i++) {
        char text[4096];
        double p[3];

        snprintf(text, sizeof text, SLIDER_CRANK("%s"), solvers[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 1500), 0);
        model_values(s, MECH_OBJECT, "slider", MECH_OUTPUT_POSITION, p);
        x[i] = p[0];
        CHECK_NEAR(p[1], 0., 1e-9);
        mech_sim_destroy(s);
    }
    /* both of second order: differences of h² size */
    CHECK_NEAR(x[1], x[0], 1e-6);
    CHECK_NEAR(x[2], x[0], 1e-10);
    CHECK_NEAR(x[3], x[0], 1e-10);
}

/* a mass on a rod under gravity: energy and the rod's force at the lowest point, m g + m v²/l */
static void pendulum_keeps_its_energy(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"
        "'referenceCoordinates': [0, -2], 'initialVelocities': [3, 0]},"
        "{'name': 'g', 'type': 'NodePointGround'}],"
        "'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1.5},"
        "{'name': 'd', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 2}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"
        "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}],"
        "'solver': {'integrator': 'TrapezoidalIndex2', 'stepSize': 0.001}}");

    CHECK_NEAR(model_value(s, MECH_OBJECT, "d", MECH_OUTPUT_FORCE), 15. + 1.5 * 9. / 2., 1e-11);
    CU_ASSERT_EQUAL(model_steps(s, 5000), 0);
    const struct mech_state_view at = model_state(s);
    const double energy = 0.75 * (at.v[0] * at.v[0] + at.v[1] * at.v[1]) + 15. * (at.q[1] + 2.);

    /* h² with the pendulum's ω² = 5, over 5 s */
    CHECK_NEAR(energy, 6.75, 1e-4);
    mech_sim_destroy(s);
}

#define ROD(name, length)                                                                          \
    "{'name': '" name                                                                              \
    "', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': " length "}"
#define RODS(rods, solver)                                                                         \
    "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"          \
    "'referenceCoordinates': [0, -2]}, {'name': 'g', 'type': 'NodePointGround'}], 'objects': ["    \
    "{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1.5}, " rods "],"            \
    "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"                       \
    "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}], 'solver': {" solver "}}"

static void joints_that_cannot_be_are_named(void)
{
    CU_ASSERT(model_refused(RODS(ROD("one", "2") ", " ROD("two", "2.1"), "'stepSize': 0.01"),
                            "/objects/2", "miss equation 0 of the joint \"two\" by -0.1"));
    CU_ASSERT(model_refused(RODS("{'name': 'rod', 'type': 'DistanceConstraint', 'distance': 1,"
                                 "'markers': ['m1', 'm1']}",
                                 "'stepSize': 0.01"),
                            "/objects/1/markers/1", "first marker again"));
}

#define AT_ORIGIN(joint, at, J)                                                                    \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [" at \
    ", 0, 0, 1, 0, 0, 0], 'initialVelocities': [0, 0, 0, 0, 0, 0, 0.5]}], 'objects': [{'name':"    \
    "'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2, 'physicsInertia': [" J ", " J ", " J \
    ", 0, 0, 0]}, {'name': 'g', 'type': 'Ground'}, {'name': 'j', 'type': '" joint                  \
    "', 'markers': ['m0', 'm1']}], 'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid',"          \
    "'object': 'g'}, {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b'}]}"
#define POINT_AT_ORIGIN(at)                                                                        \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint', 'initialCoordinates': [" at         \
    ", 0, 0]}], 'objects': [{'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 2},"    \
    "{'name': 'j', 'type': 'CoordinateConstraint', 'markers': ['g', 'x']}],"                       \
    "'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0},"     \
    "{'name': 'g', 'type': 'MarkerGroundCoordinate'}]}"

/* all markers at the origin: what they miss is compared with the body, or with 1 m, not with
 * itself */
static void joints_at_one_place_may_miss_by_rounding(void)
{
    static const char *const fit[] = {
        AT_ORIGIN("SphericalJoint", "0", "1"),
        AT_ORIGIN("SphericalJoint", "1e-17", "1"),
        AT_ORIGIN("RevoluteJointZ", "-1e-13", "1"),
        AT_ORIGIN("RevoluteJointZ", "3e-7", "1"),
        AT_ORIGIN("SphericalJoint", "3e-13", "2e-12"),
        POINT_AT_ORIGIN("0"),
        POINT_AT_ORIGIN("-1e-17"),
    };

    for (size_t i = 0; i < sizeof fit / sizeof *fit; i++) {
        struct mech_sim *const s = model_of(fit[i]);

        CU_ASSERT_EQUAL(model_steps(s, 2), 0);
        CU_ASSERT(fabs(model_state(s).q[0]) < 1e-20);
        /* each body turns about z, which no joint holds */
        CU_ASSERT(strstr(fit[i], "MassPoint") || fabs(model_state(s).v[5] - 1.) < 1e-12);
        mech_sim_destroy(s);
    }
    CU_ASSERT(model_refused(AT_ORIGIN("SphericalJoint", "3e-6", "1"), "/objects/2",
                            "miss equation 0 of the joint \"j\""));
    CU_ASSERT(model_refused(AT_ORIGIN("SphericalJoint", "3e-12", "2e-12"), "/objects/2",
                            "miss equation 0 of the joint \"j\""));
    CU_ASSERT(
        model_refused(POINT_AT_ORIGIN("3e-6"), "/objects/1", "miss equation 0 of the joint \"j\""));
}

static void schemes_without_joints_refuse_them(void)
{
    const char *const schemes[] = {"ExplicitEuler", "ExplicitMidpoint", "RK33", "RK44", "RK67"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char text[1024];

        snprintf(text, sizeof text, RODS(ROD("rod", "2"), "'stepSize': 0.01, 'integrator': '%s'"),
                 schemes[i]);
        CU_ASSERT(
            model_refused(text, "/solver/integrator", "does not support joints, and \"rod\""));
    }
    CU_ASSERT(model_refused(RODS(ROD("rod", "2"), "'stepSize': 0.01, 'spectralRadius': 1"),
                            "/solver/spectralRadius", "joints need less than 1"));
}

/* a step that joints make impossible leaves the state as it was */
static void failed_step_with_joints_leaves_no_trace(void)
{
    struct mech_sim *const s = model_of(
        MODEL_OSCILLATOR("", "5",
                         ", {'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g', 'x'],"
                         "'offsetUserFunction': '=sqrt(0.105-t)-sqrt(0.105)'}",
                         "", ", 'solver': {'stepSize': 0.01}"));

    CU_ASSERT_EQUAL(model_steps(s, 10), 0);
    const double q = model_state(s).q[0], lambda = model_state(s).lambda[0];
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_NOT_FINITE);
    CU_ASSERT(strstr(report.reason, "\"c\"") != NULL);
    CU_ASSERT(model_state(s).q[0] == q && model_state(s).lambda[0] == lambda);
    CHECK_NEAR(model_state(s).time, 0.1, 1e-15);
    mech_sim_destroy(s);
}

/* Newton's method without time enough names the body that is most out of balance */
static void newton_that_stops_names_the_item(void)
{
    for (int k = 0; k < 2; k++) {
        char text[1200];
        struct mech_step_report report;
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'NodePoint2D',"
                 "'referenceCoordinates': [1, 0], 'initialVelocities': [0, %d]},"
                 "{'name': 'n1', 'type': 'NodePoint2D', 'referenceCoordinates': [1, 0],"
                 "'initialVelocities': [0, %d]}, {'name': 'o', 'type': 'NodePointGround'}],"
                 "'objects': [{'name': 'left', 'type': 'MassPoint2D', 'node': 'n0',"
                 "'physicsMass': 1}, {'name': 'right', 'type': 'MassPoint2D', 'node': 'n1',"
                 "'physicsMass': 1}, {'name': 's0', 'type': 'SpringDamper', 'markers': ['o', 'm0'],"
                 "'stiffness': 1000, 'referenceLength': 1, 'springForceUserFunction': '=k*u^3'},"
                 "{'name': 's1',"
                 "'type': 'SpringDamper', 'markers': ['o', 'm1'], 'stiffness': 1000,"
                 "'referenceLength': 1, 'springForceUserFunction': '=k*u^3'}], 'markers': ["
                 "{'name': 'o', 'type': 'MarkerNodePosition', 'node': 'o'}, {'name': 'm0',"
                 "'type': 'MarkerNodePosition', 'node': 'n0'}, {'name': 'm1',"
                 "'type': 'MarkerNodePosition', 'node': 'n1'}], 'solver': {'stepSize': 0.05,"
                 "'newton': {'maxIterations': 1}}}",
                 k ? 0 : 20, k ? 20 : 0);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_NOT_CONVERGED);
        CU_ASSERT(strstr(report.reason, k ? "at \"right\"" : "at \"left\"") != NULL);
        CU_ASSERT(strstr(report.reason, "after 1 iterations with relative residual") != NULL);
        CHECK_NEAR(model_state(s).time, 0., 0.);
        mech_sim_destroy(s);
    }
}

/* Derivatives of all forces are those of differences: springs and loads off the centre. */
static void check_tangents(const char *text)
{
    struct mech_sim *const s = model_of(text);
    const struct mech_sizes n = mech_sim_sizes(s);
    const size_t nv = (size_t)n.v;
    double q[16], v[16], K[256], D[256], above[16], below[16];
    const double h = 1e-6;

    CU_ASSERT_FATAL(nv <= 16 && n.q == n.v);
    for (size_t i = 0; i < nv; i++) {
        q[i] = model_state(s).q[i] + 0.3 * sin(3. * (double)i + 1.);
        v[i] = cos(5. * (double)i + 2.);
    }
    const struct mech_point at = {.time = NAN, .q = q, .v = v};
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_DFDQ, K), 0);
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_DFDV, D), 0);
    for (size_t k = 0; k < 2 * nv; k++) {
        double *const x = k < nv ? &q[k] : &v[k - nv];
        const double *const told = k < nv ? K + k : D + k - nv;
        const double middle = *x;

        *x = middle + h;
        CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_FORCES, above), 0);
        *x = middle - h;
        CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_FORCES, below), 0);
        *x = middle;
        for (size_t i = 0; i < nv; i++) {
            /* rounding of forces of some 100 N over 2 h: 1e-8 */
            CHECK_NEAR(told[i * nv], (above[i] - below[i]) / (2. * h), 2e-7);
        }
    }
    mech_sim_destroy(s);
}

#define PLANE_BODIES(loads)                                                                        \
    "{'mechd': 1, 'gravity': [1, -9.81, 0], 'nodes': ["                                            \
    "{'name': 'n0', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [1, 0, 0.2]},"              \
    "{'name': 'n1', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [3, 1, -0.4]},"             \
    "{'name': 'n2', 'type': 'NodePoint', 'referenceCoordinates': [2, 3, 1]}],"                     \
    "'objects': [{'name': 'b0', 'type': 'RigidBody2D', 'node': 'n0', 'physicsMass': 2,"            \
    "'physicsInertia': 0.3}, {'name': 'b1', 'type': 'RigidBody2D', 'node': 'n1',"                  \
    "'physicsMass': 1, 'physicsInertia': 0.5}, {'name': 'b2', 'type': 'MassPoint',"                \
    "'node': 'n2', 'physicsMass': 1},"                                                             \
    "{'name': 's', 'type': 'SpringDamper', 'markers': ['m0', 'm1'], 'referenceLength': 1,"         \
    "'stiffness': 20, 'damping': 3, 'force': 2, 'velocityOffset': 0.1},"                           \
    "{'name': 'c', 'type': 'CartesianSpringDamper', 'markers': ['m1', 'm2'],"                      \
    "'stiffness': [10, 20, 30], 'damping': [1, 2, 3], 'offset': [0.1, 0.2, 0.3]}],"                \
    "'markers': [{'name': 'm0', 'type': 'MarkerBodyPosition', 'object': 'b0',"                     \
    "'localPosition': [0.3, 0.2, 0]}, {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b1',"   \
    "'localPosition': [-0.4, 0.1, 0.2]}, {'name': 'm2', 'type': 'MarkerNodePosition',"             \
    "'node': 'n2'}, {'name': 'mass', 'type': 'MarkerBodyMass', 'object': 'b1'}],"                  \
    "'loads': [" loads "], 'solver': {'stepSize': 0.01}}"

static void tangents_of_plane_bodies_are_derivatives(void)
{
    check_tangents(
        PLANE_BODIES("{'name': 'F', 'type': 'LoadForceVector', 'marker': 'm0', 'load': [3, 4, 5]},"
                     "{'name': 'B', 'type': 'LoadForceVector', 'marker': 'm1', 'load': [2, -3, 1],"
                     "'bodyFixed': true}, {'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'm1',"
                     "'load': [1, 2, 3], 'bodyFixed': true}"));
}

/* gravity of the document and mass-proportional loads are the same forces */
static void mass_proportional_load_is_gravity(void)
{
    struct mech_sim *const s = model_of(PLANE_BODIES(
        "{'name': 'G', 'type': 'LoadMassProportional', 'marker': 'mass', 'load': [-1, 9.81, 0]}"));
    struct mech_sim *const none =
        model_of("{'mechd': 1, 'nodes': [{'name': 'n1', 'type': 'NodeRigidBody2D'}], 'objects': ["
                 "{'name': 'b1', 'type': 'RigidBody2D', 'node': 'n1', 'physicsMass': 1,"
                 "'physicsInertia': 0.5}, {'name': 'g', 'type': 'Ground'}], 'markers': ["
                 "{'name': 'mass', 'type': 'MarkerBodyMass', 'object': 'b1'}], 'loads': ["
                 "{'name': 'G', 'type': 'LoadMassProportional', 'marker': 'mass',"
                 "'load': [-1, '=9.81*cos(0*t)', 0]}], 'solver': {'stepSize': 0.01}}");
    double f[9], g[3];

    CU_ASSERT_EQUAL(mech_sim_evaluate(none, &(struct mech_point){.time = NAN}, MECH_WANT_FORCES, g),
                    0);
    CHECK_NEAR(g[0], -1., 1e-15);
    CHECK_NEAR(g[1], 9.81, 1e-15);
    CHECK_NEAR(g[2], 0., 1e-15);
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &(struct mech_point){.time = NAN}, MECH_WANT_FORCES, f),
                    0);
    /* b1: springs alone; b2 hangs in one spring: its pull and gravity, Newton's third law on b1 */
    struct mech_sim *const with = model_of(PLANE_BODIES(""));
    double h[9];
    CU_ASSERT_EQUAL(mech_sim_evaluate(with, &(struct mech_point){.time = NAN}, MECH_WANT_FORCES, h),
                    0);
    CHECK_NEAR(h[3] - f[3], 1., 1e-13);
    CHECK_NEAR(h[4] - f[4], -9.81, 1e-13);
    CHECK_NEAR(h[5] - f[5], 0., 1e-13);
    mech_sim_destroy(s);
    mech_sim_destroy(none);
    mech_sim_destroy(with);
}

/* a force that comes with a step, and one through an input, turn with the body as a load does */
static void forces_on_moving_markers_agree(void)
{
    const char *const model =
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D',"
        "'initialVelocities': [0, 0, 2]}], 'objects': [{'name': 'b', 'type': 'RigidBody2D',"
        "'node': 'n', 'physicsMass': 2, 'physicsInertia': 0.3}], 'markers': [{'name': 'm',"
        "'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [0.5, 0.1, 0]}],"
        "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'm',"
        "'load': [%s, 0, 0]}], 'inputs': [{'name': 'in', 'marker': 'm'}],"
        "'solver': {'stepSize': 0.01}}";
    double q[3][3];

    for (int i = 0; i < 3; i++) {
        char text[1024];
        const double values[6] = {3., 0., 0., 0., 0., 0.};
        const struct mech_marker_force force = {.marker = 0, .values = {3., 0., 0., 0., 0., 0.}};
        const struct mech_step_request r = {
            .kind = MECH_STEP_SIZE, .size = 1., .forces = &force, .force_count = i == 2 ? 1 : 0};
        struct mech_step_report report;

        snprintf(text, sizeof text, model, i == 0 ? "3" : "0");
        struct mech_sim *const s = model_of(text);
        if (i == 1) {
            CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, values, 0, NULL), 0);
        }
        CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
        memcpy(q[i], model_state(s).q, sizeof q[i]);
        mech_sim_destroy(s);
    }
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(q[1][k], q[0][k], 1e-13);
        CHECK_NEAR(q[2][k], q[0][k], 1e-13);
    }
    CU_ASSERT(fabs(q[0][2] - 2.) > 0.1);
}

/* a spring without a direction has no force: the model does not start with numbers that are none */
static void spring_of_no_length_is_refused(void)
{
    static const char *const integrators[] = {"GeneralizedAlpha", "RK44", "VelocityVerlet"};
    for (int i = 0; i < 3; i++) {
        char text[1024];
        // the one before it has a length
        snprintf(
            text, sizeof text,
            "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint'}, {'name': 'far',"
            "'type': 'NodePoint', 'referenceCoordinates': [1, 0, 0]}], 'objects': [{'name': 'b',"
            "'type': 'MassPoint', 'node': 'n', 'physicsMass': 1}, {'name': 'c',"
            "'type': 'MassPoint', 'node': 'far', 'physicsMass': 1}, {'name': 'well',"
            "'type': 'SpringDamper', 'markers': ['m', 'l'], 'stiffness': 1}, {'name': 'spring',"
            "'type': 'SpringDamper', 'markers': ['m', 'k'], 'stiffness': 1, 'referenceLength': 2}],"
            "'markers': ["
            "{'name': 'm', 'type': 'MarkerNodePosition', 'node': 'n'},"
            "{'name': 'l', 'type': 'MarkerNodePosition', 'node': 'far'},"
            "{'name': 'k', 'type': 'MarkerNodePosition', 'node': 'n'}],"
            "'solver': {'stepSize': 0.01, 'integrator': '%s'}}",
            integrators[i]);
        CU_ASSERT(model_refused(
            text, "",
            "the forces of \"spring\" are not finite: its markers are at the same point"));
    }
}

UNIT_TESTS(UNIT_TEST(spring_of_no_length_is_refused),
           UNIT_TEST(tangents_of_plane_bodies_are_derivatives),
           UNIT_TEST(mass_proportional_load_is_gravity), UNIT_TEST(forces_on_moving_markers_agree),
           UNIT_TEST(joints_that_cannot_be_are_named),
           UNIT_TEST(joints_at_one_place_may_miss_by_rounding),
           UNIT_TEST(schemes_without_joints_refuse_them),
           UNIT_TEST(failed_step_with_joints_leaves_no_trace),
           UNIT_TEST(newton_that_stops_names_the_item),
           UNIT_TEST(cartesian_spring_bends_under_its_load), UNIT_TEST(coordinate_follows_its_law),
           UNIT_TEST(reaction_of_a_prescribed_motion_is_m_a), UNIT_TEST(coordinates_are_geared),
           UNIT_TEST(slider_crank_turns), UNIT_TEST(slider_crank_agrees_among_schemes_and_solvers),
           UNIT_TEST(pendulum_keeps_its_energy), UNIT_TEST(mass_points_fly_straight),
           UNIT_TEST(rigid_body_2d_turns_and_flies), UNIT_TEST(gravity_falls_by_half_g),
           UNIT_TEST(spring_damper_swings_along_its_line), UNIT_TEST(four_masses_on_three_rods))
