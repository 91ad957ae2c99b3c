/* One owner at a time: who runs a job, in which order, and when the queue is full. */
#include "server/instance/instance.h"

#include "tests/unit/server/instance/host.h"

#include <time.h>

/* A job that runs `slices` slices, and waits in each until `gate` is open. */
struct probe {
    struct mechd_job job; /* first */
    int slices;
    _Atomic int *gate; /* NULL: open */
    pthread_t ran_on;
    _Atomic int order;                /* place among those whose last slice has run, from 1 */
    _Atomic int waits;                /* calls of wait */
    enum mechd_progress more;         /* behind a slice that is not the last; 0: MORE */
    enum mechd_hold held;             /* in its last slice */
    enum mechd_job_state first, last; /* its own state in its first and its last slice */
};

static _Atomic int ran;
static _Atomic int finished;
static _Atomic int inside;
static _Atomic int most_inside;

static void nap(void)
{
    const struct timespec t = {.tv_nsec = MECHD_MS / 10};
    nanosleep(&t, NULL); // steady: between two looks
}

static enum mechd_progress run_probe(struct mechd_job *job)
{
    struct probe *p = (struct probe *)job;
    const int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > atomic_load(&most_inside)) {
        atomic_store(&most_inside, now);
    }
    p->ran_on = pthread_self();
    p->held = job->instance->hold;
    p->first = p->first == MECHD_JOB_NEW ? job->state : p->first;
    p->last = job->state;
    while (p->gate != NULL && atomic_load(p->gate) == 0) {
        nap();
    }
    if (--p->slices == 0) {
        atomic_store(&p->order, atomic_fetch_add(&ran, 1) + 1);
    }
    atomic_fetch_sub(&inside, 1);
    return p->slices == 0 ? MECHD_DONE : p->more != 0 ? p->more : MECHD_MORE;
}

static void finish_probe(struct mechd_job *job)
{
    (void)job;
    atomic_fetch_add(&finished, 1);
}

static void wait_probe(struct mechd_job *job)
{
    struct probe *p = (struct probe *)job;
    atomic_fetch_add(&p->waits, 1);
}

static struct probe make_probe(struct mechd_instance *i, uint64_t cost, int slices)
{
    return (struct probe){.job = {.instance = i,
                                  .run = run_probe,
                                  .finish = finish_probe,
                                  .wait = wait_probe,
                                  .cost = cost},
                          .slices = slices};
}

/* False at the deadline. */
static bool wait_finished(int count)
{
    const uint64_t until = mechd_now() + 60000 * (uint64_t)MECHD_MS;
    while (atomic_load(&finished) < count && mechd_now() < until) {
        nap();
    }
    return atomic_load(&finished) == count;
}

static void begin(void)
{
    atomic_store(&ran, 0);
    atomic_store(&finished, 0);
    atomic_store(&inside, 0);
    atomic_store(&most_inside, 0);
}

static void a_short_job_of_an_idle_instance_runs_here(void)
{
    begin();
    struct mechd_host *d = host_create(2);
    struct mechd_instance *i = instance_create(d);
    struct probe p = make_probe(i, MECHD_SHORT - 1, 1);
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &p.job), MECHD_RAN);
    CU_ASSERT_TRUE(pthread_equal(p.ran_on, pthread_self()));
    CU_ASSERT_EQUAL(p.waits, 0);
    CU_ASSERT_EQUAL(atomic_load(&finished), 0);
    mechd_instance_unref(i);
    host_destroy(d);
}

static void a_long_job_runs_in_the_pool(void)
{
    begin();
    struct mechd_host *d = host_create(2);
    struct mechd_instance *i = instance_create(d);
    // the second one comes to an empty queue, too
    for (int k = 1; k <= 2; k++) {
        struct probe p = make_probe(i, MECHD_SHORT, 3);
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &p.job), MECHD_QUEUED);
        CU_ASSERT_TRUE_FATAL(wait_finished(k));
        CU_ASSERT_FALSE(pthread_equal(p.ran_on, pthread_self()));
        CU_ASSERT_EQUAL(p.waits, 1);
    }
    mechd_instance_unref(i);
    host_destroy(d);
}

static void a_job_longer_than_expected_goes_on_in_the_pool(void)
{
    begin();
    struct mechd_host *d = host_create(2);
    struct mechd_instance *i = instance_create(d);
    struct probe p = make_probe(i, 0, 2);
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &p.job), MECHD_QUEUED);
    CU_ASSERT_TRUE(wait_finished(1));
    CU_ASSERT_FALSE(pthread_equal(p.ran_on, pthread_self()));
    CU_ASSERT_EQUAL(p.waits, 1);
    mechd_instance_unref(i);
    host_destroy(d);
}

/* As a probe; in its first slice another job comes. */
static struct probe *comes_meanwhile;

static enum mechd_progress run_and_submit(struct mechd_job *job)
{
    struct probe *const next = comes_meanwhile;
    comes_meanwhile = NULL;
    if (next != NULL) {
        CU_ASSERT_EQUAL(mechd_instance_submit(job->instance, &next->job), MECHD_QUEUED);
    }
    return run_probe(job);
}

/* While a carrying thread has the instance; whether its own job is over then or not. */
static void what_comes_meanwhile_is_next(void)
{
    for (int slices = 1; slices <= 3; slices++) {
        begin();
        struct mechd_host *d = host_create(1);
        struct mechd_instance *i = instance_create(d);
        struct probe p = make_probe(i, 0, slices), next = make_probe(i, 0, 1);
        p.job.run = run_and_submit;
        comes_meanwhile = &next;
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &p.job), slices == 1 ? MECHD_RAN : MECHD_QUEUED);
        CU_ASSERT_TRUE(wait_finished(slices == 1 ? 1 : 2));
        CU_ASSERT_EQUAL(p.order, 1);
        CU_ASSERT_EQUAL(next.order, 2);
        CU_ASSERT_FALSE(pthread_equal(next.ran_on, pthread_self()));
        CU_ASSERT_EQUAL(atomic_load(&most_inside), 1);
        // its queue is empty again
        struct probe last = make_probe(i, 0, 1);
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &last.job), MECHD_RAN);
        mechd_instance_unref(i);
        host_destroy(d);
    }
}

static void jobs_wait_in_order_and_the_65th_is_refused(void)
{
    begin();
    struct mechd_host *d = host_create(3);
    struct mechd_instance *i = instance_create(d);
    _Atomic int gate = 0;
    struct probe first = make_probe(i, MECHD_SHORT, 1);
    first.gate = &gate;
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &first.job), MECHD_QUEUED);
    while (atomic_load(&inside) == 0) {
        nap();
    }
    static struct probe waiting[MECHD_QUEUE_MOST];
    for (int k = 0; k < MECHD_QUEUE_MOST; k++) {
        waiting[k] = make_probe(i, 0, 1 + k % 3);
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &waiting[k].job), MECHD_QUEUED);
    }
    struct probe beyond = make_probe(i, 0, 1);
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &beyond.job), MECHD_FULL);
    atomic_store(&gate, 1);
    CU_ASSERT_TRUE(wait_finished(MECHD_QUEUE_MOST + 1));
    for (int k = 0; k < MECHD_QUEUE_MOST; k++) {
        CU_ASSERT_EQUAL(waiting[k].order, k + 2);
    }
    CU_ASSERT_EQUAL(beyond.waits, 0);
    CU_ASSERT_EQUAL(atomic_load(&most_inside), 1);
    mechd_instance_unref(i);
    host_destroy(d);
}

static void readers_come_in_between_two_slices(void)
{
    begin();
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = instance_create(d);
    _Atomic int gate = 0;
    struct probe slow = make_probe(i, MECHD_SHORT, 2);
    struct probe writer = make_probe(i, 0, 1);
    struct probe reader = make_probe(i, 0, 1), late = make_probe(i, 0, 1);
    slow.gate = &gate;
    reader.job.reader = true;
    // it was the last of the queue; another job comes while it is served
    reader.job.run = run_and_submit;
    comes_meanwhile = &late;
    mechd_instance_submit(i, &slow.job);
    while (atomic_load(&inside) == 0) {
        nap();
    }
    mechd_instance_submit(i, &writer.job);
    mechd_instance_submit(i, &reader.job);
    atomic_store(&gate, 1);
    CU_ASSERT_TRUE(wait_finished(4));
    CU_ASSERT_EQUAL(reader.order, 1);
    CU_ASSERT_EQUAL(slow.order, 2);
    CU_ASSERT_EQUAL(writer.order, 3);
    CU_ASSERT_EQUAL(late.order, 4);
    mechd_instance_unref(i);
    host_destroy(d);
}

/* Between two slices that leave the state open, those who look at none. */
static void an_open_state_is_shown_to_no_reader(void)
{
    begin();
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = instance_create(d);
    _Atomic int gate = 0;
    struct probe slow = make_probe(i, MECHD_SHORT, 2);
    struct probe reader = make_probe(i, 0, 1), stateless = make_probe(i, 0, 1);
    slow.gate = &gate;
    slow.more = MECHD_MORE_ALONE;
    reader.job.reader = stateless.job.reader = stateless.job.stateless = true;
    mechd_instance_submit(i, &slow.job);
    while (atomic_load(&inside) == 0) {
        nap();
    }
    mechd_instance_submit(i, &reader.job);
    mechd_instance_submit(i, &stateless.job);
    atomic_store(&gate, 1);
    CU_ASSERT_TRUE(wait_finished(3));
    CU_ASSERT_EQUAL(stateless.order, 1);
    CU_ASSERT_EQUAL(slow.order, 2);
    CU_ASSERT_EQUAL(reader.order, 3);
    mechd_instance_unref(i);
    host_destroy(d);
}

static void a_job_goes_through_its_states(void)
{
    begin();
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = instance_create(d);
    struct probe carried = make_probe(i, 0, 1), captor = make_probe(i, 0, 1);
    CU_ASSERT_EQUAL(carried.job.state, MECHD_JOB_NEW);
    // run here, twice
    for (int k = 0; k < 2; k++) {
        carried.slices = 1;
        carried.first = MECHD_JOB_NEW;
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &carried.job), MECHD_RAN);
        CU_ASSERT(carried.first == MECHD_JOB_FIRST && carried.job.state == MECHD_JOB_OVER);
    }
    // queued behind one that captures, which has no slice
    CU_ASSERT_EQUAL(mechd_instance_capture(i, &captor.job), MECHD_RAN);
    CU_ASSERT_EQUAL(captor.job.state, MECHD_JOB_HELD);
    struct probe slow = make_probe(i, 0, 3);
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &slow.job), MECHD_QUEUED);
    CU_ASSERT_EQUAL(slow.job.state, MECHD_JOB_QUEUED);
    mechd_instance_release(i, &captor.job);
    CU_ASSERT_EQUAL(captor.job.state, MECHD_JOB_OVER);
    CU_ASSERT_TRUE(wait_finished(1));
    CU_ASSERT(slow.first == MECHD_JOB_FIRST && slow.last == MECHD_JOB_LATER);
    CU_ASSERT_EQUAL(slow.job.state, MECHD_JOB_OVER);
    // one that is refused
    CU_ASSERT_EQUAL(mechd_instance_capture(i, &captor.job), MECHD_RAN);
    static struct probe waiting[MECHD_QUEUE_MOST];
    for (int k = 0; k < MECHD_QUEUE_MOST; k++) {
        waiting[k] = make_probe(i, 0, 1);
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &waiting[k].job), MECHD_QUEUED);
    }
    struct probe beyond = make_probe(i, 0, 1);
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &beyond.job), MECHD_FULL);
    CU_ASSERT_EQUAL(beyond.job.state, MECHD_JOB_NEW);
    mechd_instance_release(i, &captor.job);
    CU_ASSERT_TRUE(wait_finished(MECHD_QUEUE_MOST + 1));
    mechd_instance_unref(i);
    host_destroy(d);
}

/* Who has it, as any thread may ask. */
static enum mechd_hold hold_of(struct mechd_instance *i)
{
    pthread_mutex_lock(&i->m);
    const enum mechd_hold hold = i->hold;
    pthread_mutex_unlock(&i->m);
    return hold;
}

static void the_state_names_the_holder(void)
{
    begin();
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = instance_create(d);
    struct probe direct = make_probe(i, 0, 1), queued = make_probe(i, MECHD_SHORT, 1);
    CU_ASSERT_EQUAL(hold_of(i), MECHD_HOLD_IDLE);
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &direct.job), MECHD_RAN);
    CU_ASSERT_EQUAL(direct.held, MECHD_HOLD_CARRIED);
    CU_ASSERT_EQUAL(hold_of(i), MECHD_HOLD_IDLE);
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &queued.job), MECHD_QUEUED);
    CU_ASSERT_TRUE(wait_finished(1));
    CU_ASSERT_EQUAL(queued.held, MECHD_HOLD_RUN);
    CU_ASSERT_EQUAL(hold_of(i), MECHD_HOLD_IDLE);

    // captured, with a job behind it
    struct probe captor = make_probe(i, MECHD_SHORT, 1), behind = make_probe(i, 0, 1);
    CU_ASSERT_EQUAL(mechd_instance_capture(i, &captor.job), MECHD_RAN);
    CU_ASSERT_EQUAL(hold_of(i), MECHD_HOLD_CAPTURED);
    CU_ASSERT_FALSE(mechd_instance_seal(i));
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &behind.job), MECHD_QUEUED);
    CU_ASSERT_EQUAL(hold_of(i), MECHD_HOLD_CAPTURED);
    mechd_instance_release(i, &captor.job);
    CU_ASSERT_TRUE(wait_finished(2));
    CU_ASSERT_EQUAL(behind.held, MECHD_HOLD_RUN);
    CU_ASSERT_TRUE(mechd_instance_seal(i));
    CU_ASSERT_TRUE(mechd_instance_seal(i));
    CU_ASSERT_EQUAL(hold_of(i), MECHD_HOLD_SEALED);
    mechd_instance_unref(i);
    host_destroy(d);
}

/* Between two slices it waits in the pool, which is sealed only where the state is readable; the
 * first one was carried, or run there. */
static void check_between_slices(bool carried, enum mechd_progress more, enum mechd_hold hold)
{
    begin();
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = instance_create(d), *other = instance_create(d);
    _Atomic int gate = carried, gate_of_other = 0;
    struct probe slow = make_probe(i, carried ? 0 : MECHD_SHORT, 2);
    struct probe next = make_probe(other, MECHD_SHORT, 1);
    slow.gate = &gate;
    slow.more = more;
    next.gate = &gate_of_other;
    if (!carried) {
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &slow.job), MECHD_QUEUED);
        while (atomic_load(&inside) == 0) {
            nap();
        }
        CU_ASSERT_FALSE(mechd_instance_seal(i));
    }
    CU_ASSERT_EQUAL(mechd_instance_submit(other, &next.job), MECHD_QUEUED);
    if (!carried) {
        CU_ASSERT_EQUAL(hold_of(other), MECHD_HOLD_QUEUED);
    }
    // the only thread goes on to the other, in which it stays
    atomic_store(&gate, 1);
    while (hold_of(other) != MECHD_HOLD_RUN) {
        nap();
    }
    if (carried) {
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &slow.job), MECHD_QUEUED);
    }
    CU_ASSERT_EQUAL(hold_of(i), hold);
    const bool sealed = mechd_instance_seal(i);
    CU_ASSERT_EQUAL(sealed, hold == MECHD_HOLD_PAUSED);
    atomic_store(&gate_of_other, 1);
    CU_ASSERT_TRUE(wait_finished(sealed ? 1 : 2));
    mechd_pool_fini(&d->pool);
    if (sealed) {
        mechd_instance_unref(i); // of its queue, which no thread serves any more
    }
    mechd_instance_unref(i);
    mechd_instance_unref(other);
    host_destroy(d);
}

/* Its slice has had the effect; whether it could be stopped then. */
static enum mechd_progress run_and_close(struct mechd_job *job)
{
    struct mechd_instance *const i = job->instance;
    const bool before = mechd_instance_stop(i);
    mechd_stop_lower(&i->stop);
    CU_ASSERT_TRUE(mechd_stop_close(&i->stop));
    CU_ASSERT_TRUE(before);
    CU_ASSERT_FALSE(mechd_instance_stop(i));
    return MECHD_DONE;
}

static void a_job_that_has_had_its_effect_is_not_stopped(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    struct probe p = make_probe(i, 0, 1);
    p.job.run = run_and_close;
    p.job.stoppable = true;
    // the second one can be stopped, as the first one could before its effect
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &p.job), MECHD_RAN);
        CU_ASSERT_EQUAL(mechd_stop_reason(&i->stop), MECHD_STOP_NONE);
        CU_ASSERT_FALSE(mechd_stop_closed(&i->stop));
    }
    mechd_instance_unref(i);
    host_destroy(d);
}

/* Of the jobs in the queue, the one in progress too. */
static void only_what_can_be_stopped_makes_it_busy(void)
{
    begin();
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    struct probe captor = make_probe(i, 0, 1), fixed = make_probe(i, 0, 1);
    struct probe soft = make_probe(i, 0, 1);
    soft.job.stoppable = true;
    CU_ASSERT_FALSE(mechd_instance_busy(i));
    CU_ASSERT_FALSE(mechd_instance_stop(i));
    CU_ASSERT_EQUAL(mechd_instance_capture(i, &captor.job), MECHD_RAN);
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &fixed.job), MECHD_QUEUED);
    CU_ASSERT_FALSE(mechd_instance_busy(i));
    CU_ASSERT_FALSE(mechd_instance_stop(i));
    CU_ASSERT_EQUAL(mechd_stop_reason(&i->stop), MECHD_STOP_NONE);
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &soft.job), MECHD_QUEUED);
    CU_ASSERT_TRUE(mechd_instance_busy(i));
    CU_ASSERT_TRUE(mechd_instance_stop(i));
    CU_ASSERT_EQUAL(mechd_stop_reason(&i->stop), MECHD_STOP_STOPPED);
    mechd_instance_release(i, &captor.job);
    CU_ASSERT_TRUE(wait_finished(2));
    CU_ASSERT_FALSE(mechd_instance_busy(i));
    CU_ASSERT_EQUAL(mechd_stop_reason(&i->stop), MECHD_STOP_NONE);
    mechd_instance_unref(i);
    host_destroy(d);
}

static bool yields(const struct mechd_instance *i)
{
    return mechd_stop_held_reason(&i->yield, MECHD_STOP_YIELD) == MECHD_STOP_YIELD;
}

/* As a reader between slices, and as the next job. */
static void a_run_yields_to_what_waits_and_hurries_and_to_nothing_refused(void)
{
    for (int reader = 0; reader < 2; reader++) {
        begin();
        struct mechd_host *const d = host_create(1);
        struct mechd_instance *const i = instance_create(d);
        _Atomic int gate = 0;
        static struct probe waiting[MECHD_QUEUE_MOST];
        struct probe slow = make_probe(i, MECHD_SHORT, 2), beyond = make_probe(i, 0, 1);
        slow.gate = &gate;
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &slow.job), MECHD_QUEUED);
        while (atomic_load(&inside) == 0) {
            nap();
        }
        for (int k = 0; k < MECHD_QUEUE_MOST; k++) {
            CU_ASSERT_FALSE(yields(i));
            waiting[k] = make_probe(i, 0, 1);
            waiting[k].job.hurries = k == MECHD_QUEUE_MOST - 1;
            waiting[k].job.reader = reader > 0;
            CU_ASSERT_EQUAL(mechd_instance_submit(i, &waiting[k].job), MECHD_QUEUED);
        }
        CU_ASSERT_TRUE(yields(i));
        beyond.job.hurries = true;
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &beyond.job), MECHD_FULL);
        atomic_store(&gate, 1);
        CU_ASSERT_TRUE(wait_finished(MECHD_QUEUE_MOST + 1));
        CU_ASSERT_FALSE(yields(i));
        // an idle one has nothing to interrupt
        CU_ASSERT_EQUAL(mechd_instance_submit(i, &beyond.job), MECHD_RAN);
        CU_ASSERT_FALSE(yields(i));
        mechd_instance_unref(i);
        host_destroy(d);
    }
}

static void a_paused_job_can_be_sealed(void)
{
    check_between_slices(false, MECHD_MORE, MECHD_HOLD_PAUSED);
    check_between_slices(true, MECHD_MORE, MECHD_HOLD_PAUSED);
}

static void an_open_state_cannot(void)
{
    check_between_slices(false, MECHD_MORE_ALONE, MECHD_HOLD_OPEN);
    check_between_slices(true, MECHD_MORE_ALONE, MECHD_HOLD_OPEN);
}

UNIT_TESTS(UNIT_TEST(a_short_job_of_an_idle_instance_runs_here),
           UNIT_TEST(a_long_job_runs_in_the_pool),
           UNIT_TEST(a_job_longer_than_expected_goes_on_in_the_pool),
           UNIT_TEST(what_comes_meanwhile_is_next),
           UNIT_TEST(jobs_wait_in_order_and_the_65th_is_refused),
           UNIT_TEST(an_open_state_is_shown_to_no_reader),
           UNIT_TEST(only_what_can_be_stopped_makes_it_busy),
           UNIT_TEST(readers_come_in_between_two_slices), UNIT_TEST(the_state_names_the_holder),
           UNIT_TEST(a_job_that_has_had_its_effect_is_not_stopped),
           UNIT_TEST(a_run_yields_to_what_waits_and_hurries_and_to_nothing_refused),
           UNIT_TEST(a_job_goes_through_its_states), UNIT_TEST(a_paused_job_can_be_sealed),
           UNIT_TEST(an_open_state_cannot))
