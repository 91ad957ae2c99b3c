/* One HTTP request and its answer. owner: the connection's thread, or while suspended the thread
 * that ends the call. Internal to server/http. */
#pragma once

#include "server/routes/call.h"
#include "server/trace.h"

#include <microhttpd.h>

struct mechd_exchange {
    struct mechd_call call; /* first */
    struct MHD_Connection *connection;
    unsigned char *body; /* [body_size] as far as it has come */
    size_t body_size, body_room, body_limit;
    char *packed; /* the reply compressed, or NULL */
    size_t packed_size;
    bool takes_gzip;           /* the client does */
    char *scope;               /* of an idempotency key, or NULL */
    const char *method, *path; /* libmicrohttpd's, as long as the request */
    char trace[MECHD_TRACE];   /* traceparent of the answer */
    bool started;              /* the call has been started */
    bool counted;              /* in daemon->in_flight */
    bool head_only;            /* HEAD */
    /* The reply stands. Set before the connection is resumed, read after that; libmicrohttpd's own
     * lock orders the two as well, but is not part of its contract. */
    _Atomic bool answered;
};

/* Add what every answer carries, queue it (the reference goes with it), count and log it. `size`:
 * bytes
 * of its body, as far as they are known. */
enum MHD_Result mechd_exchange_send(struct mechd_exchange *x, int status,
                                    struct MHD_Response *response, size_t size);

/* Queue the answer that stands in the call. */
enum MHD_Result mechd_exchange_answer(struct mechd_exchange *x);

/* Serve a file of the page, if the path is one; *result says how it went. */
bool mechd_page_serve(struct mechd_exchange *x, enum MHD_Result *result);

/* Answer with live events of the call's instance. */
enum MHD_Result mechd_events_serve(struct mechd_exchange *x);
