/* Loads, inputs and outputs: what acts where, and which channels are refused. */
#include "tests/unit/model.h"

/* a mass on an inclined line: x-axis of its frame is [0.6, 0.8, 0] */
#define INCLINED                                                                                   \
    "'nodes': [{'name': 'n', 'type': 'Node1D'}],"                                                  \
    "'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 2,"                   \
    "'referenceRotation': [[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]]}],"                           \
    "'markers': [{'name': 'p', 'type': 'MarkerBodyPosition', 'object': 'm',"                       \
    "'localPosition': [1, 2, 3]}, {'name': 'r', 'type': 'MarkerBodyRigid', 'object': 'm'},"        \
    "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n'},"                                  \
    "{'name': 'g', 'type': 'MarkerGroundCoordinate'}],"

static double right_hand_side(const struct mech_sim *s, double t)
{
    double f = NAN;
    union {
        const struct mech_sim *from;
        struct mech_sim *to;
    } sim = {.from = s};

    CU_ASSERT_EQUAL(mech_sim_evaluate(sim.to, &(struct mech_point){.time = t}, MECH_WANT_RHS, &f),
                    0);
    return f;
}

static void forces_act_along_the_coordinate_and_torques_do_nothing(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, " INCLINED "'loads': [{'name': 'F', 'type': 'LoadForceVector',"
                 "'marker': 'p', 'load': [10, 100, 1000]}, {'name': 'B', 'type': 'LoadForceVector',"
                 "'marker': 'r', 'load': [3, 30, 300], 'bodyFixed': true}, {'name': 'T',"
                 "'type': 'LoadTorqueVector', 'marker': 'r', 'load': [7, 8, 9]}, {'name': 'Q',"
                 "'type': 'LoadCoordinate', 'marker': 'x', 'load': '=0.5*t'}, {'name': 'G',"
                 "'type': 'LoadCoordinate', 'marker': 'g', 'load': 5000}]}");

    CHECK_NEAR(right_hand_side(s, 4.), 6. + 80. + 3. + 2., 1e-12);
    mech_sim_destroy(s);
}

static void torques_turn_a_rotor_about_its_axis(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [1]}],"
        "'objects': [{'name': 'r', 'type': 'Rotor1D', 'node': 'n', 'physicsInertia': 2,"
        "'referenceRotation': [[0, 0, 1], [1, 0, 0], [0, 1, 0]]}],"
        "'markers': [{'name': 'p', 'type': 'MarkerBodyRigid', 'object': 'r'}],"
        "'loads': [{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'p',"
        "'load': [10, 100, 1000]}, {'name': 'B', 'type': 'LoadTorqueVector', 'marker': 'p',"
        "'load': [3, 30, 300], 'bodyFixed': true}, {'name': 'F', 'type': 'LoadForceVector',"
        "'marker': 'p', 'load': [7, 8, 9]}]}");

    CHECK_NEAR(right_hand_side(s, 0.), 10. + 300., 1e-12);
    mech_sim_destroy(s);
}

static void a_load_can_drive_a_first_order_state(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'nodes': [{'name': 'y', 'type': 'NodeGenericODE1',"
                 "'initialCoordinates': [0, 1]}], 'objects': [{'name': 'o', 'type': 'GenericODE1',"
                 "'nodes': ['y']}], 'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate',"
                 "'node': 'y', 'coordinate': 1}], 'loads': [{'name': 'r', 'type': 'LoadCoordinate',"
                 "'marker': 'x', 'load': '=2*t'}], 'solver': {'stepSize': 0.1}}");

    CU_ASSERT_EQUAL(model_steps(s, 10), 0);
    CHECK_NEAR(model_state(s).x[0], 0., 1e-15);
    CHECK_NEAR(model_state(s).x[1], 2., 1e-14);
    mech_sim_destroy(s);
}

static void inputs_replace_components_of_loads(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'parameters': {'a': 2}, " INCLINED
        "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'p',"
        "'load': [1, '=a', 3]}], 'inputs': [{'name': 'y', 'load': 'F', 'component': 1},"
        "{'name': 'a', 'parameter': 'a'}, {'name': 'extra', 'marker': 'r', 'component': 0}]}");
    const double y = 10., a = 4.;
    double now;

    CHECK_NEAR(right_hand_side(s, 0.), 0.6 + 1.6, 1e-14);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 1, &a, 0, NULL), 0);
    CHECK_NEAR(right_hand_side(s, 0.), 0.6 + 3.2, 1e-14);
    mech_sim_get_input(s, 0, &now);
    CU_ASSERT_EQUAL(now, 4.);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &y, 0, NULL), 0);
    CHECK_NEAR(right_hand_side(s, 0.), 0.6 + 8., 1e-14);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 2, &y, 0, NULL), 0);
    CHECK_NEAR(right_hand_side(s, 0.), 0.6 + 8. + 6., 1e-14);
    mech_sim_destroy(s);
}

static void channels_that_cannot_be_are_refused(void)
{
#define WITH(rest)                                                                                 \
    "{'mechd': 1, 'parameters': {'a': 2}, " INCLINED                                               \
    "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'p'}]," rest "}"
    CU_ASSERT(model_refused(WITH("'inputs': [{'name': 'i', 'load': 'F', 'component': 3}]"),
                            "/inputs/0/component", "component 3"));
    CU_ASSERT(model_refused(WITH("'inputs': [{'name': 'i', 'load': 'F'},"
                                 "{'name': 'j', 'load': 'F', 'component': 1}]"),
                            "/inputs/1/load", "another input"));
    CU_ASSERT(model_refused(WITH("'inputs': [{'name': 'i'}]"), "/inputs/0", "exactly one"));
    CU_ASSERT(model_refused(WITH("'inputs': [{'name': 'i', 'load': 'F', 'marker': 'p'}]"),
                            "/inputs/0", "exactly one"));
    CU_ASSERT(model_refused(WITH("'sensors': [{'name': 's', 'type': 'SensorNode', 'node': 'n',"
                                 "'outputVariable': 'Position'}]"),
                            "/sensors/0/outputVariable", "Position"));
    CU_ASSERT(model_refused("{'mechd': 1, 'objects': [{'name': 'o',"
                            "'type': 'LagrangianLinearTIDS', 'M': [[1]]}], 'sensors': [{"
                            "'name': 's', 'type': 'SensorBody', 'object': 'o',"
                            "'outputVariable': 'Coordinates'}]}",
                            "/sensors/0/object", "not a body"));
    CU_ASSERT(model_refused(WITH("'sensors': [{'name': 's', 'type': 'SensorBody', 'object': 'm',"
                                 "'outputVariable': 'Position'}],"
                                 "'outputs': [{'name': 'o', 'sensor': 's', 'component': 3}]"),
                            "/outputs/0/component", "component 3"));
}

static void a_failed_change_of_parameters_changes_nothing(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'parameters': {'m': 2}, 'nodes': [{'name': 'n', 'type': 'Node1D'}],"
                 "'objects': [{'name': 'o', 'type': 'Mass1D', 'node': 'n', 'physicsMass': '=m'}]}");
    const int32_t index = 0;
    const double bad = -1., good = 5.;
    struct mech_diag diag;
    double mass = 0.;

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mech_sim_set_parameters(s, 1, &index, &bad, &diag), MECH_INVALID);
    CU_ASSERT_STRING_EQUAL(diag.entries[0].path, "/objects/0/physicsMass");
    CU_ASSERT_EQUAL(mech_sim_get_parameter(s, 0), 2.);
    (void)mech_sim_evaluate(s, &(struct mech_point){.time = NAN}, MECH_WANT_MASS, &mass);
    CU_ASSERT_EQUAL(mass, 2.);
    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    mech_diag_fini(&diag);

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mech_sim_set_parameters(s, 1, &index, &good, &diag), 0);
    (void)mech_sim_evaluate(s, &(struct mech_point){.time = NAN}, MECH_WANT_MASS, &mass);
    CU_ASSERT_EQUAL(mass, 5.);
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

/* a fault that is found after numbers were put into the document: the mass would be singular */
static void descriptions_are_put_back_after_a_late_fault(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'parameters': {'p': 2}, 'objects': [{'name': 's',"
                 "'type': 'LagrangianLinearTIDS', 'M': [['=p']]}, {'name': 'm', 'type': 'Mass1D',"
                 "'node': 'n', 'physicsMass': 1}, {'name': 'c', 'type': 'CoordinateSpringDamper',"
                 "'markers': ['g', 'x'], 'stiffness': '=100*p'}], 'nodes': [{'name': 'n',"
                 "'type': 'Node1D', 'initialCoordinates': [0.5]}], 'markers': [{'name': 'g',"
                 "'type': 'MarkerGroundCoordinate'}, {'name': 'x', 'type': 'MarkerNodeCoordinate',"
                 "'node': 'n'}]}");
    const int32_t index = 0;
    const double zero = 0.;
    struct mech_diag diag;

    mech_diag_init(&diag);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "c", MECH_OUTPUT_FORCE), 100., 1e-12);
    CU_ASSERT_EQUAL(mech_sim_set_parameters(s, 1, &index, &zero, &diag), MECH_INVALID);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "c", MECH_OUTPUT_FORCE), 100., 1e-12);
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

static void variables_say_their_shape_and_place(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'parameters': {'a': 2}, " INCLINED
        "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'p'},"
        "{'name': 'G', 'type': 'LoadForceVector', 'marker': 'p'}],"
        "'sensors': [{'name': 's', 'type': 'SensorBody', 'object': 'm',"
        "'outputVariable': 'Position'}], 'inputs': [{'name': 'whole', 'load': 'F'},"
        "{'name': 'one', 'load': 'G', 'component': 2}], 'outputs': [{'name': 'p', 'sensor': 's'},"
        "{'name': 'z', 'sensor': 's', 'component': 2}]}");
    struct mech_variable v;

    mech_sim_variable(s, MECH_INPUT, 0, &v);
    CU_ASSERT(v.size == 3 && !v.scalar && v.offset == 0 && v.reference == 1);
    mech_sim_variable(s, MECH_INPUT, 1, &v);
    CU_ASSERT(v.size == 1 && v.scalar && v.offset == 3 && v.reference == 2);
    mech_sim_variable(s, MECH_OUTPUT_VARIABLE, 0, &v);
    CU_ASSERT(v.size == 3 && !v.scalar && v.offset == 0 && v.reference == 3);
    mech_sim_variable(s, MECH_OUTPUT_VARIABLE, 1, &v);
    CU_ASSERT(v.size == 1 && v.scalar && v.offset == 3 && v.reference == 4);
    CU_ASSERT_STRING_EQUAL(v.unit, "m");
    mech_sim_variable(s, MECH_PARAMETER, 0, &v);
    CU_ASSERT(v.reference == 5 && v.tunable && strcmp(v.name, "a") == 0);
    CU_ASSERT_EQUAL(mech_sim_variable_count(s, MECH_INDEPENDENT), 1);
    mech_sim_variable(s, MECH_INDEPENDENT, 0, &v);
    CU_ASSERT(v.reference == 0 && strcmp(v.name, "time") == 0 && strcmp(v.unit, "s") == 0);
    CU_ASSERT_EQUAL(mech_sim_variable_find(s, MECH_OUTPUT_VARIABLE, "z"), 1);
    CU_ASSERT_EQUAL(mech_sim_variable_find(s, MECH_INPUT, "z"), -1);
    mech_sim_destroy(s);
}

static void a_load_that_is_not_finite_is_named(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        "", "1", "",
        "{'name': 'pole', 'type': 'LoadCoordinate', 'marker': 'x', 'load': '=1/(t - 0.5)'}",
        ", 'solver': {'integrator': 'RK44', 'stepSize': 0.125}"));
    const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = 1.};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_NOT_FINITE);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "pole"));
    CHECK_NEAR(report.failed_time, 0.375, 1e-15);
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
    mech_sim_destroy(s);
}

/* Of a marker on a body: three forces and three moments. */
static void a_wrench_has_the_units_of_both(void)
{
    static const char *const units[] = {"N, N m", "N", "N m"};
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyRotVecLG'}],"
                 "'objects': [{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"
                 "'physicsInertia': [1, 1, 1, 0, 0, 0]}], 'markers': [{'name': 'm', 'type':"
                 "'MarkerBodyRigid', 'object': 'b'}], 'inputs': [{'name': 'w', 'marker': 'm'},"
                 "{'name': 'f', 'marker': 'm', 'component': 2},"
                 "{'name': 'n', 'marker': 'm', 'component': 3}]}");

    for (size_t i = 0; i < 3; i++) {
        struct mech_variable v;

        mech_sim_variable(s, MECH_INPUT, i, &v);
        CU_ASSERT_STRING_EQUAL(v.unit, units[i]);
    }
    mech_sim_destroy(s);
}

/* Coordinates have no unit of their own: only of second order it is known what their rates are. */
static void outputs_are_displacements_velocities_or_neither(void)
{
    static const enum mech_kinematic kinds[] = {
        MECH_KINEMATIC_DISPLACEMENT, MECH_KINEMATIC_VELOCITY, MECH_KINEMATIC_NONE,
        MECH_KINEMATIC_DISPLACEMENT, MECH_KINEMATIC_VELOCITY, MECH_KINEMATIC_NONE,
        MECH_KINEMATIC_NONE};
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'}, {'name': 'e', 'type':"
        "'NodeGenericODE1', 'initialCoordinates': [1]}], 'objects': [{'name': 'm', 'type':"
        "'Mass1D', 'node': 'n', 'physicsMass': 2}, {'name': 'o', 'type': 'GenericODE1', 'nodes':"
        "['e'], 'systemMatrix': [[-1]]}], 'sensors': ["
        "{'name': 'q', 'type': 'SensorNode', 'node': 'n', 'outputVariable': 'Coordinates'},"
        "{'name': 'v', 'type': 'SensorNode', 'node': 'n', 'outputVariable': 'Coordinates_t'},"
        "{'name': 'a', 'type': 'SensorNode', 'node': 'n', 'outputVariable': 'Coordinates_tt'},"
        "{'name': 'p', 'type': 'SensorBody', 'object': 'm', 'outputVariable': 'Position'},"
        "{'name': 'w', 'type': 'SensorBody', 'object': 'm', 'outputVariable': 'Velocity'},"
        "{'name': 'x', 'type': 'SensorNode', 'node': 'e', 'outputVariable': 'Coordinates'},"
        "{'name': 'r', 'type': 'SensorNode', 'node': 'e', 'outputVariable': 'Coordinates_t'}]}");

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct mech_variable v;

        mech_sim_variable(s, MECH_OUTPUT_VARIABLE, i, &v);
        CU_ASSERT_EQUAL(v.kinematic, kinds[i]);
    }
    mech_sim_destroy(s);
}

/* A rotor, a mass, a plate in the plane and a body in space; still: a coordinate of the ground. */
#define TURNING                                                                                    \
    "'nodes': [{'name': 'r', 'type': 'Node1D'}, {'name': 'm', 'type': 'Node1D'},"                  \
    "{'name': 'p', 'type': 'NodeRigidBody2D'}, {'name': 'b', 'type': 'NodeRigidBodyRotVecLG'},"    \
    "{'name': 'e', 'type': 'NodeRigidBodyEP'}], 'objects': ["                                      \
    "{'name': 'rotor', 'type': 'Rotor1D', 'node': 'r', 'physicsInertia': 1},"                      \
    "{'name': 'mass', 'type': 'Mass1D', 'node': 'm', 'physicsMass': 1},"                           \
    "{'name': 'plate', 'type': 'RigidBody2D', 'node': 'p', 'physicsMass': 1,"                      \
    "'physicsInertia': 1}, {'name': 'body', 'type': 'RigidBody', 'node': 'b', 'physicsMass': 1,"   \
    "'physicsInertia': [1, 1, 1, 0, 0, 0]}, {'name': 'other', 'type': 'RigidBody', 'node': 'e',"   \
    "'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0]},"                                     \
    "{'name': 'torsion', 'type': 'CoordinateSpringDamper', 'markers': ['still', 'phi'],"           \
    "'stiffness': 2}, {'name': 'gear', 'type': 'CoordinateConstraint', 'markers': ['turn', "       \
    "'phi']},"                                                                                     \
    "{'name': 'rack', 'type': 'CoordinateConstraint', 'markers': ['x', 'turn']}], 'markers': ["    \
    "{'name': 'still', 'type': 'MarkerGroundCoordinate'},"                                         \
    "{'name': 'turn', 'type': 'MarkerNodeCoordinate', 'node': 'r'},"                               \
    "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'm'},"                                  \
    "{'name': 'phi', 'type': 'MarkerNodeCoordinate', 'node': 'p', 'coordinate': 2}],"

static void outputs_of_what_turns_are_in_radians(void)
{
    static const struct {
        const char *sensor, *component, *unit;
    } outputs[] = {
        {"'SensorNode', 'node': 'r', 'outputVariable': 'Coordinates'", "", "rad"},
        {"'SensorNode', 'node': 'r', 'outputVariable': 'CoordinatesTotal'", "", "rad"},
        {"'SensorNode', 'node': 'r', 'outputVariable': 'Coordinates_t'", "", "rad/s"},
        {"'SensorNode', 'node': 'r', 'outputVariable': 'Coordinates_tt'", "", "rad/s^2"},
        {"'SensorNode', 'node': 'm', 'outputVariable': 'Coordinates'", "", ""},
        {"'SensorMarker', 'marker': 'phi', 'outputVariable': 'Coordinates'", "", "rad"},
        {"'SensorMarker', 'marker': 'phi', 'outputVariable': 'Coordinates_tt'", "", "rad/s^2"},
        {"'SensorMarker', 'marker': 'x', 'outputVariable': 'Coordinates'", "", ""},
        {"'SensorNode', 'node': 'p', 'outputVariable': 'Coordinates'", "", ""},
        {"'SensorNode', 'node': 'p', 'outputVariable': 'Coordinates'", ", 'component': 1", ""},
        {"'SensorNode', 'node': 'p', 'outputVariable': 'Coordinates'", ", 'component': 2", "rad"},
        {"'SensorNode', 'node': 'b', 'outputVariable': 'Coordinates_t'", ", 'component': 2", ""},
        {"'SensorNode', 'node': 'b', 'outputVariable': 'Coordinates_t'", ", 'component': 5",
         "rad/s"},
        /* Euler parameters are no angles */
        {"'SensorNode', 'node': 'e', 'outputVariable': 'Coordinates'", ", 'component': 5", ""},
        {"'SensorObject', 'object': 'torsion', 'outputVariable': 'Displacement'", "", "rad"},
        {"'SensorObject', 'object': 'torsion', 'outputVariable': 'Velocity'", "", "rad/s"},
        {"'SensorObject', 'object': 'torsion', 'outputVariable': 'Force'", "", "N m"},
        {"'SensorObject', 'object': 'gear', 'outputVariable': 'Displacement'", "", "rad"},
        {"'SensorObject', 'object': 'rack', 'outputVariable': 'Displacement'", "", "m"},
        {"'SensorBody', 'object': 'plate', 'outputVariable': 'Displacement'", "", "m"},
    };

    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char text[4000];
        struct mech_variable v;

        snprintf(text, sizeof text,
                 "{'mechd': 1, " TURNING "'sensors': [{'name': 's', 'type': %s}],"
                 "'outputs': [{'name': 'o', 'sensor': 's'%s}]}",
                 outputs[i].sensor, outputs[i].component);
        struct mech_sim *const s = model_of(text);

        mech_sim_variable(s, MECH_OUTPUT_VARIABLE, 0, &v);
        CU_ASSERT_STRING_EQUAL(v.unit, outputs[i].unit);
        mech_sim_destroy(s);
    }
}

/* Several models may report to one list: a fault that is in it is none of the next one. */
static void a_model_is_built_beside_the_faults_of_others(void)
{
    static const char text[] =
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'}], 'objects': [{'name': 'm',"
        "'type': 'Mass1D', 'node': 'n', 'physicsMass': 2}], 'markers': [{'name': 'x', 'type':"
        "'MarkerNodeCoordinate', 'node': 'n'}], 'loads': [{'name': 'F', 'type': 'LoadCoordinate',"
        "'marker': 'x', 'load': 0}], 'inputs': [{'name': 'F', 'load': 'F'}%s]}";
    struct mech_diag diag;
    struct mech_sim *s = NULL;
    char good[512], bad[512];

    snprintf(good, sizeof good, text, "");
    snprintf(bad, sizeof bad, text, ", {'name': 'G', 'load': 'F'}");
    mech_diag_init(&diag);
    mech_diag_add(&diag, "/another", "has a fault");
    CU_ASSERT_EQUAL(model_read(good, &diag, &s), 0);
    CU_ASSERT_EQUAL(diag.total, 1);
    CU_ASSERT_EQUAL_FATAL(s != NULL && model_steps(s, 3) == 0, true);
    mech_sim_destroy(s);
    s = NULL;
    CU_ASSERT_EQUAL(model_read(bad, &diag, &s), MECH_INVALID);
    CU_ASSERT_EQUAL_FATAL(diag.count, 2);
    CU_ASSERT_STRING_EQUAL(diag.entries[1].path, "/inputs/1/load");
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(forces_act_along_the_coordinate_and_torques_do_nothing),
           UNIT_TEST(torques_turn_a_rotor_about_its_axis),
           UNIT_TEST(a_load_can_drive_a_first_order_state),
           UNIT_TEST(inputs_replace_components_of_loads),
           UNIT_TEST(channels_that_cannot_be_are_refused),
           UNIT_TEST(a_failed_change_of_parameters_changes_nothing),
           UNIT_TEST(descriptions_are_put_back_after_a_late_fault),
           UNIT_TEST(variables_say_their_shape_and_place),
           UNIT_TEST(a_load_that_is_not_finite_is_named), UNIT_TEST(a_wrench_has_the_units_of_both),
           UNIT_TEST(outputs_are_displacements_velocities_or_neither),
           UNIT_TEST(outputs_of_what_turns_are_in_radians),
           UNIT_TEST(a_model_is_built_beside_the_faults_of_others))
