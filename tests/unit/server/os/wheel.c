/* The timing wheel: order, cancelling, re-arming, equal times and every level. */
#include "server/os/wheel.h"

#include "tests/unit/unit.h"

#include <stdlib.h>

enum { MANY = 2000 };

static const uint64_t tick = (uint64_t)1 << MECHD_WHEEL_TICK;

/* Times spread over all levels, in no order. */
static uint64_t scatter(int k)
{
    const uint64_t x = ((uint64_t)k + 1) * 0x9e3779b97f4a7c15u;
    return (x >> 8) >> (x % 44);
}

static void timers_of_all_levels_are_ready_in_order_and_within_a_tick(void)
{
    struct mechd_wheel *const w = calloc(1, sizeof *w);
    struct mechd_timer *const t = calloc(MANY, sizeof *t);
    CU_ASSERT_FATAL(w != NULL && t != NULL);
    // a begin just before slots of many levels wrap around
    const uint64_t begin = ((uint64_t)1 << 44) - 3 * tick;
    mechd_wheel_init(w, begin);
    for (int k = 0; k < MANY; k++) {
        mechd_wheel_insert(w, &t[k], begin + scatter(k));
    }
    uint64_t now = begin, last = 0;
    int count = 0;
    while (w->count > 0) {
        now = mechd_wheel_next(w);
        mechd_wheel_advance(w, now);
        for (struct mechd_timer *x = mechd_wheel_pop(w); x != NULL; x = mechd_wheel_pop(w)) {
            CU_ASSERT(x->due <= now && now - x->due < tick + (x->due < begin + tick ? tick : 0));
            CU_ASSERT(x->due + tick > last);
            last = x->due;
            count++;
        }
    }
    CU_ASSERT_EQUAL(count, MANY);
    CU_ASSERT_EQUAL(mechd_wheel_next(w), UINT64_MAX);
    free(t);
    free(w);
}

static void equal_times_keep_their_order_and_removed_timers_do_not_come(void)
{
    struct mechd_wheel *const w = calloc(1, sizeof *w);
    struct mechd_timer *const t = calloc(MANY, sizeof *t);
    CU_ASSERT_FATAL(w != NULL && t != NULL);
    const uint64_t due = 1000 * tick;
    mechd_wheel_init(w, 0);
    for (int k = 0; k < MANY; k++) {
        mechd_wheel_insert(w, &t[k], due);
    }
    for (int k = 0; k < MANY; k += 2) {
        mechd_wheel_remove(w, &t[k]);
    }
    mechd_wheel_advance(w, due - 1);
    CU_ASSERT_PTR_NULL(mechd_wheel_pop(w));
    mechd_wheel_advance(w, due);
    mechd_wheel_remove(w, &t[1]); // ready already
    for (int k = 3; k < MANY; k += 2) {
        CU_ASSERT_PTR_EQUAL(mechd_wheel_pop(w), &t[k]);
    }
    CU_ASSERT_PTR_NULL(mechd_wheel_pop(w));
    CU_ASSERT_EQUAL(w->count, 0);
    free(t);
    free(w);
}

static void a_timer_armed_again_as_it_fires_keeps_its_period_through_every_wrap(void)
{
    struct mechd_wheel *const w = calloc(1, sizeof *w);
    struct mechd_timer t = {.due = 0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    const uint64_t period = 999983;
    mechd_wheel_init(w, 0);
    mechd_wheel_insert(w, &t, period);
    for (uint64_t k = 1; k <= 100000; k++) {
        mechd_wheel_advance(w, k * period + tick);
        CU_ASSERT_PTR_EQUAL_FATAL(mechd_wheel_pop(w), &t);
        CU_ASSERT_EQUAL(t.due, k * period);
        mechd_wheel_insert(w, &t, (k + 1) * period);
    }
    mechd_wheel_drain(w);
    CU_ASSERT_PTR_EQUAL(mechd_wheel_pop(w), &t);
    free(w);
}

static void what_is_put_first_comes_before_all_that_are_ready(void)
{
    struct mechd_wheel *const w = calloc(1, sizeof *w);
    struct mechd_timer t[5] = {{.due = 0}};
    const int order[] = {3, 4, 0, 2};
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    mechd_wheel_init(w, 0);
    mechd_wheel_put_first(w, &t[4]);
    for (int k = 0; k < 3; k++) {
        mechd_wheel_insert(w, &t[k], 10 * tick);
    }
    CU_ASSERT_PTR_EQUAL(mechd_wheel_pop(w), &t[4]);
    mechd_wheel_advance(w, 20 * tick);
    mechd_wheel_remove(w, &t[1]);
    // in the order in which they come: the last one is the first
    mechd_wheel_put_first(w, &t[4]);
    mechd_wheel_put_first(w, &t[3]);
    CU_ASSERT_EQUAL(w->count, 4);
    for (int k = 0; k < 4; k++) {
        CU_ASSERT_PTR_EQUAL(mechd_wheel_pop(w), &t[order[k]]);
    }
    CU_ASSERT_PTR_NULL(mechd_wheel_pop(w));
    CU_ASSERT_EQUAL(w->count, 0);
    free(w);
}

UNIT_TESTS(UNIT_TEST(timers_of_all_levels_are_ready_in_order_and_within_a_tick),
           UNIT_TEST(equal_times_keep_their_order_and_removed_timers_do_not_come),
           UNIT_TEST(a_timer_armed_again_as_it_fires_keeps_its_period_through_every_wrap),
           UNIT_TEST(what_is_put_first_comes_before_all_that_are_ready))
