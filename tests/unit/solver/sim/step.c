/* Communication steps: how they are split, trials, failure without effect, inputs, forces. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#define SPRING                                                                                     \
    ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': 100,"   \
    "'damping': 1}"
#define LOAD "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}"
#define CHANNELS                                                                                   \
    ", 'sensors': [{'name': 'p', 'type': 'SensorNode', 'node': 'n',"                               \
    "'outputVariable': 'Coordinates'}],"                                                           \
    "'inputs': [{'name': 'force', 'load': 'F'}],"                                                  \
    "'outputs': [{'name': 'x', 'sensor': 'p', 'component': 0}]"
#define DRIVEN(solver)                                                                             \
    MODEL_OSCILLATOR(", 'initialCoordinates': [0.5]", "1", SPRING, LOAD,                           \
                     CHANNELS ", 'solver': {" solver "}")

static void a_step_is_split_into_equal_internal_steps(void)
{
    struct mech_sim *const s = model_of(DRIVEN("'stepSize': 0.003"));
    struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = 0.01};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(report.steps, 4);
    CHECK_NEAR(report.step_size, 0.0025, 1e-18);
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.01);

    /* a whole number of steps but for rounding uses h itself */
    r.size = 0.009 * (1. + 2.3e-16);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(report.steps, 3);
    CU_ASSERT_EQUAL(report.step_size, 0.003);
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.01 + 0.009);

    /* and one that is longer by more does not */
    r.size = 0.009 * (1. + 5e-10);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(report.steps, 4);
    mech_sim_destroy(s);
}

static void until_and_count_end_exactly(void)
{
    struct mech_sim *const s = model_of(DRIVEN("'stepSize': 0.001"));
    struct mech_step_request r = {.kind = MECH_STEP_UNTIL, .until = 1. / 3.};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(report.steps, 334);
    CU_ASSERT_EQUAL(mech_sim_time(s), 1. / 3.);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_INVALID);
    CU_ASSERT_EQUAL(mech_sim_time(s), 1. / 3.);

    r = (struct mech_step_request){.kind = MECH_STEP_COUNT, .count = 7};
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(mech_sim_time(s), 1. / 3. + 7 * 0.001);
    mech_sim_destroy(s);
}

static void impossible_requests_are_refused(void)
{
    struct mech_sim *const s = model_of(DRIVEN("'stepSize': 0.001"));
    const struct mech_step_request bad[] = {
        {.kind = MECH_STEP_SIZE, .size = 0.},    {.kind = MECH_STEP_SIZE, .size = -1.},
        {.kind = MECH_STEP_SIZE, .size = NAN},   {.kind = MECH_STEP_SIZE, .size = INFINITY},
        {.kind = MECH_STEP_SIZE, .size = 1e300}, {.kind = MECH_STEP_UNTIL, .until = 0.},
        {.kind = MECH_STEP_COUNT, .count = 0},   {.kind = MECH_STEP_COUNT, .count = UINT64_MAX},
    };
    struct mech_step_report report;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_EQUAL(mech_sim_step(s, &bad[i], &report), MECH_INVALID);
        CU_ASSERT(report.reason[0]);
    }
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
    mech_sim_destroy(s);
}

static void a_trial_leaves_the_committed_state(void)
{
    struct mech_sim *const s = model_of(DRIVEN("'stepSize': 0.001"));
    const struct mech_step_request trial = {.kind = MECH_STEP_SIZE, .size = 0.01, .trial = true};
    struct mech_step_report report;
    double first, again, now;

    CU_ASSERT_EQUAL(mech_sim_commit(s), MECH_NOT_FOUND);
    CU_ASSERT_EQUAL(mech_sim_step(s, &trial, &report), 0);
    mech_sim_trial_outputs(s, &first);
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
    CU_ASSERT_EQUAL(mech_sim_trial_time(s), 0.01);
    CU_ASSERT_EQUAL(mech_sim_step(s, &trial, &report), 0);
    mech_sim_trial_outputs(s, &again);
    CU_ASSERT_EQUAL(first, again);
    mech_sim_get_outputs(s, &now);
    CU_ASSERT_EQUAL(now, 0.5);

    CU_ASSERT_EQUAL(mech_sim_commit(s), 0);
    mech_sim_get_outputs(s, &now);
    CU_ASSERT_EQUAL(now, first);
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.01);
    CU_ASSERT_EQUAL(mech_sim_commit(s), MECH_NOT_FOUND);
    mech_sim_destroy(s);
}

static void any_change_discards_the_trial(void)
{
    struct mech_sim *const s = model_of(DRIVEN("'stepSize': 0.001"));
    const struct mech_step_request trial = {.kind = MECH_STEP_SIZE, .size = 0.01, .trial = true};
    struct mech_step_report report;
    const double one = 1.;

    CU_ASSERT_EQUAL(mech_sim_step(s, &trial, &report), 0);
    CU_ASSERT(mech_sim_has_trial(s));
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &one, 0, NULL), 0);
    CU_ASSERT_FALSE(mech_sim_has_trial(s));
    mech_sim_destroy(s);
}

static void committed_trials_equal_steps_to_the_bit(void)
{
    struct mech_sim *const a = model_of(DRIVEN("'stepSize': 0.001"));
    struct mech_sim *const b = model_of(DRIVEN("'stepSize': 0.001"));
    const struct mech_step_request trial = {.kind = MECH_STEP_SIZE, .size = 0.01, .trial = true};
    struct mech_step_report report;

    for (int i = 0; i < 50; i++) {
        const double force = sin(0.3 * i) * 20., other = force + 1.;

        (void)mech_sim_set_input(a, 0, &force, 0, NULL);
        CU_ASSERT_EQUAL(model_step(a, 0.01), 0);
        (void)mech_sim_set_input(b, 0, &other, 0, NULL);
        CU_ASSERT_EQUAL(mech_sim_step(b, &trial, &report), 0);
        (void)mech_sim_set_input(b, 0, &force, 0, NULL);
        CU_ASSERT_EQUAL(mech_sim_step(b, &trial, &report), 0);
        CU_ASSERT_EQUAL(mech_sim_commit(b), 0);
        CU_ASSERT_EQUAL(model_state(a).q[0], model_state(b).q[0]);
    }
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

/* DRIVEN with an input that is a parameter too. */
#define TUNED                                                                                      \
    "{'mechd': 1, 'parameters': {'c': 100}, 'nodes': [{'name': 'n', 'type': 'Node1D',"             \
    "'initialCoordinates': [0.5]}], 'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n',"      \
    "'physicsMass': 1}, {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"    \
    "'stiffness': '=c', 'damping': 1}], 'markers': [{'name': 'g',"                                 \
    "'type': 'MarkerGroundCoordinate'}, {'name': 'x', 'type': 'MarkerNodeCoordinate',"             \
    "'node': 'n'}], 'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x'}],"            \
    "'sensors': [{'name': 'e', 'type': 'SensorObject', 'object': 's',"                             \
    "'outputVariable': 'Force'}],"                                                                 \
    "'inputs': [{'name': 'f', 'load': 'F'}, {'name': 'p', 'parameter': 'c'}],"                     \
    "'outputs': [{'name': 'e', 'sensor': 'e'}], 'solver': {'stepSize': 0.001}}"

static double first_output(const struct mech_sim *s)
{
    double value = NAN;
    mech_sim_get_outputs(s, &value);
    return value;
}

static void inputs_of_a_dropped_trial_leave_no_trace(void)
{
    struct mech_sim *const a = model_of(TUNED), *const b = model_of(TUNED);
    const double force = 20., slope = 3., soft = 40.;
    const struct mech_input_change in[] = {{0, 1, &force, &slope, NULL}, {1, 0, &soft, NULL, NULL}};
    struct mech_step_report report;

    for (size_t count = 1; count <= 2; count++) {
        const struct mech_step_request trial = {
            .size = 0.01, .trial = true, .inputs = in, .input_count = count};
        const size_t size = mech_sim_snapshot_size(a);
        char *const before = calloc(2, size), *const after = before + size;
        double value = NAN, tried = NAN;

        mech_sim_snapshot_write(a, before);
        const double output = first_output(a);
        CU_ASSERT_EQUAL(mech_sim_step(a, &trial, &report), 0);
        mech_sim_trial_outputs(a, &tried);
        mech_sim_snapshot_write(a, after);
        CU_ASSERT_EQUAL(memcmp(before, after, size), 0);
        CU_ASSERT_EQUAL(first_output(a), output);
        CU_ASSERT_NOT_EQUAL(tried, output);
        mech_sim_get_input(a, 0, &value);
        CU_ASSERT_EQUAL(value, 0.);
        CU_ASSERT_EQUAL(mech_sim_get_parameter(a, 0), 100.);

        /* and the next step is as if there had been no trial */
        CU_ASSERT_EQUAL(model_step(a, 0.01), 0);
        CU_ASSERT_EQUAL(model_step(b, 0.01), 0);
        CU_ASSERT_EQUAL(model_state(a).q[0], model_state(b).q[0]);
        CU_ASSERT_EQUAL(first_output(a), first_output(b));
        free(before);
    }
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

static void inputs_of_a_step_act_as_if_set_before_it(void)
{
    struct mech_sim *const a = model_of(TUNED), *const b = model_of(TUNED),
                           *const c = model_of(TUNED);
    const double force = 20., slopes[] = {3., -400.}, soft = 40.;
    const struct mech_input_change in[] = {{0, 2, &force, slopes, NULL}, {1, 0, &soft, NULL, NULL}};
    const struct mech_step_request step = {.size = 0.01, .inputs = in, .input_count = 2};
    struct mech_step_request trial = step;
    struct mech_step_report report;
    double tried = NAN;

    trial.trial = true;
    CU_ASSERT_EQUAL(mech_sim_set_input(a, 0, &force, 2, slopes), 0);
    CU_ASSERT_EQUAL(mech_sim_set_input(a, 1, &soft, 0, NULL), 0);
    CU_ASSERT_EQUAL(model_step(a, 0.01), 0);
    CU_ASSERT_EQUAL(mech_sim_step(b, &step, &report), 0);
    CU_ASSERT_EQUAL(mech_sim_step(c, &trial, &report), 0);
    mech_sim_trial_outputs(c, &tried);
    CU_ASSERT_EQUAL(mech_sim_commit(c), 0);
    CU_ASSERT_EQUAL(first_output(c), tried);
    for (int k = 0; k < 3; k++) {
        CU_ASSERT_EQUAL(model_state(a).q[0], model_state(b).q[0]);
        CU_ASSERT_EQUAL(model_state(a).q[0], model_state(c).q[0]);
        CU_ASSERT_EQUAL(first_output(a), first_output(b));
        CU_ASSERT_EQUAL(first_output(a), first_output(c));
        CU_ASSERT_EQUAL(mech_sim_get_parameter(c, 0), 40.);
        CU_ASSERT_EQUAL(model_step(a, 0.01), 0);
        CU_ASSERT_EQUAL(model_step(b, 0.01), 0);
        CU_ASSERT_EQUAL(model_step(c, 0.01), 0);
    }
    mech_sim_destroy(a);
    mech_sim_destroy(b);
    mech_sim_destroy(c);
}

static void energy_of_a_trial_is_that_of_its_end(void)
{
    const double force = 30., soft = 40.;
    const struct mech_input_change in[] = {{0, 0, &force, NULL, NULL}, {1, 0, &soft, NULL, NULL}};
    struct mech_step_report report;

    /* with its own parameter too, that the committed model does not have */
    for (size_t count = 1; count <= 2; count++) {
        struct mech_sim *const s = model_of(TUNED);
        const struct mech_step_request trial = {
            .size = 0.01, .trial = true, .inputs = in, .input_count = count};

        CU_ASSERT_EQUAL(mech_sim_step(s, &trial, &report), 0);
        const double energy = mech_sim_trial_energy(s);
        CHECK_NEAR(mech_sim_energy(s), 0.5 * 100. * 0.25, 1e-12);
        CU_ASSERT_EQUAL(mech_sim_commit(s), 0);
        CU_ASSERT_EQUAL(mech_sim_energy(s), energy);
        CU_ASSERT_NOT_EQUAL(energy, 0.5 * 100. * 0.25);
        mech_sim_destroy(s);
    }
}

static void inputs_that_cannot_be_are_refused_with_the_step(void)
{
    struct mech_sim *const s = model_of(TUNED);
    const double one = 1., bad = NAN, huge = 1e308;
    const struct mech_input_change in[] = {{0, 0, &bad, NULL, NULL}, {0, 1, &one, &bad, NULL},
                                           {2, 0, &one, NULL, NULL}, {-1, 0, &one, NULL, NULL},
                                           {0, 3, &one, &one, NULL}, {0, 1, &one, &huge, NULL}};
    struct mech_step_report report;

    for (size_t k = 0; k < sizeof in / sizeof *in; k++) {
        const struct mech_input_change both[] = {{1, 0, &one, NULL, NULL}, in[k]};
        const struct mech_step_request r = {.size = 10., .inputs = both, .input_count = 2};
        double value = NAN;

        CU_ASSERT_NOT_EQUAL(mech_sim_step(s, &r, &report), 0);
        CU_ASSERT(report.reason[0] != '\0');
        mech_sim_get_input(s, 0, &value);
        CU_ASSERT_EQUAL(value, 0.);
        CU_ASSERT_EQUAL(mech_sim_get_parameter(s, 0), 100.);
        CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
        CU_ASSERT_EQUAL(first_output(s), 50.);
    }
    mech_sim_destroy(s);
}

static void readers_wait_for_a_command_with_other_parameters(void)
{
    struct mech_sim *const s = model_of(TUNED);
    const double soft = 40., force = 1.;
    const struct mech_input_change in[] = {{0, 0, &force, NULL, NULL}, {1, 0, &soft, NULL, NULL}};
    struct mech_step_request r = {.size = 10., .inputs = in, .input_count = 1};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step_begin(s, &r, &report), 0);
    CU_ASSERT(mech_sim_readable(s));
    mech_sim_step_abandon(s);
    r.input_count = 2;
    CU_ASSERT_EQUAL(mech_sim_step_begin(s, &r, &report), 0);
    CU_ASSERT_FALSE(mech_sim_readable(s));
    mech_sim_step_abandon(s);
    CU_ASSERT(mech_sim_readable(s));
    CU_ASSERT_EQUAL(first_output(s), 50.);
    mech_sim_destroy(s);
}

static void a_failed_step_changes_nothing(void)
{
    /* the law has no real value beyond u = 0.6, where the mass is driven to */
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        ", 'initialVelocities': [1]", "1",
        ", {'name': 'law', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
        "'springForceUserFunction': '=sqrt(0.6 - u)'}",
        "", ", 'solver': {'stepSize': 0.01}"));
    const size_t size = mech_sim_snapshot_size(s);
    char *const before = calloc(2, size), *const after = before + size;
    const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = 10.};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(model_steps(s, 3), 0);
    mech_sim_snapshot_write(s, before);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_NOT_FINITE);
    CU_ASSERT_EQUAL(report.outcome, MECH_NOT_FINITE);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "law"));
    CU_ASSERT(report.failed_time > 0.1 && report.failed_time < 10.);
    CU_ASSERT(report.iterations > 0);
    CU_ASSERT_FALSE(mech_sim_stepping(s));
    mech_sim_snapshot_write(s, after);
    CU_ASSERT_EQUAL(memcmp(before, after, size), 0);
    CU_ASSERT_EQUAL(model_steps(s, 3), 0);
    free(before);
    mech_sim_destroy(s);
}

static void an_infinite_acceleration_at_the_end_is_no_success(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        "", "1e-3",
        ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': 1,"
        "'springForceUserFunction': '=t>0.0005 ? 1e306 : 0'}",
        "", ", 'solver': {'integrator': 'ExplicitEuler', 'stepSize': 1e-3}"));
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_NOT_FINITE);
    CU_ASSERT_EQUAL(model_state(s).time, 0.);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "/objects/0"));
    mech_sim_destroy(s);
}

static void newton_that_does_not_converge_says_so(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        ", 'initialVelocities': [1]", "1",
        ", {'name': 'law', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
        "'springForceUserFunction': '=1e6*u^3 + 10*u'}",
        "", ", 'solver': {'stepSize': 0.1, 'newton': {'maxIterations': 1}}"));
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 5};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_NOT_CONVERGED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "Newton"));
    CU_ASSERT(report.residual > 0.);
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
    mech_sim_destroy(s);
}

/* A change at a communication point starts again from consistent accelerations: a held force f on a
 * free mass gives exactly ½ f t²/m from its first step on. */
static void a_new_input_acts_in_full_at_once(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        "", "2", "", LOAD, CHANNELS ", 'solver': {'stepSize': 0.01, 'spectralRadius': 0.5}"));
    const double force = 3.;

    CU_ASSERT_EQUAL(model_step(s, 0.01), 0);
    CU_ASSERT_EQUAL(model_state(s).q[0], 0.);
    (void)mech_sim_set_input(s, 0, &force, 0, NULL);
    CU_ASSERT_EQUAL(model_step(s, 0.01), 0);
    CHECK_NEAR(model_state(s).q[0], 0.5 * 1.5 * 1e-4, 1e-18);
    CHECK_NEAR(model_state(s).v[0], 1.5e-2, 1e-16);
    CHECK_NEAR(model_state(s).a[0], 1.5, 1e-13);
    mech_sim_destroy(s);
}

/* F(t) = 1 + 2 t + 3 t² from the time it is set: v = (t + t² + t³)/m, integrated by RK44 exactly */
static void an_input_extrapolates_with_its_derivatives(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        "", "2", "", "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 8}",
        CHANNELS ", 'solver': {'integrator': 'RK44', 'stepSize': 0.1}"));
    const double value = 1., derivatives[] = {2., 6.};
    double now;

    CU_ASSERT_EQUAL(model_step(s, 0.5), 0);
    CHECK_NEAR(model_state(s).v[0], 2., 1e-14);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &value, 2, derivatives), 0);
    CU_ASSERT_EQUAL(model_step(s, 1.), 0);
    CHECK_NEAR(model_state(s).v[0], 2. + 3. / 2., 1e-14);
    mech_sim_get_input(s, 0, &now);
    CHECK_NEAR(now, 6., 1e-14);

    /* released to the model, its own value acts */
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, NULL, 0, NULL), 0);
    CU_ASSERT_EQUAL(model_step(s, 1.), 0);
    CHECK_NEAR(model_state(s).v[0], 3.5 + 4., 1e-13);
    mech_sim_destroy(s);
}

static void the_same_value_again_changes_nothing(void)
{
    struct mech_sim *const a = model_of(DRIVEN("'stepSize': 0.01"));
    struct mech_sim *const b = model_of(DRIVEN("'stepSize': 0.01"));
    const double force = 3.;

    (void)mech_sim_set_input(a, 0, &force, 0, NULL);
    for (int i = 0; i < 20; i++) {
        (void)mech_sim_set_input(b, 0, &force, 0, NULL);
        CU_ASSERT_EQUAL(model_step(a, 0.01), 0);
        CU_ASSERT_EQUAL(model_step(b, 0.01), 0);
        CU_ASSERT_EQUAL(model_state(a).q[0], model_state(b).q[0]);
    }
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

static void inputs_that_are_not_finite_are_refused(void)
{
    struct mech_sim *const s = model_of(DRIVEN("'stepSize': 0.01"));
    const double bad = NAN, one = 1.;
    double now;

    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &bad, 0, NULL), MECH_NOT_FINITE);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &one, 1, &bad), MECH_NOT_FINITE);
    mech_sim_get_input(s, 0, &now);
    CU_ASSERT_EQUAL(now, 0.);
    mech_sim_destroy(s);
}

static void forces_of_a_step_act_during_it_only(void)
{
    struct mech_sim *const s =
        model_of(MODEL_OSCILLATOR("", "2", "", "", ", 'solver': {'stepSize': 0.01}"));
    const struct mech_marker_force force = {.marker = 1, .values = {3.}};
    const struct mech_step_request r = {
        .kind = MECH_STEP_SIZE, .size = 1., .forces = &force, .force_count = 1};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CHECK_NEAR(model_state(s).v[0], 1.5, 1e-12);
    CU_ASSERT_EQUAL(model_step(s, 1.), 0);
    CHECK_NEAR(model_state(s).v[0], 1.5, 1e-12);
    CHECK_NEAR(model_state(s).q[0], 0.75 + 1.5, 1e-12);

    /* nor do they add up from command to command */
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CHECK_NEAR(model_state(s).v[0], 3., 1e-12);

    const struct mech_marker_force nowhere = {.marker = 2}, wild = {.values = {NAN}};
    const struct mech_step_request bad[] = {
        {.kind = MECH_STEP_SIZE, .size = 1., .forces = &nowhere, .force_count = 1},
        {.kind = MECH_STEP_SIZE, .size = 1., .forces = &wild, .force_count = 1}};
    CU_ASSERT_EQUAL(mech_sim_step(s, &bad[0], &report), MECH_INVALID);
    CU_ASSERT_EQUAL(mech_sim_step(s, &bad[1], &report), MECH_INVALID);
    mech_sim_destroy(s);
}

static void start_of_step_is_where_the_last_communication_step_began(void)
{
    struct mech_sim *const s = model_of(DRIVEN("'stepSize': 0.001"));
    const double q0 = model_state(s).q[0];
    double value;
    size_t count;

    CU_ASSERT_EQUAL(model_step(s, 0.01), 0);
    const double q1 = model_state(s).q[0];
    CU_ASSERT_EQUAL(
        mech_sim_item_output(s,
                             &(struct mech_item_query){MECH_NODE, "n", MECH_OUTPUT_COORDINATES,
                                                       MECH_START_OF_STEP, NULL},
                             1, &value, &count),
        0);
    CU_ASSERT_EQUAL(value, q0);
    CU_ASSERT_EQUAL(model_step(s, 0.01), 0);
    CU_ASSERT_EQUAL(
        mech_sim_item_output(s,
                             &(struct mech_item_query){MECH_NODE, "n", MECH_OUTPUT_COORDINATES,
                                                       MECH_START_OF_STEP, NULL},
                             1, &value, &count),
        0);
    CU_ASSERT_EQUAL(value, q1);
    mech_sim_destroy(s);
}

static void slices_equal_the_whole_command(void)
{
    struct mech_sim *const a = model_of(DRIVEN("'stepSize': 0.001"));
    struct mech_sim *const b = model_of(DRIVEN("'stepSize': 0.001"));
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 100};
    struct mech_step_report report, other;
    bool done = false;
    int slices = 0;

    CU_ASSERT_EQUAL(mech_sim_step(a, &r, &report), 0);
    CU_ASSERT_EQUAL(mech_sim_step_begin(b, &r, &report), 0);
    while (!done && slices < 100) {
        CU_ASSERT_EQUAL(mech_sim_step_advance(b, 7, &done), 0);
        CU_ASSERT_EQUAL(mech_sim_time(b), 0.);
        CU_ASSERT_EQUAL(mech_sim_step_begin(b, &r, &other), MECH_INVALID);
        slices++;
    }
    CU_ASSERT_EQUAL(slices, 15);
    mech_sim_step_finish(b);
    CU_ASSERT_EQUAL(report.steps, 100);
    CU_ASSERT_EQUAL(model_state(a).q[0], model_state(b).q[0]);

    /* abandoned: nothing happened */
    CU_ASSERT_EQUAL(mech_sim_step_begin(b, &r, &report), 0);
    CU_ASSERT_EQUAL(mech_sim_step_advance(b, 7, &done), 0);
    mech_sim_step_abandon(b);
    CU_ASSERT_EQUAL(mech_sim_time(b), mech_sim_time(a));
    CU_ASSERT_EQUAL(model_state(a).q[0], model_state(b).q[0]);
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

/* every integrator, linear and with a force law where it takes one */
static void a_thousand_steps_allocate_nothing(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        if (info.first_order) {
            continue;
        }
        const char *const law = info.nonsmooth ? "'stiffness': 50"
                                               : "'stiffness': 50,"
                                                 "'springForceUserFunction': '=k*u + u^3'";
        char text[2048];

        snprintf(text, sizeof text,
                 MODEL_OSCILLATOR(", 'initialCoordinates': [0.3]", "2",
                                  ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                                  "'markers': ['g', 'x'], %s}",
                                  "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x',"
                                  "'load': '=7*sin(4*t)'}",
                                  ", 'solver': {'integrator': '%s', 'stepSize': 1e-3}"),
                 law, info.name);
        struct mech_sim *const s = model_of(text);

        alloc_count_start();
        const int code = model_steps(s, 1000);
        const long count = alloc_count_stop();
        CU_ASSERT_EQUAL(code, 0);
        CU_ASSERT_EQUAL(count, 0);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_step_is_split_into_equal_internal_steps),
           UNIT_TEST(until_and_count_end_exactly), UNIT_TEST(impossible_requests_are_refused),
           UNIT_TEST(a_trial_leaves_the_committed_state), UNIT_TEST(any_change_discards_the_trial),
           UNIT_TEST(committed_trials_equal_steps_to_the_bit),
           UNIT_TEST(inputs_of_a_dropped_trial_leave_no_trace),
           UNIT_TEST(inputs_of_a_step_act_as_if_set_before_it),
           UNIT_TEST(energy_of_a_trial_is_that_of_its_end),
           UNIT_TEST(inputs_that_cannot_be_are_refused_with_the_step),
           UNIT_TEST(readers_wait_for_a_command_with_other_parameters),
           UNIT_TEST(a_failed_step_changes_nothing),
           UNIT_TEST(an_infinite_acceleration_at_the_end_is_no_success),
           UNIT_TEST(newton_that_does_not_converge_says_so),
           UNIT_TEST(a_new_input_acts_in_full_at_once),
           UNIT_TEST(an_input_extrapolates_with_its_derivatives),
           UNIT_TEST(the_same_value_again_changes_nothing),
           UNIT_TEST(inputs_that_are_not_finite_are_refused),
           UNIT_TEST(forces_of_a_step_act_during_it_only),
           UNIT_TEST(start_of_step_is_where_the_last_communication_step_began),
           UNIT_TEST(slices_equal_the_whole_command), UNIT_TEST(a_thousand_steps_allocate_nothing))
