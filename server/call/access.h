/* The access log: one line a request, once its answer is complete. At level info with --access-log,
 * otherwise at debug. Any thread.
 *
 *   event=request door=http method=POST route=/v1/instances/{id}/step instance=i-1 status=200
 * ms=0.084
 *   in=11 out=310 peer=127.0.0.1:53412 token=rig traceparent=00-…
 *
 * ms from the head of the request (HTTP) or its message (ZeroMQ) to the answer; in and out in
 * bytes of
 * bodies. Without a route the path is logged instead, quoted. */
#pragma once

#include "server/call/requests.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr;

struct mechd_access {
    enum mechd_door door;
    const char *method;              /* over ZeroMQ: the operation, or the kind of frame */
    const struct mechp_route *route; /* or NULL */
    const char *path;                /* as requested, if there is no route; or NULL */
    const char *instance;            /* its id, or NULL */
    const char *token;               /* its name, "" or NULL: none */
    const char *trace;               /* traceparent, or NULL */
    const struct sockaddr *address;  /* of the peer, or NULL */
    int status;
    uint64_t ns;
    size_t in, out;
};

/* Say at level info (true) or at debug. */
void mechd_access_set(bool on);
/* True if a line would be written: nothing need be gathered otherwise. */
bool mechd_access_wanted(void);
void mechd_access_write(const struct mechd_access *a);
