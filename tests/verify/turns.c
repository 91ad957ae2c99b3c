/* Angles that count turns: a body that is driven, sprung and measured about each axis, against the
 * angle that it is driven by. Where nothing else is said: 3.5 t² for 5 s, 87.5 rad, 14 turns. */
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double quarter = 1.5707963267948966;

/* whose z is axis k, by rows */
static const char *const frames[] = {"[[0, 0, 1], [1, 0, 0], [0, 1, 0]]",
                                     "[[0, 1, 0], [0, 0, 1], [1, 0, 0]]",
                                     "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]"};

/* A body with equal inertias turns about axis k; beside the drive a spring of 2 N m/rad, a bushing
 * in six directions without stiffness but 3 N m/rad about its axes, and a sensor. */
static struct mech_sim *driven(int axis, const char *law, const char *node, const char *bushing)
{
    char text[4096];

    snprintf(
        text, sizeof text,
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': '%s'}], 'objects': ["
        "{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"
        "'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0]},"
        "{'name': 'drive', 'type': 'CoordinateConstraint', 'markers': ['zero', 'angle'],"
        "'offsetUserFunction': '%s'}, {'name': 'spring', 'type': 'TorsionalSpringDamper',"
        "'markers': ['m0', 'm1'], 'stiffness': 2, 'rotationMarker0': %s, 'rotationMarker1': %s},"
        "{'name': 'bushing', 'type': 'RigidBodySpringDamper', 'markers': ['m0', 'm1'], %s"
        "'stiffness': [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0],"
        "[0, 0, 0, 3, 0, 0], [0, 0, 0, 0, 3, 0], [0, 0, 0, 0, 0, 3]]}], 'markers': ["
        "{'name': 'zero', 'type': 'MarkerGroundCoordinate'},"
        "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'},"
        "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b'},"
        "{'name': 'angle', 'type': 'MarkerNodeRotationCoordinate', 'node': 'n',"
        "'rotationCoordinate': %d}], 'sensors': [{'name': 'measured', 'type': 'SensorBody',"
        "'object': 'b', 'outputVariable': 'Rotation'}], 'solver': {'stepSize': 0.01}}",
        node, law, frames[axis], frames[axis], bushing, axis);
    return model_of(text);
}

#define NODE "NodeRigidBodyEP"
#define LAW "3.5*t^2"

/* Of the model at an angle: all that shows it. */
static void check_angle(const struct mech_sim *s, int axis, double angle)
{
    double x[6], expected[3] = {0.};

    expected[axis] = angle;
    CHECK_NEAR(model_value(s, MECH_OBJECT, "drive", MECH_OUTPUT_DISPLACEMENT), angle, 1e-9);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "spring", MECH_OUTPUT_TORQUE_LOCAL), 2. * angle, 1e-8);
    model_values(s, MECH_SENSOR, "measured", MECH_OUTPUT_ROTATION, x);
    CHECK_NEAR(model_distance(x, expected, 3), 0., 1e-9);
    model_values(s, MECH_OBJECT, "bushing", MECH_OUTPUT_ROTATION, x);
    CHECK_NEAR(model_distance(x, expected, 3), 0., 1e-9);
    model_values(s, MECH_OBJECT, "bushing", MECH_OUTPUT_TORQUE_LOCAL, x);
    CHECK_NEAR(x[axis], 3. * angle, 1e-8);
}

static void a_driven_coordinate_turns_on(void)
{
    static const char *const nodes[] = {NODE, "NodeRigidBodyRotVecLG"};

    for (int i = 0; i < 6; i++) {
        struct mech_sim *const s = driven(i % 3, "=" LAW, nodes[i / 3], "");

        CU_ASSERT_EQUAL(model_steps(s, 98), 0);
        check_angle(s, i % 3, 3.5 * 0.98 * 0.98); /* beyond π */
        CU_ASSERT_EQUAL(model_steps(s, 402), 0);
        check_angle(s, i % 3, 87.5);
        mech_sim_destroy(s);
    }
}

static void it_turns_back_through_zero(void)
{
    for (int axis = 0; axis < 3; axis++) {
        struct mech_sim *const s = driven(axis, "=20*(1-cos(t)) - 30*sin(t)^2", NODE, "");

        for (int k = 1; k <= 7; k++) {
            const double t = k;

            CU_ASSERT_EQUAL(model_steps(s, 100), 0);
            check_angle(s, axis, 20. * (1. - cos(t)) - 30. * sin(t) * sin(t));
        }
        mech_sim_destroy(s);
    }
}

/* Wound by three turns and let go. */
static void a_spring_wound_by_three_turns_unwinds(void)
{
    static const char text[] =
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'}], 'objects': ["
        "{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"
        "'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0]}, {'name': 'spring', 'type': "
        "'TorsionalSpringDamper', 'markers': ['m0', 'm1'], 'stiffness': 4, 'offset':"
        "18.84955592153876}], 'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object':"
        "'g'}, {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b'}, {'name': 'angle',"
        "'type': 'MarkerNodeRotationCoordinate', 'node': 'n', 'rotationCoordinate': 2}],"
        "'solver': {'stepSize': 1e-3, 'spectralRadius': 1}}";
    struct mech_sim *const s = model_of(text);

    /* ω = 2 rad/s: θ = 6π (1 − cos 2t), to 12π and back; order 2: (ω h)²/12 of the phase, and of
     * the exponential map as much */
    for (int k = 1; k <= 6; k++) {
        CU_ASSERT_EQUAL(model_steps(s, 500), 0);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "spring", MECH_OUTPUT_ROTATION),
                   18.84955592153876 * (1. - cos((double)k)), 18.85 * 6. * 4e-6);
    }
    mech_sim_destroy(s);
}

static void a_snapshot_holds_the_turns(void)
{
    for (int axis = 0; axis < 3; axis++) {
        struct mech_sim *const s = driven(axis, "=" LAW, NODE, "");
        struct mech_sim *const other = driven(axis, "=" LAW, NODE, "");
        char *const bytes = malloc(mech_sim_snapshot_size(s));
        char *const saved = malloc(mech_sim_saved_size(s));
        bool reproducible;

        CU_ASSERT_EQUAL(model_steps(s, 200), 0); /* 14 rad: in the third turn */
        const size_t size = mech_sim_snapshot_write(s, bytes);
        mech_sim_save(s, saved);
        CU_ASSERT_EQUAL(model_steps(s, 300), 0);
        const struct mech_state_view far = model_state(s);
        double q[7];
        memcpy(q, far.q, sizeof q);

        CU_ASSERT_EQUAL(mech_sim_snapshot_read(other, bytes, size, &reproducible), 0);
        CU_ASSERT(reproducible);
        check_angle(other, axis, 14.);
        CU_ASSERT_EQUAL(mech_sim_restore(s, saved), 0);
        check_angle(s, axis, 14.);
        struct mech_sim *const both[] = {s, other};
        for (int k = 0; k < 2; k++) {
            CU_ASSERT_EQUAL(model_steps(both[k], 300), 0);
            CU_ASSERT_EQUAL(memcmp(model_state(both[k]).q, q, sizeof q), 0);
            check_angle(both[k], axis, 87.5);
            mech_sim_destroy(both[k]);
        }
        free(bytes);
        free(saved);
    }
}

static void a_trial_leaves_the_turns(void)
{
    struct mech_sim *const s = driven(2, "=" LAW, NODE, "");
    const struct mech_step_request trial = {.kind = MECH_STEP_COUNT, .count = 300, .trial = true};
    struct mech_step_report report;
    double z[9];

    CU_ASSERT_EQUAL(model_steps(s, 200), 0);
    memcpy(z, model_state(s).z, sizeof z);
    CU_ASSERT_EQUAL(mech_sim_step(s, &trial, &report), 0);
    mech_sim_discard_trial(s);
    CU_ASSERT_EQUAL(memcmp(model_state(s).z, z, sizeof z), 0);
    check_angle(s, 2, 14.);
    CU_ASSERT_EQUAL(mech_sim_step(s, &trial, &report), 0);
    CU_ASSERT_EQUAL(mech_sim_commit(s), 0);
    check_angle(s, 2, 87.5);
    mech_sim_destroy(s);
}

/* Where a law does not hold, the report of the step has the reason; where it holds, none. */
static void a_bushing_reports_where_it_is_not_valid(void)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
    const struct {
        int axis;
        const char *bushing;
        double limit;
        const char *words;
    } cases[] = {{0, "", INFINITY, ""},
                 {1, "", quarter, "quarter turn about y"},
                 {2, "", INFINITY, ""},
                 {0, "'intrinsicFormulation': true,", 3. * quarter, "whole turn"},
                 {1, "'intrinsicFormulation': true,", 3. * quarter, "whole turn"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mech_sim *const s = driven(cases[i].axis, "=" LAW, NODE, cases[i].bushing);

        for (int k = 1; k <= 130; k++) { /* 5.915 rad, below a whole turn */
            const double t = 0.01 * k, angle = 3.5 * t * t;
            struct mech_step_report report;

            CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
            CU_ASSERT_EQUAL(report.beyond_reason != NULL, angle > cases[i].limit);
            if (report.beyond_reason) {
                CU_ASSERT_EQUAL(report.beyond, 4);
                CU_ASSERT_PTR_NOT_NULL(strstr(report.beyond_reason, cases[i].words));
            }
            check_angle(s, cases[i].axis, angle);
        }
        mech_sim_destroy(s);
    }
}

/* A free body that spins about z; `more` of its model, markers first. */
static struct mech_sim *spinning(double rate, const char *solver, const char *more)
{
    char text[2048];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n', 'type': '" NODE "', 'initialVelocities':"
             "[0, 0, 0, 0, 0, 0, %.17g]}], 'solver': {%s}, 'markers': [{'name': 'm0', 'type':"
             "'MarkerBodyRigid', 'object': 'g'}, {'name': 'm1', 'type': 'MarkerBodyRigid',"
             "'object': 'b'}%s]}",
             0.5 * rate, solver, more);
    return model_of(text);
}

#define SPUN                                                                                       \
    "'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n'," \
    "'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0]}"

/* By less than half a turn a step its angle is counted; by more it is not, and the report says so:
 * of the first that counts it, in the document. */
static void what_turns_too_fast_to_be_counted_is_reported(void)
{
    static const struct {
        const char *more;
        enum mech_category of;
        int32_t which;
    } cases[] = {
        {"], " SPUN ", {'name': 's', 'type': 'TorsionalSpringDamper', 'markers': ['m0', 'm1'],"
         "'stiffness': 1e-9}",
         MECH_OBJECT, 2},
        {", {'name': 'zero', 'type': 'MarkerGroundCoordinate'}, {'name': 'angle', 'type':"
         "'MarkerNodeRotationCoordinate', 'node': 'n', 'rotationCoordinate': 2}], " SPUN
         ", {'name': 's', 'type': 'CoordinateConstraint', 'markers': ['zero', 'angle'],"
         "'active': false}",
         MECH_MARKER, 3},
        {"], 'sensors': [{'name': 'r', 'type': 'SensorBody', 'object': 'b', 'outputVariable':"
         "'Rotation'}], " SPUN,
         MECH_SENSOR, 0},
    };
    static const struct {
        double size, rate;
        const char *solver;
        bool counted;
    } ways[] = {{0.01, 300., "'stepSize': 0.01", true},
                {0.01, 330., "'stepSize': 0.01", false},
                {0.01, -330., "'stepSize': 0.01", false},
                {1., 10., "'stepSize': 1, 'integrator': 'DOPRI5'", true}};
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 20};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            struct mech_sim *const s = spinning(ways[k].rate, ways[k].solver, cases[i].more);
            struct mech_step_report report;

            CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
            CU_ASSERT_EQUAL(report.beyond_reason == NULL, ways[k].counted);
            if (report.beyond_reason) {
                CU_ASSERT_EQUAL(report.beyond_of, cases[i].of);
                CU_ASSERT_EQUAL(report.beyond, cases[i].which);
                CU_ASSERT_PTR_NOT_NULL(strstr(report.beyond_reason, "half a turn"));
            }
            if (ways[k].counted && cases[i].of == MECH_SENSOR) {
                double x[3];

                model_values(s, MECH_SENSOR, "r", MECH_OUTPUT_ROTATION, x);
                CHECK_NEAR(x[2], 20. * ways[k].size * ways[k].rate, 1e-4);
            }
            mech_sim_destroy(s);
        }
    }
}

/* In the plane the angle is a coordinate, and counted however fast. */
static void a_coordinate_counts_turns_of_any_speed(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D', 'initialVelocities':"
        "[0, 0, 700]}], 'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type':"
        "'RigidBody2D', 'node': 'n', 'physicsMass': 1, 'physicsInertia': 1}, {'name': 's',"
        "'type': 'TorsionalSpringDamper', 'markers': ['m0', 'm1'], 'stiffness': 1e-9}], 'markers':"
        "[{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'm1', 'type':"
        "'MarkerBodyRigid', 'object': 'b'}], 'solver': {'stepSize': 0.01}}");
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 20};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_PTR_NULL(report.beyond_reason);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "s", MECH_OUTPUT_ROTATION), 140., 1e-6);
    mech_sim_destroy(s);
}

/* A body on a hinge that leans is wound by up to 4 turns against a spring of 4 N m/rad: load steps
 * that go too far are tried again, each from where the last one was in balance. */
static void statics_wind_a_spring_by_turns(void)
{
    static const double angles[] = {8., -15., 22.};

    for (int i = 0; i < 6; i++) {
        char text[2048];
        struct mech_statics_report report;
        const double angle = angles[i % 3], torque = 4. * angle;
        const char *const frame = "[[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]]";

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': '%s'}], 'objects': [{'name': 'g',"
                 "'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"
                 "'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0]}, {'name': 'hinge',"
                 "'type': 'RevoluteJointZ', 'markers': ['m0', 'm1'], 'rotationMarker0': %s,"
                 "'rotationMarker1': %s}, {'name': 'spring', 'type': 'TorsionalSpringDamper',"
                 "'markers': ['m0', 'm1'], 'stiffness': 4, 'rotationMarker0': %s,"
                 "'rotationMarker1': %s}], 'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid',"
                 "'object': 'g'}, {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b'}],"
                 "'loads': [{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'm1', 'load':"
                 "[0, %.17g, %.17g]}]}",
                 i < 3 ? NODE : "NodeRigidBodyRotVecLG", frame, frame, frame, frame, -0.8 * torque,
                 0.6 * torque);
        struct mech_sim *const s = model_of(text);
        const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};

        CU_ASSERT_EQUAL(mech_sim_statics(s, &query, &report), 0);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "spring", MECH_OUTPUT_ROTATION), angle, 1e-12);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_driven_coordinate_turns_on), UNIT_TEST(it_turns_back_through_zero),
           UNIT_TEST(a_spring_wound_by_three_turns_unwinds), UNIT_TEST(a_snapshot_holds_the_turns),
           UNIT_TEST(a_trial_leaves_the_turns), UNIT_TEST(a_bushing_reports_where_it_is_not_valid),
           UNIT_TEST(what_turns_too_fast_to_be_counted_is_reported),
           UNIT_TEST(a_coordinate_counts_turns_of_any_speed),
           UNIT_TEST(statics_wind_a_spring_by_turns))
