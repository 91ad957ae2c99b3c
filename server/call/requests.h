/* Requests that were answered: how many by route and status, and how long they took. As counters
 * of /metrics (server/os/counters.h). */
#pragma once

#include "protocol/wire/routes.h"
#include "server/os/counters.h"

#include <stdatomic.h>
#include <stdint.h>

enum { MECHD_STATUSES = 30, MECHD_BUCKETS = 14 };

/* Doors that requests come through. */
enum mechd_door {
    MECHD_DOOR_HTTP,
    MECHD_DOOR_JSON,
    MECHD_DOOR_FRAME,
    MECHD_DOOR_LANE_JSON,
    MECHD_DOOR_LANE_FRAME,
    MECHD_DOORS
};
/* Their names in the access log and in /metrics. */
extern const char *const mechd_door_names[MECHD_DOORS];

/* A histogram: how many took how long. */
struct mechd_latency {
    _Atomic uint64_t buckets[MECHD_BUCKETS + 1]; /* each for itself */
    _Atomic uint64_t sum;                        /* ns */
};

/* Those of some threads; of numbers alone. */
struct mechd_request_tally {
    _Atomic uint64_t answered[MECHP_ROUTES + 1][MECHD_STATUSES]; /* HTTP; last route: none */
    _Atomic uint64_t errors[MECHD_DOORS];                        /* by door */
    struct mechd_latency latency[MECHD_DOORS];                   /* not HTTP, whose routes' it is */
    struct mechd_latency route_latency[MECHP_ROUTES + 1];        /* HTTP; last: none */
};

/* Apart as the tallies of steps; of a thread that counts nothing no page is touched. */
struct mechd_requests {
    struct mechd_request_tally tallies[MECHD_TALLIES];
};

/* Status of each column of `answered`, 0: any other; upper ends of the buckets, s. */
extern const int mechd_statuses[MECHD_STATUSES];
extern const double mechd_buckets[MECHD_BUCKETS];

/* A request was answered: `route` NULL when there is none. Any thread. */
void mechd_requests_count(struct mechd_requests *r, enum mechd_door door,
                          const struct mechp_route *route, int status, uint64_t ns);
/* The sum of all, which the caller frees; NULL: no memory. Any thread. */
struct mechd_request_tally *mechd_requests_sum(const struct mechd_requests *r);
