/* Steps of an FMU with event mode, in the test's own process: they are cut at its events and end
 * where they should, and an FMU whose events have no end is refused. */
#include "server/engine/fmu_binary.h"
#include "tests/fmus/controller.h"
#include "tests/fmus/shelf.h"
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

static int step(struct mechd_binary *b, double time, double size, struct mechd_fmu_reached *end)
{
    *end = (struct mechd_fmu_reached){NAN, true, true};
    return mechd_binary_step(b, &(struct mechd_fmu_span){.time = time, .size = size}, end);
}

static void expect_level(struct mechd_binary *b, double level, double emptied, double ticks)
{
    CU_ASSERT_EQUAL(get(b, TANK_LEVEL), level);
    CU_ASSERT_EQUAL(get(b, TANK_EMPTIED), emptied);
    CU_ASSERT_EQUAL(get(b, TANK_TICKS), ticks);
}

static void a_step_is_cut_at_events(void)
{
    struct mechd_fmu_reached end;
    BEGIN(b, CUTS);
    CU_ASSERT(b.events);
    CU_ASSERT_EQUAL(b.next_event, 0.25);
    CU_ASSERT_EQUAL(step(&b, 0., 2.5625, &end), 0);
    CU_ASSERT_EQUAL(end.time, 2.5625);
    CU_ASSERT_FALSE(end.terminate);
    expect_level(&b, 0.5625, 2., 10.);
    // full every 0.125 s: half of these times nothing was foreseen
    CU_ASSERT_EQUAL(set(&b, TANK_INFLOW, 8.), 0);
    CU_ASSERT_EQUAL(step(&b, 2.5625, 0.25, &end), 0);
    CU_ASSERT_EQUAL(end.time, 2.8125);
    // at 2.6171875 s and 2.7421875 s
    expect_level(&b, 0.5625, 4., 11.);
    mechd_binary_close(&b);
}

static void events_of_steps_that_cannot_be_cut_are_at_their_ends(void)
{
    struct mechd_fmu_reached end;
    BEGIN(b, MECHD_FMU_EVENTS);
    CU_ASSERT_EQUAL(set(&b, TANK_INFLOW, 8.), 0);
    CU_ASSERT_EQUAL(step(&b, 0., 0.5, &end), 0);
    CU_ASSERT_EQUAL(end.time, 0.5);
    // both that were foreseen are updates of one event
    expect_level(&b, 0., 1., 2.);
    CU_ASSERT_EQUAL(b.next_event, 0.75);
    mechd_binary_close(&b);
}

static void what_is_not_continuous_is_set_in_event_mode(void)
{
    struct mechd_fmu_reached end;
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
    struct mechd_fmu_reached end;
    BEGIN(b, CUTS);
    turn_valve(&b, TANK_STICKS);
    CU_ASSERT_EQUAL(mechd_binary_leave_event(&b), 0);
    CU_ASSERT_EQUAL(step(&b, 0., 2., &end), MECHD_FMU_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.fault, "event after event at one time"));
    turn_valve(&b, TANK_FOREVER);
    CU_ASSERT_EQUAL(mechd_binary_leave_event(&b), MECHD_FMU_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.fault, "updates without end"));
    mechd_binary_close(&b);
}

static void a_step_that_ends_after_its_end_is_refused(void)
{
    struct mechd_fmu_reached end;
    BEGIN(b, CUTS);
    turn_valve(&b, TANK_STRAYS);
    CU_ASSERT_EQUAL(mechd_binary_leave_event(&b), 0);
    CU_ASSERT_EQUAL(step(&b, 0., 0.125, &end), MECHD_FMU_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.fault, "ends outside its step"));
    mechd_binary_close(&b);
}

static void an_event_may_end_the_simulation(void)
{
    struct mechd_fmu_reached end;
    BEGIN(b, CUTS);
    turn_valve(&b, TANK_SHUTS);
    CU_ASSERT_EQUAL(mechd_binary_leave_event(&b), 0);
    CU_ASSERT_EQUAL(step(&b, 0., 0.5, &end), 0);
    CU_ASSERT(end.terminate);
    CU_ASSERT_EQUAL(end.time, 0.);
    // a fresh one has not ended
    CU_ASSERT_EQUAL(mechd_binary_reset(&b), 0);
    CU_ASSERT_FALSE(b.ends);
    mechd_binary_close(&b);
}

static void states_have_the_event_that_is_foreseen(void)
{
    struct mechd_fmu_reached end;
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

enum { ROOM = 16 };

/* A step with room for its events. */
#define WATCH(log)                                                                                 \
    struct mech_logged log##_at[ROOM];                                                             \
    struct mech_event_log log = {.at = log##_at, .room = ROOM}

static void expect_event(const struct mech_event_log *log, size_t k, enum mech_logged_kind kind,
                         double since, double time)
{
    CU_ASSERT_FATAL(k < log->count);
    CU_ASSERT_EQUAL(log->at[k].kind, kind);
    CU_ASSERT_EQUAL(log->at[k].of, MECH_LOGGED_MODEL);
    CU_ASSERT_EQUAL(log->at[k].since, since);
    CU_ASSERT_EQUAL(log->at[k].time, time);
}

static void events_of_a_step_are_reported(void)
{
    struct mechd_fmu_reached end;
    WATCH(log);
    BEGIN(b, CUTS);
    const struct mechd_fmu_span span = {.size = 2.5625, .events = &log};
    CU_ASSERT_EQUAL(mechd_binary_step(&b, &span, &end), 0);
    CU_ASSERT_EQUAL(end.time, 2.5625);
    CU_ASSERT(end.event);
    // full at 1 s and 2 s, where it also ticks: one event each
    CU_ASSERT_EQUAL(log.total, 10);
    for (size_t k = 0; k < log.count; k++) {
        const double at = 0.25 * (double)(k + 1);
        expect_event(&log, k, MECH_LOGGED_UPDATES, at, at);
    }
    const struct mechd_fmu_span quiet = {.time = 2.5625, .size = 0.125, .events = &log};
    CU_ASSERT_EQUAL(mechd_binary_step(&b, &quiet, &end), 0);
    CU_ASSERT_FALSE(end.event);
    CU_ASSERT_EQUAL(log.total, 10);
    mechd_binary_close(&b);
}

static void an_event_that_is_not_located_is_in_its_step(void)
{
    struct mechd_fmu_reached end;
    WATCH(log);
    BEGIN(b, MECHD_FMU_EVENTS);
    CU_ASSERT_EQUAL(set(&b, TANK_INFLOW, 8.), 0);
    const struct mechd_fmu_span span = {.size = 0.375, .early = true, .events = &log};
    CU_ASSERT_EQUAL(mechd_binary_step(&b, &span, &end), 0);
    CU_ASSERT_EQUAL(end.time, 0.375);
    CU_ASSERT(end.event);
    CU_ASSERT_EQUAL(log.total, 1);
    expect_event(&log, 0, MECH_LOGGED_UPDATES, 0., 0.375);
    mechd_binary_close(&b);
}

static void a_step_may_end_with_its_first_event(void)
{
    struct mechd_fmu_reached end;
    WATCH(log);
    BEGIN(b, CUTS);
    CU_ASSERT_EQUAL(set(&b, TANK_INFLOW, 8.), 0);
    struct mechd_fmu_span span = {.size = 2., .early = true, .events = &log};
    CU_ASSERT_EQUAL(mechd_binary_step(&b, &span, &end), 0);
    CU_ASSERT_EQUAL(end.time, 0.125);
    CU_ASSERT(end.event);
    expect_level(&b, 0., 1., 0.);
    expect_event(&log, 0, MECH_LOGGED_UPDATES, 0.125, 0.125);
    // the next one is foreseen, and the rest follows
    CU_ASSERT_EQUAL(set(&b, TANK_INFLOW, 1.), 0);
    span = (struct mechd_fmu_span){.time = 0.125, .size = 2., .early = true, .events = &log};
    CU_ASSERT_EQUAL(mechd_binary_step(&b, &span, &end), 0);
    CU_ASSERT_EQUAL(end.time, 0.25);
    expect_level(&b, 0.125, 1., 1.);
    CU_ASSERT_EQUAL(log.total, 2);
    CU_ASSERT_EQUAL(step(&b, 0.25, 0.5, &end), 0);
    CU_ASSERT_EQUAL(end.time, 0.75);
    mechd_binary_close(&b);
}

static void set_mood(struct mechd_binary *b, int mood)
{
    const uint32_t vr = 5;
    const struct mechd_binary_values v = {MECHD_FMU_INT32, &vr, 1, &mood, 1};
    CU_ASSERT_EQUAL(mechd_binary_set(b, &v), 0);
}

static void one_without_event_mode_returns_early(void)
{
    struct mechd_fmu_reached end;
    WATCH(log);
    struct mechd_binary b = opened(MECHD_FMU_EARLY_RETURN | MECHD_FMU_VARIABLE_STEP);
    CU_ASSERT_EQUAL_FATAL(
        mechd_binary_open(&b, MECH_TESTS_CONTROLLER, "c", CONTROLLER_TOKEN, "/tmp", false), 0);
    CU_ASSERT_EQUAL(mechd_binary_enter(&b, NAN, 0., NAN), 0);
    CU_ASSERT_EQUAL(mechd_binary_exit(&b), 0);
    set_mood(&b, CONTROLLER_RETURNS);
    struct mechd_fmu_span span = {.size = 0.625, .events = &log};
    CU_ASSERT_EQUAL(mechd_binary_step(&b, &span, &end), 0);
    CU_ASSERT_EQUAL(end.time, 0.625);
    CU_ASSERT_EQUAL(log.total, 2);
    expect_event(&log, 0, MECH_LOGGED_RETURNS, 0.25, 0.25);
    expect_event(&log, 1, MECH_LOGGED_RETURNS, 0.5, 0.5);
    span = (struct mechd_fmu_span){.time = 0.625, .size = 1., .early = true, .events = &log};
    CU_ASSERT_EQUAL(mechd_binary_step(&b, &span, &end), 0);
    CU_ASSERT_EQUAL(end.time, 0.75);
    CU_ASSERT(end.event);
    mechd_binary_close(&b);
}

/* From 5 s on: it is discarded at 5.25 s. */
static int discarded(unsigned can, bool early, struct mech_event_log *log,
                     struct mechd_fmu_reached *end)
{
    struct mechd_binary b = {.version = MECHD_FMI_2, .can = can, .log = drop_log};
    const struct mechd_fmu_span span = {.time = 5., .size = 1., .early = early, .events = log};
    CU_ASSERT_EQUAL_FATAL(mechd_binary_open(&b, MECH_TESTS_SHELF, "s", SHELF_TOKEN, "/tmp", false),
                          0);
    const int rc = mechd_binary_step(&b, &span, end);
    if (rc == 0) {
        // it goes on from there
        CU_ASSERT_EQUAL(step(&b, end->time, 0.5, &(struct mechd_fmu_reached){0}), 0);
    } else {
        CU_ASSERT_STRING_EQUAL(b.fault, "fmi2DoStep");
        CU_ASSERT_EQUAL(b.status, MECHP_FMI2_DISCARD);
    }
    mechd_binary_close(&b);
    return rc;
}

static void a_discarded_step_is_done_up_to_where_it_came(void)
{
    const unsigned all = MECHD_FMU_STATE | MECHD_FMU_VARIABLE_STEP;
    struct mechd_fmu_reached end;
    WATCH(log);
    CU_ASSERT_EQUAL(discarded(all, true, &log, &end), 0);
    CU_ASSERT_EQUAL(end.time, 5.25);
    CU_ASSERT(end.event);
    CU_ASSERT_FALSE(end.terminate);
    CU_ASSERT_EQUAL(log.total, 1);
    expect_event(&log, 0, MECH_LOGGED_RETURNS, 5.25, 5.25);
    CU_ASSERT_EQUAL(discarded(all, false, NULL, &end), MECHD_FMU_REFUSED);
    CU_ASSERT_EQUAL(discarded(MECHD_FMU_STATE, true, &log, &end), MECHD_FMU_REFUSED);
    CU_ASSERT_EQUAL(discarded(MECHD_FMU_VARIABLE_STEP, true, &log, &end), MECHD_FMU_REFUSED);
    CU_ASSERT_EQUAL(log.total, 1);
}

UNIT_TESTS(UNIT_TEST(a_step_is_cut_at_events),
           UNIT_TEST(events_of_steps_that_cannot_be_cut_are_at_their_ends),
           UNIT_TEST(what_is_not_continuous_is_set_in_event_mode),
           UNIT_TEST(events_without_an_end_are_refused),
           UNIT_TEST(a_step_that_ends_after_its_end_is_refused),
           UNIT_TEST(an_event_may_end_the_simulation),
           UNIT_TEST(states_have_the_event_that_is_foreseen),
           UNIT_TEST(an_fmu_that_has_no_events_after_all_is_refused),
           UNIT_TEST(events_of_a_step_are_reported),
           UNIT_TEST(an_event_that_is_not_located_is_in_its_step),
           UNIT_TEST(a_step_may_end_with_its_first_event),
           UNIT_TEST(one_without_event_mode_returns_early),
           UNIT_TEST(a_discarded_step_is_done_up_to_where_it_came))
