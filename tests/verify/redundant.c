/* Joints that repeat others are left out with a warning; those that contradict are refused; drift
 * of positions and velocities is reported, and removed on request. */
#include "tests/unit/model.h"

/* Made, with the first warning's place. */
static struct mech_sim *warned(const char *text, const char *path, const char *words)
{
    struct mech_diag diag;
    struct mech_sim *s = NULL;

    mech_diag_init(&diag);
    const int code = model_read(text, &diag, &s);
    for (size_t i = 0; i < diag.count; i++) {
        fprintf(stderr, "%s: %s\n", diag.entries[i].path, diag.entries[i].text);
    }
    CU_ASSERT_EQUAL_FATAL(code, 0);
    CU_ASSERT_EQUAL_FATAL(diag.warning_count, 1);
    CU_ASSERT_STRING_EQUAL(diag.warnings[0].path, path);
    CU_ASSERT_PTR_NOT_NULL(strstr(diag.warnings[0].text, words));
    mech_diag_fini(&diag);
    return s;
}

#define ROD(name, length)                                                                          \
    ", {'name': '" name                                                                            \
    "', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': " length "}"
#define PENDULUM(rods, solver)                                                                     \
    "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"          \
    "'referenceCoordinates': [2, 0]}, {'name': 'g', 'type': 'NodePointGround'}], 'objects': ["     \
    "{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1.5}" rods "],"              \
    "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"                       \
    "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}], 'solver': {" solver "}}"

static void a_second_rod_is_left_out(void)
{
    struct mech_sim *const one = model_of(PENDULUM(ROD("a", "2"), "'stepSize': 0.01"));
    struct mech_sim *const two = warned(PENDULUM(ROD("a", "2") ROD("c", "2"), "'stepSize': 0.01"),
                                        "/objects/2", "\"c\" repeats");
    double force[2];

    CU_ASSERT_EQUAL(model_steps(one, 200), 0);
    CU_ASSERT_EQUAL(model_steps(two, 200), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(model_state(two).q[i], model_state(one).q[i], 1e-12);
    }
    force[0] = model_value(two, MECH_OBJECT, "a", MECH_OUTPUT_FORCE);
    force[1] = model_value(two, MECH_OBJECT, "c", MECH_OUTPUT_FORCE);
    /* Newton's relative tolerance is 1e-8 */
    CHECK_NEAR(force[0], model_value(one, MECH_OBJECT, "a", MECH_OUTPUT_FORCE), 1e-7);
    CHECK_NEAR(force[1], 0., 0.);
    mech_sim_destroy(one);
    mech_sim_destroy(two);
}

/* Crank 1, coupler and rocker: a loop of four hinges about z. In space it has three equations too
 * many; `kind` 0: in the plane. */
static struct mech_sim *four_bar(bool space)
{
    static const double center[3][2] = {{0., 0.5}, {1., 1.25}, {2., 0.75}};
    static const double end[3][2] = {{0., 0.5}, {1., 0.25}, {0., 0.75}};
    static const double ground[2] = {0., 2.};
    char text[8192];
    int n = 0;

    n += snprintf(text, sizeof text, "{'mechd': 1, 'gravity': [3, -10, 0], 'nodes': [");
    for (int i = 0; i < 3; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n,
                      space ? "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP',"
                              "'referenceCoordinates': [%g, %g, 0, 1, 0, 0, 0]}"
                            : "%s{'name': 'n%d', 'type': 'NodeRigidBody2D',"
                              "'referenceCoordinates': [%g, %g, 0]}",
                      i ? "," : "", i, center[i][0], center[i][1]);
    }
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "], 'objects': [{'name': 'g', 'type': 'Ground'}");
    for (int i = 0; i < 3; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n,
                      space ? ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d',"
                              "'physicsMass': 1, 'physicsInertia': [0.3, 0.2, 0.1, 0, 0, 0]}"
                            : ", {'name': 'b%d', 'type': 'RigidBody2D', 'node': 'n%d',"
                              "'physicsMass': 1, 'physicsInertia': 0.1}",
                      i, i);
    }
    for (int i = 0; i < 4; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n,
                      ", {'name': 'j%d', 'type': '%s', 'markers': ['%s%d', '%s%d']}", i,
                      space ? "RevoluteJointZ" : "RevoluteJoint2D", i ? "e" : "g", i ? i - 1 : 0,
                      i < 3 ? "s" : "g", i < 3 ? i : 1);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "], 'markers': [");
    for (int i = 0; i < 3; i++) {
        /* the rocker runs from the coupler down to the ground */
        const double sign = i < 2 ? 1. : -1.;

        n += snprintf(text + n, sizeof text - (size_t)n,
                      "{'name': 's%d', 'type': 'MarkerBodyRigid', 'object': 'b%d',"
                      "'localPosition': [%g, %g, 0]}, {'name': 'e%d', 'type': 'MarkerBodyRigid',"
                      "'object': 'b%d', 'localPosition': [%g, %g, 0]},",
                      i, i, -sign * end[i][0], -sign * end[i][1], i, i, sign * end[i][0],
                      sign * end[i][1]);
    }
    snprintf(text + n, sizeof text - (size_t)n,
             "{'name': 'g0', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'g1',"
             "'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [%g, %g, 0]}],"
             "'solver': {'stepSize': 0.005}}",
             ground[1], ground[0]);
    return space ? warned(text, "/objects/7", "\"j3\" repeats other joints: 3 of") : model_of(text);
}

static void a_four_bar_in_space_moves_as_in_the_plane(void)
{
    struct mech_sim *const plane = four_bar(false), *const space = four_bar(true);
    double a[3], b[3];

    CU_ASSERT_EQUAL(model_steps(plane, 200), 0);
    CU_ASSERT_EQUAL(model_steps(space, 200), 0);
    for (int i = 0; i < 3; i++) {
        const char *const names[] = {"b0", "b1", "b2"};

        model_values(plane, MECH_OBJECT, names[i], MECH_OUTPUT_POSITION, a);
        model_values(space, MECH_OBJECT, names[i], MECH_OUTPUT_POSITION, b);
        CHECK_NEAR(a[0], b[0], 1e-7);
        CHECK_NEAR(a[1], b[1], 1e-7);
        CHECK_NEAR(b[2], 0., 1e-12);
    }
    /* it has moved */
    CU_ASSERT(fabs(a[0] - 2.) > 0.05);
    mech_sim_destroy(plane);
    mech_sim_destroy(space);
}

/* one coordinate, driven twice */
#define DRIVEN(speed, first, second)                                                               \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'initialVelocities': [" speed "]}],"   \
    "'objects': [{'name': 'b', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 2},"                  \
    "{'name': 'one', 'type': 'CoordinateConstraint', 'markers': ['g', 'x'],"                       \
    "'offsetUserFunction': '=" first "'}, {'name': 'two', 'type': 'CoordinateConstraint',"         \
    "'markers': ['g', 'x'], 'offsetUserFunction': '=" second "'}], 'markers': ["                   \
    "{'name': 'g', 'type': 'MarkerGroundCoordinate'}, {'name': 'x',"                               \
    "'type': 'MarkerNodeCoordinate', 'node': 'n'}], 'solver': {'stepSize': 0.01}}"

static void what_contradicts_is_refused(void)
{
    CU_ASSERT(
        model_refused(DRIVEN("0", "sin(t)", "sin(2*t)"), "/objects/2", "\"two\" contradicts"));
    CU_ASSERT(model_refused(DRIVEN("0", "t^2", "2*t^2"), "/objects/2", "\"two\" contradicts"));
    CU_ASSERT(model_refused(DRIVEN("0", "0", "1+t"), "/objects/2", "joint \"two\" by -1"));
    struct mech_sim *const s =
        warned(DRIVEN("1", "sin(t)", "sin(t)"), "/objects/2", "\"two\" repeats");
    CU_ASSERT_EQUAL(model_steps(s, 10), 0);
    mech_sim_destroy(s);
}

/* two rods in line repeat each other where the model begins, and nowhere else */
static void what_no_longer_repeats_is_named(void)
{
    struct mech_sim *const s = warned(
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D'},"
        "{'name': 'g0', 'type': 'NodePointGround', 'referenceCoordinates': [-1, 0, 0]},"
        "{'name': 'g1', 'type': 'NodePointGround', 'referenceCoordinates': [2, 0, 0]}],"
        "'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1},"
        "{'name': 'one', 'type': 'DistanceConstraint', 'markers': ['m0', 'm'], 'distance': 1},"
        "{'name': 'two', 'type': 'DistanceConstraint', 'markers': ['m1', 'm'], 'distance': 2}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g0'},"
        "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'g1'},"
        "{'name': 'm', 'type': 'MarkerNodePosition', 'node': 'n'}],"
        "'solver': {'stepSize': 0.01}}",
        "/objects/2", "\"two\" repeats");
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 100};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_SINGULAR);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "\"two\" that were left out"));
    CHECK_NEAR(mech_sim_time(s), 0., 0.);
    mech_sim_destroy(s);
}

static struct mech_drift drift_of(const char *text, double *angle)
{
    struct mech_sim *const s = model_of(text);
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 500};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(report.drift.rows, 1);
    CU_ASSERT_STRING_EQUAL(report.drift.worst_position, "a");
    CU_ASSERT_STRING_EQUAL(report.drift.worst_velocity, "a");
    *angle = atan2(model_state(s).q[1], 2. + model_state(s).q[0]);
    /* the name goes with the simulation */
    report.drift.worst_position = report.drift.worst_velocity = NULL;
    mech_sim_destroy(s);
    return report.drift;
}

static void drift_is_reported_and_removed_on_request(void)
{
    double angle[3];
    const struct mech_drift index3 = drift_of(PENDULUM(ROD("a", "2"), "'stepSize': 0.01"), angle);
    const struct mech_drift index2 = drift_of(
        PENDULUM(ROD("a", "2"), "'stepSize': 0.01, 'integrator': 'TrapezoidalIndex2'"), angle + 1);
    const struct mech_drift both = drift_of(
        PENDULUM(ROD("a", "2"), "'stepSize': 0.01, 'velocityProjection': true"), angle + 2);

    CHECK_NEAR(index3.position, 0., 1e-9);
    CU_ASSERT(index3.velocity > 1e-6);
    CU_ASSERT(index3.velocity < 1e-2);
    CHECK_NEAR(index2.velocity, 0., 1e-9);
    CU_ASSERT(index2.position > 1e-8);
    CU_ASSERT(index2.position < 1e-2);
    CHECK_NEAR(both.position, 0., 1e-9);
    CHECK_NEAR(both.velocity, 0., 1e-12);
    /* all of order 2 */
    CHECK_NEAR(angle[0], angle[2], 2e-2);
    CHECK_NEAR(angle[1], angle[2], 2e-2);
}

UNIT_TESTS(UNIT_TEST(a_second_rod_is_left_out),
           UNIT_TEST(a_four_bar_in_space_moves_as_in_the_plane),
           UNIT_TEST(what_contradicts_is_refused), UNIT_TEST(what_no_longer_repeats_is_named),
           UNIT_TEST(drift_is_reported_and_removed_on_request))
