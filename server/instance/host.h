/* Shared resources of all instances: threads, timers, storage, accounts, and observers of
 * instances. One in a process, part of the service (server/call/service.h). */
#pragma once

#include "server/auth/accounts.h"
#include "server/auth/tokens.h"
#include "server/instance/reaper.h"
#include "server/instance/table.h"
#include "server/os/clock.h"
#include "server/os/counters.h"
#include "server/os/ids.h"
#include "server/os/memory.h"
#include "server/os/pool.h"
#include "server/os/stop.h"

#include <stddef.h>

struct mechd_published;
struct mechd_store;

enum { MECHD_OBSERVERS = 4 };

/* An observer: callbacks, which may be NULL; `of` is passed to each. */
struct mechd_observer {
    /* A new instance is in the table. Any thread. */
    void (*created)(void *of, struct mechd_instance *i);
    /* A step or a change has been published. As owner. */
    void (*stepped)(void *of, struct mechd_instance *i, const struct mechd_published *step);
    /* Streams have been chosen or removed (instance/picks.h). As owner. */
    void (*picked)(void *of, struct mechd_instance *i);
    /* The request of this scope (server/store/store.h) has been undone. Any thread. */
    void (*undone)(void *of, const char *scope);
    /* The instance has been deleted. Any thread. */
    void (*gone)(void *of, struct mechd_instance *i);
    void *of;
};

struct mechd_host {
    struct mechd_counters counters;
    struct mechd_pool pool;
    struct mechd_clock clock; /* one lane, for short callbacks */
    struct mechd_clock pace;  /* a lane for each worker: periods of paced runs */
    struct mechd_memory memory;
    struct mechd_table table;
    struct mechd_table faces; /* what couplings show of themselves (server/coupling/face.h) */
    struct mechd_reaper reaper;
    struct mechd_accounts accounts;
    struct mechd_tokens tokens;
    struct mechd_observer observers[MECHD_OBSERVERS]; /* const once running */
    int observer_count;
    struct mechd_store *store; /* NULL: nothing is stored; const once running */
    /* The largest number of a snapshot or a run, and of a trial, that any instance has had in this
     * process or, with a store, in those before it (instance/lives.h) */
    _Atomic uint64_t given[MECHD_COUNTED];
    uint64_t incarnation;         /* of the process; instances add their serial */
    char series[MECHD_SERIES];    /* of its ids (server/os/ids.h); "" with a store */
    struct mechd_stop drain;      /* SHUTDOWN: no new work; runs, sweeps and streams end */
    struct mechd_stop stop;       /* later, SHUTDOWN: commands end at their next slice */
    _Atomic size_t row_bytes;     /* of recorded rows in memory; partner: instance/recording.c */
    _Atomic size_t receipt_bytes; /* that wait for a checkpoint; partner: instance/durable.c */
};

/* True once the shutdown has begun: changes are refused, and what has no end of its own ends. Any
 * thread. */
static inline bool mechd_host_drains(const struct mechd_host *h)
{
    return mechd_stop_reason(&h->drain) != MECHD_STOP_NONE;
}

/* True once commands end: every call is refused. Any thread. */
static inline bool mechd_host_stops(const struct mechd_host *h)
{
    return mechd_stop_reason(&h->stop) != MECHD_STOP_NONE;
}

/* Before anything runs; at most MECHD_OBSERVERS. */
void mechd_host_observe(struct mechd_host *h, const struct mechd_observer *o);

/* Call the callbacks of all observers. */
void mechd_tell_created(struct mechd_instance *i);
void mechd_tell_stepped(struct mechd_instance *i, const struct mechd_published *step);
void mechd_tell_picked(struct mechd_instance *i);
void mechd_tell_undone(struct mechd_host *h, const char *scope);
void mechd_tell_gone(struct mechd_instance *i);
