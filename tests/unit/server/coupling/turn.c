/* How the run of a coupling ends with the command that was its turn; the face is any instance. */
#include "server/coupling/turn.h"

#include "server/coupling/coupling.h"
#include "server/instance/runs.h"
#include "tests/unit/server/instance/host.h"

/* The test has the turn. */
static enum mechd_submitted give(struct mechd_run *r)
{
    (void)r;
    return MECHD_QUEUED;
}

static void a_fault_is_a_failure_unless_the_coupling_is_gone(void)
{
    static const struct {
        bool asked, gone; /* it is to be deleted; it has been */
        enum mechp_code code;
        enum mechd_run_state state;
        const char *reason;
    } cases[] = {
        {false, false, MECHP_PARTNER_FAULT, MECHD_RUN_FAILED, "a fault"},
        {true, false, MECHP_PARTNER_FAULT, MECHD_RUN_FAILED, "a fault"},
        {true, true, MECHP_PARTNER_FAULT, MECHD_RUN_STOPPED, ""},
        {false, false, MECHP_CANCELLED, MECHD_RUN_STOPPED, "a fault"},
        {true, false, MECHP_CANCELLED, MECHD_RUN_STOPPED, ""},
        {true, true, MECHP_CANCELLED, MECHD_RUN_STOPPED, ""},
        {true, false, MECHP_DRAINING, MECHD_RUN_INTERRUPTED, "the server was shut down"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct mechd_host *const d = host_create(1);
        struct mechd_instance *const i = instance_create(d);
        struct mechd_coupling *const g = calloc(1, sizeof *g);
        CU_ASSERT_PTR_NOT_NULL_FATAL(g);
        pthread_mutex_init(&g->m, NULL);
        g->face = i;
        i->turns = give;
        struct mechd_excess excess;
        const struct mechd_run_settings settings = {.period = 0.5, .until = 10., .every = 1};
        CU_ASSERT_EQUAL_FATAL(mechd_run_start(i, &settings, &excess), 0);
        struct mechd_run *const r = i->run;
        CU_ASSERT_TRUE(mechd_run_next(r));
        if (cases[n].asked) {
            (void)mechd_stop_raise(&g->ended, MECHD_STOP_DELETED);
        }
        if (cases[n].gone) {
            mechd_instance_end(i);
        }
        struct mechd_coupling_command k = {.kind = MECHD_COUPLING_STEP,
                                           .coupling = g,
                                           .run = r,
                                           .code = cases[n].code,
                                           .detail = "a fault"};
        mechd_turn_settle(&k);
        struct mechd_run_shown shown;
        mechd_run_peek(r, &shown);
        CU_ASSERT_EQUAL(shown.state, cases[n].state);
        CU_ASSERT_STRING_EQUAL(shown.reason, cases[n].reason);
        mechd_run_turned(r);
        mechd_instance_unref(i);
        pthread_mutex_destroy(&g->m);
        free(g);
        host_destroy(d);
    }
}

UNIT_TESTS(UNIT_TEST(a_fault_is_a_failure_unless_the_coupling_is_gone))
