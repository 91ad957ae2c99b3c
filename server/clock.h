/* Timers: one thread that fires callbacks at their time, for paced runs and live events.
 *
 * A callback runs on the clock's thread without any lock held and must be short. Whoever arms a
 * timer keeps its memory alive until it has fired or mechd_clock_cancel has returned true.
 * shared, locked by its own mutex.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct mechd_timer {
    struct mechd_timer *next;
    uint64_t due; /* ns, as mechd_now */
    void (*fire)(struct mechd_timer *timer);
    bool armed;
};

struct mechd_clock {
    pthread_mutex_t m;
    pthread_cond_t c;
    struct mechd_timer *head; /* sorted by due */
    bool stop, running;
    pthread_t thread;
};

int mechd_clock_init(struct mechd_clock *c);
/* Arm a timer that is not armed. False: the clock has stopped, it will not fire. */
bool mechd_clock_arm(struct mechd_clock *c, struct mechd_timer *timer, uint64_t due);
/* True: it was armed and will not fire. False: it is not armed; it may be firing now. */
bool mechd_clock_cancel(struct mechd_clock *c, struct mechd_timer *timer);
/* Fire everything that is armed at once, refuse what is armed later, and join the thread. */
void mechd_clock_stop(struct mechd_clock *c);
void mechd_clock_fini(struct mechd_clock *c);
