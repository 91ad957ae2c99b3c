/* Moreau–Jean for models that are not linear (solver/step/moreau_jean/bodies.h): orders, joints,
 * ropes, and systems with interactions beside them. */
#include "tests/unit/model.h"

/* two bars of 1 m and 1 kg in the plane, let go from the horizontal */
#define BARS(solver)                                                                               \
    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'n0', 'type': 'NodeRigidBody2D',"   \
    "'referenceCoordinates': [0.5, 0, 0]}, {'name': 'n1', 'type': 'NodeRigidBody2D',"              \
    "'referenceCoordinates': [1.5, 0, 0]}], 'objects': [{'name': 'g', 'type': 'Ground'},"          \
    "{'name': 'b0', 'type': 'RigidBody2D', 'node': 'n0', 'physicsMass': 1,"                        \
    "'physicsInertia': 0.083333333333333329}, {'name': 'b1', 'type': 'RigidBody2D',"               \
    "'node': 'n1', 'physicsMass': 1, 'physicsInertia': 0.083333333333333329},"                     \
    "{'name': 'j0', 'type': 'RevoluteJoint2D', 'markers': ['mg', 'm0']},"                          \
    "{'name': 'j1', 'type': 'RevoluteJoint2D', 'markers': ['m1', 'm2']}], 'markers': ["            \
    "{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'},"                                    \
    "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [-0.5, 0, 0]},"    \
    "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0.5, 0, 0]},"     \
    "{'name': 'm2', 'type': 'MarkerBodyRigid', 'object': 'b1', 'localPosition': [-0.5, 0, 0]}],"   \
    "'solver': {'integrator': 'MoreauJean', " solver "}}"

static struct mech_sim *bars(double theta, double step, const char *more)
{
    char text[4096];

    snprintf(text, sizeof text, BARS("'theta': %.17g, 'stepSize': %.17g%s"), theta, step, more);
    return model_of(text);
}

/* angles of the bars at 0.8 s, and the energy that the run gained */
static void swing(double theta, int steps, double angle[2], double *gained)
{
    struct mech_sim *const s = bars(theta, 0.8 / steps, "");
    const double before = mech_sim_energy(s);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)steps), 0);
    angle[0] = model_state(s).q[2];
    angle[1] = model_state(s).q[5];
    *gained = mech_sim_energy(s) - before;
    mech_sim_destroy(s);
}

static void joints_keep_the_order_of_the_scheme(void)
{
    for (int k = 0; k < 2; k++) {
        const double theta = k ? 1. : 0.5;
        double a[3][2], gained[3];

        for (int i = 0; i < 3; i++) {
            swing(theta, 400 << i, a[i], &gained[i]);
        }
        CHECK_ORDER(k ? "angles, θ = 1" : "angles, θ = ½",
                    log2(model_distance(a[0], a[1], 2) / model_distance(a[1], a[2], 2)), 2. - k,
                    0.05);
        CHECK_ORDER(k ? "energy, θ = 1" : "energy, θ = ½", log2(gained[0] / gained[1]), 2. - k,
                    0.1);
        /* the point rule at the end of the step takes energy, the midpoint rule hardly */
        CU_ASSERT(k ? gained[0] < -0.1 : fabs(gained[0]) < 1e-3);
    }
}

static void joints_do_not_drift(void)
{
    for (int projected = 0; projected < 2; projected++) {
        struct mech_sim *const s = bars(0.5, 1e-3, projected ? ", 'velocityProjection': true" : "");
        double speed = 0.;

        for (int i = 0; i < 100; i++) {
            const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 100};
            struct mech_step_report report;

            CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
            CU_ASSERT(report.drift.position <= 1e-11);
            speed = fmax(speed, report.drift.velocity);
        }
        /* what bringing positions to the joints, O(h³), leaves of velocities */
        CU_ASSERT(projected ? speed < 1e-10 : speed > 1e-9 && speed < 1e-5);
        mech_sim_destroy(s);
    }
}

/* 1 kg at rest and 3 kg at 4 m/s, until the rope of 1 m between them is tight: 3 m/s both */
static void a_rope_balances_momentum(void)
{
    for (int k = 0; k < 3; k++) {
        char text[2048];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'NodePoint'}, {'name': 'n1',"
                 "'type': 'NodePoint', 'referenceCoordinates': [0.5, 0, 0],"
                 "'initialVelocities': [4, 0, 0]}], 'objects': ["
                 "{'name': 'b0', 'type': 'MassPoint', 'node': 'n0', 'physicsMass': 1},"
                 "{'name': 'b1', 'type': 'MassPoint', 'node': 'n1', 'physicsMass': 3},"
                 "{'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'],"
                 "'distance': 1, 'unilateral': true}], 'markers': ["
                 "{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'n0'},"
                 "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n1'}],"
                 "'solver': {'integrator': 'MoreauJean', 'theta': %g, 'stepSize': 0.007}}",
                 0.5 * k);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        const double v0 = model_value(s, MECH_NODE, "n0", MECH_OUTPUT_VELOCITY);
        const double v1 = model_value(s, MECH_NODE, "n1", MECH_OUTPUT_VELOCITY);
        const double length = model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_DISTANCE);

        CHECK_NEAR(v0 + 3. * v1, 12., 1e-12);
        /* what went beyond comes back in positions alone */
        CHECK_NEAR(v1 - v0, 0., 1e-12);
        /* beyond its length by half a step at most, and by nothing at θ = 1 */
        CU_ASSERT(length <= 1. + (1. - 0.5 * k) * 0.028 + 1e-12);
        mech_sim_destroy(s);
    }
}

/* a mass on a rope swings as a pendulum from the horizontal while the rope is tight: v² = 2 g l at
 * the lowest point, where the rope pulls with 3 m g */
static void a_rope_carries_a_pendulum(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"
        "'referenceCoordinates': [1, 0]}, {'name': 'g', 'type': 'NodePointGround'}],"
        "'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 2},"
        "{'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['mg', 'm'], 'distance': 1,"
        "'unilateral': true}], 'markers': [{'name': 'mg', 'type': 'MarkerNodePosition',"
        "'node': 'g'}, {'name': 'm', 'type': 'MarkerNodePosition', 'node': 'n'}],"
        "'solver': {'integrator': 'MoreauJean', 'theta': 0.5, 'stepSize': 1e-4}}");
    double most = 0.;

    for (int i = 0; i < 60; i++) {
        CU_ASSERT_EQUAL_FATAL(model_steps(s, 100), 0);
        most = fmax(most, fabs(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE)));
        CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_DISTANCE), 1., 1e-6);
        CHECK_NEAR(mech_sim_energy(s), 0., 1e-3);
    }
    /* not all samples are at the lowest point: (ω 5 ms)² of it */
    CHECK_NEAR(most, 60., 0.1);
    mech_sim_destroy(s);
}

/* a bouncing ball, a block on a belt with friction, a relay; beside nothing, or a pendulum */
#define SYSTEMS(node, object, joint, marker)                                                       \
    "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [" node "], 'objects': ["                       \
    "{'name': 'ball', 'type': 'LagrangianLinearTIDS', 'M': [[2]], 'q0': [0.3], 'v0': [0],"         \
    "'Fext': [-19.62]}, {'name': 'block', 'type': 'LagrangianLinearTIDS', 'M': [[1, 0], [0, 3]],"  \
    "'C': [[0, 0], [0, 0.5]], 'K': [[0, 0], [0, 40]], 'q0': [0, 0.2], 'v0': [0, 1],"               \
    "'Fext': [-9.81, 0]}" object joint "]" marker ", 'interactions': ["                            \
    "{'name': 'floor', 'systems': ['ball'], 'relation': {'type': 'LagrangianLinearTIR',"           \
    "'H': [[1]], 'b': [-0.1]}, 'law': {'type': 'NewtonImpact', 'e': 0.8}},"                        \
    "{'name': 'belt', 'systems': ['block'], 'relation': {'type': 'LagrangianLinearTIR',"           \
    "'H': [[1, 0], [0, 1]]}, 'law': {'type': 'NewtonImpactFriction', 'dimension': 2, 'en': 0,"     \
    "'mu': 0.3}}], 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.002}}"

static void systems_move_beside_bodies_as_alone(void)
{
    struct mech_sim *const alone = model_of(SYSTEMS("", "", "", ""));
    struct mech_sim *const beside = model_of(SYSTEMS(
        "{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [1, 0, 0, 1, 0, 0, 0],"
        "'initialVelocities': [0, 0, 0, 0, 0.5, 1, 1.5]}",
        ", {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia':"
        "[1, 2, 3, 0, 0, 0]}, {'name': 'g', 'type': 'Ground'}",
        ", {'name': 'j', 'type': 'SphericalJoint', 'markers': ['mg', 'm']}",
        ", 'markers': [{'name': 'mg', 'type': 'MarkerBodyPosition', 'object': 'g'}, {'name': 'm',"
        "'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [-1, 0, 0]}]"));
    bool impact = false, sticks = false, slides = false;

    CU_ASSERT_EQUAL(mech_sim_sizes(beside).lambda, 3);
    for (int i = 0; i < 1000; i++) {
        CU_ASSERT_EQUAL_FATAL(model_steps(alone, 1), 0);
        CU_ASSERT_EQUAL_FATAL(model_steps(beside, 1), 0);
        const struct mech_state_view a = model_state(alone), b = model_state(beside);

        /* coordinates of nodes come first: 7 of the body, and 6 velocities */
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(b.q[7 + k], a.q[k], 1e-9);
            CHECK_NEAR(b.v[6 + k], a.v[k], 1e-9);
            CHECK_NEAR(b.impulse[k], a.impulse[k], 1e-9);
        }
        impact |= a.impulse[0] > 0.1;
        sticks |= fabs(a.v[2]) < 1e-9;
        slides |= fabs(a.v[2]) > 0.1 && fabs(a.impulse[2]) > 0.;
    }
    CU_ASSERT(impact && sticks && slides);
    mech_sim_destroy(alone);
    mech_sim_destroy(beside);
}

/* Rows that act and have no entries are rows all the same. */
static void an_interaction_that_moves_nothing_is_solved(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
        "[0, 0, 0, 1, 0, 0, 0]}], 'objects': [{'name': 'b', 'type': 'RigidBody', 'node': 'n',"
        "'physicsMass': 1, 'physicsInertia': [1, 2, 3, 0, 0, 0]}, {'name': 's', 'type':"
        "'LagrangianLinearTIDS', 'M': [[1]], 'Fext': [1]}], 'interactions': [{'name': 'i',"
        "'systems': ['s'], 'relation':"
        "{'type': 'LagrangianLinearTIR', 'H': {'shape': [1, 1], 'coo': []}}, 'law': {'type':"
        "'NewtonImpact', 'e': 0.5}}], 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.5}}");

    CU_ASSERT_EQUAL(model_steps(s, 2), 0);
    CHECK_NEAR(model_state(s).v[mech_sim_sizes(s).v - 1], 1., 1e-14);
    mech_sim_destroy(s);
}

static void give(json_t *document, size_t object, const char *geometry)
{
    json_t *const o = json_array_get(json_object_get(document, "objects"), object);

    CU_ASSERT_EQUAL(json_object_set_new(o, "geometry", json_loads(geometry, 0, NULL)), 0);
}

/* the four-bar of the examples, driven against a stop: a sphere of 30 mm at the end of the rocker
 * and a plane at x = 0.18 m; it bounces, and rests where they touch, the loop closed */
static void a_loop_of_joints_rests_against_a_stop(void)
{
    json_t *const document =
        json_load_file(MECH_TESTS_FOLDER "/../server/examples/four-bar.json", 0, NULL);
    struct mech_step_report report;
    double end[3];

    CU_ASSERT_PTR_NOT_NULL_FATAL(document);
    give(document, 0,
         "[{\"shape\": \"Plane\", \"position\": [0.18, 0, 0], \"normal\": [1, 0, 0],"
         "\"material\": {\"restitution\": 0.3}}]");
    give(document, 3,
         "[{\"shape\": \"Sphere\", \"radius\": 0.03, \"position\": [0.125, 0, 0],"
         "\"material\": {\"restitution\": 0.3}}]");
    json_object_set_new(json_object_get(document, "solver"), "integrator",
                        json_string("MoreauJean"));
    char *const text = json_dumps(document, 0);
    struct mech_sim *const s = model_of(text);
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 4000};

    free(text);
    json_decref(document);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(report.contacts, 1);
    CU_ASSERT(report.drift.position < 1e-10);
    model_values(s, MECH_MARKER, "rocker-end", MECH_OUTPUT_POSITION, end);
    CHECK_NEAR(end[0], 0.21, 1e-9);
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(model_state(s).v[i], 0., 1e-8);
    }
    mech_sim_destroy(s);
}

/* iterations that are not enough: the step fails and keeps the state */
static void a_step_that_fails_leaves_the_state(void)
{
    struct mech_sim *const s =
        bars(0.5, 0.05, ", 'newton': {'maxIterations': 1, 'absoluteTolerance': 1e-13}");
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 3};
    struct mech_step_report report;
    const double before = model_state(s).q[2];

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_NOT_CONVERGED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "Newton"));
    CU_ASSERT_EQUAL(model_state(s).q[2], before);
    CU_ASSERT_EQUAL(mech_sim_step_count(s), 0);
    mech_sim_destroy(s);
}

/* a rotation vector so long that no rotation follows from it */
static void a_mass_that_is_not_finite_is_refused(void)
{
    CU_ASSERT(model_refused(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyRotVecLG',"
        "'referenceCoordinates': [0, 0, 0, 1e300, 1, 1]}], 'objects': [{'name': 'b', 'type':"
        "'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0],"
        "'physicsCenterOfMass': [0.1, 0, 0]}], 'solver': {'integrator': 'MoreauJean'}}",
        "/solver", "mass matrix"));
}

UNIT_TESTS(UNIT_TEST(joints_keep_the_order_of_the_scheme), UNIT_TEST(joints_do_not_drift),
           UNIT_TEST(a_rope_balances_momentum), UNIT_TEST(a_rope_carries_a_pendulum),
           UNIT_TEST(systems_move_beside_bodies_as_alone),
           UNIT_TEST(an_interaction_that_moves_nothing_is_solved),
           UNIT_TEST(a_loop_of_joints_rests_against_a_stop),
           UNIT_TEST(a_step_that_fails_leaves_the_state),
           UNIT_TEST(a_mass_that_is_not_finite_is_refused))
