/* Timers fire once, in the order of their times, and not after they were cancelled. */
#include "server/clock.h"

#include "server/ticks.h"
#include "tests/unit/unit.h"

#include <stdatomic.h>
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
    const uint64_t until = mechd_now() + 5000 * (uint64_t)MECHD_MS;
    const struct timespec nap = {.tv_nsec = MECHD_MS};
    while (atomic_load(&count) < most && mechd_now() < until) {
        nanosleep(&nap, NULL);
    }
}

static void timers_fire_in_the_order_of_their_times(void)
{
    struct mechd_clock c;
    atomic_store(&count, 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&c), 0);
    struct numbered t[3] = {{{.fire = note}, 0}, {{.fire = note}, 1}, {{.fire = note}, 2}};
    const uint64_t now = mechd_now();
    CU_ASSERT(mechd_clock_arm(&c, &t[0].timer, now + 40 * (uint64_t)MECHD_MS));
    CU_ASSERT(mechd_clock_arm(&c, &t[1].timer, now + 20 * (uint64_t)MECHD_MS));
    CU_ASSERT(mechd_clock_arm(&c, &t[2].timer, now + 30 * (uint64_t)MECHD_MS));
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
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&c), 0);
    struct numbered t[2] = {{{.fire = note}, 0}, {{.fire = note}, 1}};
    const uint64_t now = mechd_now();
    mechd_clock_arm(&c, &t[0].timer, now + 20 * (uint64_t)MECHD_MS);
    mechd_clock_arm(&c, &t[1].timer, now + 40 * (uint64_t)MECHD_MS);
    CU_ASSERT(mechd_clock_cancel(&c, &t[0].timer));
    wait_for(1);
    CU_ASSERT_EQUAL(atomic_load(&count), 1);
    CU_ASSERT_EQUAL(fired[0], 1);
    mechd_clock_fini(&c);
}

static void stopping_fires_what_is_armed_and_takes_no_more(void)
{
    struct mechd_clock c;
    atomic_store(&count, 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&c), 0);
    struct numbered t = {{.fire = note}, 3};
    const uint64_t now = mechd_now();
    mechd_clock_arm(&c, &t.timer, now + 3600000 * (uint64_t)MECHD_MS);
    mechd_clock_stop(&c);
    CU_ASSERT_EQUAL(atomic_load(&count), 1);
    CU_ASSERT(mechd_now() - now < 2000 * (uint64_t)MECHD_MS);
    CU_ASSERT_FALSE(mechd_clock_arm(&c, &t.timer, now));
    mechd_clock_fini(&c);
}

UNIT_TESTS(UNIT_TEST(timers_fire_in_the_order_of_their_times),
           UNIT_TEST(a_cancelled_timer_does_not_fire),
           UNIT_TEST(stopping_fires_what_is_armed_and_takes_no_more))
