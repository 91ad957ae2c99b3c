/* The daemon: everything that its threads share. One per process, made and ended by main. */
#pragma once

#include "server/auth/curve.h"
#include "server/auth/tokens.h"
#include "server/clock.h"
#include "server/config.h"
#include "server/instance/reaper.h"
#include "server/instance/table.h"
#include "server/memory.h"
#include "server/metrics.h"
#include "server/pool.h"
#include "server/routes/background.h"
#include "server/routes/receipts.h"
#include "server/sweep/sweep.h"

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
    struct mechd_reaper reaper;
    struct mechd_receipts receipts;
    struct mechd_sweeps sweeps;
    struct mechd_backgrounds backgrounds;
    struct mechd_accounts accounts;
    struct mechd_tokens tokens;
    struct mechd_tokens peers; /* by public key; asked where curve is on */
    struct mechd_curve curve;  /* const once running */
    struct mechd_http *http;   /* doors; const once running */
    struct mechd_zmq *zmq;
    struct mechd_watchdog *watchdog; /* NULL: nobody asks for it */
    struct mechd_store *store;       /* NULL: nothing outlives the process; const once running */
    uint64_t started;                /* mechd_now at start */
    uint64_t incarnation;            /* of the process; instances add their serial */
    _Atomic bool ready;              /* takes work; partner: /readyz */
    _Atomic bool draining;           /* refuses new work; partner: both doors */
    _Atomic bool closed;             /* refuses every call; partner: both doors */
    _Atomic bool cancel;             /* long commands stop at their next slice; partner: stepping */
    _Atomic int in_flight;           /* calls taken and not yet answered */
    _Atomic size_t bodies;           /* bytes of their bodies; partner: both doors */
    _Atomic size_t trees;     /* bytes of what HTTP reads from them, estimated; its threads */
    _Atomic size_t row_bytes; /* of recorded rows in memory; partner: instance/recording.c */
};

/* Everything that needs no thread first, what the state directory holds, then the doors, by
 * d->config; all else is zero. Negative: a sentence is in `fault`, and threads of what has been
 * opened may run. */
int mechd_daemon_start(struct mechd *d, char *fault, size_t size);
/* Finish what is in flight and end all of it; two seconds at most. */
void mechd_daemon_stop(struct mechd *d);

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

/* Whether there is, for what needs no room of its own: one look, no write. */
static inline bool mechd_bodies_fit(const struct mechd *d, size_t size)
{
    const size_t most = 4 * mechd_model_most(d);
    return size <= most && atomic_load_explicit(&d->bodies, memory_order_relaxed) <= most - size;
}

/* The same for the trees that are read from bodies: two of the largest models. */
static inline bool mechd_trees_take(struct mechd *d, size_t size)
{
    const size_t most = 16 * mechd_model_most(d);
    const bool fits = size <= most && atomic_fetch_add(&d->trees, size) <= most - size;
    if (!fits && size <= most) {
        atomic_fetch_sub(&d->trees, size);
    }
    return fits;
}

static inline void mechd_trees_give(struct mechd *d, size_t size)
{
    atomic_fetch_sub(&d->trees, size);
}

static inline void mechd_bodies_give(struct mechd *d, size_t size)
{
    atomic_fetch_sub(&d->bodies, size);
}
