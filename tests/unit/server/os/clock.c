/* Timers fire once, in the order of their times, and not after they were cancelled. */
#include "server/os/clock.h"

#include "server/os/ticks.h"
#include "tests/unit/unit.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static _Atomic int fired[4];
static _Atomic int count;

struct numbered {
    struct mechd_timer timer; /* first */
    int number;
};

static void note(struct mechd_timer *timer)
{
    const int at = atomic_fetch_add(&count, 1);
    atomic_store(&fired[at], ((struct numbered *)timer)->number);
}

static void wait_for(int most)
{
    const uint64_t until = mechd_now() + 60000 * (uint64_t)MECHD_MS;
    const struct timespec nap = {.tv_nsec = MECHD_MS};
    while (atomic_load(&count) < most && mechd_now() < until) {
        nanosleep(&nap, NULL); // steady: between two looks
    }
}

static _Atomic bool held;
static _Atomic bool released;

/* Keeps the lane until it is released. */
static void hold(struct mechd_timer *timer)
{
    const struct timespec nap = {.tv_nsec = MECHD_MS / 10};
    (void)timer;
    atomic_store(&held, true);
    while (!atomic_load(&released)) {
        nanosleep(&nap, NULL); // steady: between two looks
    }
}

static void timers_fire_in_the_order_of_their_times(void)
{
    struct mechd_clock c;
    atomic_store(&count, 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&c, 1), 0);
    struct numbered t[3] = {{{.fire = note}, 0}, {{.fire = note}, 1}, {{.fire = note}, 2}};
    struct mechd_timer first = {.fire = hold};
    // all of them are armed before the lane looks at any, and due after it has last looked: what is
    // armed behind its time fires as it comes
    CU_ASSERT(mechd_clock_arm(&c, &first, mechd_now()));
    while (!atomic_load(&held)) {
        sched_yield();
    }
    const uint64_t now = mechd_now();
    CU_ASSERT(mechd_clock_arm(&c, &t[0].timer, now + 40 * (uint64_t)MECHD_MS));
    CU_ASSERT(mechd_clock_arm(&c, &t[1].timer, now + 20 * (uint64_t)MECHD_MS));
    CU_ASSERT(mechd_clock_arm(&c, &t[2].timer, now + 30 * (uint64_t)MECHD_MS));
    atomic_store(&released, true);
    wait_for(3);
    CU_ASSERT(mechd_now() - now >= 40 * (uint64_t)MECHD_MS);
    CU_ASSERT_EQUAL(atomic_load(&count), 3);
    CU_ASSERT_EQUAL(fired[0], 1);
    CU_ASSERT_EQUAL(fired[1], 2);
    CU_ASSERT_EQUAL(fired[2], 0);
    CU_ASSERT_FALSE(mechd_clock_cancel(&c, &t[0].timer));
    mechd_clock_fini(&c);
}

static void a_cancelled_timer_does_not_fire(void)
{
    struct mechd_clock c;
    atomic_store(&count, 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&c, 1), 0);
    struct numbered t[2] = {{{.fire = note}, 0}, {{.fire = note}, 1}};
    const uint64_t now = mechd_now();
    mechd_clock_arm(&c, &t[0].timer, now + 3600000 * (uint64_t)MECHD_MS);
    mechd_clock_arm(&c, &t[1].timer, now + 7200000 * (uint64_t)MECHD_MS);
    CU_ASSERT(mechd_clock_cancel(&c, &t[0].timer));
    // fires what is armed
    mechd_clock_stop(&c);
    CU_ASSERT_EQUAL(atomic_load(&count), 1);
    CU_ASSERT_EQUAL(fired[0], 1);
    mechd_clock_fini(&c);
}

static void stopping_fires_what_is_armed_and_takes_no_more(void)
{
    struct mechd_clock c;
    atomic_store(&count, 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&c, 1), 0);
    struct numbered t = {{.fire = note}, 3};
    const uint64_t now = mechd_now();
    mechd_clock_arm(&c, &t.timer, now + 3600000 * (uint64_t)MECHD_MS);
    mechd_clock_stop(&c);
    CU_ASSERT_EQUAL(atomic_load(&count), 1);
    CU_ASSERT_FALSE(mechd_clock_arm(&c, &t.timer, now));
    mechd_clock_fini(&c);
}

/* A lane that is woken because a timer has come does not go back to sleep for as long as it had
 * meant to before. */
static void a_timer_that_wakes_its_lane_is_not_slept_over(void)
{
    struct mechd_clock c;
    struct numbered t = {{.fire = note}, 0};
    const uint64_t shared = MECHD_MS; // a lane joins wakings of a fraction of that
    bool early = true;
    atomic_store(&count, 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&c, 1), 0);
    struct mechd_lane *const lane = &c.lanes[0];
    uint64_t until = 0;
    while (until < mechd_now() + 500 * (uint64_t)MECHD_MS) {
        pthread_mutex_lock(&lane->m);
        until = lane->until; // of a sleep without any timer
        pthread_mutex_unlock(&lane->m);
        sched_yield();
    }
    const uint64_t due = until - 400 * (uint64_t)MECHD_MS;
    CU_ASSERT(mechd_clock_arm(&c, &t.timer, due));
    while (atomic_load(&count) == 0) {
        pthread_mutex_lock(&lane->m);
        early = early && (atomic_load(&count) > 0 || lane->until <= due + shared);
        pthread_mutex_unlock(&lane->m);
    }
    CU_ASSERT(early);
    mechd_clock_fini(&c);
}

/* --- several lanes ---------------------------------------------------------------------------- */

static struct mechd_clock several;
static _Atomic bool armed;
static _Atomic bool over;

/* Keeps its lane for so long that others are sent to the next one. */
static void keep(struct mechd_timer *timer)
{
    const struct timespec while_it_works = {.tv_nsec = 3 * MECHD_MS};
    nanosleep(&while_it_works, NULL); // steady: it works
    (void)mechd_clock_arm(&several, timer, mechd_now());
}

static void note_fired(struct mechd_timer *timer)
{
    (void)timer;
    atomic_store(&armed, false);
}

static void *cancel_on(void *timer)
{
    while (!atomic_load(&over)) {
        if (mechd_clock_cancel(&several, timer)) {
            atomic_store(&armed, false);
        }
    }
    return NULL;
}

/* A timer goes from lane to lane, while another thread cancels it: each lane knows how many it has
 * left. */
static void a_timer_that_changes_lanes_is_cancelled_where_it_is(void)
{
    enum { LANES = 3 };
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&several, LANES), 0);
    struct mechd_timer kept[LANES] = {{.fire = keep}, {.fire = keep}, {.fire = keep}};
    struct mechd_timer t = {.fire = note_fired};
    struct mechd_lane *before = NULL;
    int moves = 0;
    pthread_t other;
    for (int k = 0; k < LANES; k++) {
        CU_ASSERT(mechd_clock_arm(&several, &kept[k], mechd_now()));
    }
    atomic_store(&over, false);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, cancel_on, &t), 0);
    // both threads have their turns, on a busy machine too
    const uint64_t start = mechd_now();
    for (uint64_t now = start; now < start + 300 * (uint64_t)MECHD_MS ||
                               (moves <= 10 && now < start + 20000 * (uint64_t)MECHD_MS);
         now = mechd_now()) {
        if (!atomic_load(&armed)) {
            atomic_store(&armed, true);
            CU_ASSERT(mechd_clock_arm(&several, &t, mechd_now() + 60000 * (uint64_t)MECHD_MS));
            moves += atomic_load(&t.lane) != before;
            before = atomic_load(&t.lane);
        }
    }
    atomic_store(&over, true);
    pthread_join(other, NULL);
    mechd_clock_stop(&several);
    CU_ASSERT(moves > 10);
    CU_ASSERT_FALSE(atomic_load(&armed));
    for (int k = 0; k < LANES; k++) {
        CU_ASSERT_EQUAL(several.lanes[k].wheel.count, 0);
    }
    mechd_clock_fini(&several);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* However many there are, no two neighbours are further apart than three times their mean. */
static void phases_of_one_period_are_spread_over_it(void)
{
    enum { MOST = 1000 };
    const uint64_t period = MECHD_MS;
    uint64_t phases[MOST + 1];
    for (size_t n = 1; n <= MOST; n = 3 * n + 1) {
        struct mechd_clock c = {.running = false};
        uint64_t widest = 0;
        for (size_t k = 0; k < n; k++) {
            phases[k] = mechd_clock_phase(&c, period);
            CU_ASSERT(phases[k] < period);
        }
        CU_ASSERT_EQUAL(phases[0], 0);
        phases[n] = period;
        qsort(phases, n, sizeof *phases, compare);
        for (size_t k = 0; k < n; k++) {
            const uint64_t gap = phases[k + 1] - phases[k];
            widest = gap > widest ? gap : widest;
        }
        CU_ASSERT(widest <= 3 * period / n);
    }
    struct mechd_clock c = {.running = false};
    (void)mechd_clock_phase(&c, period);
    CU_ASSERT(mechd_clock_phase(&c, 3600000 * (uint64_t)MECHD_MS) < 10 * (uint64_t)MECHD_MS);
}

UNIT_TESTS(UNIT_TEST(timers_fire_in_the_order_of_their_times),
           UNIT_TEST(a_cancelled_timer_does_not_fire),
           UNIT_TEST(stopping_fires_what_is_armed_and_takes_no_more),
           UNIT_TEST(a_timer_that_wakes_its_lane_is_not_slept_over),
           UNIT_TEST(a_timer_that_changes_lanes_is_cancelled_where_it_is),
           UNIT_TEST(phases_of_one_period_are_spread_over_it))
