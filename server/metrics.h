/* Counters for Prometheus. Lock-free: each is an atomic that any thread adds to and the page of
 * /metrics reads; between two counters there is no order. */
#pragma once

#include "protocol/wire/routes.h"
#include "protocol/wire/text.h"

#include <stdatomic.h>
#include <stdint.h>

enum { MECHD_STATUSES = 28, MECHD_BUCKETS = 14 };

/* Doors that requests come through. */
enum mechd_door { MECHD_DOOR_HTTP, MECHD_DOOR_JSON, MECHD_DOOR_FRAME, MECHD_DOORS };

/* A histogram: how many took how long. */
struct mechd_latency {
    _Atomic uint64_t buckets[MECHD_BUCKETS + 1]; /* each for itself */
    _Atomic uint64_t sum;                        /* ns */
};

struct mechd_metrics {
    _Atomic uint64_t requests[MECHP_ROUTES + 1][MECHD_STATUSES]; /* HTTP; last route: none */
    _Atomic uint64_t errors[MECHD_DOORS];                        /* by door */
    struct mechd_latency latency[MECHD_DOORS];                   /* not HTTP, whose routes' it is */
    struct mechd_latency route_latency[MECHP_ROUTES + 1];        /* HTTP; last: none */
    _Atomic uint64_t bytes_in, bytes_out;
    _Atomic uint64_t commands, steps, iterations, vi_iterations, contacts, failed_steps;
    _Atomic uint64_t created, deleted;
    _Atomic uint64_t batch_items;
    _Atomic uint64_t expired;              /* instances, by their time to live */
    _Atomic uint64_t leases, leases_ended; /* taken; ended by the clock */
    _Atomic uint64_t stream_frames, stream_drops, forces, forces_late, forces_refused;
    _Atomic uint64_t overruns, unsent, peers_refused, peers_cut, handshakes_failed;
    _Atomic uint64_t stream_stalls;
    _Atomic int64_t queued; /* commands in the queues of all instances */
    _Atomic int64_t event_clients;
    _Atomic int64_t connections;                    /* of HTTP */
    _Atomic uint64_t refused_connections, timeouts; /* of HTTP */
};

static inline void mechd_count(_Atomic uint64_t *counter, uint64_t by)
{
    // a line that other threads write too is left alone when nothing is added
    if (by != 0) {
        atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
    }
}

/* A request was answered: `route` NULL when there is none. */
void mechd_metrics_request(struct mechd_metrics *m, enum mechd_door door,
                           const struct mechp_route *route, int status, uint64_t ns);

struct mechd;
/* The page of /metrics, as text. */
void mechd_metrics_write(struct mechd *d, struct mechp_text *w);
