/* Steps of an FMU with event mode, in the test's own process: they are cut at its events and end
 * where they should, and an FMU whose events have no end is refused. */
#include "server/engine/fmu_binary.h"
#include "tests/fmus/controller.h"
#include "tests/fmus/tank.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CUTS = MECHD_FMU_EVENTS | MECHD_FMU_EARLY_RETURN | MECHD_FMU_VARIABLE_STEP };

static void drop_log(void *context, int status, const char *category, const char *message)
{
    (void)context;
}

static struct mechd_binary opened(unsigned can)
{
    return (struct mechd_binary){.version = MECHD_FMI_3, .can = can, .log = drop_log};
}

/* In step mode at 0 s. */
#define BEGIN(b, abilities)                                                                        \
    struct mechd_binary b = opened(abilities);                                                     \
    CU_ASSERT_EQUAL_FATAL(mechd_binary_open(&b, MECH_TESTS_TANK, "t", TANK_TOKEN, "/tmp", false),  \
                          0);                                                                      \
    CU_ASSERT_EQUAL(mechd_binary_enter(&b, NAN, 0., NAN), 0);                                      \
    CU_ASSERT_EQUAL_FATAL(mechd_binary_exit(&b), 0)

static double get(struct mechd_binary *b, enum tank_variable reference)
{
    double value = NAN;
    const uint32_t vr = reference;
    const struct mechd_binary_values v = {MECHD_FMU_FLOAT64, &vr, 1, &value, 1};
    CU_ASSERT_EQUAL(mechd_binary_get(b, &v), 0);
    return value;
}

static int set(struct mechd_binary *b, enum tank_variable reference, double value)
{
    const uint32_t vr = reference;
    const struct mechd_binary_values v = {MECHD_FMU_FLOAT64, &vr, 1, &value, 1};
    return mechd_binary_set(b, &v);
}

static int step(struct mechd_binary *b, double time, double size, struct mechd_binary_step *end)
{
    *end = (struct mechd_binary_step){NAN, true};
    return mechd_binary_step(b, time, size, end);
}

static void expect_level(struct mechd_binary *b, double level, double emptied, double ticks)
{
    CU_ASSERT_EQUAL(get(b, TANK_LEVEL), level);
    CU_ASSERT_EQUAL(get(b, TANK_EMPTIED), emptied);
    CU_ASSERT_EQUAL(get(b, TANK_TICKS), ticks);
}

static void a_step_is_cut_at_events(void)
{
    struct mechd_binary_step end;
    BEGIN(b, CUTS);
    CU_ASSERT(b.events);
    CU_ASSERT_EQUAL(b.next_event, 0.25);
    CU_ASSERT_EQUAL(step(&b, 0., 2.5625, &end), 0);
    CU_ASSERT_EQUAL(end.reached, 2.5625);
    CU_ASSERT_FALSE(end.terminate);
    expect_level(&b, 0.5625, 2., 10.);
    // full every 0.125 s: half of these times nothing was foreseen
    CU_ASSERT_EQUAL(set(&b, TANK_INFLOW, 8.), 0);
    CU_ASSERT_EQUAL(step(&b, 2.5625, 0.25, &end), 0);
    CU_ASSERT_EQUAL(end.reached, 2.8125);
    // at 2.6171875 s and 2.7421875 s
    expect_level(&b, 0.5625, 4., 11.);
    mechd_binary_close(&b);
}

static void events_of_steps_that_cannot_be_cut_are_at_their_ends(void)
{
    struct mechd_binary_step end;
    BEGIN(b, MECHD_FMU_EVENTS);
    CU_ASSERT_EQUAL(set(&b, TANK_INFLOW, 8.), 0);
    CU_ASSERT_EQUAL(step(&b, 0., 0.5, &end), 0);
    CU_ASSERT_EQUAL(end.reached, 0.5);
    // both that were foreseen are updates of one event
    expect_level(&b, 0., 1., 2.);
    CU_ASSERT_EQUAL(b.next_event, 0.75);
    mechd_binary_close(&b);
}

static void what_is_not_continuous_is_set_in_event_mode(void)
{
    struct mechd_binary_step end;
    BEGIN(b, CUTS);
    CU_ASSERT_EQUAL(set(&b, TANK_VALVE, TANK_QUIET), MECHD_FMU_REFUSED);
    CU_ASSERT_EQUAL(mechd_binary_enter_event(&b), 0);
    CU_ASSERT_EQUAL(set(&b, TANK_VALVE, TANK_QUIET), 0);
    CU_ASSERT_EQUAL(step(&b, 0., 0.25, &end), MECHD_FMU_REFUSED);
    CU_ASSERT_EQUAL(mechd_binary_leave_event(&b), 0);
    CU_ASSERT_EQUAL(step(&b, 0., 0.25, &end), 0);
    CU_ASSERT_EQUAL(get(&b, TANK_OPENED), 1.);
    mechd_binary_close(&b);
}

static void turn_valve(struct mechd_binary *b, double value)
{
    CU_ASSERT_EQUAL(mechd_binary_enter_event(b), 0);
    CU_ASSERT_EQUAL(set(b, TANK_VALVE, value), 0);
}

static void events_without_an_end_are_refused(void)
{
    struct mechd_binary_step end;
    BEGIN(b, CUTS);
    turn_valve(&b, TANK_STICKS);
    CU_ASSERT_EQUAL(mechd_binary_leave_event(&b), 0);
    CU_ASSERT_EQUAL(step(&b, 0., 2., &end), MECHD_FMU_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.fault, "event after event at one time"));
    turn_valve(&b, TANK_FOREVER);
    CU_ASSERT_EQUAL(mechd_binary_leave_event(&b), MECHD_FMU_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.fault, "ever more updates"));
    mechd_binary_close(&b);
}

static void a_step_that_ends_behind_its_end_is_refused(void)
{
    struct mechd_binary_step end;
    BEGIN(b, CUTS);
    turn_valve(&b, TANK_STRAYS);
    CU_ASSERT_EQUAL(mechd_binary_leave_event(&b), 0);
    CU_ASSERT_EQUAL(step(&b, 0., 0.125, &end), MECHD_FMU_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.fault, "ends outside its step"));
    mechd_binary_close(&b);
}

static void an_event_may_end_the_simulation(void)
{
    struct mechd_binary_step end;
    BEGIN(b, CUTS);
    turn_valve(&b, TANK_SHUTS);
    CU_ASSERT_EQUAL(mechd_binary_leave_event(&b), 0);
    CU_ASSERT_EQUAL(step(&b, 0., 0.5, &end), 0);
    CU_ASSERT(end.terminate);
    CU_ASSERT_EQUAL(end.reached, 0.);
    // a fresh one has not ended
    CU_ASSERT_EQUAL(mechd_binary_reset(&b), 0);
    CU_ASSERT_FALSE(b.ends);
    mechd_binary_close(&b);
}

static void states_have_the_event_that_is_foreseen(void)
{
    struct mechd_binary_step end;
    char *bytes = NULL;
    size_t size = 0;
    BEGIN(b, CUTS);
    CU_ASSERT_EQUAL(step(&b, 0., 0.375, &end), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_binary_save(&b, &bytes, &size), 0);
    CU_ASSERT_EQUAL(step(&b, 0.375, 1., &end), 0);
    expect_level(&b, 0.375, 1., 5.);
    CU_ASSERT_EQUAL(b.next_event, 1.5);
    turn_valve(&b, TANK_SHUTS);
    CU_ASSERT_EQUAL(mechd_binary_leave_event(&b), 0);
    CU_ASSERT_EQUAL(mechd_binary_restore(&b, bytes, size), 0);
    CU_ASSERT_EQUAL(b.next_event, 0.5);
    expect_level(&b, 0.375, 0., 1.);
    CU_ASSERT_EQUAL(step(&b, 0.375, 1., &end), 0);
    CU_ASSERT_FALSE(end.terminate);
    expect_level(&b, 0.375, 1., 5.);
    CU_ASSERT_EQUAL(mechd_binary_restore(&b, bytes, 7), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_EQUAL(mechd_binary_restore(&b, bytes, size - 1), MECHD_FMU_REFUSED);
    expect_level(&b, 0.375, 1., 5.);
    free(bytes);
    mechd_binary_close(&b);
}

static void an_fmu_that_has_no_events_after_all_is_refused(void)
{
    struct mechd_binary b = opened(CUTS);
    CU_ASSERT_EQUAL_FATAL(
        mechd_binary_open(&b, MECH_TESTS_CONTROLLER, "c", CONTROLLER_TOKEN, "/tmp", false), 0);
    CU_ASSERT_EQUAL(mechd_binary_enter(&b, NAN, 0., NAN), 0);
    CU_ASSERT_EQUAL(mechd_binary_exit(&b), MECHD_FMU_LACKS);
    CU_ASSERT_STRING_EQUAL(b.fault, "fmi3UpdateDiscreteStates");
    CU_ASSERT_EQUAL(mechd_binary_enter_event(&b), MECHD_FMU_LACKS);
    CU_ASSERT_STRING_EQUAL(b.fault, "fmi3EnterEventMode");
    mechd_binary_close(&b);
}

UNIT_TESTS(UNIT_TEST(a_step_is_cut_at_events),
           UNIT_TEST(events_of_steps_that_cannot_be_cut_are_at_their_ends),
           UNIT_TEST(what_is_not_continuous_is_set_in_event_mode),
           UNIT_TEST(events_without_an_end_are_refused),
           UNIT_TEST(a_step_that_ends_behind_its_end_is_refused),
           UNIT_TEST(an_event_may_end_the_simulation),
           UNIT_TEST(states_have_the_event_that_is_foreseen),
           UNIT_TEST(an_fmu_that_has_no_events_after_all_is_refused))
