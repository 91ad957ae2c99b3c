/* Force laws of connectors between points: what they read, their derivatives, what is refused. */
#include "tests/unit/model.h"

/* two points 2 m apart along x, moving apart at 3 m/s; %s: the connector */
#define POINTS(connector)                                                                          \
    "{'mechd': 1, 'parameters': {'c': 2}, 'nodes': [{'name': 'a', 'type': 'NodePoint',"            \
    "'referenceCoordinates': [1, 0, 0]}, {'name': 'b', 'type': 'NodePoint',"                       \
    "'referenceCoordinates': [3, 0, 0], 'initialVelocities': [3, 0, 0]}], 'objects': ["            \
    "{'name': 'ma', 'type': 'MassPoint', 'node': 'a', 'physicsMass': 1}, {'name': 'mb',"           \
    "'type': 'MassPoint', 'node': 'b', 'physicsMass': 1}, {'name': 's', 'markers': ['x', 'y'],"    \
    " " connector "}], 'markers': [{'name': 'x', 'type': 'MarkerNodePosition', 'node': 'a'},"      \
    "{'name': 'y', 'type': 'MarkerNodePosition', 'node': 'b'}]}"

static double force_of(const char *text)
{
    struct mech_sim *const s = model_of(text);
    const double f = model_value(s, MECH_OBJECT, "s", MECH_OUTPUT_FORCE);

    mech_sim_destroy(s);
    return f;
}

#define LINE                                                                                       \
    "'type': 'SpringDamper', 'referenceLength': 0.5, 'stiffness': 100, 'damping': 7, 'force': 11,"
#define AXES "'type': 'CartesianSpringDamper', 'offset': [0.5, 0, 0], 'stiffness': [100, 5, 6],"

/* u = 2 − 0.5, v = 3 − velocityOffset */
static void laws_see_stretches_rates_and_parameters(void)
{
    CHECK_NEAR(force_of(POINTS(LINE "'velocityOffset': 1")), 100. * 1.5 + 7. * 2. + 11., 1e-12);
    CHECK_NEAR(force_of(POINTS(LINE "'velocityOffset': 1, 'springForceUserFunction':"
                                    "'=c*k*u^2 + d*v + force + t'")),
               200. * 2.25 + 7. * 2. + 11., 1e-12);
    CHECK_NEAR(force_of(POINTS(AXES "'damping': [7, 0, 0]")), 100. * 1.5 + 21., 1e-12);
    CHECK_NEAR(force_of(POINTS(AXES "'springForceUserFunction': ['=f0 + c*u0^3 + v0', 0, '=f2']")),
               150. + 2. * 8. + 3., 1e-12);
    CHECK_NEAR(force_of(POINTS(AXES "'springForceUserFunction': [4, 0, 0]")), 4., 1e-15);
    CHECK_NEAR(force_of(POINTS(AXES "'active': false, 'springForceUserFunction': [4, 0, 0]")), 0.,
               1e-15);
}

/* position of b after 500 steps, and whether derivatives were differenced */
static double end_of(const char *text, bool differenced)
{
    struct mech_sim *const s = model_of(text);
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 500};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(report.differenced, differenced);
    const double x = model_state(s).q[3];
    mech_sim_destroy(s);
    return x;
}

static void linear_laws_move_as_the_linear_form(void)
{
    const double line = end_of(POINTS(LINE "'velocityOffset': 1"), false);
    const double axes = end_of(POINTS(AXES "'damping': [7, 0, 0]"), false);

    /* 500 steps stop at residuals of 1e-10 N on 1 kg */
    CHECK_NEAR(end_of(POINTS(LINE "'velocityOffset': 1, 'springForceUserFunction':"
                                  "'=k*u + d*v + force'"),
                      false),
               line, 1e-10);
    CHECK_NEAR(end_of(POINTS(LINE "'velocityOffset': 1, 'springForceUserFunction': {'formula':"
                                  "'=k*u + d*v + force', 'partial': {'u': '=k', 'v': '=d'}}"),
                      false),
               line, 1e-10);
    CHECK_NEAR(
        end_of(POINTS(AXES "'springForceUserFunction': ['=f0 + 7*v0', '=f1', '=f2']"), false), axes,
        1e-10);
    CHECK_NEAR(end_of(POINTS(AXES "'springForceUserFunction': ['=f0 + (1 > 0 ? 7*v0 : 0)',"
                                  "'=f1', '=f2']"),
                      true),
               axes, 1e-10);
}

static void bad_laws_are_refused_at_their_place(void)
{
    CU_ASSERT(model_refused(POINTS(LINE "'springForceUserFunction': '=k*w'"),
                            "/objects/2/springForceUserFunction", ""));
    CU_ASSERT(model_refused(POINTS(AXES "'springForceUserFunction': ['=f0', '=u3', 0]"),
                            "/objects/2/springForceUserFunction/1", ""));
    CU_ASSERT(model_refused(POINTS(AXES "'springForceUserFunction': ['=f0', 0]"),
                            "/objects/2/springForceUserFunction", ""));
}

/* between two frames; %s: the connector */
#define FRAMES(connector)                                                                          \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'}], 'objects': ["               \
    "{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"             \
    "'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0]}, {'name': 's', 'markers': ['x', "     \
    "'y'],"                                                                                        \
    " " connector "}], 'markers': [{'name': 'x', 'type': 'MarkerBodyRigid', 'object': 'g'},"       \
    "{'name': 'y', 'type': 'MarkerBodyRigid', 'object': 'b'}, {'name': 'p', 'type':"               \
    "'MarkerBodyPosition', 'object': 'b'}]}"

static void bad_frames_are_refused_at_their_place(void)
{
    CU_ASSERT(model_refused(FRAMES("'type': 'LinearSpringDamper', 'axisMarker0': [0, 0, 0]"),
                            "/objects/2/axisMarker0", "direction"));
    CU_ASSERT(model_refused(FRAMES("'type': 'TorsionalSpringDamper', 'rotationMarker1':"
                                   "[[1, 0, 0], [0, 1, 0], [0, 0, -1]]"),
                            "/objects/2/rotationMarker1", "not a rotation"));
    CU_ASSERT(model_refused(FRAMES("'type': 'RigidBodySpringDamper', 'rotationMarker0':"
                                   "[[1, 0, 0], [0, 1, 0], [0, 0.5, 1]]"),
                            "/objects/2/rotationMarker0", "not a rotation"));
    CU_ASSERT(model_refused(FRAMES("'type': 'TorsionalSpringDamper', 'springTorqueUserFunction':"
                                   "'=k*phi'"),
                            "/objects/2/springTorqueUserFunction", ""));
    CU_ASSERT(model_refused(FRAMES("'type': 'RigidBodySpringDamper',"
                                   "'springForceTorqueUserFunction': [0, 0, 0, 0, 0, '=u6']"),
                            "/objects/2/springForceTorqueUserFunction/5", ""));
    /* a later key wins: the second marker has no axes */
    CU_ASSERT(model_refused(FRAMES("'type': 'LinearSpringDamper', 'markers': ['x', 'p']"),
                            "/objects/2/markers/1", "another kind"));
}

UNIT_TESTS(UNIT_TEST(laws_see_stretches_rates_and_parameters),
           UNIT_TEST(linear_laws_move_as_the_linear_form),
           UNIT_TEST(bad_laws_are_refused_at_their_place),
           UNIT_TEST(bad_frames_are_refused_at_their_place))
