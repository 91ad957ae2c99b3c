/* From a call to an answer. */
#include "server/http/exchange.h"

#include "server/call/access.h"
#include "server/call/service.h"
#include "server/http/body.h"
#include "server/http/gzip.h"
#include "server/http/origin.h"
#include "server/os/ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mechd_exchange *mechd_exchange_begin(struct mechd_service *d, struct mechd_exchange *spare)
{
    struct mechd_exchange *const x = spare != NULL ? spare : malloc(sizeof *x + MECHD_WORK_ROOM);
    if (x == NULL) {
        return NULL;
    }
    const size_t from = offsetof(struct mechd_exchange, connection);
    memset((char *)x + from, 0, offsetof(struct mechd_exchange, known) - from);
    mechd_call_init(&x->call, d, MECHD_DOOR_HTTP);
    x->call.room = x->room;
    if (spare == NULL) {
        x->known.length = 0;
    }
    return x;
}

void mechd_exchange_end(struct mechd_exchange *x)
{
    struct mechd_service *const d = x->call.service;
    mechd_call_fini(&x->call);
    if (x->body_room > 0) {
        mechd_bodies_give(d, x->body_room);
        mechd_body_free(x->body, x->body_room);
    }
    if (x->tree > 0) {
        mechd_trees_give(d, x->tree);
    }
    free(x->scope);
    free(x->host);
    free(x->packed);
}

/* A line of the access log. */
static void log_access(const struct mechd_exchange *x, int status, size_t size, uint64_t ns)
{
    const struct mechd_call *c = &x->call;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct mechd_access line = {
        .door = MECHD_DOOR_HTTP,
        .method = x->method,
        .route = c->match.route,
        .path = x->path,
        .instance = c->job.instance != NULL ? c->job.instance->id : NULL,
        .token = c->who.name,
        .trace = x->trace,
        .address = info != NULL ? info->client_addr : NULL,
        .status = status,
        .ns = ns,
        .in = x->body_size,
        .out = size,
    };
    mechd_access_write(&line);
}

enum MHD_Result mechd_exchange_send(struct mechd_exchange *x, int status,
                                    struct MHD_Response *response, size_t size)
{
    const struct mechd_call *c = &x->call;
    struct mechd_tally *const m = mechd_tally(&c->service->host.counters);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "traceparent", x->trace);
    mechd_origin_mark(x, response);
    if (x->is_last) {
        MHD_add_response_header(response, "Connection", "close");
    }
    // a stream of events has no limit of time
    if (!mechd_link_enter(x->link, x->is_stream ? MECHD_PHASE_WORK : MECHD_PHASE_ANSWER, size)) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    const enum MHD_Result result = MHD_queue_response(x->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    const uint64_t ns = mechd_now() - c->start;
    mechd_count(&m->bytes_in, x->body_size);
    mechd_count(&m->bytes_out, size);
    mechd_requests_count(&c->service->requests, MECHD_DOOR_HTTP, c->match.route, status, ns);
    if (mechd_access_wanted()) {
        log_access(x, status, size, ns);
    }
    return result;
}

/* Below this an answer fits into few packets as it is; above the other, the connection's thread
 * does not compress it, which takes about 25 ns a byte, but the pool's does. Bytes. */
enum { PACK_LEAST = 8192, PACK_HERE = 262144 };

/* Changes answer briefly, and their text may be on its way to the disk. */
static void pack(struct mechd_exchange *x, size_t most)
{
    const struct mechd_call *c = &x->call;
    const char *type = c->content_type != NULL ? c->content_type : "application/json";
    if (x->takes_gzip && x->packed == NULL && c->produce == NULL && c->code == MECHP_OK &&
        c->operation != NULL && !mechd_call_changes(c) && c->text.length >= PACK_LEAST &&
        c->text.length <= most && mechd_gzip_worth(type)) {
        x->packed = mechd_gzip(c->text.bytes, c->text.length, &x->packed_size);
    }
}

void mechd_exchange_pack(struct mechd_exchange *x, bool in_pool)
{
    pack(x, in_pool ? SIZE_MAX : PACK_HERE);
}

/* What a browser may do with an answer that it shows as a page: the documentation has its style
 * within, and no script. */
static void fence(struct MHD_Response *response, const char *type)
{
    const bool page = strncmp(type, "text/html", 9) == 0;
    if (page || strcmp(type, "application/problem+json") == 0) {
        MHD_add_response_header(response, "Content-Security-Policy",
                                page ? "default-src 'none'; img-src 'self'; style-src "
                                       "'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; "
                                       "form-action 'none'"
                                     : "default-src 'none'; frame-ancestors 'none'");
        MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    }
}

enum MHD_Result mechd_exchange_answer(struct mechd_exchange *x)
{
    struct mechd_call *c = &x->call;
    mechd_receipts_settle(&c->service->receipts, c);
    const char *type = c->content_type != NULL ? c->content_type : "application/json";
    if (c->code != MECHP_OK) {
        mechp_text_fini(&c->text);
        mechp_text_init(&c->text, NULL, 0);
        mechd_call_problem(c, &c->text);
        type = "application/problem+json";
    }
    const int status = mechd_call_status(c);
    size_t size = x->packed_size;
    char *bytes = x->packed;
    x->packed = NULL;
    const bool packed = bytes != NULL;
    // what fits into the call is sent from there: it lives until the request is completed
    const bool stays = !packed && c->text.borrowed && !c->text.failed && c->text.depth == 0;
    if (stays) {
        bytes = c->text.bytes;
        size = c->text.length;
    } else if (!packed) {
        bytes = mechp_text_take(&c->text, &size);
    }
    struct MHD_Response *response =
        bytes != NULL ? MHD_create_response_from_buffer(
                            size, bytes, stays ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE)
                      : NULL;
    if (response == NULL) {
        if (!stays) {
            free(bytes);
        }
        return MHD_NO;
    }
    if (status != 204) {
        MHD_add_response_header(response, "Content-Type", type);
        fence(response, type);
    }
    if (packed) {
        MHD_add_response_header(response, "Content-Encoding", "gzip");
        MHD_add_response_header(response, "Vary", "Accept-Encoding");
    }
    if (c->location[0] != '\0' && c->code == MECHP_OK) {
        MHD_add_response_header(response, "Location", c->location);
    }
    if (c->applied) {
        MHD_add_response_header(response, "Preference-Applied", "respond-async");
    }
    if (c->etag[0] != '\0' && c->code == MECHP_OK) {
        MHD_add_response_header(response, "ETag", c->etag);
    }
    if (c->code == MECHP_UNAUTHORIZED) {
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    }
    if (c->code == MECHP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response, "Allow", c->match.allow);
    }
    if (c->code == MECHP_DRAINING || c->code == MECHP_QUEUE_FULL ||
        c->code == MECHP_LIMIT_REACHED || c->code == MECHP_TOO_MANY_CONNECTIONS) {
        MHD_add_response_header(response, "Retry-After", "1");
    }
    if (c->code == MECHP_QUOTA_EXCEEDED) {
        char seconds[24];
        snprintf(seconds, sizeof seconds, "%.0f", fmax(1., ceil(c->excess.retry)));
        MHD_add_response_header(response, "Retry-After", seconds);
    }
    MHD_add_response_header(response, "Cache-Control", "no-store");
    return mechd_exchange_send(x, status, response, size);
}
