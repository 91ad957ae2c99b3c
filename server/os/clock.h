/* Timers: threads that fire callbacks at their time. Two clocks are in the daemon: one of a single
 * lane for live events, checkpoints, leases and deadlines, and one with a lane for each worker on
 * which periods of paced runs are computed.
 *
 * A lane is a thread with a wheel (wheel.h). It fires what is due without any lock held, and
 * then sleeps until something is, 100 µs at least after it last slept, so that many timers share
 * one waking. A timer stays on its lane; a lane that has nothing to do takes over the timers of one
 * that is more than 0.3 ms behind, because it has more to do or because a callback takes long. If
 * all are behind, timers fire in the order of their times.
 *
 * A callback may arm its own timer again, and must be short on a clock of one lane. The memory of
 * an armed timer must remain valid until it has fired or mechd_clock_cancel has returned true.
 * shared, each lane locked by its own mutex.
 */
#pragma once

#include "server/os/wheel.h"

#include <pthread.h>
#include <stdalign.h>

enum { MECHD_CACHE_LINE = 64 };

struct mechd_lane {
    alignas(MECHD_CACHE_LINE) pthread_mutex_t m;
    pthread_cond_t c;
    struct mechd_wheel wheel;
    uint64_t until;         /* until when it sleeps, 0: it is awake */
    _Atomic uint64_t next;  /* when its first timer is due; partner: the other lanes */
    _Atomic uint64_t begun; /* since when it fires a batch, 0: it does not; partner: arm */
    struct mechd_clock *clock;
    pthread_t thread;
};

struct mechd_clock {
    struct mechd_lane *lanes; /* [count] */
    int count;
    int started;             /* threads of them */
    bool running;            /* not joined yet */
    _Atomic bool stop;       /* fire all and take no more; partner: lanes, arm */
    _Atomic int ended;       /* lanes after the stop */
    _Atomic unsigned turn;   /* where the next new timer goes */
    _Atomic uint32_t phases; /* given out */
};

/* Negative: no memory or no threads; to be ended by fini all the same. */
int mechd_clock_init(struct mechd_clock *c, int lanes);
/* Arm a timer that is not armed. False: the clock has stopped, it will not fire. */
bool mechd_clock_arm(struct mechd_clock *c, struct mechd_timer *timer, uint64_t due);
/* True: it was armed and will not fire. False: it is not armed; it may be firing now. */
bool mechd_clock_cancel(struct mechd_clock *c, struct mechd_timer *timer);
/* An offset for a schedule of this period, ns: schedules of equal periods that begin at one time
 * are spread evenly over a period, or over 10 ms of a longer one. The first one is 0. */
uint64_t mechd_clock_phase(struct mechd_clock *c, uint64_t period);
/* Fire everything that is armed at once and refuse what is armed later. True: all have been fired
 * and the threads have ended; call again until then. */
bool mechd_clock_close(struct mechd_clock *c);
/* The same, and join the threads. */
void mechd_clock_stop(struct mechd_clock *c);
void mechd_clock_fini(struct mechd_clock *c);
