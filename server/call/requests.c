#include "server/call/requests.h"

#include <stdlib.h>

const char *const mechd_door_names[MECHD_DOORS] = {[MECHD_DOOR_HTTP] = "http",
                                                   [MECHD_DOOR_JSON] = "zmq-json",
                                                   [MECHD_DOOR_FRAME] = "zmq-frame",
                                                   [MECHD_DOOR_LANE_JSON] = "lane-json",
                                                   [MECHD_DOOR_LANE_FRAME] = "lane-frame"};

const int mechd_statuses[MECHD_STATUSES] = {200, 201, 202, 204, 206, 304, 400, 401, 403,
                                            404, 405, 406, 408, 409, 411, 412, 413, 415,
                                            422, 429, 500, 501, 502, 503, 504, 507, 0};

const double mechd_buckets[MECHD_BUCKETS] = {25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3,
                                             5e-3,  10e-3, 50e-3,  100e-3, 500e-3, 1.,   10.};

static void observe(struct mechd_latency *l, uint64_t ns)
{
    int bucket = 0;
    while (bucket < MECHD_BUCKETS && (double)ns * 1e-9 > mechd_buckets[bucket]) {
        bucket++;
    }
    mechd_count(&l->buckets[bucket], 1);
    mechd_count(&l->sum, ns);
}

void mechd_requests_count(struct mechd_requests *r, enum mechd_door door,
                          const struct mechp_route *route, int status, uint64_t ns)
{
    struct mechd_request_tally *const mine = &r->tallies[mechd_tally_place()];
    const int row = route != NULL ? (int)route->id : MECHP_ROUTES;
    int at = 0;
    while (at < MECHD_STATUSES - 1 && mechd_statuses[at] != status) {
        at++;
    }
    if (door == MECHD_DOOR_HTTP) {
        mechd_count(&mine->answered[row][at], 1);
        observe(&mine->route_latency[row], ns);
    } else {
        observe(&mine->latency[door], ns);
    }
    mechd_count(&mine->errors[door], status >= 400 ? 1 : 0);
}

struct mechd_request_tally *mechd_requests_sum(const struct mechd_requests *r)
{
    struct mechd_request_tally *const sum = calloc(1, sizeof *sum);
    for (int k = 0; sum != NULL && k < MECHD_TALLIES; k++) {
        const _Atomic uint64_t *const from = (const void *)&r->tallies[k];
        _Atomic uint64_t *const to = (void *)sum;
        for (size_t n = 0; n < sizeof *sum / sizeof *to; n++) {
            const uint64_t number = atomic_load_explicit(&from[n], memory_order_relaxed);
            if (number != 0) {
                atomic_fetch_add_explicit(&to[n], number, memory_order_relaxed);
            }
        }
    }
    return sum;
}
