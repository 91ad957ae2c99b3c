/* Events of a run whose instance has been deleted, until the run has ended. */
#include "server/call/service.h"
#include "server/http/sse.h"
#include "server/instance/host.h"
#include "server/instance/runs.h"
#include "tests/unit/server/scarce.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

/* The stepper of the run has it from now on: here, the test. */
static enum mechd_submitted give(struct mechd_run *r)
{
    (void)r;
    return MECHD_QUEUED;
}

static struct mechd_run *start(struct mechd_instance *i)
{
    const struct mechd_run_settings settings = {.period = 0.5, .until = 5., .every = 1};
    struct mechd_excess excess;
    i->turns = give;
    CU_ASSERT_EQUAL_FATAL(mechd_run_start(i, &settings, &excess), 0);
    // a row on the disk, which goes with the instance
    atomic_store(&i->run->record.safe, 1);
    return i->run;
}

/* The events, as a door asks for them, without a connection. */
static struct mechd_sse *open_events(struct mechd *d, struct mechd_instance *i,
                                     struct mechd_call *c)
{
    mechd_call_init(c, &d->service, MECHD_DOOR_HTTP);
    CU_ASSERT_EQUAL_FATAL(mechp_route_match("GET", "/v1/instances/a/runs/r-1/events", &c->match),
                          0);
    mechd_instance_ref(i);
    c->job.instance = i;
    CU_ASSERT_EQUAL(mechd_operation(&d->service, c->match.route)->run(c), MECHD_DONE);
    CU_ASSERT_EQUAL_FATAL(c->code, MECHP_OK);
    struct mechd_sse *const s = c->work;
    mechp_text_init(&s->text, NULL, 0);
    return s;
}

static void rows_that_are_gone_are_no_news(void)
{
    struct mechd *const d = scarce_begin(true);
    CU_ASSERT_EQUAL_FATAL(local_status(d, "PUT", "/v1/instances/a",
                                       "{\"example\": \"mass1d\", \"durability\": \"every-step\"}"),
                          201);
    struct mechd_instance *const i = mechd_table_find(&d->service.host.table, "a");
    struct mechd_call *const c = calloc(1, sizeof *c);
    CU_ASSERT_FATAL(i != NULL && c != NULL);
    struct mechd_run *const r = start(i);
    struct mechd_sse *const s = open_events(d, i, c);
    CU_ASSERT_EQUAL(local_status(d, "DELETE", "/v1/instances/a", NULL), 204);

    // the progress of a run that does not know yet, and no rows
    CU_ASSERT_TRUE(s->ops->has_news(s));
    s->ops->compose(s);
    CU_ASSERT(s->text.length > 0 && !s->ended);
    for (int turn = 0; turn < 2; turn++) {
        CU_ASSERT_FALSE(s->ops->has_news(s));
        const size_t before = s->text.length;
        s->ops->compose(s);
        CU_ASSERT_EQUAL(s->text.length, before);
        CU_ASSERT_FALSE(s->ended);
    }
    CU_ASSERT_FALSE(mechd_run_next(r));
    CU_ASSERT_EQUAL(r->state, MECHD_RUN_STOPPED);
    CU_ASSERT_TRUE(s->ops->has_news(s));
    s->ops->compose(s);
    CU_ASSERT_TRUE(s->ended);

    mechd_run_turned(r);
    mechp_text_fini(&s->text);
    mechd_call_fini(c);
    free(c);
    mechd_instance_unref(i);
    scarce_end(d);
}

UNIT_TESTS(UNIT_TEST(rows_that_are_gone_are_no_news))
