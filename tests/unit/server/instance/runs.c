/* Runs whose periods something else steps: it asks for the end of each and says when it is done. */
#include "server/instance/runs.h"

#include "tests/unit/server/instance/host.h"

static int given;

/* The stepper of the run has it from now on: here, the test. */
static enum mechd_submitted give(struct mechd_run *r)
{
    (void)r;
    given++;
    return MECHD_QUEUED;
}

static struct mechd_run *start(struct mechd_instance *i, double until)
{
    const struct mechd_run_settings settings = {.period = 0.5, .until = until, .every = 1};
    struct mechd_excess excess;
    given = 0;
    i->turns = give;
    CU_ASSERT_EQUAL_FATAL(mechd_run_start(i, &settings, &excess), 0);
    CU_ASSERT_EQUAL(given, 1);
    return i->run;
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

UNIT_TESTS(UNIT_TEST(a_run_ends_after_its_last_period),
           UNIT_TEST(a_turn_that_is_over_is_followed_by_the_next))
