/* From a request's bytes to a call and from a call to an answer. */
#include "server/http/exchange.h"

#include "protocol/wire/json.h"
#include "server/access.h"
#include "server/daemon.h"
#include "server/http/door.h"
#include "server/http/gzip.h"
#include "server/http/http.h"
#include "server/instance/container.h"
#include "server/ticks.h"
#include "solver/base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    struct mechd_metrics *m = &c->daemon->metrics;
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "traceparent", x->trace);
    const enum MHD_Result result = MHD_queue_response(x->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    const uint64_t ns = mechd_now() - c->start;
    mechd_count(&m->bytes_in, x->body_size);
    mechd_count(&m->bytes_out, size);
    mechd_metrics_request(m, MECHD_DOOR_HTTP, c->match.route, status, ns);
    if (mechd_access_wanted()) {
        log_access(x, status, size, ns);
    }
    return result;
}

/* Below this an answer fits into few packets as it is; above the other, the connection's thread
 * does not compress it, which takes about 25 ns a byte, but the pool's does. Bytes. */
enum { PACK_LEAST = 8192, PACK_HERE = 262144 };

/* Compress the answer of a reading call when the client takes that and it is worth it. Changes
 * answer briefly, and their text may be on its way to the disk. */
static void pack(struct mechd_exchange *x, size_t most)
{
    const struct mechd_call *c = &x->call;
    const char *type = c->content_type != NULL ? c->content_type : "application/json";
    if (x->takes_gzip && x->packed == NULL && c->code == MECHP_OK && c->operation != NULL &&
        (c->operation->flags & MECHD_READS) != 0 && c->text.length >= PACK_LEAST &&
        c->text.length <= most && mechd_gzip_worth(type)) {
        x->packed = mechd_gzip(c->text.bytes, c->text.length, &x->packed_size);
    }
}

enum MHD_Result mechd_exchange_answer(struct mechd_exchange *x)
{
    struct mechd_call *c = &x->call;
    mechd_receipts_settle(&c->daemon->receipts, c);
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
    if (!packed) {
        bytes = mechp_text_take(&c->text, &size);
    }
    struct MHD_Response *response =
        bytes != NULL ? MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE) : NULL;
    if (response == NULL) {
        free(bytes);
        return MHD_NO;
    }
    if (status != 204) {
        MHD_add_response_header(response, "Content-Type", type);
    }
    if (packed) {
        MHD_add_response_header(response, "Content-Encoding", "gzip");
        MHD_add_response_header(response, "Vary", "Accept-Encoding");
    }
    if (c->location[0] != '\0' && c->code == MECHP_OK) {
        MHD_add_response_header(response, "Location", c->location);
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
        c->code == MECHP_LIMIT_REACHED) {
        MHD_add_response_header(response, "Retry-After", "1");
    }
    MHD_add_response_header(response, "Cache-Control", "no-store");
    return mechd_exchange_send(x, status, response, size);
}

/* True if the media type of `value` is `type`, whatever its parameters. */
static bool is_type(const char *value, const char *type)
{
    const size_t n = strlen(type);
    return value != NULL && strncasecmp(value, type, n) == 0 &&
           (value[n] == '\0' || value[n] == ';' || value[n] == ' ');
}

/* What the head tells. 0, or refused. */
static int read_head(struct mechd_exchange *x, const char *method, const char *url)
{
    struct mechd_call *c = &x->call;
    const int code = mechp_route_match(method, url, &c->match);
    if (code == MECHP_METHOD_NOT_ALLOWED) {
        return mechd_refuse(c, MECHP_METHOD_NOT_ALLOWED, "%.128s takes %s", url, c->match.allow);
    }
    if (code != 0) {
        c->match.route = NULL;
        return mechd_refuse(c, (enum mechp_code)code, "%.16s %.128s", method, url);
    }
    c->operation = mechd_operation(c->match.route);
    x->body_limit =
        (c->operation->flags & MECHD_BIG_BODY) != 0 ? mechd_model_most(c->daemon) : MECHD_BODY_MOST;
    c->if_match = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "If-Match");
    x->takes_gzip = mechd_gzip_wanted(
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Accept-Encoding"));
    c->accept = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Accept");
    for (int k = 0; k < MECHD_QUERIES && c->operation->query[k] != NULL; k++) {
        c->query[k] = MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND,
                                                  c->operation->query[k]);
    }
    return 0;
}

/* How often each header that frames the body occurs. */
struct framing {
    int host, length, encoding;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    struct framing *f = context;
    (void)kind;
    (void)value;
    f->host += strcasecmp(key, "Host") == 0;
    f->length += strcasecmp(key, "Content-Length") == 0;
    f->encoding += strcasecmp(key, "Transfer-Encoding") == 0;
    return MHD_YES;
}

/* Two readings of where a request ends are one too many. 0, or refused. */
static int check_framing(struct mechd_exchange *x, const char *version)
{
    struct framing f = {0, 0, 0};
    struct mechd_call *c = &x->call;
    MHD_get_connection_values(x->connection, MHD_HEADER_KIND, count_header, &f);
    if (f.length > 1 || f.encoding > 1 || (f.length > 0 && f.encoding > 0)) {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                            "Content-Length and Transfer-Encoding disagree about the body");
    }
    if (f.host > 1 || (f.host == 0 && strcmp(version, "HTTP/1.0") != 0)) {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST, "exactly one Host is needed");
    }
    const char *length =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Content-Length");
    if (length != NULL && strtoull(length, NULL, 10) > x->body_limit) {
        return mechd_refuse(c, MECHP_BODY_TOO_LARGE, "at most %zu bytes are taken here",
                            x->body_limit);
    }
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
        mechd_fail(c, MECHP_BODY_TOO_LARGE, "at most %zu bytes are taken here", x->body_limit);
        return;
    }
    if (x->body_size + size > x->body_room) {
        size_t room = x->body_room < 1024 ? 1024 : 2 * x->body_room;
        room = room < x->body_limit ? room : x->body_limit;
        room = room < x->body_size + size ? x->body_size + size : room;
        if (!mechd_bodies_take(c->daemon, room - x->body_room)) {
            mechd_fail(c, MECHP_LIMIT_REACHED, "too many large bodies are on their way");
            return;
        }
        unsigned char *more = realloc(x->body, room);
        if (more == NULL) {
            mechd_bodies_give(c->daemon, room - x->body_room);
            mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the body");
            return;
        }
        x->body = more;
        x->body_room = room;
    }
    memcpy(x->body + x->body_size, bytes, size);
    x->body_size += size;
}

/* The whole body by its media type. 0, or refused. */
static int read_body(struct mechd_exchange *x)
{
    struct mechd_call *c = &x->call;
    if (x->body_size == 0) {
        return 0;
    }
    const char *type = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Content-Type");
    if (is_type(type, MECHD_CONTAINER_TYPE) && (c->operation->flags & MECHD_TAKES_BYTES) != 0) {
        c->bytes = x->body;
        c->size = x->body_size;
        return 0;
    }

    // curl's preset is a form; it means what it says, so that only JSON is read as JSON
    if (type != NULL && !is_type(type, "application/json")) {
        return mechd_refuse(c, MECHP_MEDIA_TYPE, "%.64s is not taken here; send application/json",
                            type);
    }
    struct mechp_json_fault fault;
    const bool big = (c->operation->flags & MECHD_BIG_BODY) != 0;
    const struct mechp_json_limits model = mechp_json_limits_of(mechd_model_most(c->daemon));
    if (mechp_json_parse((const char *)x->body, x->body_size,
                         big ? &model : &mechp_json_limits_request, &fault, &c->body) != 0) {
        return mechd_refuse(c, fault.code, "%s", fault.text);
    }
    return 0;
}

/* Who asks: the token of the header Authorization. 0, or refused. */
static int read_token(struct mechd_exchange *x)
{
    static const char bearer[] = "Bearer ";
    struct mechd_call *c = &x->call;
    const char *value =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    if (value != NULL && strncasecmp(value, bearer, sizeof bearer - 1) == 0) {
        c->token = value + sizeof bearer - 1;
    }
    return mechd_call_admit(c);
}

/* The scope of a key: who asks, method, path and key. 0, or refused. */
static int read_key(struct mechd_exchange *x, const char *method, const char *url)
{
    struct mechd_call *c = &x->call;
    const char *key =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Idempotency-Key");
    if (key == NULL) {
        return 0;
    }
    const size_t n = strlen(key);
    for (size_t k = 0; k < n; k++) {
        if (key[k] < ' ' || key[k] > '~') {
            return mechd_refuse(c, MECHP_MALFORMED_REQUEST, "an Idempotency-Key is plain text");
        }
    }
    if (n == 0 || n > MECHD_KEY_MOST) {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST, "an Idempotency-Key has 1 to %d characters",
                            MECHD_KEY_MOST);
    }
    const size_t size = strlen(c->who.name) + strlen(method) + strlen(url) + n + 4;
    x->scope = malloc(size);
    if (x->scope == NULL) {
        return mechd_refuse(c, MECHP_OUT_OF_MEMORY, "no memory for the key");
    }
    snprintf(x->scope, size, "%s %s %s %s", c->who.name, method, url, key);
    c->scope = x->scope;
    return 0;
}

/* The reply stands on some other thread: wake the connection. */
static void answer_later(struct mechd_call *c)
{
    struct mechd_exchange *x = (struct mechd_exchange *)c;
    pack(x, SIZE_MAX);
    atomic_store(&x->answered, true);
    MHD_resume_connection(x->connection);
}

/* Under the instance's lock, before the call is queued. */
static void wait_for(struct mechd_job *job)
{
    MHD_suspend_connection(((struct mechd_exchange *)(void *)job)->connection);
}

/* The reply stands: send it. */
static enum MHD_Result answer(struct mechd_exchange *x)
{
    if (x->call.match.route != NULL && x->call.match.route->id == MECHP_ROUTE_EVENTS &&
        x->call.code == MECHP_OK) {
        return mechd_events_serve(x);
    }
    pack(x, PACK_HERE);
    return mechd_exchange_answer(x);
}

/* The request is whole. */
static enum MHD_Result start(struct mechd_exchange *x)
{
    x->started = true;
    x->counted = true;
    x->call.body_hash = x->scope != NULL ? mech_hash(x->body, x->body_size, 0) : 0;
    atomic_fetch_add(&x->call.daemon->in_flight, 1);
    if (x->call.code == MECHP_OK && read_body(x) == 0 &&
        mechd_call_start(&x->call) == MECHD_QUEUED) {
        return MHD_YES;
    }
    return answer(x);
}

static struct mechd_exchange *begin(struct mechd *d, struct MHD_Connection *connection)
{
    struct mechd_exchange *x = calloc(1, sizeof *x);
    if (x != NULL) {
        mechd_call_init(&x->call, d, MECHD_DOOR_HTTP);
        x->connection = connection;
        x->call.answer = answer_later;
        x->call.job.wait = wait_for;
    }
    return x;
}

enum MHD_Result mechd_door_handle(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    struct mechd_exchange *x = *state;
    enum MHD_Result result = MHD_NO;
    if (x == NULL) {
        // the head has come
        x = begin(context, connection);
        *state = x;
        if (x == NULL) {
            return MHD_NO;
        }
        x->head_only = strcmp(method, "HEAD") == 0;
        x->method = method;
        x->path = url;
        mechd_trace_take(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "traceparent"),
                         x->trace);
        if (read_head(x, method, url) != 0 || check_framing(x, version) != 0 ||
            read_token(x) != 0 || read_key(x, method, url) != 0) {
            x->body_limit = 0;
        }
        return MHD_YES;
    }
    if (*upload_size > 0) {
        take_body(x, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    if (x->started) {
        return atomic_load(&x->answered) ? answer(x) : MHD_YES;
    }

    // files of the page stand beside the routes
    const bool reads = x->head_only || strcmp(method, "GET") == 0;
    if (reads && mechd_page_serve(x, &result)) {
        x->started = true;
        return result;
    }
    return start(x);
}

void mechd_door_completed(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_RequestTerminationCode why)
{
    struct mechd *d = context;
    struct mechd_exchange *x = *state;
    (void)connection;
    (void)why;
    if (x == NULL) {
        return;
    }
    // who has gone without the answer leaves it to those who ask again
    mechd_receipts_settle(&d->receipts, &x->call);
    if (x->counted) {
        atomic_fetch_sub(&d->in_flight, 1);
    }
    mechd_call_fini(&x->call);
    mechd_bodies_give(d, x->body_room);
    free(x->body);
    free(x->scope);
    free(x->packed);
    free(x);
    *state = NULL;
}
