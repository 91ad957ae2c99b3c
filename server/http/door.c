/* From a request's bytes to a call. */
#include "server/http/door.h"

#include "protocol/wire/json.h"
#include "server/call/body.h"
#include "server/call/query.h"
#include "server/call/service.h"
#include "server/http/astray.h"
#include "server/http/body.h"
#include "server/http/exchange.h"
#include "server/http/gzip.h"
#include "server/http/http.h"
#include "server/http/listener.h"
#include "server/http/origin.h"
#include "server/http/target.h"
#include "server/instance/container.h"
#include "solver/base/name.h"
#include "solver/base/text.h"
#include "solver/base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* True if the media type of `value` is `type`, whatever its parameters. */
static bool is_type(const char *value, const char *type)
{
    const size_t n = strlen(type);
    return value != NULL && strncasecmp(value, type, n) == 0 &&
           (value[n] == '\0' || strchr("; \t", value[n]) != NULL);
}

/* The route of method and path: the known one, or what is searched, and known from then on. */
static int find_route(struct mechd_exchange *x)
{
    struct mechd_known *const known = &x->known;
    if (x->is_known && strcmp(known->match.route->method, x->method) == 0) {
        x->call.match = known->match;
        return 0;
    }
    if (x->target.form == MECHD_TARGET_SERVER) {
        mechp_route_methods(&x->call.match);
        return MECHP_METHOD_NOT_ALLOWED;
    }
    const int code = mechp_route_match(x->method, x->path, &x->call.match);
    // libmicrohttpd has cut the query off and decoded nothing: without one the path is the target
    const bool whole =
        x->target_length < sizeof known->target && strlen(x->path) == x->target_length;
    if (code == 0 && whole) {
        known->match = x->call.match;
        known->length = x->target_length;
        memcpy(known->target, x->path, x->target_length);
    }
    return code;
}

/* Evaluate the head. 0, or refused. */
static int read_head(struct mechd_exchange *x)
{
    struct mechd_call *c = &x->call;
    const char *const *value = x->head.value;
    const int code = find_route(x);
    if (code != 0) {
        return mechd_astray_refuse(c, x->method, x->path, code);
    }
    c->operation = mechd_operation(c->service, c->match.route);
    x->body_limit = (mechd_call_row(c)->traits & MECHP_TAKES_MODELS) != 0
                        ? mechd_model_most(c->service)
                        : MECHD_BODY_MOST;
    c->if_match = value[MECHD_HEADER_IF_MATCH];
    x->takes_gzip = mechd_gzip_wanted(value[MECHD_HEADER_ACCEPT_ENCODING]);
    c->accept = mechd_head_list(&x->head, MECHD_HEADER_ACCEPT);
    for (int k = 0; k < mechp_query_count(mechd_call_row(c)); k++) {
        c->query[k] = MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND,
                                                  mechd_call_row(c)->query[k].name);
    }
    return 0;
}

/* A body where none belongs, or one that is too large, is refused before it comes. */
static int read_length(struct mechd_exchange *x)
{
    const char *length = x->head.value[MECHD_HEADER_CONTENT_LENGTH];
    const bool bare =
        x->head_only || strcmp(x->method, "GET") == 0 || strcmp(x->method, "DELETE") == 0;
    if (bare && mechd_head_has_body(&x->head)) {
        return mechd_refuse(&x->call, MECHP_MALFORMED_REQUEST, "%s takes no body", x->method);
    }
    if (length != NULL && strtoull(length, NULL, 10) > x->body_limit) {
        return mechd_refuse(&x->call, MECHP_BODY_TOO_LARGE, "at most %zu bytes are accepted here",
                            x->body_limit);
    }
    return 0;
}

/* A connection beyond the limits may ask for a probe. 0, or refused. */
static int read_reserve(struct mechd_exchange *x)
{
    struct mechd_call *c = &x->call;
    const struct mechp_route *route = c->match.route;
    if (x->link->refused == MECHP_OK) {
        return 0;
    }
    x->is_last = true;
    if (route != NULL && (route->row->traits & MECHP_PROBE) != 0) {
        return 0;
    }
    return mechd_refuse(
        c, x->link->refused,
        x->link->refused == MECHP_LIMIT_REACHED
            ? "this client address has too many connections; close some"
            : "the server has too many connections; close some, or try again later");
}

/* Room for so many bytes of the body: what is short stays in the exchange. 0, or refused. */
static int make_room(struct mechd_exchange *x, size_t size)
{
    static const char many[] = "too many large bodies are in transfer";
    struct mechd_call *const c = &x->call;
    if (x->body_room == 0 && size <= sizeof x->small) {
        x->body = x->small;
        return mechd_bodies_fit(c->service, size)
                   ? 0
                   : mechd_refuse(c, MECHP_LIMIT_REACHED, "%s", many);
    }
    if (size <= x->body_room) {
        return 0;
    }
    size_t room = x->body_room < 1024 ? 1024 : 2 * x->body_room;
    room = room < x->body_limit ? room : x->body_limit;
    room = room < size ? size : room;
    if (!mechd_bodies_take(c->service, room - x->body_room)) {
        return mechd_refuse(c, MECHP_LIMIT_REACHED, "%s", many);
    }
    const bool moves = x->body_room == 0;
    unsigned char *const more =
        mechd_body_grow(moves ? NULL : x->body, x->body_room, moves ? 0 : x->body_size, room);
    if (more == NULL) {
        mechd_bodies_give(c->service, room - x->body_room);
        return mechd_refuse(c, MECHP_OUT_OF_MEMORY, "no memory for the body");
    }
    if (moves) {
        memcpy(more, x->small, x->body_size);
    }
    x->body = more;
    x->body_room = room;
    return 0;
}

/* Take some more of the body; what goes beyond the limit is read and thrown away. */
static void take_body(struct mechd_exchange *x, const char *bytes, size_t size)
{
    struct mechd_call *c = &x->call;
    if (c->code != MECHP_OK) {
        return;
    }
    if (size > x->body_limit - x->body_size) {
        mechd_fail(c, MECHP_BODY_TOO_LARGE, "at most %zu bytes are accepted here", x->body_limit);
        return;
    }
    if (make_room(x, x->body_size + size) != 0) {
        return;
    }
    memcpy(x->body + x->body_size, bytes, size);
    x->body_size += size;
}

/* Room for the tree that the body becomes. 0, or a fault. */
static int take_tree(struct mechd_exchange *x, const struct mechd_body *body,
                     const struct mechp_json_limits *limits, struct mechp_json_fault *fault)
{
    // what is short is not looked at twice: a byte becomes 80 at most
    enum { SHORT = 4096, GROWTH = 80 };
    struct mechp_json_scan scan = {.tree = GROWTH * body->size};
    if (body->size > SHORT && mechp_json_guard(body->json, body->size, limits, fault, &scan) != 0) {
        return -1;
    }
    scan.tree += body->apart ? body->parts.tree : 0;
    if (!mechd_trees_take(x->call.service, scan.tree)) {
        fault->code = MECHP_LIMIT_REACHED;
        mech_text_format(fault->text, sizeof fault->text,
                         "too many large bodies are being processed");
        return -1;
    }
    x->tree = scan.tree;
    return 0;
}

/* True if the client would rather be answered with 202 (RFC 7240: a list, names without case). */
static bool prefers_async(const struct mechd_exchange *x)
{
    static const char name[] = "respond-async";
    const size_t n = sizeof name - 1;
    const char *rest = x->head.value[MECHD_HEADER_PREFER];
    size_t length = 0;
    for (const char *at; (at = mech_element_next(&rest, &length)) != NULL;) {
        if (strncasecmp(at, name, n) == 0 && strchr(", \t;", at[n]) != NULL) {
            return strcmp(x->method, "GET") != 0 && !x->head_only;
        }
    }
    return false;
}

/* The whole body by its media type. 0, or refused. */
static int read_body(struct mechd_exchange *x)
{
    struct mechd_call *c = &x->call;
    if (x->body_size == 0) {
        return 0;
    }
    const char *coding = x->head.value[MECHD_HEADER_CONTENT_ENCODING];
    if (coding != NULL && strcasecmp(coding, "identity") != 0) {
        return mechd_refuse(c, MECHP_MEDIA_TYPE,
                            "the body has Content-Encoding %.64s; send it unencoded", coding);
    }
    const char *const type = mechd_head_list(&x->head, MECHD_HEADER_CONTENT_TYPE);
    for (const char *const *takes = mechd_call_row(c)->takes; *takes != NULL; takes++) {
        if (is_type(type, *takes)) {
            c->bytes = x->body;
            c->size = x->body_size;
            c->bytes_type = *takes;
            return 0;
        }
    }

    // curl's preset is a form; it means what it says, so that only JSON is read as JSON
    const bool models = (mechd_call_row(c)->traits & MECHP_TAKES_MODELS) != 0;
    const bool apart = models && type != NULL && is_type(type, MECHP_PARTS_TYPE);
    if (type != NULL && !apart && !is_type(type, "application/json")) {
        return mechd_refuse(c, MECHP_MEDIA_TYPE,
                            "%.64s is not supported here; send application/json", type);
    }
    // a call that continues without the connection keeps a tree
    const struct mechd_operation *const o = c->operation;
    const char *const bytes = (const char *)x->body;
    if (!apart && o->plain != NULL && !prefers_async(x) && o->plain(c, bytes, x->body_size)) {
        return 0;
    }
    struct mechd_body body;
    struct mechp_json_fault fault;
    const struct mechp_json_limits model = mechp_json_limits_of(mechd_model_most(c->service));
    const struct mechp_json_limits *const limits = models ? &model : &mechp_json_limits_request;
    if (mechd_body_open(bytes, x->body_size, apart, limits, &body, &fault) != 0 ||
        take_tree(x, &body, limits, &fault) != 0) {
        return mechd_refuse(c, fault.code, "%s", fault.text);
    }
    return mechd_body_read(c, &body, limits);
}

/* The client's identity: the token of the header Authorization. 0, or refused. */
static int read_token(struct mechd_exchange *x)
{
    static const char bearer[] = "Bearer ";
    struct mechd_call *c = &x->call;
    const char *value = x->head.value[MECHD_HEADER_AUTHORIZATION];
    if (value != NULL && strncasecmp(value, bearer, sizeof bearer - 1) == 0) {
        c->token = value + sizeof bearer - 1;
        c->token += strspn(c->token, " "); // one or more (RFC 9110, 11.4)
    }
    return mechd_call_admit(c);
}

/* The lease that the header of that name shows. 0, or refused. */
static int read_lease(struct mechd_exchange *x)
{
    struct mechd_call *c = &x->call;
    const char *value = x->head.value[MECHD_HEADER_LEASE];
    char *end = NULL;
    if (value == NULL) {
        return 0;
    }
    c->lease = *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
    return c->lease != 0 && *end == '\0' ? 0
                                         : mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                                                        "the header Lease must be a whole number");
}

/* What is in the query, and how often. */
struct query_names {
    struct mechd_call *call;
    unsigned seen; /* a bit for each of the row's */
    const char *unknown;
};

static enum MHD_Result take_query(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct query_names *const q = context;
    const struct mechp_row *const row = mechd_call_row(q->call);
    const int known = mechp_query_count(row);
    (void)kind;
    (void)value;
    int k = 0;
    while (k < known && strcmp(row->query[k].name, name) != 0) {
        k++;
    }
    const bool bad = k == known || (q->seen >> k & 1u) != 0;
    q->seen |= 1u << k;
    q->unknown = bad ? name : NULL;
    return bad ? MHD_NO : MHD_YES;
}

/* Nothing in the query that the operation does not have, and nothing twice. 0, or refused. */
static int read_query(struct mechd_exchange *x)
{
    struct query_names q = {.call = &x->call};
    MHD_get_connection_values(x->connection, MHD_GET_ARGUMENT_KIND, take_query, &q);
    return q.unknown != NULL ? mechd_query_unknown(&x->call, q.unknown) : 0;
}

/* The scope of a key: token, method, path and key. 0, or refused. */
static int read_key(struct mechd_exchange *x)
{
    struct mechd_call *c = &x->call;
    const char *key = x->head.value[MECHD_HEADER_IDEMPOTENCY_KEY];
    if (key == NULL) {
        return 0;
    }
    const size_t n = strlen(key);
    for (size_t k = 0; k < n; k++) {
        if (key[k] < ' ' || key[k] > '~') {
            return mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                                "an Idempotency-Key must contain only printable ASCII characters");
        }
    }
    if (n == 0 || n > MECHD_KEY_MOST) {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                            "an Idempotency-Key must have 1 to %d characters", MECHD_KEY_MOST);
    }
    const size_t size = strlen(c->who.name) + strlen(x->method) + strlen(x->path) + n + 4;
    x->scope = malloc(size);
    if (x->scope == NULL) {
        return mechd_refuse(c, MECHP_OUT_OF_MEMORY, "no memory for the idempotency key");
    }
    snprintf(x->scope, size, "%s %s %s %s", c->who.name, x->method, x->path, key);
    c->scope = x->scope;
    return 0;
}

/* The reply was completed on another thread: wake the connection. */
static void answer_later(struct mechd_call *c)
{
    struct mechd_exchange *x = (struct mechd_exchange *)c;
    mechd_exchange_pack(x, true);
    atomic_store(&x->answered, true);
    MHD_resume_connection(x->connection);
}

/* Under the instance's lock, before the call is queued. */
static void wait_for(struct mechd_job *job)
{
    struct mechd_exchange *const x = (struct mechd_exchange *)(void *)job;
    atomic_store(&x->link->waits, true);
    MHD_suspend_connection(x->connection);
}

/* The reply is complete: send it. */
static enum MHD_Result answer(struct mechd_exchange *x)
{
    const bool good = x->call.match.route != NULL && x->call.code == MECHP_OK;
    const unsigned traits = good ? mechd_call_row(&x->call)->traits : 0;
    if ((traits & MECHP_LIVE) != 0) {
        return mechd_events_serve(x);
    }
    if ((traits & MECHP_FOLLOWS_RUN) != 0) {
        return mechd_run_events_serve(x);
    }
    if (x->call.produce != NULL && x->call.code == MECHP_OK) {
        return mechd_pieces_serve(x);
    }
    mechd_exchange_pack(x, false);
    return mechd_exchange_answer(x);
}

/* Run or queue the call, which may go on by itself. */
static enum mechd_submitted start_call(struct mechd_exchange *x)
{
    return prefers_async(x) ? mechd_background_start(&x->call, x->body_size)
                            : mechd_call_start(&x->call);
}

/* The request is whole. */
static enum MHD_Result start(struct mechd_exchange *x)
{
    x->started = true;
    x->counted = true;
    x->call.body_hash = x->scope != NULL ? mechd_receipts_hash(&x->call, x->body, x->body_size) : 0;
    atomic_fetch_add(&x->call.service->in_flight, 1);
    if (x->call.code == MECHP_OK && read_body(x) == 0 && start_call(x) == MECHD_QUEUED) {
        return MHD_YES;
    }
    return answer(x);
}

static struct mechd_exchange *begin(struct mechd_service *d, struct MHD_Connection *connection,
                                    struct mechd_link *link)
{
    struct mechd_exchange *x = mechd_exchange_begin(d, link->spare);
    link->spare = NULL;
    if (x != NULL) {
        x->connection = connection;
        x->link = link;
        x->call.answer = answer_later;
        x->call.job.wait = wait_for;
        x->call.gone = &link->gone;
    }
    return x;
}

/* Refuse at once; what the client sends after this head is not read. */
static enum MHD_Result turn_away(struct mechd_exchange *x)
{
    x->started = true;
    x->is_last = true;
    return answer(x);
}

/* The path of a target that is an address, and its host, which counts instead of the header's (RFC
 * 9112, 3.2.2). 0, or refused. */
static int read_address(struct mechd_exchange *x)
{
    if (x->target.length == 0 || x->target.fault != NULL) {
        return 0;
    }
    x->host = strndup(x->path + x->target.host, x->target.length);
    x->path += x->target.path;
    x->path = x->path[0] != '\0' ? x->path : "/";
    return x->host != NULL ? 0
                           : mechd_refuse(&x->call, MECHP_OUT_OF_MEMORY, "no memory for the host");
}

/* The head has come: everything that can be refused without the body is. */
static enum MHD_Result take_head(struct mechd_exchange *x, const char *version)
{
    struct mechd_call *c = &x->call;
    x->head_only = strcmp(x->method, "HEAD") == 0;
    const struct mechd_request_line line = {x->method, x->path, version, x->target_length};
    mechd_head_read(&x->head, x->connection, &line);
    mechd_trace_take(x->head.value[MECHD_HEADER_TRACEPARENT], x->trace);
    mechd_target_method(&x->target, x->path, x->method);
    const char *fault = x->head.fault != NULL ? x->head.fault : x->target.fault;
    if (fault != NULL) {
        mechd_fail(c, MECHP_MALFORMED_REQUEST, "%s", fault);
        return turn_away(x);
    }
    if (read_address(x) != 0) {
        return turn_away(x);
    }
    const bool has_body = mechd_head_has_body(&x->head);
    if (!mechd_link_enter(x->link, has_body ? MECHD_PHASE_BODY : MECHD_PHASE_WORK, 0)) {
        return MHD_NO;
    }

    // a client that is refused gets no further information
    const int known = mechd_origin_admit(x) != 0 ? 1 : read_head(x);
    const bool asks =
        known != 0 && c->code == MECHP_METHOD_NOT_ALLOWED && strcmp(x->method, "OPTIONS") == 0;
    // answered once the request is whole: an answer to a head alone would end the connection
    x->asks = asks && !has_body && x->link->refused == MECHP_OK;
    if (x->asks) {
        return MHD_YES;
    }
    if (read_reserve(x) != 0 || known != 0 || read_length(x) != 0 || read_token(x) != 0 ||
        read_lease(x) != 0 || read_key(x) != 0 || read_query(x) != 0) {
        x->body_limit = 0;
        // a client that waits for 100 Continue has not sent its body, and need not
        const bool waits = x->head.value[MECHD_HEADER_EXPECT] != NULL;
        return waits || x->link->refused != MECHP_OK ? turn_away(x) : MHD_YES;
    }
    return MHD_YES;
}

enum MHD_Result mechd_door_handle(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    struct mechd_exchange *x = *state;
    enum MHD_Result result = MHD_NO;
    (void)context;
    (void)connection;
    if (x == NULL) {
        return MHD_NO;
    }
    if (x->method == NULL) {
        x->method = method;
        x->path = url;
        return take_head(x, version);
    }
    if (*upload_size > 0) {
        mechd_link_feed(x->link, *upload_size);
        take_body(x, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    if (x->started) {
        return atomic_load(&x->answered) ? answer(x) : MHD_YES;
    }
    if (!mechd_link_enter(x->link, MECHD_PHASE_WORK, 0)) {
        return MHD_NO;
    }

    if (x->asks) {
        x->started = true;
        struct MHD_Response *const empty = mechd_origin_preflight(x, x->call.match.allow);
        return empty != NULL ? mechd_exchange_send(x, MHD_HTTP_NO_CONTENT, empty, 0) : MHD_NO;
    }

    // files of the page are served besides the routes
    const bool reads = (x->head_only || strcmp(method, "GET") == 0) &&
                       (x->call.code == MECHP_OK || x->call.code == MECHP_ROUTE_NOT_FOUND);
    if (reads && mechd_page_serve(x, &result)) {
        x->started = true;
        return result;
    }
    return start(x);
}

void mechd_door_completed(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_RequestTerminationCode why)
{
    const struct mechd_listener *l = context;
    struct mechd_service *d = l->service;
    struct mechd_exchange *x = *state;
    (void)connection;
    (void)why;
    if (x == NULL) {
        return;
    }
    struct mechd_link *link = x->link;
    mechd_link_enter(link, MECHD_PHASE_IDLE, 0);
    // if the client has disconnected without the answer, it remains for a repeated request
    mechd_receipts_settle(&d->receipts, &x->call);
    if (x->counted) {
        atomic_fetch_sub(&d->in_flight, 1);
    }
    mechd_exchange_end(x);
    // the next request of this connection takes its memory
    free(link->spare);
    link->spare = x;
    *state = NULL;
}

/* The connection's own record, or NULL. */
static struct mechd_link *link_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

void *mechd_door_target(void *context, const char *target, struct MHD_Connection *connection)
{
    const struct mechd_listener *l = context;
    struct mechd_link *link = link_of(connection);
    struct mechd_exchange *x = link != NULL ? begin(l->service, connection, link) : NULL;
    if (x != NULL) {
        x->target_length = strlen(target);
        x->is_known = x->known.length > 0 && x->target_length == x->known.length &&
                      memcmp(target, x->known.target, x->target_length) == 0;
        // the request line lies in the connection's memory, where it may be cut
        const char *const excess =
            x->is_known ? NULL : mechd_target_bound((char *)(uintptr_t)target);
        if (!x->is_known) {
            x->target = mechd_target_read(target, l->is_tls);
            x->target.fault = excess != NULL ? excess : x->target.fault;
        }
        link->target = target;
    }
    return x;
}

size_t mechd_door_unescape(void *context, struct MHD_Connection *connection, char *text)
{
    const struct mechd_link *link = link_of(connection);
    (void)context;
    return link != NULL && link->target == text ? strlen(text) : MHD_http_unescape(text);
}
