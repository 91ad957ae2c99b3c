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
    _Atomic int order; /* place among those whose last slice has run, from 1 */
    _Atomic int waits; /* calls of wait */
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
    while (p->gate != NULL && atomic_load(p->gate) == 0) {
        nap();
    }
    if (--p->slices == 0) {
        atomic_store(&p->order, atomic_fetch_add(&ran, 1) + 1);
    }
    atomic_fetch_sub(&inside, 1);
    return p->slices > 0 ? MECHD_MORE : MECHD_DONE;
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
    struct probe p = make_probe(i, MECHD_SHORT, 3);
    CU_ASSERT_EQUAL(mechd_instance_submit(i, &p.job), MECHD_QUEUED);
    CU_ASSERT_TRUE(wait_finished(1));
    CU_ASSERT_FALSE(pthread_equal(p.ran_on, pthread_self()));
    CU_ASSERT_EQUAL(p.waits, 1);
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
    struct probe reader = make_probe(i, 0, 1);
    slow.gate = &gate;
    reader.job.reader = true;
    mechd_instance_submit(i, &slow.job);
    while (atomic_load(&inside) == 0) {
        nap();
    }
    mechd_instance_submit(i, &writer.job);
    mechd_instance_submit(i, &reader.job);
    atomic_store(&gate, 1);
    CU_ASSERT_TRUE(wait_finished(3));
    CU_ASSERT_EQUAL(reader.order, 1);
    CU_ASSERT_EQUAL(slow.order, 2);
    CU_ASSERT_EQUAL(writer.order, 3);
    mechd_instance_unref(i);
    host_destroy(d);
}

UNIT_TESTS(UNIT_TEST(a_short_job_of_an_idle_instance_runs_here),
           UNIT_TEST(a_long_job_runs_in_the_pool),
           UNIT_TEST(a_job_longer_than_expected_goes_on_in_the_pool),
           UNIT_TEST(jobs_wait_in_order_and_the_65th_is_refused),
           UNIT_TEST(readers_come_in_between_two_slices))
