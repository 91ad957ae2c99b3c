/* Shared state of all calls: the instances' host, and data shared by all doors. One in a process,
 * part of the daemon (server/daemon/daemon.h), which provides the table of operations. */
#pragma once

#include "server/auth/curve.h"
#include "server/call/background.h"
#include "server/call/receipts.h"
#include "server/call/requests.h"
#include "server/instance/fmus.h"
#include "server/instance/host.h"
#include "server/os/config.h"

struct mechd_operation;
struct mechd_couplings;
struct mechd_outsides;
struct mechd_sweeps;
struct mechp_text;

enum { MECHD_BODY_MOST = 1 << 20 }; /* bytes, of a body that holds no model */

/* The daemon's description of itself. */
struct mechd_self {
    const char *http, *control, *stream, *forces, *lane; /* endpoints of the doors; "": closed */
    const char *libmicrohttpd; /* versions of the libraries of the doors */
    char zeromq[32];
    /* The page of /metrics, as text. Any thread. */
    void (*write_metrics)(void *daemon, struct mechp_text *w);
    void *daemon;
};

struct mechd_service {
    struct mechd_host host;
    struct mechd_config config;                      /* const once running */
    const struct mechd_operation *const *operations; /* [MECHP_ROUTES] by route */
    struct mechd_self self;                          /* const once ready */
    struct mechd_requests requests;
    struct mechd_receipts receipts;
    struct mechd_backgrounds backgrounds;
    struct mechd_tokens peers;         /* by public key; used if CURVE is on */
    struct mechd_curve curve;          /* const once running */
    struct mechd_sweeps *sweeps;       /* the daemon's */
    struct mechd_fmus fmus;            /* uploaded */
    struct mechd_couplings *couplings; /* the daemon's */
    struct mechd_outsides *outsides;   /* the daemon's: programs in couplings */
    _Atomic bool ready;                /* accepts work; partner: /readyz */
    _Atomic int in_flight;             /* calls accepted and not yet answered */
    _Atomic size_t bodies;             /* bytes of their bodies; partner: both doors */
    _Atomic size_t trees; /* estimated bytes of the trees that HTTP parses from them; its threads */
};

/* Largest model document, bytes of JSON. */
static inline size_t mechd_model_most(const struct mechd_service *s)
{
    return (size_t)s->config.model_size << 20;
}

/* Reserve `size` more bytes of a body; false: the limit is reached. All bodies that have been
 * accepted and not yet answered, through any door, take at most four models. Any thread. */
static inline bool mechd_bodies_take(struct mechd_service *s, size_t size)
{
    const size_t most = 4 * mechd_model_most(s);
    const bool fits = size <= most && atomic_fetch_add(&s->bodies, size) <= most - size;
    if (!fits && size <= most) {
        atomic_fetch_sub(&s->bodies, size);
    }
    return fits;
}

/* Check the limit without reserving: one load, no write. */
static inline bool mechd_bodies_fit(const struct mechd_service *s, size_t size)
{
    const size_t most = 4 * mechd_model_most(s);
    return size <= most && atomic_load_explicit(&s->bodies, memory_order_relaxed) <= most - size;
}

/* The same for the trees that are parsed from bodies: two of the largest models. */
static inline bool mechd_trees_take(struct mechd_service *s, size_t size)
{
    const size_t most = 16 * mechd_model_most(s);
    const bool fits = size <= most && atomic_fetch_add(&s->trees, size) <= most - size;
    if (!fits && size <= most) {
        atomic_fetch_sub(&s->trees, size);
    }
    return fits;
}

static inline void mechd_trees_give(struct mechd_service *s, size_t size)
{
    atomic_fetch_sub(&s->trees, size);
}

static inline void mechd_bodies_give(struct mechd_service *s, size_t size)
{
    atomic_fetch_sub(&s->bodies, size);
}
