/* What the daemon counts, for /metrics. Each counter is an atomic that any thread adds to and the
 * page reads; between two counters there is no order. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

enum { MECHD_TALLIES = 16 };

/* What every step and every request counts, apart for each of some threads: two lines of the cache,
 * so that they do not take them from each other. */
struct mechd_tally {
    _Atomic uint64_t commands, steps, iterations, vi_iterations, contacts;
    _Atomic uint64_t late, overruns; /* periods of paced runs */
    _Atomic uint64_t bytes_in, bytes_out;
    uint64_t apart[7];
};

struct mechd_counters {
    struct mechd_tally tallies[MECHD_TALLIES];
    _Atomic uint64_t failed_steps;
    _Atomic uint64_t created, deleted;
    _Atomic uint64_t batch_items;
    _Atomic uint64_t coupling_shared;      /* threads of the pool that joined a round */
    _Atomic uint64_t expired;              /* instances, by their time to live */
    _Atomic uint64_t leases, leases_ended; /* taken; ended by the clock */
    _Atomic uint64_t stream_frames, stream_drops, forces, forces_late, forces_refused;
    _Atomic uint64_t unsent, peers_refused, peers_cut, handshakes_failed;
    _Atomic uint64_t stream_stalls;
    _Atomic uint64_t lane_refused, lane_timeouts; /* connections of the lane */
    _Atomic int64_t queued;                       /* commands in the queues of all instances */
    _Atomic int64_t event_clients;
    _Atomic int64_t picks;                          /* streams that clients have chosen */
    _Atomic int64_t connections;                    /* of HTTP */
    _Atomic uint64_t refused_connections, timeouts; /* of HTTP */
    _Atomic uint64_t left;                          /* clients of HTTP, before their answer */
};

static inline void mechd_count(_Atomic uint64_t *counter, uint64_t by)
{
    // a line that other threads write too is left alone when nothing is added
    if (by != 0) {
        atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
    }
}

/* Which tally is the calling thread's, below MECHD_TALLIES. */
unsigned mechd_tally_place(void);
/* Where it counts. */
struct mechd_tally *mechd_tally(struct mechd_counters *c);
