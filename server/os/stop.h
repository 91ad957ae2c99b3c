/* Whether work must end, and for which reason. A token belongs to what can end: the daemon, an
 * instance, a command, a call, a connection. Whatever learns the reason raises the token; work is
 * handed the tokens that concern it and polls them, at a step boundary or within long iterations,
 * and remembers the reason that it has seen.
 *
 *     struct mechd_stop stop = {0};
 *     mechd_stop_raise(&stop, MECHD_STOP_DELETED);                       // any thread
 *     while (mechd_stop_reason(&stop) == MECHD_STOP_NONE && step()) {
 *     }
 *     if (mechd_stop_close(&stop)) {
 *         show_effect();                                                 // nothing stops it now
 *     }
 *
 * Before work shows its effect to others it closes its token. A token is either raised or closed,
 * whichever comes first: one that was raised ends work without effect, and whatever finds it
 * closed knows that the effect is there.
 *
 * shared: any thread raises, any thread polls. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum mechd_stop_reason {
    MECHD_STOP_NONE,     /* it continues */
    MECHD_STOP_STOPPED,  /* a client has stopped or cancelled it */
    MECHD_STOP_DELETED,  /* what it works on has been deleted */
    MECHD_STOP_GONE,     /* its client has disconnected: no answer is awaited */
    MECHD_STOP_SHUTDOWN, /* the daemon shuts down */
    MECHD_STOP_YIELD,    /* another command has to be executed before it continues */
    MECHD_STOP_RETREAT,  /* it takes too long on this thread: it starts again in the pool */
    MECHD_STOP_QUOTA     /* the time of its account is used up */
};

/* A token that several hold, each until what it asks for has been done: raised while one of them
 * does. Zeroed: not raised. */
struct mechd_stop_held {
    _Atomic int holders; /* partner: mechd_stop_held_reason */
};

static inline void mechd_stop_hold(struct mechd_stop_held *s)
{
    atomic_fetch_add(&s->holders, 1);
}

static inline void mechd_stop_release(struct mechd_stop_held *s)
{
    atomic_fetch_sub(&s->holders, 1);
}

/* This reason, or NONE: nothing holds it. */
static inline enum mechd_stop_reason mechd_stop_held_reason(const struct mechd_stop_held *s,
                                                            enum mechd_stop_reason reason)
{
    return atomic_load(&s->holders) > 0 ? reason : MECHD_STOP_NONE;
}

enum { MECHD_STOP_CLOSED = -1 /* in place of a reason: there will be none */ };

/* Zeroed: not raised. */
struct mechd_stop {
    _Atomic int reason; /* enum mechd_stop_reason, or CLOSED; partner: mechd_stop_reason */
};

/* The first reason remains. True: it is this one, from this call. False also: it is closed. */
static inline bool mechd_stop_raise(struct mechd_stop *s, enum mechd_stop_reason reason)
{
    int none = MECHD_STOP_NONE;
    return atomic_compare_exchange_strong(&s->reason, &none, (int)reason);
}

/* No reason ends the work any more. True: none has been given, now or before. False: it has been
 * raised, and the work must end without effect. */
static inline bool mechd_stop_close(struct mechd_stop *s)
{
    int was = MECHD_STOP_NONE;
    return atomic_compare_exchange_strong(&s->reason, &was, (int)MECHD_STOP_CLOSED) ||
           was == MECHD_STOP_CLOSED;
}

/* True: whatever it would have stopped has had its effect, or is about to. */
static inline bool mechd_stop_closed(const struct mechd_stop *s)
{
    return atomic_load(&s->reason) == MECHD_STOP_CLOSED;
}

/* What it was raised for, or closed for, is over: it no longer applies. */
static inline void mechd_stop_lower(struct mechd_stop *s)
{
    atomic_store(&s->reason, MECHD_STOP_NONE);
}

/* NULL: never raised. */
static inline enum mechd_stop_reason mechd_stop_reason(const struct mechd_stop *s)
{
    const int reason = s != NULL ? atomic_load(&s->reason) : MECHD_STOP_NONE;
    return reason != MECHD_STOP_CLOSED ? (enum mechd_stop_reason)reason : MECHD_STOP_NONE;
}
