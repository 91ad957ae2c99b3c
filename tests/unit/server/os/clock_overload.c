/* More than a clock can fire: the timers have their turns one after the other, and a lane that is
 * held leaves none of its timers behind. */
#include "server/os/clock.h"

#include "server/os/ticks.h"
#include "tests/unit/unit.h"

#include <stdatomic.h>
#include <time.h>

enum { TIMERS = 64, ROUNDS = 200, LIMIT_S = 60 };

/* As of a paced run: a period is over, and the next one begins a nanosecond later, or now. */
struct paced {
    struct mechd_timer timer; /* first */
    _Atomic int turns;
};

static struct mechd_clock clock_of_runs;
static struct paced paced[TIMERS];
static _Atomic int out_of_turn;
static _Atomic bool held, released;

/* One that has had a turn more than another does not have the next one before it. */
static void take_turn(struct mechd_timer *timer)
{
    struct paced *const p = (struct paced *)timer;
    const int before = atomic_load(&p->turns);
    for (int k = 0; k < TIMERS; k++) {
        if (atomic_load(&paced[k].turns) < before) {
            atomic_fetch_add(&out_of_turn, 1);
        }
    }
    atomic_store(&p->turns, before + 1);
    (void)mechd_clock_arm(&clock_of_runs, timer, mechd_now());
}

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

/* Until a condition holds; false: it does not within a minute. */
static bool await(bool (*holds)(void))
{
    const uint64_t until = mechd_now() + LIMIT_S * 1000 * (uint64_t)MECHD_MS;
    const struct timespec nap = {.tv_nsec = MECHD_MS};
    while (!holds() && mechd_now() < until) {
        nanosleep(&nap, NULL); // steady: between two looks
    }
    return holds();
}

static bool is_held(void)
{
    return atomic_load(&held);
}

static bool all_had_turns(void)
{
    int least = ROUNDS;
    for (int k = 0; k < TIMERS; k++) {
        const int turns = atomic_load(&paced[k].turns);
        least = turns < least ? turns : least;
    }
    return least >= ROUNDS;
}

/* A clock whose first lane is held, and on which all timers are armed. */
static void start(int lanes, struct mechd_timer *first)
{
    atomic_store(&held, false);
    atomic_store(&released, false);
    atomic_store(&out_of_turn, 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&clock_of_runs, lanes), 0);
    CU_ASSERT(mechd_clock_arm(&clock_of_runs, first, mechd_now()));
    CU_ASSERT(await(is_held));
    const uint64_t now = mechd_now();
    for (int k = 0; k < TIMERS; k++) {
        paced[k] = (struct paced){.timer = {.fire = take_turn}};
        CU_ASSERT(mechd_clock_arm(&clock_of_runs, &paced[k].timer, now));
    }
}

static void timers_that_are_all_late_have_their_turns_one_after_the_other(void)
{
    struct mechd_timer first = {.fire = hold};
    start(1, &first);
    atomic_store(&released, true);
    CU_ASSERT(await(all_had_turns));
    // a clock that stops fires all at once, in any order
    CU_ASSERT_EQUAL(atomic_load(&out_of_turn), 0);
    mechd_clock_stop(&clock_of_runs);
    mechd_clock_fini(&clock_of_runs);
}

static void a_lane_that_is_held_leaves_no_timer_behind(void)
{
    struct mechd_timer first = {.fire = hold};
    start(2, &first);
    // while the callback of its first timer holds one of the two lanes
    CU_ASSERT(await(all_had_turns));
    atomic_store(&released, true);
    mechd_clock_stop(&clock_of_runs);
    mechd_clock_fini(&clock_of_runs);
}

UNIT_TESTS(UNIT_TEST(timers_that_are_all_late_have_their_turns_one_after_the_other),
           UNIT_TEST(a_lane_that_is_held_leaves_no_timer_behind))
