/* Which reasons end work on an instance: their order for each kind, and the first is remembered. */
#include "server/instance/effort.h"

#include "tests/unit/server/instance/host.h"

#include <pthread.h>

/* The answer of a client that has gone, or has not. */
static enum mechd_stop_reason ask(const void *of)
{
    return *(const enum mechd_stop_reason *)of;
}

/* Everything at once; an effort that began long ago. */
static void raise_all(struct mechd_host *d, struct mechd_instance *i, struct mechd_account *account)
{
    (void)mechd_stop_raise(&d->stop, MECHD_STOP_SHUTDOWN);
    (void)mechd_stop_raise(&i->ended, MECHD_STOP_DELETED);
    (void)mechd_stop_raise(&i->stop, MECHD_STOP_STOPPED);
    mechd_stop_hold(&i->yield);
    i->account = account;
}

/* What ends an effort of that kind; then its cause is taken away, and what ends it next. The order
 * of effort.h, to NONE. */
static void check_order(enum mechd_effort_kind kind, const enum mechd_stop_reason *order)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    struct mechd_account account = {0};
    enum mechd_stop_reason gone = MECHD_STOP_GONE;
    bool direct = true;
    raise_all(d, i, &account);
    for (int k = 0;; k++) {
        struct mechd_effort e = {.kind = kind, .direct = direct, .asks = ask, .of = &gone};
        const enum mechd_stop_reason before = mechd_effort_before(i, &e);
        mechd_effort_begin(i, &e);
        CU_ASSERT_EQUAL(mechd_effort_ends(i), order[k] != MECHD_STOP_NONE);
        mechd_effort_end(i);
        CU_ASSERT_EQUAL_FATAL(e.why, order[k]);
        switch (e.why) {
        case MECHD_STOP_STOPPED:
            mechd_stop_lower(&i->stop);
            break;
        case MECHD_STOP_DELETED:
            mechd_stop_lower(&i->ended);
            break;
        case MECHD_STOP_GONE:
            gone = MECHD_STOP_NONE;
            break;
        case MECHD_STOP_SHUTDOWN:
            mechd_stop_lower(&d->stop);
            break;
        case MECHD_STOP_YIELD:
            mechd_stop_release(&i->yield);
            break;
        case MECHD_STOP_RETREAT:
            direct = false;
            break;
        case MECHD_STOP_QUOTA:
            i->account = NULL;
            break;
        case MECHD_STOP_NONE:
            break;
        }
        // before a slice there is nothing to yield to or to retreat from, and no time has passed
        const bool within =
            e.why == MECHD_STOP_YIELD || e.why == MECHD_STOP_RETREAT || e.why == MECHD_STOP_QUOTA;
        CU_ASSERT_EQUAL(before, within ? MECHD_STOP_NONE : e.why);
        if (e.why == MECHD_STOP_NONE) {
            break;
        }
    }
    i->account = NULL;
    mechd_instance_unref(i);
    host_destroy(d);
}

static void a_step_ends_in_this_order(void)
{
    const enum mechd_stop_reason order[] = {
        MECHD_STOP_STOPPED, MECHD_STOP_DELETED, MECHD_STOP_GONE, MECHD_STOP_SHUTDOWN,
        MECHD_STOP_RETREAT, MECHD_STOP_QUOTA,   MECHD_STOP_NONE};
    check_order(MECHD_EFFORT_STEP, order);
}

static void a_period_of_a_run_is_interrupted_before_all_else_and_never_over_a_quota(void)
{
    const enum mechd_stop_reason order[] = {MECHD_STOP_SHUTDOWN, MECHD_STOP_DELETED,
                                            MECHD_STOP_YIELD, MECHD_STOP_RETREAT, MECHD_STOP_NONE};
    check_order(MECHD_EFFORT_RUN, order);
}

static void an_analysis_has_no_quota(void)
{
    const enum mechd_stop_reason order[] = {MECHD_STOP_STOPPED, MECHD_STOP_DELETED,
                                            MECHD_STOP_GONE,    MECHD_STOP_SHUTDOWN,
                                            MECHD_STOP_RETREAT, MECHD_STOP_NONE};
    check_order(MECHD_EFFORT_ANALYSIS, order);
}

static void a_stop_does_not_apply_to_a_reader(void)
{
    const enum mechd_stop_reason order[] = {MECHD_STOP_DELETED, MECHD_STOP_GONE,
                                            MECHD_STOP_SHUTDOWN, MECHD_STOP_RETREAT,
                                            MECHD_STOP_NONE};
    check_order(MECHD_EFFORT_READER, order);
}

static void the_first_reason_is_remembered(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    enum mechd_stop_reason gone = MECHD_STOP_NONE;
    struct mechd_effort e = {.start = mechd_now(), .asks = ask, .of = &gone};
    mechd_effort_begin(i, &e);
    CU_ASSERT_FALSE(mechd_effort_ends(i));
    (void)mechd_stop_raise(&d->stop, MECHD_STOP_SHUTDOWN);
    CU_ASSERT_TRUE(mechd_effort_ends(i));
    (void)mechd_stop_raise(&i->stop, MECHD_STOP_STOPPED);
    mechd_stop_lower(&d->stop);
    CU_ASSERT_TRUE(mechd_effort_ends(i));
    CU_ASSERT_EQUAL(e.why, MECHD_STOP_SHUTDOWN);
    mechd_effort_end(i);
    CU_ASSERT_FALSE(mechd_effort_ends(i));
    mechd_instance_unref(i);
    host_destroy(d);
}

/* A stop was first; then the instance is deleted, or the daemon shuts down. */
static void what_must_end_at_once_is_known_after_a_stop_too(void)
{
    for (int shutdown = 0; shutdown < 2; shutdown++) {
        struct mechd_host *const d = host_create(1);
        struct mechd_instance *const i = instance_create(d);
        enum mechd_stop_reason gone = MECHD_STOP_GONE;
        struct mechd_effort e = {.start = mechd_now(), .asks = ask, .of = &gone};
        mechd_effort_begin(i, &e);
        (void)mechd_stop_raise(&i->stop, MECHD_STOP_STOPPED);
        CU_ASSERT_TRUE(mechd_effort_ends(i));
        CU_ASSERT_FALSE(mechd_effort_urgent(i));
        if (shutdown == 1) {
            (void)mechd_stop_raise(&d->stop, MECHD_STOP_SHUTDOWN);
        } else {
            (void)mechd_stop_raise(&i->ended, MECHD_STOP_DELETED);
        }
        CU_ASSERT_TRUE(mechd_effort_urgent(i));
        CU_ASSERT_EQUAL(e.why, MECHD_STOP_STOPPED);
        mechd_effort_end(i);
        mechd_instance_unref(i);
        host_destroy(d);
    }
}

static void a_token_keeps_its_first_reason(void)
{
    struct mechd_stop s = {0};
    CU_ASSERT_EQUAL(mechd_stop_reason(NULL), MECHD_STOP_NONE);
    CU_ASSERT_EQUAL(mechd_stop_reason(&s), MECHD_STOP_NONE);
    CU_ASSERT_TRUE(mechd_stop_raise(&s, MECHD_STOP_DELETED));
    CU_ASSERT_FALSE(mechd_stop_raise(&s, MECHD_STOP_SHUTDOWN));
    CU_ASSERT_EQUAL(mechd_stop_reason(&s), MECHD_STOP_DELETED);
    mechd_stop_lower(&s);
    CU_ASSERT_EQUAL(mechd_stop_reason(&s), MECHD_STOP_NONE);
}

static void a_token_that_is_closed_takes_no_reason(void)
{
    struct mechd_stop s = {0};
    CU_ASSERT_FALSE(mechd_stop_closed(&s));
    CU_ASSERT_TRUE(mechd_stop_close(&s));
    CU_ASSERT_TRUE(mechd_stop_closed(&s));
    CU_ASSERT_FALSE(mechd_stop_raise(&s, MECHD_STOP_STOPPED));
    CU_ASSERT_EQUAL(mechd_stop_reason(&s), MECHD_STOP_NONE);
    // again, as by two parts of the same effect
    CU_ASSERT_TRUE(mechd_stop_close(&s));
    mechd_stop_lower(&s);
    CU_ASSERT_FALSE(mechd_stop_closed(&s));
    CU_ASSERT_TRUE(mechd_stop_raise(&s, MECHD_STOP_STOPPED));
}

static void a_token_that_is_raised_does_not_close(void)
{
    struct mechd_stop s = {0};
    CU_ASSERT_TRUE(mechd_stop_raise(&s, MECHD_STOP_STOPPED));
    CU_ASSERT_FALSE(mechd_stop_close(&s));
    CU_ASSERT_FALSE(mechd_stop_closed(&s));
    CU_ASSERT_EQUAL(mechd_stop_reason(&s), MECHD_STOP_STOPPED);
}

enum { RACES = 1000000 };

struct race {
    struct mechd_stop token[RACES];
    bool raised[RACES];
    pthread_barrier_t begin;
};

static void *raise_each(void *of)
{
    struct race *const r = of;
    (void)pthread_barrier_wait(&r->begin);
    for (int k = 0; k < RACES; k++) {
        r->raised[k] = mechd_stop_raise(&r->token[k], MECHD_STOP_STOPPED);
    }
    return NULL;
}

/* Two threads go through the same tokens: one raises, one closes. */
static void a_token_is_raised_or_closed_and_never_both(void)
{
    static struct race r;
    static bool closed[RACES];
    pthread_t thread;
    int wrong = 0;
    (void)pthread_barrier_init(&r.begin, NULL, 2);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, raise_each, &r), 0);
    (void)pthread_barrier_wait(&r.begin);
    for (int k = 0; k < RACES; k++) {
        closed[k] = mechd_stop_close(&r.token[k]);
    }
    (void)pthread_join(thread, NULL);
    (void)pthread_barrier_destroy(&r.begin);
    for (int k = 0; k < RACES; k++) {
        wrong += closed[k] == r.raised[k];
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void a_quota_is_refused_with_what_was_used(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    struct mechd_account account = {0};
    struct mechd_excess x;
    atomic_store(&account.most[MECHD_QUOTA_STEP_CPU], 5);
    i->account = &account;
    mechd_effort_exceeds(i, 7, &x);
    CU_ASSERT_EQUAL(x.which, MECHD_QUOTA_STEP_CPU);
    CU_ASSERT_EQUAL(x.used, 7);
    CU_ASSERT_EQUAL(x.limit, 5);
    CU_ASSERT_EQUAL(atomic_load(&account.refused), 1);
    i->account = NULL;
    mechd_instance_unref(i);
    host_destroy(d);
}

static void a_stop_is_reported_before_a_deletion_to_commands_of_several(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    CU_ASSERT_EQUAL(mechd_effort_asked(i), MECHD_STOP_NONE);
    (void)mechd_stop_raise(&i->ended, MECHD_STOP_DELETED);
    CU_ASSERT_EQUAL(mechd_effort_asked(i), MECHD_STOP_DELETED);
    (void)mechd_stop_raise(&i->stop, MECHD_STOP_STOPPED);
    CU_ASSERT_EQUAL(mechd_effort_asked(i), MECHD_STOP_STOPPED);
    mechd_instance_unref(i);
    host_destroy(d);
}

static void a_command_of_several_is_over_a_quota_beyond_its_limit_only(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    struct mechd_account account = {0};
    struct mechd_excess x = {.used = 0};
    CU_ASSERT_FALSE(mechd_effort_over(i, UINT64_MAX, &x));
    atomic_store(&account.most[MECHD_QUOTA_STEP_CPU], 5);
    i->account = &account;
    CU_ASSERT_FALSE(mechd_effort_over(i, 5, &x));
    CU_ASSERT_EQUAL(atomic_load(&account.refused), 0);
    CU_ASSERT_TRUE(mechd_effort_over(i, 6, &x));
    CU_ASSERT(x.used == 6 && x.limit == 5 && x.which == MECHD_QUOTA_STEP_CPU);
    CU_ASSERT_EQUAL(atomic_load(&account.refused), 1);
    i->account = NULL;
    mechd_instance_unref(i);
    host_destroy(d);
}

/* What has used up its time is refused before it begins again, and so it is once it has begun. */
static void what_has_used_up_its_time_does_not_begin(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    const uint64_t most = 3600000 * (uint64_t)MECHD_MS;
    struct mechd_account account = {0};
    atomic_store(&account.most[MECHD_QUOTA_STEP_CPU], most);
    i->account = &account;
    for (int over = 0; over < 2; over++) {
        const enum mechd_stop_reason why = over > 0 ? MECHD_STOP_QUOTA : MECHD_STOP_NONE;
        struct mechd_effort e = {.start = mechd_now(), .worked = over > 0 ? most + 1 : most / 2};
        CU_ASSERT_EQUAL(mechd_effort_before(i, &e), why);
        mechd_effort_begin(i, &e);
        CU_ASSERT_EQUAL(mechd_effort_ends(i), over > 0);
        CU_ASSERT_EQUAL(e.why, why);
        mechd_effort_end(i);
    }
    i->account = NULL;
    mechd_instance_unref(i);
    host_destroy(d);
}

/* A step in another process cannot begin again at no cost, however long it takes. */
static void a_step_apart_is_not_left(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    const struct mechd_engine_ops *const own = i->engine.ops;
    struct mechd_engine_ops ops = *own;
    struct mechd_effort e = {.direct = true};
    ops.apart = true;
    i->engine.ops = &ops;
    mechd_effort_begin(i, &e);
    CU_ASSERT_FALSE(mechd_effort_ends(i));
    i->engine.ops = own;
    CU_ASSERT_TRUE(mechd_effort_ends(i));
    CU_ASSERT_EQUAL(e.why, MECHD_STOP_RETREAT);
    mechd_effort_end(i);
    mechd_instance_unref(i);
    host_destroy(d);
}

UNIT_TESTS(UNIT_TEST(a_step_ends_in_this_order),
           UNIT_TEST(a_period_of_a_run_is_interrupted_before_all_else_and_never_over_a_quota),
           UNIT_TEST(an_analysis_has_no_quota), UNIT_TEST(a_stop_does_not_apply_to_a_reader),
           UNIT_TEST(what_has_used_up_its_time_does_not_begin), UNIT_TEST(a_step_apart_is_not_left),
           UNIT_TEST(the_first_reason_is_remembered),
           UNIT_TEST(what_must_end_at_once_is_known_after_a_stop_too),
           UNIT_TEST(a_token_keeps_its_first_reason),
           UNIT_TEST(a_token_that_is_closed_takes_no_reason),
           UNIT_TEST(a_token_that_is_raised_does_not_close),
           UNIT_TEST(a_token_is_raised_or_closed_and_never_both),
           UNIT_TEST(a_quota_is_refused_with_what_was_used),
           UNIT_TEST(a_stop_is_reported_before_a_deletion_to_commands_of_several),
           UNIT_TEST(a_command_of_several_is_over_a_quota_beyond_its_limit_only))
