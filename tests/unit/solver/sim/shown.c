/* A committed state can be shown: what would make an output infinite is refused, whatever changes
 * the simulation, and leaves it as it was. A disk turns; the marker on it is so far out that its
 * speed overflows long before the turn rate does. */
#include "tests/unit/model.h"

/* %s: distance of the marker, turn rate at the start, torque. */
static const char disk[] =
    "{'mechd': 1, 'parameters': {'far': 1}, 'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D',"
    "'initialVelocities': [0, 0, %s]}], 'objects': [{'name': 'd', 'type': 'RigidBody2D', 'node': "
    "'n', 'physicsMass': 1, 'physicsInertia': 1}], 'markers': [{'name': 'rim', 'type':"
    "'MarkerBodyPosition', 'object': 'd', 'localPosition': ['=%s*far', 0, 0]}, {'name': 'hub',"
    "'type': 'MarkerBodyRigid', 'object': 'd'}], 'loads': [{'name': 'push', 'type':"
    "'LoadTorqueVector',"
    "'marker': 'hub', 'load': [0, 0, %s]}], 'sensors': [{'name': 'speed', 'type':"
    "'SensorMarker', 'marker': 'rim', 'outputVariable': 'Velocity'}], 'outputs': [{'name': 'speed',"
    "'sensor': 'speed'}], 'inputs': [{'name': 'away', 'parameter': 'far'}],"
    "'solver': {'integrator': 'ExplicitEuler', 'stepSize': 0.01}}";

enum { ROOM = 20000 };

/* Everything that the next step reads. */
struct was {
    char bytes[ROOM];
    size_t size;
    double speed[3];
};

static struct mech_sim *disk_of(const char *rate, const char *distance, const char *torque)
{
    char text[2048];

    snprintf(text, sizeof text, disk, rate, distance, torque);
    return model_of(text);
}

static void look(const struct mech_sim *s, struct was *out)
{
    CU_ASSERT_FATAL(mech_sim_snapshot_size(s) <= ROOM);
    out->size = mech_sim_snapshot_write(s, out->bytes);
    memset(out->speed, 0, sizeof out->speed);
    mech_sim_get_outputs(s, out->speed);
}

/* Nothing has changed, and a step is possible. */
static void check_unchanged(struct mech_sim *s, const struct was *before)
{
    static struct was now;

    look(s, &now);
    CU_ASSERT_EQUAL(now.size, before->size);
    CU_ASSERT_EQUAL(memcmp(now.bytes, before->bytes, now.size), 0);
    CU_ASSERT_EQUAL(memcmp(now.speed, before->speed, sizeof now.speed), 0);
    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
}

static void a_state_with_an_infinite_output_is_refused(void)
{
    static struct was before;
    struct mech_sim *const s = disk_of("1", "1e200", "0");
    const struct mech_state_view fast = {.time = 7., .v = (const double[]){0., 0., 1e150}};

    look(s, &before);
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &fast), MECH_NOT_FINITE);
    CU_ASSERT_STRING_EQUAL(mech_sim_refusal(s),
                           "the output \"speed\" would be infinite or not a number");
    check_unchanged(s, &before);
    mech_sim_destroy(s);
}

static void a_refused_state_leaves_the_trial(void)
{
    struct mech_sim *const s = disk_of("1", "1e200", "0");
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1, .trial = true};
    const struct mech_state_view fast = {.time = NAN, .v = (const double[]){0., 0., 1e150}};
    struct mech_step_report report;
    double tried[3], now[3];

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    mech_sim_trial_outputs(s, tried);
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &fast), MECH_NOT_FINITE);
    mech_sim_trial_outputs(s, now);
    CU_ASSERT_EQUAL(memcmp(tried, now, sizeof now), 0);
    CU_ASSERT_EQUAL(mech_sim_commit(s), 0);
    mech_sim_get_outputs(s, now);
    CU_ASSERT_EQUAL(memcmp(tried, now, sizeof now), 0);
    mech_sim_destroy(s);
}

/* as a command, as a trial, and in parts */
static void a_step_to_an_infinite_output_is_undone(void)
{
    static struct was before;
    struct mech_sim *const s = disk_of("1", "1e304", "1e10");
    struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;

    look(s, &before);
    for (int trial = 0; trial < 2; trial++) {
        r.trial = trial == 1;
        CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_NOT_FINITE);
        CU_ASSERT(strstr(report.reason, "the output \"speed\" became infinite") != NULL);
        CU_ASSERT_FALSE(mech_sim_has_trial(s));
    }
    static struct was now;
    look(s, &now);
    CU_ASSERT_EQUAL(memcmp(now.bytes, before.bytes, before.size), 0);
    mech_sim_destroy(s);
}

static void parameters_that_make_an_output_infinite_are_refused(void)
{
    static struct was before;
    struct mech_sim *const s = disk_of("1e10", "1e200", "0");
    const int32_t first = 0;
    const double far = 1e100;
    struct mech_diag diag;

    mech_diag_init(&diag);
    look(s, &before);
    CU_ASSERT_EQUAL(mech_sim_set_parameters(s, 1, &first, &far, &diag), MECH_NOT_FINITE);
    CU_ASSERT(diag.count == 1 && strstr(diag.entries[0].text, "the output \"speed\"") != NULL);
    check_unchanged(s, &before);
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

static void an_input_that_makes_an_output_infinite_is_refused(void)
{
    static struct was before;
    struct mech_sim *const s = disk_of("1e10", "1e200", "0");
    const double far = 1e100;
    const struct mech_input_change in = {.index = 0, .values = &far};
    struct mech_diag diag;

    mech_diag_init(&diag);
    look(s, &before);
    CU_ASSERT_EQUAL(mech_sim_set_inputs(s, &in, 1, &diag), MECH_NOT_FINITE);
    CU_ASSERT(diag.count == 1 && strstr(diag.entries[0].text, "the output \"speed\"") != NULL);
    CU_ASSERT_EQUAL(mech_sim_get_parameter(s, 0), 1.);
    check_unchanged(s, &before);
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

/* Of a state of first order the rate is shown, of which a force that is an input is a part. */
static void a_force_that_makes_an_output_infinite_is_refused(void)
{
    static struct was before;
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'y', 'type': 'NodeGenericODE1', 'initialCoordinates':"
        "[0]}], 'objects': [{'name': 'o', 'type': 'GenericODE1', 'nodes': ['y'], 'rhsVector':"
        "[1e308]}], 'markers': [{'name': 'm', 'type': 'MarkerNodeCoordinate', 'node': 'y',"
        "'coordinate': 0}], 'sensors': [{'name': 'r', 'type': 'SensorNode', 'node': 'y',"
        "'outputVariable': 'Coordinates_t'}], 'outputs': [{'name': 'rate', 'sensor': 'r'}],"
        "'inputs': [{'name': 'push', 'marker': 'm'}], 'solver': {'integrator': 'ExplicitEuler',"
        "'stepSize': 1e-3}}");
    const double small = -1e307, large = 1.7e308;
    struct mech_input_change in = {.index = 0, .values = &small};
    struct mech_diag diag;
    double value = 0.;

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mech_sim_set_inputs(s, &in, 1, &diag), 0);
    look(s, &before);
    in.values = &large;
    CU_ASSERT_EQUAL(mech_sim_set_inputs(s, &in, 1, &diag), MECH_NOT_FINITE);
    CU_ASSERT(diag.count == 1 && strstr(diag.entries[0].text, "the output \"rate\"") != NULL);
    mech_sim_get_input(s, 0, &value);
    CU_ASSERT_EQUAL(value, small);
    check_unchanged(s, &before);
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

/* Change the place of the rim. */
static int move_rim(struct mech_sim *s, double to, struct mech_diag *diag)
{
    json_t *const place = json_pack("[f,f,f]", to, 0., 0.);
    const struct mechp_edit_query query = {
        .category = MECH_MARKER, .name = "rim", .field = "localPosition", .value = place};
    const int code = mechp_bind_edit(s, &query, diag, NULL);

    json_decref(place);
    return code;
}

static void a_field_that_makes_an_output_infinite_is_refused(void)
{
    static struct was before;
    struct mech_sim *const s = disk_of("1e10", "1", "0");
    struct mech_diag diag;

    mech_diag_init(&diag);
    look(s, &before);
    CU_ASSERT_EQUAL(move_rim(s, 1e305, &diag), MECH_NOT_FINITE);
    CU_ASSERT(diag.count == 1 && strstr(diag.entries[0].text, "the output \"speed\"") != NULL);
    check_unchanged(s, &before);
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

/* a field has been changed since the snapshot was taken */
static void a_snapshot_with_an_infinite_output_is_refused(void)
{
    static struct was before, after;
    struct mech_sim *const s = disk_of("1e10", "1", "0");
    const struct mech_state_view slow = {.time = NAN, .v = (const double[]){0., 0., 1.}};
    struct mech_diag diag;

    mech_diag_init(&diag);
    look(s, &before);
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &slow), 0);
    CU_ASSERT_EQUAL(move_rim(s, 1e305, &diag), 0);
    look(s, &after);
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(s, before.bytes, before.size, NULL), MECH_NOT_FINITE);
    check_unchanged(s, &after);
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

/* the initial turn rate is too much for a field that was changed since */
static void a_reset_to_an_infinite_output_is_refused(void)
{
    static struct was before;
    struct mech_sim *const s = disk_of("1e10", "1", "0");
    const struct mech_state_view slow = {.time = NAN, .v = (const double[]){0., 0., 1.}};
    struct mech_diag diag;

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &slow), 0);
    CU_ASSERT_EQUAL(move_rim(s, 1e305, &diag), 0);
    look(s, &before);
    CU_ASSERT_EQUAL(mech_sim_reset(s), MECH_NOT_FINITE);
    check_unchanged(s, &before);
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

/* what is kept for the next reader is never that of another state */
static void outputs_are_those_of_the_present_state(void)
{
    struct mech_sim *const s = disk_of("1", "1", "0");
    const struct mech_state_view other = {.time = NAN, .v = (const double[]){0., 0., 3.}};
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1, .trial = true};
    struct mech_step_report report;
    struct mech_diag diag;
    double speed[3];

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &other), 0);
    mech_sim_get_outputs(s, speed);
    CU_ASSERT_EQUAL(speed[1], 3.);
    CU_ASSERT_EQUAL(move_rim(s, 2., &diag), 0);
    mech_sim_get_outputs(s, speed);
    CU_ASSERT_EQUAL(speed[1], 6.);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    mech_sim_get_outputs(s, speed);
    CU_ASSERT_EQUAL(speed[1], 6.);
    CU_ASSERT_EQUAL(mech_sim_reset(s), 0);
    mech_sim_get_outputs(s, speed);
    CU_ASSERT_EQUAL(speed[1], 2.);
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

/* A mass of 2 kg on a spring of 8 N/m and a damper of 1 N s/m; %s: the integrator. */
static const char sprung[] =
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'}], 'objects': [{'name': 'm', 'type': "
    "'Mass1D', 'node': 'n', 'physicsMass': 2}, {'name': 's', 'type': 'CoordinateSpringDamper',"
    "'markers': ['g', 'x'], 'stiffness': 8, 'damping': 1}], 'markers': [{'name': 'x', 'type':"
    "'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}, {'name': 'g', 'type':"
    "'MarkerGroundCoordinate'}], 'solver': {'integrator': '%s', 'stepSize': 0.01}}";

/* Moreau–Jean of a linear model has none before a step. */
static void a_state_that_is_set_shows_its_own_accelerations(void)
{
    static const struct {
        const char *name;
        double rate; /* (−8 · 0.5 − 1 · 2) / 2 */
    } schemes[] = {{"ExplicitEuler", -3.}, {"GeneralizedAlpha", -3.}, {"MoreauJean", 0.}};
    const struct mech_state_view in = {
        .time = NAN, .q = (const double[]){0.5}, .v = (const double[]){2.}};

    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        static struct was one, other;
        char text[2048];

        snprintf(text, sizeof text, sprung, schemes[k].name);
        struct mech_sim *const s = model_of(text), *const twin = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 3), 0);
        CU_ASSERT_EQUAL(model_steps(twin, 3), 0);
        CU_ASSERT_EQUAL(mech_sim_set_state(s, &in), 0);
        CU_ASSERT_EQUAL(mech_sim_set_state(twin, &in), 0);
        CU_ASSERT_EQUAL(mech_sim_show_rates(s), 0);
        CHECK_NEAR(model_state(s).vdot[0], schemes[k].rate, 1e-14);
        CHECK_NEAR(model_state(s).a[0], schemes[k].rate, 1e-14);
        CU_ASSERT_EQUAL(model_state(s).q[0], 0.5);
        CU_ASSERT_EQUAL(model_state(s).v[0], 2.);
        /* the next steps are the same */
        CU_ASSERT_EQUAL(model_steps(s, 3), 0);
        CU_ASSERT_EQUAL(model_steps(twin, 3), 0);
        one.size = mech_sim_snapshot_write(s, one.bytes);
        other.size = mech_sim_snapshot_write(twin, other.bytes);
        CU_ASSERT_EQUAL(one.size, other.size);
        CU_ASSERT_EQUAL(memcmp(one.bytes, other.bytes, one.size), 0);
        mech_sim_destroy(s);
        mech_sim_destroy(twin);
    }
}

UNIT_TESTS(UNIT_TEST(a_state_with_an_infinite_output_is_refused),
           UNIT_TEST(a_state_that_is_set_shows_its_own_accelerations),
           UNIT_TEST(a_refused_state_leaves_the_trial),
           UNIT_TEST(a_step_to_an_infinite_output_is_undone),
           UNIT_TEST(parameters_that_make_an_output_infinite_are_refused),
           UNIT_TEST(an_input_that_makes_an_output_infinite_is_refused),
           UNIT_TEST(a_force_that_makes_an_output_infinite_is_refused),
           UNIT_TEST(a_field_that_makes_an_output_infinite_is_refused),
           UNIT_TEST(a_snapshot_with_an_infinite_output_is_refused),
           UNIT_TEST(a_reset_to_an_infinite_output_is_refused),
           UNIT_TEST(outputs_are_those_of_the_present_state))
