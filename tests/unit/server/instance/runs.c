/* Runs whose periods something else steps: it asks for the end of each and says when it is done. */
#include "server/instance/runs.h"

#include "tests/unit/server/instance/host.h"

#include <math.h>

static int given;

/* The stepper of the run has it from now on: here, the test. */
static enum mechd_submitted give(struct mechd_run *r)
{
    (void)r;
    given++;
    return MECHD_QUEUED;
}

static struct mechd_run *start_as(struct mechd_instance *i,
                                  const struct mechd_run_settings *settings)
{
    struct mechd_excess excess;
    given = 0;
    i->turns = give;
    CU_ASSERT_EQUAL_FATAL(mechd_run_start(i, settings, &excess), 0);
    CU_ASSERT_EQUAL(given, 1);
    return i->run;
}

static struct mechd_run *start(struct mechd_instance *i, double until)
{
    const struct mechd_run_settings settings = {.period = 0.5, .until = until, .every = 1};
    return start_as(i, &settings);
}

/* To the end of the period that was asked for. */
static void step(struct mechd_instance *i, const struct mechd_run *r)
{
    struct mech_step_report report;
    bool done = false;
    CU_ASSERT_EQUAL_FATAL(mechd_engine_step_begin(&i->engine, &r->stepping.request, &report), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_engine_step_advance(&i->engine, 100, &done), 0);
    CU_ASSERT_TRUE_FATAL(done);
    mechd_engine_step_finish(&i->engine);
    mechd_instance_stepped(i, 0);
}

static void a_run_ends_after_its_last_period(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    struct mechd_run *const r = start(i, 1.25);
    const double ends[] = {0.5, 1., 1.25};
    for (int k = 0; k < 3; k++) {
        CU_ASSERT_TRUE_FATAL(mechd_run_next(r));
        CU_ASSERT_EQUAL(r->stepping.request.until, ends[k]);
        step(i, r);
        r->now = mechd_now();
        (void)mechd_run_done(r, r->now);
    }
    CU_ASSERT_FALSE(mechd_run_next(r));
    CU_ASSERT_EQUAL(r->state, MECHD_RUN_FINISHED);
    CU_ASSERT_EQUAL(r->periods, 3);
    CU_ASSERT_EQUAL(r->record.count, 4);
    CU_ASSERT_EQUAL(r->record.block->values[3 * r->record.width], 1.25);
    CU_ASSERT_FALSE(atomic_load(&i->running));
    mechd_run_turned(r);
    CU_ASSERT_EQUAL(given, 1);
    mechd_instance_unref(i);
    host_destroy(d);
}

static void a_turn_that_is_over_is_followed_by_the_next(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    struct mechd_run *const r = start(i, 10.);
    CU_ASSERT_TRUE_FATAL(mechd_run_next(r));
    step(i, r);
    r->now = mechd_now();
    CU_ASSERT_TRUE(mechd_run_done(r, r->now));
    CU_ASSERT_FALSE(mechd_run_done(r, r->now - 3600000 * (uint64_t)MECHD_MS));
    mechd_run_turned(r);
    CU_ASSERT_EQUAL(given, 2);
    // what the next turn finds
    mechd_run_stop(i, MECHD_RUN_STOPPED, "");
    CU_ASSERT_FALSE(mechd_run_next(r));
    mechd_run_turned(r);
    CU_ASSERT_EQUAL(given, 2);
    mechd_instance_unref(i);
    host_destroy(d);
}

/* From one period of a paced run to the next, ns. */
static const uint64_t wall = MECHD_MS;

/* A paced run whose first period is over, on time. */
static struct mechd_run *start_paced(struct mechd_instance *i)
{
    const struct mechd_run_settings settings = {.pace = 500., .period = 0.5, .until = (double)NAN};
    struct mechd_run *const r = start_as(i, &settings);
    CU_ASSERT_EQUAL(r->wall, wall);
    r->now = r->due;
    CU_ASSERT_TRUE_FATAL(mechd_run_next(r));
    step(i, r);
    r->now += wall / 100;
    CU_ASSERT_FALSE(mechd_run_done(r, r->now - wall / 100));
    return r;
}

/* Periods of a turn that begins so long after the next one is due; each takes `cost` ns. */
static int visit(struct mechd_instance *i, struct mechd_run *r, uint64_t late, uint64_t cost)
{
    const uint64_t start = r->due + late;
    int count = 0;
    r->now = start;
    do {
        CU_ASSERT_TRUE_FATAL(mechd_run_next(r));
        step(i, r);
        r->now += cost;
        count++;
    } while (mechd_run_done(r, start));
    return count;
}

/* The run of each case is another one. */
static void a_late_run_steps_all_periods_that_are_due(void)
{
    static const struct {
        double late; /* periods */
        uint64_t cost;
        bool carried; /* on a lane of the clock */
        int count;
        unsigned halves, wholes;
    } cases[] = {
        // how many begin more than half a period after they are due, and more than a whole one
        {0.25, 20000, false, 1, 0, 0},
        {0.75, 20000, false, 1, 1, 0},
        {1.25, 20000, false, 2, 1, 1},
        {6.25, 20000, false, 7, 6, 6},
        {6.25, 20000, true, 7, 6, 6},
        // a period becomes due in the meantime
        {6.95, 20000, false, 8, 7, 7},
        // the turn is over: a millisecond, or less for what the clock itself computes
        {20.25, 300000, false, 4, 4, 4},
        {20.25, 60000, true, 4, 4, 4},
        // a period that takes longer than a turn is alone in it
        {20.25, 2000000, false, 1, 1, 1},
        // of thousands of periods those of the last 100 ms remain
        {5000.25, 4000, false, 102, 101, 101},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct mechd_host *const d = host_create(1);
        struct mechd_instance *const i = instance_create(d);
        struct mechd_run *const r = start_paced(i);
        const uint64_t late = (uint64_t)(cases[n].late * (double)wall);
        i->hold = cases[n].carried ? MECHD_HOLD_CARRIED : MECHD_HOLD_IDLE;
        CU_ASSERT_EQUAL(visit(i, r, late, cases[n].cost), cases[n].count);
        CU_ASSERT_EQUAL(r->late, cases[n].halves);
        CU_ASSERT_EQUAL(r->overruns, cases[n].wholes);
        CU_ASSERT_EQUAL(r->latest, late);
        i->hold = MECHD_HOLD_IDLE;
        mechd_run_stop(i, MECHD_RUN_STOPPED, "");
        mechd_run_turned(r);
        mechd_instance_unref(i);
        host_destroy(d);
    }
}

static void a_period_that_begins_again_is_counted_once(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    struct mechd_run *const r = start_paced(i);
    r->now = r->due + 3 * wall;
    CU_ASSERT_TRUE_FATAL(mechd_run_next(r));
    r->now += wall;
    CU_ASSERT_TRUE_FATAL(mechd_run_next(r));
    CU_ASSERT_EQUAL(r->late, 1);
    CU_ASSERT_EQUAL(r->overruns, 1);
    step(i, r);
    CU_ASSERT_TRUE(mechd_run_done(r, r->now));
    CU_ASSERT_TRUE_FATAL(mechd_run_next(r));
    CU_ASSERT_EQUAL(r->late, 2);
    mechd_run_stop(i, MECHD_RUN_STOPPED, "");
    mechd_run_turned(r);
    mechd_instance_unref(i);
    host_destroy(d);
}

/* More than the processors can do: a turn every 200 periods. */
static void what_an_overloaded_run_has_to_catch_up_with_is_bounded(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    struct mechd_run *const r = start_paced(i);
    for (int k = 0; k < 100; k++) {
        const uint64_t now = r->now + 200 * wall;
        CU_ASSERT_EQUAL(visit(i, r, now - r->due, 1000), 102);
        CU_ASSERT(r->due > r->now && r->due <= r->now + wall);
    }
    mechd_run_stop(i, MECHD_RUN_STOPPED, "");
    mechd_run_turned(r);
    mechd_instance_unref(i);
    host_destroy(d);
}

/* A schedule of long periods is moved by what is beyond one of them. */
static void a_slow_run_is_at_most_a_period_behind(void)
{
    const struct mechd_run_settings settings = {.pace = 1., .period = 0.5, .until = (double)NAN};
    const uint64_t half = MECHD_MS * (uint64_t)500;
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    struct mechd_run *const r = start_as(i, &settings);
    CU_ASSERT_EQUAL(visit(i, r, 0, MECHD_MS / 10), 1);
    CU_ASSERT_EQUAL(visit(i, r, 10 * half, MECHD_MS / 10), 3);
    CU_ASSERT_EQUAL(r->overruns, 1);
    CU_ASSERT_EQUAL(r->due, r->now + half - MECHD_MS / 5);
    mechd_run_stop(i, MECHD_RUN_STOPPED, "");
    mechd_run_turned(r);
    mechd_instance_unref(i);
    host_destroy(d);
}

UNIT_TESTS(UNIT_TEST(a_run_ends_after_its_last_period),
           UNIT_TEST(a_turn_that_is_over_is_followed_by_the_next),
           UNIT_TEST(a_late_run_steps_all_periods_that_are_due),
           UNIT_TEST(a_period_that_begins_again_is_counted_once),
           UNIT_TEST(what_an_overloaded_run_has_to_catch_up_with_is_bounded),
           UNIT_TEST(a_slow_run_is_at_most_a_period_behind))
