/* The daemon: everything that its threads share. One per process, made and ended by main. */
#pragma once

#include "server/auth/tokens.h"
#include "server/clock.h"
#include "server/config.h"
#include "server/instance/table.h"
#include "server/memory.h"
#include "server/metrics.h"
#include "server/pool.h"
#include "server/routes/receipts.h"

#include <stddef.h>

struct mechd_http;
struct mechd_store;
struct mechd_watchdog;
struct mechd_zmq;

struct mechd {
    struct mechd_config config; /* const once running */
    struct mechd_metrics metrics;
    struct mechd_pool pool;
    struct mechd_clock clock;
    struct mechd_memory memory;
    struct mechd_table table;
    struct mechd_receipts receipts;
    struct mechd_tokens tokens;
    struct mechd_http *http; /* doors; const once running */
    struct mechd_zmq *zmq;
    struct mechd_watchdog *watchdog; /* NULL: nobody asks for it */
    struct mechd_store *store;       /* NULL: nothing outlives the process; const once running */
    uint64_t started;                /* mechd_now at start */
    uint64_t incarnation;            /* of the process; instances add their serial */
    _Atomic bool ready;              /* takes work; partner: /readyz */
    _Atomic bool draining;           /* refuses new work; partner: both doors */
    _Atomic bool cancel;             /* long commands stop at their next slice; partner: stepping */
    _Atomic int in_flight;           /* calls taken and not yet answered */
    _Atomic size_t bodies;           /* bytes of their bodies; partner: both doors */
};

/* Largest model document, bytes of JSON. */
static inline size_t mechd_model_most(const struct mechd *d)
{
    return (size_t)d->config.model_size << 20;
}

/* Room for `size` more bytes of a body; false: there is none now. All bodies that have been taken
 * and not yet answered, through any door, are four models at most. Any thread. */
static inline bool mechd_bodies_take(struct mechd *d, size_t size)
{
    const size_t most = 4 * mechd_model_most(d);
    const bool fits = size <= most && atomic_fetch_add(&d->bodies, size) <= most - size;
    if (!fits && size <= most) {
        atomic_fetch_sub(&d->bodies, size);
    }
    return fits;
}

static inline void mechd_bodies_give(struct mechd *d, size_t size)
{
    atomic_fetch_sub(&d->bodies, size);
}
