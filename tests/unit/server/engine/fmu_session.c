/* An FMU with event mode as an instance: its discrete inputs are set at events, and a command is
 * undone with the event that it foresees. */
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

static void an_event_that_ends_the_simulation_is_told(void)
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
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "asks for ever more updates"));
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

/* The tank is made with event mode or not at all. */
static void clocks_are_left_to_the_fmu(void)
{
    struct mechd_fmu_package *const p =
        tank_package(saves, "<Clock name=\"c\" valueReference=\"9\" causality=\"input\" "
                            "intervalVariability=\"constant\"/>");
    const struct mechd_engine e = made(p, 0);
    CU_ASSERT_EQUAL(mechd_engine_fmu_begin(&e), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_refusal(&e), "it makes no instance"));
    mechd_engine_destroy(&e);
    mechd_fmu_package_unref(p);
}

UNIT_TESTS(UNIT_TEST(one_step_has_all_its_events), UNIT_TEST(a_discrete_input_is_set_at_an_event),
           UNIT_TEST(an_event_that_ends_the_simulation_is_told),
           UNIT_TEST(an_event_without_an_end_is_refused_and_undone),
           UNIT_TEST(a_fixed_step_has_its_events_at_its_end), UNIT_TEST(clocks_are_left_to_the_fmu))
