/* One HTTP request and its answer. owner: the connection's thread, or while suspended the thread
 * that completes the call. Internal to server/http. */
#pragma once

#include "server/call/call.h"
#include "server/http/head.h"
#include "server/http/link.h"
#include "server/http/target.h"
#include "server/http/trace.h"

#include <microhttpd.h>
#include <stddef.h>

enum { MECHD_SMALL_BODY = 512, MECHD_KNOWN_TARGET = 96 };

/* The last valid target of a connection that has a route: clients repeat the same requests. */
struct mechd_known {
    size_t length; /* of the target; 0: none */
    struct mechp_match match;
    char target[MECHD_KNOWN_TARGET];
};

struct mechd_exchange {
    struct mechd_call call; /* first */
    struct MHD_Connection *connection;
    struct mechd_link *link;
    struct mechd_head head;
    struct mechd_target target;
    size_t target_length; /* as received, with its query */
    char
        *host; /* host of a target that is an address, which replaces that of the header; or NULL */
    const char *origin;  /* that may read the answer according to --cors, or NULL */
    bool is_known;       /* the target is the known one */
    unsigned char *body; /* [body_size] as far as received: small, or on the heap */
    size_t body_size, body_limit;
    size_t body_room; /* on the heap */
    size_t tree;      /* bytes reserved for the tree parsed from it */
    char *packed;     /* the reply compressed, or NULL */
    size_t packed_size;
    bool takes_gzip;         /* the client does */
    char *scope;             /* of an idempotency key, or NULL */
    const char *method;      /* libmicrohttpd's, as long as the request; NULL: no head yet */
    const char *path;        /* the same; percent escapes as received */
    char trace[MECHD_TRACE]; /* traceparent of the answer */
    bool started;            /* the call has been started */
    bool counted;            /* in daemon->in_flight */
    bool head_only;          /* HEAD */
    bool is_last;            /* the connection ends with the answer */
    bool asks;               /* OPTIONS: requests the methods of the path */
    bool is_stream;          /* the answer has no end of its own */
    /* The reply is complete. Set before the connection is resumed, read after that; libmicrohttpd's
     * own lock orders the two as well, but is not part of its contract. */
    _Atomic bool answered;
    /* retained between requests of a connection */
    struct mechd_known known;
    unsigned char small[MECHD_SMALL_BODY]; /* a short body */
    max_align_t room[];                    /* [MECHD_WORK_ROOM bytes] the call's */
};

/* The next exchange of a connection, in the memory of `spare` (NULL: in new memory), with a fresh
 * call. NULL: no memory. */
struct mechd_exchange *mechd_exchange_begin(struct mechd_service *d, struct mechd_exchange *spare);
/* Release its resources; its memory can be used for another one. */
void mechd_exchange_end(struct mechd_exchange *x);

/* Add the headers of every answer, queue it (takes the reference), count and log it. `size`: bytes
 * of its body, as far as known. */
enum MHD_Result mechd_exchange_send(struct mechd_exchange *x, int status,
                                    struct MHD_Response *response, size_t size);

/* Compress the answer of a reading call if the client accepts that and it is worthwhile; large
 * answers only on a thread of the pool. */
void mechd_exchange_pack(struct mechd_exchange *x, bool in_pool);

/* Queue the answer of the call. */
enum MHD_Result mechd_exchange_answer(struct mechd_exchange *x);

/* Serve a file of the page, if the path is one; *result is the result. */
bool mechd_page_serve(struct mechd_exchange *x, enum MHD_Result *result);

/* Answer with live events of the call's instance. */
enum MHD_Result mechd_events_serve(struct mechd_exchange *x);

/* Answer with the pieces that the call produces. */
enum MHD_Result mechd_pieces_serve(struct mechd_exchange *x);

/* Answer with the events of the run that the call has found. */
enum MHD_Result mechd_run_events_serve(struct mechd_exchange *x);
