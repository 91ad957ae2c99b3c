/* A hierarchical timing wheel: timers in slots by the time at which they are due.
 *
 * Level 0 has a slot for each of the next 256 ticks of 4.096 µs, level k one for each 256^k of
 * them. Insertion and removal take constant time and no memory; a timer moves down one level at
 * most five times before it is ready. No timer is ready before its time, and each is within one
 * tick after it; timers of one tick become ready in the order of their insertion.
 *
 *     mechd_wheel_init(&w, now);
 *     mechd_wheel_insert(&w, &timer, due);
 *     mechd_wheel_advance(&w, now);
 *     while ((t = mechd_wheel_pop(&w)) != NULL) { … }
 *
 * owner: the holder of the lock of the structure that it is part of. Method: G. Varghese,
 * T. Lauck, "Hashed and hierarchical timing wheels", IEEE/ACM Trans. Networking 5 (1997), scheme 7.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mechd_lane;

/* Embedded in whatever has a time. */
struct mechd_timer {
    struct mechd_timer *next, *before; /* of the ring in a slot */
    struct mechd_timer **ring;         /* which slot; NULL: it is not armed */
    uint64_t due;                      /* ns, as mechd_now */
    void (*fire)(struct mechd_timer *timer);
    struct mechd_lane *_Atomic lane; /* where it was last; partner: clock.c */
};

enum {
    MECHD_WHEEL_TICK = 12, /* a tick is 2^12 ns */
    MECHD_WHEEL_BITS = 8,
    MECHD_WHEEL_SLOTS = 1 << MECHD_WHEEL_BITS,
    MECHD_WHEEL_LEVELS = 6 /* 2^60 ns = 36 years; what is due later waits in the last slot */
};

struct mechd_wheel {
    uint64_t now; /* ticks that have been served */
    size_t count; /* armed, the ready ones too */
    struct mechd_timer *ready;
    struct mechd_timer *slots[MECHD_WHEEL_LEVELS][MECHD_WHEEL_SLOTS];
    uint64_t busy[MECHD_WHEEL_LEVELS][MECHD_WHEEL_SLOTS / 64]; /* slots that may not be empty */
};

void mechd_wheel_init(struct mechd_wheel *w, uint64_t now);
/* A timer that is in no wheel. */
void mechd_wheel_insert(struct mechd_wheel *w, struct mechd_timer *t, uint64_t due);
/* A timer that is in this wheel, ready or not. */
void mechd_wheel_remove(struct mechd_wheel *w, struct mechd_timer *t);
/* What is due by `now` is ready. */
void mechd_wheel_advance(struct mechd_wheel *w, uint64_t now);
/* All that is in it is ready. */
void mechd_wheel_drain(struct mechd_wheel *w);
/* The first one that is ready, taken out, or NULL. */
struct mechd_timer *mechd_wheel_pop(struct mechd_wheel *w);
/* A timer that is in no wheel: it comes before all that are ready. */
void mechd_wheel_put_first(struct mechd_wheel *w, struct mechd_timer *t);
/* When the first ready one was due, or else when advance has something to do, which is not after
 * the first timer is due but for its tick; UINT64_MAX: never. */
uint64_t mechd_wheel_next(struct mechd_wheel *w);
