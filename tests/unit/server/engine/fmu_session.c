/* An FMU with event mode as an instance: its discrete inputs are set at events, a command is undone
 * with the event that it foresees, lists its events and may end with the first of them. */
#include "tests/unit/server/engine/hosting.h"

#include "tests/fmus/tank.h"

static const char *variables =
    "<Float64 name=\"level\" valueReference=\"0\" causality=\"output\"/>"
    "<Float64 name=\"inflow\" valueReference=\"1\" causality=\"input\" start=\"1\"/>"
    "<Float64 name=\"valve\" valueReference=\"2\" causality=\"input\" variability=\"discrete\" "
    "start=\"0\"/>"
    "<Float64 name=\"emptied\" valueReference=\"3\" causality=\"output\"/>"
    "<Float64 name=\"ticks\" valueReference=\"4\" causality=\"output\"/>"
    "<Float64 name=\"opened\" valueReference=\"5\" causality=\"output\"/>";

enum { INFLOW, VALVE };
enum { LEVEL, EMPTIED, TICKS, OPENED, OUTPUTS };

static struct mechd_fmu_package *tank_package(const char *more, const char *last)
{
    char xml[2048];
    (void)snprintf(xml, sizeof xml,
                   "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"tank\" "
                   "instantiationToken=\"" TANK_TOKEN "\"><CoSimulation modelIdentifier=\"tank\" "
                   "hasEventMode=\"true\" %s/><DefaultExperiment stepSize=\"8\"/>"
                   "<ModelVariables>%s%s</ModelVariables></fmiModelDescription>",
                   more, variables, last);
    return package_from(MECHD_FMI_3, xml, MECH_TESTS_TANK, "tank");
}

static struct mechd_engine tank(const char *more)
{
    struct mechd_fmu_package *const p = tank_package(more, "");
    const struct mechd_engine e = made(p, 0);
    CU_ASSERT_EQUAL_FATAL(mechd_engine_fmu_begin(&e), 0);
    mechd_fmu_package_unref(p);
    return e;
}

static const char saves[] = "mightReturnEarlyFromDoStep=\"true\" "
                            "canHandleVariableCommunicationStepSize=\"true\" "
                            "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"";

static void expect(const struct mechd_engine *e, double level, double emptied, double ticks,
                   double opened)
{
    double outputs[OUTPUTS];
    mechd_engine_get_outputs(e, outputs);
    CU_ASSERT_EQUAL(outputs[LEVEL], level);
    CU_ASSERT_EQUAL(outputs[EMPTIED], emptied);
    CU_ASSERT_EQUAL(outputs[TICKS], ticks);
    CU_ASSERT_EQUAL(outputs[OPENED], opened);
}

static int put(const struct mechd_engine *e, int32_t index, double value)
{
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int rc = mechd_engine_set_inputs(
        e, &(struct mech_input_change){.index = index, .values = &value}, 1, &diag);
    mech_diag_fini(&diag);
    return rc;
}

static void one_step_has_all_its_events(void)
{
    const struct mechd_engine e = tank(saves);
    CU_ASSERT_EQUAL(step(&e, 2.5625), 0);
    CU_ASSERT_EQUAL(report.steps, 1);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 2.5625);
    expect(&e, 0.5625, 2., 10., 0.);
    // undone, with the event that is next: the same again
    const struct mech_step_request trial = {.size = 1., .trial = true};
    CU_ASSERT_EQUAL(run(&e, &trial), 0);
    CU_ASSERT_EQUAL(step(&e, 1.), 0);
    expect(&e, 0.5625, 3., 14., 0.);
    mechd_engine_destroy(&e);
}

static void a_discrete_input_is_set_at_an_event(void)
{
    const struct mechd_engine e = tank(saves);
    CU_ASSERT_EQUAL(put(&e, INFLOW, 0.5), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    expect(&e, 0.25, 0., 2., 0.);
    CU_ASSERT_EQUAL(put(&e, VALVE, 7.), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    expect(&e, 0.5, 0., 4., 1.);
    // refused: it is in step mode again, and the value is another one
    CU_ASSERT_EQUAL(put(&e, VALVE, TANK_BROKEN), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "fmi3SetFloat64 returned status 3"));
    CU_ASSERT_EQUAL(put(&e, VALVE, 8.), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    expect(&e, 0.75, 0., 6., 2.);
    mechd_engine_destroy(&e);
}

static void an_event_that_ends_the_simulation_is_reported(void)
{
    const struct mechd_engine e = tank(saves);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(put(&e, VALVE, TANK_SHUTS), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "asks to end the simulation at t = 0.5 s"));
    // undone
    CU_ASSERT_EQUAL(put(&e, VALVE, TANK_QUIET), 0);
    CU_ASSERT_EQUAL(step(&e, 0.25), 0);
    expect(&e, 0.75, 0., 3., 0.);
    mechd_engine_destroy(&e);
}

static void an_event_without_an_end_is_refused_and_undone(void)
{
    const struct mechd_engine e = tank(saves);
    CU_ASSERT_EQUAL(put(&e, VALVE, TANK_FOREVER), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "requests updates without end"));
    CU_ASSERT_EQUAL(put(&e, VALVE, TANK_QUIET), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    expect(&e, 0.5, 0., 2., 0.);
    mechd_engine_destroy(&e);
}

static void a_fixed_step_has_its_events_at_its_end(void)
{
    const struct mechd_engine e = tank("");
    CU_ASSERT_EQUAL(put(&e, VALVE, 7.), 0);
    CU_ASSERT_EQUAL(step(&e, 8.), 0);
    expect(&e, 0., 1., 32., 1.);
    mechd_engine_destroy(&e);
}

enum { ROOM = 300 };
static struct mech_logged logged[ROOM];

/* A command of the form of a step whose events are logged. */
static struct mech_step_request watched(struct mech_event_log *log, double size, bool early)
{
    *log = (struct mech_event_log){.at = logged, .room = ROOM};
    return (struct mech_step_request){.size = size, .events = log, .early_return = early};
}

static void a_command_lists_its_events(void)
{
    const struct mechd_engine e = tank(saves);
    struct mech_event_log log;
    struct mech_step_request r = watched(&log, 20., false);
    CU_ASSERT_EQUAL(run(&e, &r), 0);
    // three steps of at most 8 s; it is full at each whole second, and ticks each quarter
    CU_ASSERT_EQUAL(report.steps, 3);
    CU_ASSERT_EQUAL(report.ended, MECH_ENDED_AS_REQUESTED);
    CU_ASSERT_EQUAL(log.total, 80);
    for (size_t k = 0; k < log.count; k++) {
        CU_ASSERT_EQUAL(logged[k].kind, MECH_LOGGED_UPDATES);
        CU_ASSERT_EQUAL(logged[k].of, MECH_LOGGED_MODEL);
        CU_ASSERT_STRING_EQUAL(logged[k].item, "tank");
        CHECK_NEAR(logged[k].time, 0.25 * (double)(k + 1), 1e-13);
        CU_ASSERT_EQUAL(logged[k].since, logged[k].time);
    }
    // more than an answer has room for, and more than the list has
    CU_ASSERT_EQUAL(put(&e, INFLOW, 64.), 0);
    r = watched(&log, 8., false);
    log.room = 4;
    CU_ASSERT_EQUAL(run(&e, &r), 0);
    CU_ASSERT_EQUAL(log.count, 4);
    CU_ASSERT_EQUAL(log.total, 512);
    r = watched(&log, 8., false);
    CU_ASSERT_EQUAL(run(&e, &r), 0);
    CU_ASSERT_EQUAL(log.count, 256);
    CU_ASSERT_EQUAL(log.total, 512);
    mechd_engine_destroy(&e);
}

static void a_command_may_end_with_its_first_event(void)
{
    const struct mechd_engine e = tank(saves);
    struct mech_event_log log;
    struct mech_step_request r = watched(&log, 20., true);
    r.trial = true;
    CU_ASSERT_EQUAL(run(&e, &r), 0);
    CU_ASSERT_EQUAL(report.ended, MECH_ENDED_AT_EVENT);
    CU_ASSERT_EQUAL(mechd_engine_trial_time(&e), 0.25);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 0.);
    r = watched(&log, 0.125, true);
    CU_ASSERT_EQUAL(run(&e, &r), 0);
    CU_ASSERT_EQUAL(report.ended, MECH_ENDED_AS_REQUESTED);
    CU_ASSERT_EQUAL(log.total, 0);
    r = watched(&log, 20., true);
    CU_ASSERT_EQUAL(run(&e, &r), 0);
    CU_ASSERT_EQUAL(report.ended, MECH_ENDED_AT_EVENT);
    CU_ASSERT_EQUAL(report.steps, 1);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 0.25);
    expect(&e, 0.25, 0., 1., 0.);
    CU_ASSERT_EQUAL(log.total, 1);
    // at its end, as it was requested
    r = watched(&log, 0.25, true);
    CU_ASSERT_EQUAL(run(&e, &r), 0);
    CU_ASSERT_EQUAL(report.ended, MECH_ENDED_AS_REQUESTED);
    CU_ASSERT_EQUAL(log.total, 1);
    // and what it has left goes on
    CU_ASSERT_EQUAL(step(&e, 0.6875), 0);
    expect(&e, 0.1875, 1., 4., 0.);
    mechd_engine_destroy(&e);
}

static void a_fixed_step_is_the_last_one_with_an_event(void)
{
    const struct mechd_engine e = tank("");
    struct mech_event_log log;
    struct mech_step_request r = watched(&log, 24., true);
    CU_ASSERT_EQUAL(run(&e, &r), 0);
    CU_ASSERT_EQUAL(report.ended, MECH_ENDED_AT_EVENT);
    CU_ASSERT_EQUAL(report.steps, 1);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 8.);
    CU_ASSERT_EQUAL(logged[0].since, 0.);
    CU_ASSERT_EQUAL(logged[0].time, 8.);
    mechd_engine_destroy(&e);
}

/* A command whose events are asked for is refused, with this in its reason. */
static void expect_blind(const struct mechd_engine *e, bool early, const char *part)
{
    struct mech_event_log log;
    const struct mech_step_request r = watched(&log, 0.5, early);
    CU_ASSERT_EQUAL(run(e, &r), MECH_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, part));
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_blind(e, early), part));
}

static void events_that_cannot_be_seen_are_refused(void)
{
    const struct mechd_engine two = begun(MECHD_FMI_2, all_of_2);
    expect_blind(&two, false, "FMI 2.0 reports no events");
    expect_blind(&two, true, "get and set its state");
    mechd_engine_destroy(&two);
    const struct mechd_engine three = begun(MECHD_FMI_3, all_of_3);
    expect_blind(&three, false, "no event mode");
    expect_blind(&three, true, "no event mode");
    const struct mech_step_request r = {.size = 0.5, .early_return = true};
    CU_ASSERT_EQUAL(run(&three, &r), MECH_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "needs the events"));
    mechd_engine_destroy(&three);
    struct mechd_fmu_package *const p =
        tank_package(saves, "<Clock name=\"c\" valueReference=\"9\" causality=\"input\" "
                            "intervalVariability=\"constant\"/>");
    const struct mechd_engine clocked = made(p, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_blind(&clocked, false), "has clocks"));
    CU_ASSERT_PTR_NULL(mechd_engine_blind(&clocked, true));
    mechd_engine_destroy(&clocked);
    mechd_fmu_package_unref(p);
}

static const char returns[] = "canHandleVariableCommunicationStepSize=\"true\" "
                              "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" "
                              "mightReturnEarlyFromDoStep=\"true\"";

static void one_without_event_mode_ends_a_command_early(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, returns);
    struct mech_event_log log;
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_RETURNS), 0);
    struct mech_step_request r = watched(&log, 2., true);
    CU_ASSERT_EQUAL(run(&e, &r), 0);
    CU_ASSERT_EQUAL(report.ended, MECH_ENDED_AT_EVENT);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.25);
    CU_ASSERT_EQUAL(output(&e), 1.25); // u + x, with u = 1
    CU_ASSERT_EQUAL(logged[0].kind, MECH_LOGGED_RETURNS);
    // where that is not asked for the rest follows
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 1.75);
    mechd_engine_destroy(&e);
}

static void events_that_a_library_forges_are_no_answer(void)
{
    static const int moods[] = {CONTROLLER_FORGES_EVENTS, CONTROLLER_ANSWERS_TWICE};
    for (size_t k = 0; k < sizeof moods / sizeof *moods; k++) {
        const struct mechd_engine e = begun(MECHD_FMI_3, returns);
        struct mech_event_log log;
        const struct mech_step_request r = watched(&log, 0.5, true);
        CU_ASSERT_EQUAL(set_parameter(&e, MOOD, moods[k]), 0);
        CU_ASSERT_EQUAL(run(&e, &r), MECH_ENGINE_FAILED);
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "sent an invalid answer"));
        CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
        mechd_engine_destroy(&e);
    }
}

/* The tank is made with event mode or not at all. */
static void clocks_are_left_to_the_fmu(void)
{
    struct mechd_fmu_package *const p =
        tank_package(saves, "<Clock name=\"c\" valueReference=\"9\" causality=\"input\" "
                            "intervalVariability=\"constant\"/>");
    const struct mechd_engine e = made(p, 0);
    CU_ASSERT_EQUAL(mechd_engine_fmu_begin(&e), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_refusal(&e), "it cannot be instantiated"));
    mechd_engine_destroy(&e);
    mechd_fmu_package_unref(p);
}

static void one_that_has_no_event_mode_but_says_so_is_made_without(void)
{
    char abilities[256], xml[4096];
    (void)snprintf(abilities, sizeof abilities, "hasEventMode=\"true\" %s", all_of_3);
    (void)snprintf(xml, sizeof xml, "%s",
                   describe(MECHD_FMI_3, abilities, "startTime=\"1\" stepSize=\"0.5\""));
    memcpy(strstr(xml, CONTROLLER_TOKEN), CONTROLLER_EVENTLESS, strlen(CONTROLLER_TOKEN));
    struct mechd_fmu_package *const p = package_of(MECHD_FMI_3, xml);
    const struct mechd_engine e = made(p, 0);
    CU_ASSERT_EQUAL_FATAL(mechd_engine_fmu_begin(&e), 0);
    // a value that is not continuous needs no event there
    CU_ASSERT_EQUAL(set_parameter(&e, GAIN, 2.), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 0.);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(mechd_engine_blind(&e, false), "cannot be instantiated with event mode"));
    CU_ASSERT_EQUAL(mechd_engine_reset(&e), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_PTR_NOT_NULL(mechd_engine_blind(&e, false));
    mechd_engine_destroy(&e);
    mechd_fmu_package_unref(p);
}

UNIT_TESTS(UNIT_TEST(one_step_has_all_its_events), UNIT_TEST(a_discrete_input_is_set_at_an_event),
           UNIT_TEST(an_event_that_ends_the_simulation_is_reported),
           UNIT_TEST(an_event_without_an_end_is_refused_and_undone),
           UNIT_TEST(a_fixed_step_has_its_events_at_its_end), UNIT_TEST(a_command_lists_its_events),
           UNIT_TEST(a_command_may_end_with_its_first_event),
           UNIT_TEST(a_fixed_step_is_the_last_one_with_an_event),
           UNIT_TEST(events_that_cannot_be_seen_are_refused),
           UNIT_TEST(one_without_event_mode_ends_a_command_early),
           UNIT_TEST(events_that_a_library_forges_are_no_answer),
           UNIT_TEST(clocks_are_left_to_the_fmu),
           UNIT_TEST(one_that_has_no_event_mode_but_says_so_is_made_without))
