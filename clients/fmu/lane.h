/* A connection to the lane of a server, by libc or winsock alone: requests as JSON, each message
 * behind its length (protocol/README.md, Lane). No call blocks longer than `timeout` without a byte
 * from the server.
 *
 *     mechfmu_lane_begin(&l, "step");
 *     mechfmu_lane_text(&l, "id", "i-1");
 *     mechfmu_lane_number(&l, "size", 0.01);
 *     if (mechfmu_lane_send(&l, &reply) == MECHFMU_DONE) { … mechc_json_member(reply, …) … }
 *
 * owner: the component.
 */
#pragma once

#include "clients/c/bytes.h"
#include "clients/c/scan.h"

#include <stdint.h>

enum mechfmu_outcome {
    MECHFMU_DONE,
    MECHFMU_REFUSED, /* by the server, which has changed nothing: number and text */
    MECHFMU_LOST     /* there is no connection, or none any more: text */
};

struct mechfmu_lane {
    intptr_t socket;        /* negative: none */
    char *endpoint, *token; /* malloc'd; token "": none */
    double timeout;         /* s */
    struct mechc_bytes in, out;
    int number;     /* of the last refusal (protocol/README.md, Errors) */
    char text[400]; /* why the last request was not done */
};

/* Zeroed but for a socket of −1. endpoint: unix:PATH (not on Windows) or tcp://host:port. DONE or
 * LOST. Closes a connection that is open. */
enum mechfmu_outcome mechfmu_lane_open(struct mechfmu_lane *l, const char *endpoint,
                                       const char *token, double timeout);
void mechfmu_lane_close(struct mechfmu_lane *l);
bool mechfmu_lane_is_open(const struct mechfmu_lane *l);
/* Close, and free what it has. */
void mechfmu_lane_fini(struct mechfmu_lane *l);

/* The next request: {"op": op, "token": …}; members are added in any order. */
void mechfmu_lane_begin(struct mechfmu_lane *l, const char *op);
void mechfmu_lane_key(struct mechfmu_lane *l, const char *key); /* its value follows in l->out */
void mechfmu_lane_text(struct mechfmu_lane *l, const char *key, const char *value);
void mechfmu_lane_number(struct mechfmu_lane *l, const char *key, double value);
void mechfmu_lane_plain(struct mechfmu_lane *l, const char *key, const char *json);
/* Send it and wait for the reply, which is valid until the next request. A connection that the
 * server has closed while it was idle is opened again. After LOST it is closed. */
enum mechfmu_outcome mechfmu_lane_send(struct mechfmu_lane *l, struct mechc_json *reply);
