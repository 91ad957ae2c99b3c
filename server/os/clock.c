/* Lanes. They wait on a condition with a deadline and not on a timerfd: a thread that arms an
 * earlier timer, or stops the clock, wakes them by the same means, and a wait is one system call.
 * Timer slack is 1 ns instead of the 50 µs that threads have, so that a waking is a few µs late.
 */
#include "server/os/clock.h"

#include "server/os/thread.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Longest sleep, so that nothing ever waits without a deadline; shortest time from one waking to
 * the next, a tenth of the shortest period of a run; how far behind a lane is left alone; ns. */
static const uint64_t nap = 1000000000u;
static const uint64_t rest = 100000u;
static const uint64_t grace = 300000u;

/* Over how much of a long period phases spread: 10,000 timers, 1 µs each; ns. */
static const uint64_t spread = 10000000u;

enum {
    BATCH = 64, /* timers between two looks at the clock and at the other lanes */
    TAKE = 32   /* timers that are taken over at once */
};

/* When the first timer is due, for the others; the lane is locked. */
static void tell_next(struct mechd_lane *lane)
{
    atomic_store_explicit(&lane->next, mechd_wheel_next(&lane->wheel), memory_order_relaxed);
}

/* A lane that is further behind than this one, which has nothing due before `mine`; or NULL. An
 * eighth of its lateness is let pass, so that timers do not go to and fro. */
static struct mechd_lane *find_behind(const struct mechd_lane *lane, uint64_t mine, uint64_t now)
{
    const struct mechd_clock *const c = lane->clock;
    const uint64_t own = mine < now ? mine : now;
    for (int k = 0; k < c->count; k++) {
        struct mechd_lane *const other = &c->lanes[k];
        const uint64_t next = atomic_load_explicit(&other->next, memory_order_relaxed);
        if (other != lane && next < now && next + grace + (now - next) / 8 < own) {
            return other;
        }
    }
    return NULL;
}

/* Take over some timers of a lane that does not get on; the lane is locked. */
static void take_over(struct mechd_lane *lane, uint64_t now)
{
    struct mechd_lane *const other = find_behind(lane, mechd_wheel_next(&lane->wheel), now);
    // both are held at once here alone, and the second is not waited for
    if (other == NULL || pthread_mutex_trylock(&other->m) != 0) {
        return;
    }
    struct mechd_timer *taken[TAKE];
    int count = 0;
    mechd_wheel_advance(&other->wheel, now);
    while (count < TAKE && (taken[count] = mechd_wheel_pop(&other->wheel)) != NULL) {
        atomic_store_explicit(&taken[count++]->lane, lane, memory_order_relaxed);
    }
    tell_next(other);
    // they have waited longest: behind what is ready here, they would wait another round
    while (count > 0) {
        mechd_wheel_put_first(&lane->wheel, taken[--count]);
    }
    pthread_mutex_unlock(&other->m);
}

/* Fire what is ready, a batch at most; the lane is locked, but not meanwhile. */
static void fire_batch(struct mechd_lane *lane, uint64_t now)
{
    atomic_store_explicit(&lane->begun, now, memory_order_relaxed);
    for (int k = 0; k < BATCH; k++) {
        struct mechd_timer *const t = mechd_wheel_pop(&lane->wheel);
        if (t == NULL) {
            break;
        }
        tell_next(lane);
        pthread_mutex_unlock(&lane->m);
        t->fire(t);
        pthread_mutex_lock(&lane->m);
    }
    atomic_store_explicit(&lane->begun, 0, memory_order_relaxed);
}

/* Until when a lane with nothing ready sleeps: its own next timer, or a look at the others'. */
static uint64_t wake_time(struct mechd_lane *lane, uint64_t slept, uint64_t now)
{
    const struct mechd_clock *const c = lane->clock;
    uint64_t until = mechd_wheel_next(&lane->wheel);
    if (until < slept + rest) {
        until = slept + rest;
    }
    for (int k = 0; k < c->count; k++) {
        const uint64_t next = atomic_load_explicit(&c->lanes[k].next, memory_order_relaxed);
        if (&c->lanes[k] != lane && next < until - grace && next < UINT64_MAX - grace) {
            until = next + grace;
        }
    }
    // a lane that is behind and could not be locked just now: soon
    const uint64_t soonest = now + rest / 2;
    until = until < soonest && until < now ? soonest : until;
    return until < now + nap ? until : now + nap;
}

/* Sleep; the lane is locked, but not meanwhile. */
static void sleep_until(struct mechd_lane *lane, uint64_t until)
{
    const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
                               .tv_nsec = (long)(until % 1000000000u)};
    tell_next(lane);
    lane->until = until;
    pthread_cond_timedwait(&lane->c, &lane->m, &t);
    lane->until = 0;
}

static void *serve(void *context)
{
    struct mechd_lane *const lane = context;
    struct mechd_clock *const c = lane->clock;
    uint64_t slept = 0;
    mechd_thread_name("mechd-clock");
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    pthread_mutex_lock(&lane->m);
    for (;;) {
        const bool stop = atomic_load(&c->stop);
        const uint64_t now = mechd_now();
        // woken before its time, because a timer has come
        slept = slept < now ? slept : now;
        if (stop) {
            mechd_wheel_drain(&lane->wheel);
        } else {
            mechd_wheel_advance(&lane->wheel, now);
            take_over(lane, now);
        }
        if (lane->wheel.ready != NULL) {
            fire_batch(lane, now);
        } else if (stop) {
            break;
        } else {
            const uint64_t until = wake_time(lane, slept, now);
            if (until > now) {
                sleep_until(lane, until);
                slept = until;
            }
        }
    }
    pthread_mutex_unlock(&lane->m);
    atomic_fetch_add(&c->ended, 1);
    return NULL;
}

static void init_lane(struct mechd_lane *lane, struct mechd_clock *c)
{
    pthread_condattr_t attributes;
    memset(lane, 0, sizeof *lane);
    pthread_mutex_init(&lane->m, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&lane->c, &attributes);
    pthread_condattr_destroy(&attributes);
    mechd_wheel_init(&lane->wheel, mechd_now());
    atomic_init(&lane->next, UINT64_MAX);
    lane->clock = c;
}

int mechd_clock_init(struct mechd_clock *c, int lanes)
{
    *c = (struct mechd_clock){.running = true};
    c->lanes = aligned_alloc(MECHD_CACHE_LINE, (size_t)lanes * sizeof *c->lanes);
    if (c->lanes == NULL) {
        return MECH_NO_MEMORY;
    }
    // all lanes are there before the first thread looks at them
    for (int k = 0; k < lanes; k++) {
        init_lane(&c->lanes[k], c);
    }
    c->count = lanes;
    for (; c->started < lanes; c->started++) {
        struct mechd_lane *const lane = &c->lanes[c->started];
        if (pthread_create(&lane->thread, NULL, serve, lane) != 0) {
            return MECH_INTERNAL;
        }
    }
    return 0;
}

/* The lane for a timer that is not armed: where it was, or else the next one, but another one than
 * one that may be stuck in another callback. */
static struct mechd_lane *choose(struct mechd_clock *c, const struct mechd_timer *timer,
                                 uint64_t due)
{
    struct mechd_lane *lane = atomic_load_explicit(&timer->lane, memory_order_relaxed);
    if (lane == NULL) {
        const unsigned turn = atomic_fetch_add_explicit(&c->turn, 1, memory_order_relaxed);
        lane = &c->lanes[turn % (unsigned)c->count];
    }
    const uint64_t begun = atomic_load_explicit(&lane->begun, memory_order_relaxed);
    if (begun != 0 && begun + grace < due && !pthread_equal(pthread_self(), lane->thread)) {
        lane = lane + 1 < c->lanes + c->count ? lane + 1 : c->lanes;
    }
    return lane;
}

/* Let a timer that is not armed go to this lane. A thread that holds the lock of the lane that a
 * timer has may read it (cancel), so that it leaves that lane under its lock. */
static void move_to(struct mechd_timer *timer, struct mechd_lane *lane)
{
    struct mechd_lane *const before = atomic_load_explicit(&timer->lane, memory_order_relaxed);
    if (before == lane) {
        return;
    }
    if (before != NULL) {
        pthread_mutex_lock(&before->m);
    }
    atomic_store_explicit(&timer->lane, lane, memory_order_relaxed);
    if (before != NULL) {
        pthread_mutex_unlock(&before->m);
    }
}

bool mechd_clock_arm(struct mechd_clock *c, struct mechd_timer *timer, uint64_t due)
{
    struct mechd_lane *const lane = choose(c, timer, due);
    move_to(timer, lane);
    pthread_mutex_lock(&lane->m);
    const bool take = !atomic_load(&c->stop);
    if (take) {
        mechd_wheel_insert(&lane->wheel, timer, due);
        // the lane may be held by a callback, so that another one has to see it
        if (due < atomic_load_explicit(&lane->next, memory_order_relaxed)) {
            atomic_store_explicit(&lane->next, due, memory_order_relaxed);
        }
        if (due < lane->until) {
            lane->until = due;
            pthread_cond_signal(&lane->c);
        }
    }
    pthread_mutex_unlock(&lane->m);
    return take;
}

bool mechd_clock_cancel(struct mechd_clock *c, struct mechd_timer *timer)
{
    bool armed = false, moved = true;
    (void)c;
    while (moved) {
        struct mechd_lane *const lane = atomic_load_explicit(&timer->lane, memory_order_relaxed);
        if (lane == NULL) {
            return false;
        }
        pthread_mutex_lock(&lane->m);
        moved = atomic_load_explicit(&timer->lane, memory_order_relaxed) != lane;
        if (!moved && timer->ring != NULL) {
            mechd_wheel_remove(&lane->wheel, timer);
            armed = true;
        }
        pthread_mutex_unlock(&lane->m);
    }
    return armed;
}

uint64_t mechd_clock_phase(struct mechd_clock *c, uint64_t period)
{
    // multiples of the golden ratio: however many there are, the next one falls into a widest gap
    const uint32_t number = atomic_fetch_add_explicit(&c->phases, 1, memory_order_relaxed);
    const uint64_t part = (uint32_t)(number * UINT64_C(2654435769));
    return part * (period < spread ? period : spread) >> 32;
}

bool mechd_clock_close(struct mechd_clock *c)
{
    atomic_store(&c->stop, true);
    for (int k = 0; k < c->count; k++) {
        pthread_mutex_lock(&c->lanes[k].m);
        pthread_cond_signal(&c->lanes[k].c);
        pthread_mutex_unlock(&c->lanes[k].m);
    }
    return atomic_load(&c->ended) == c->started;
}

void mechd_clock_stop(struct mechd_clock *c)
{
    if (!c->running) {
        return;
    }
    (void)mechd_clock_close(c);
    for (int k = 0; k < c->started; k++) {
        pthread_join(c->lanes[k].thread, NULL);
    }
    c->running = false;
}

void mechd_clock_fini(struct mechd_clock *c)
{
    mechd_clock_stop(c);
    for (int k = 0; k < c->count; k++) {
        pthread_cond_destroy(&c->lanes[k].c);
        pthread_mutex_destroy(&c->lanes[k].m);
    }
    free(c->lanes);
    *c = (struct mechd_clock){.running = false};
}
