/* The operations of the OpenAPI document: parameters from path, query and headers, the body, the
 * answer in each of its forms, and for each HTTP status the codes that it can come with.
 */
#include "protocol/bind/openapi.h"

#include "protocol/bind/schema.h"
#include "protocol/wire/codes.h"
#include "protocol/wire/parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* of refusals */
enum { STATUS_FIRST = 400, STATUS_END = 600 };

void mechp_openapi_raw(struct mechp_text *w, const char *key, const char *json)
{
    mechp_text_key(w, key);
    mechp_text_raw(w, json, strlen(json));
}

/* {"$ref": "#/components/<kind>/<name>"}. */
static void reference(struct mechp_text *w, const char *kind, const char *name)
{
    char whole[128];
    snprintf(whole, sizeof whole, "#/components/%s/%s", kind, name);
    mechp_text_object(w);
    mechp_text_member_string(w, "$ref", whole);
    mechp_text_end(w);
}

/* --- parameters ------------------------------------------------------------------------------ */

/* One of path or query. */
static void parameter(struct mechp_text *w, const char *in, const struct mechp_parameter *p)
{
    mechp_text_object(w);
    mechp_text_member_string(w, "name", p->name);
    mechp_text_member_string(w, "in", in);
    mechp_text_key(w, "required");
    mechp_text_bool(w, strcmp(in, "path") == 0);
    mechp_text_member_string(w, "description", p->doc);
    mechp_openapi_raw(w, "example", p->example);
    mechp_openapi_schema(w, p->type, strlen(p->type));
    mechp_text_end(w);
}

/* True if its answer may come later, as the client prefers. */
static bool goes_on(const struct mechp_route *route)
{
    return strcmp(route->method, "GET") != 0 && (route->row->traits & MECHP_AT_ONCE) == 0;
}

/* Path parameters of the template, those of the query, and the headers that matter. */
static void write_parameters(struct mechp_text *w, const struct mechp_route *route)
{
    mechp_text_key(w, "parameters");
    mechp_text_array(w);
    for (const char *at = strchr(route->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
        parameter(w, "path", mechp_path_parameter(at + 1, strcspn(at, "}") - 1, route->path));
    }
    for (int k = 0; k < mechp_query_count(route->row); k++) {
        parameter(w, "query", &route->row->query[k]);
    }
    if (mechp_route_on_instance(route)) {
        reference(w, "parameters", "IfMatch");
    }
    if (mechp_route_on_instance(route) && mechp_route_changes(route)) {
        reference(w, "parameters", "Lease");
    }
    if (mechp_route_changes(route)) {
        reference(w, "parameters", "IdempotencyKey");
    }
    if (goes_on(route)) {
        reference(w, "parameters", "Prefer");
    }
    if ((route->row->traits & MECHP_FILE) != 0) {
        reference(w, "parameters", "IfNoneMatch");
    }
    reference(w, "parameters", "Traceparent");
    mechp_text_end(w);
}

/* --- body ------------------------------------------------------------------------------------ */

enum { MEDIA_TYPE = 64 };

/* The first of a list that blanks divide, into out; what follows it. */
static const char *next_type(const char *list, char out[MEDIA_TYPE])
{
    const size_t length = strcspn(list, " ");
    snprintf(out, MEDIA_TYPE, "%.*s", (int)length, list);
    return list + length + (list[length] == ' ');
}

/* The schema of a body: its shape, any object where that has no members, or one with names of its
 * own too. */
static void write_body_schema(struct mechp_text *w, const struct mechp_row *row)
{
    char type[128] = "object";
    if (row->body->name != NULL) {
        snprintf(type, sizeof type, "@%s%s%s%s", row->body->name, row->named != NULL ? "|" : "",
                 row->named != NULL ? row->named : "", row->named != NULL ? "{}" : "");
    }
    mechp_openapi_schema(w, type, strlen(type));
}

static void write_request(struct mechp_text *w, const struct mechp_row *row)
{
    mechp_text_key(w, "requestBody");
    mechp_text_object(w);
    mechp_text_key(w, "required");
    mechp_text_bool(w, !row->optional);
    mechp_text_key(w, "content");
    mechp_text_object(w);
    mechp_text_key(w, "application/json");
    mechp_text_object(w);
    write_body_schema(w, row);
    if (row->body->example != NULL) {
        mechp_openapi_raw(w, "example", row->body->example);
    }
    mechp_text_end(w);
    if ((row->traits & MECHP_TAKES_MODELS) != 0) {
        mechp_text_key(w, MECHP_PARTS_TYPE);
        mechp_text_object(w);
        mechp_text_end(w);
    }
    for (int k = 0; k < MECHP_TAKES && row->takes[k] != NULL; k++) {
        mechp_text_key(w, row->takes[k]);
        mechp_text_object(w);
        mechp_text_end(w);
    }
    mechp_text_end(w);
    mechp_text_end(w);
}

/* --- answers --------------------------------------------------------------------------------- */

/* One media type of an answer: the schema, and what the daemon has answered. */
static void write_media(struct mechp_text *w, const char *type, const char *reply,
                        const char *recorded)
{
    mechp_text_key(w, type);
    mechp_text_object(w);
    if (reply != NULL) {
        mechp_openapi_schema(w, reply, strlen(reply));
    } else if (strncmp(type, "text/", 5) == 0 || strstr(type, "ndjson") != NULL) {
        mechp_openapi_schema(w, "string", 6);
    }
    if (recorded != NULL) {
        mechp_openapi_raw(w, "example", recorded);
    }
    mechp_text_end(w);
}

/* Recorded under "SYMBOL", other forms under "SYMBOL media/type". */
static const char *recorded_form(const struct mechp_route *route, const char *type)
{
    char name[128];
    snprintf(name, sizeof name, "%s %s", route->symbol, type);
    return mechp_recorded("reply", name);
}

static void write_headers(struct mechp_text *w, const struct mechp_route *route)
{
    const struct mechp_row *const row = route->row;
    const bool events = row->content != NULL && strcmp(row->content, "text/event-stream") == 0;
    const bool gone = row->status == 204 && strcmp(route->path, "/v1/instances/{id}") == 0;
    mechp_text_key(w, "headers");
    mechp_text_object(w);
    if (row->status == 201 || row->status == 202) {
        mechp_text_key(w, "Location");
        reference(w, "headers", "Location");
    }
    if ((row->traits & MECHP_FILE) != 0) {
        mechp_text_key(w, "ETag");
        reference(w, "headers", "FileETag");
    }
    if ((mechp_route_on_instance(route) && !events && !gone) ||
        (row->reply != NULL && strcmp(row->reply, "@Instance") == 0)) {
        mechp_text_key(w, "ETag");
        reference(w, "headers", "ETag");
    }
    mechp_text_key(w, "traceparent");
    reference(w, "headers", "Traceparent");
    mechp_text_end(w);
}

/* The type of a reply in that format: JSON alone has one. */
static const char *reply_of(const struct mechp_row *row, const char *format)
{
    return strcmp(format, MECHP_JSON) == 0 ? row->reply : NULL;
}

/* One status of success. */
static void write_status(struct mechp_text *w, const struct mechp_route *route, int success)
{
    const struct mechp_row *const row = route->row;
    char status[16];
    snprintf(status, sizeof status, "%d", success);
    mechp_text_key(w, status);
    mechp_text_object(w);
    mechp_text_member_string(w, "description",
                             success == 201   ? "Created."
                             : success == 202 ? "Accepted; the work continues in the background."
                             : success == 204 ? "Done; the response has no body."
                                              : "Success.");
    write_headers(w, route);
    if (row->content != NULL && success != 204) {
        mechp_text_key(w, "content");
        mechp_text_object(w);
        write_media(w, row->content, reply_of(row, row->content),
                    mechp_recorded("reply", route->symbol));
        for (const char *at = row->also; at != NULL && *at != '\0';) {
            char type[MEDIA_TYPE];
            at = next_type(at, type);
            write_media(w, type, reply_of(row, type), recorded_form(route, type));
        }
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

static void write_success(struct mechp_text *w, const struct mechp_route *route)
{
    const struct mechp_row *const row = route->row;
    write_status(w, route, row->status);
    if (row->status == 204 && row->content != NULL) {
        write_status(w, route, 200);
    }
}

/* --- refusals -------------------------------------------------------------------------------- */

/* A problem with one of these codes, as the member "content". */
static void write_problem(struct mechp_text *w, const char *const *codes, size_t n)
{
    mechp_text_key(w, "content");
    mechp_text_object(w);
    mechp_text_key(w, "application/problem+json");
    mechp_text_object(w);
    mechp_text_key(w, "schema");
    mechp_text_object(w);
    mechp_text_key(w, "allOf");
    mechp_text_array(w);
    reference(w, "schemas", "Problem");
    mechp_text_object(w);
    mechp_text_member_string(w, "type", "object");
    mechp_text_key(w, "properties");
    mechp_text_object(w);
    mechp_text_key(w, "code");
    mechp_text_object(w);
    mechp_text_member_string(w, "type", "string");
    mechp_text_key(w, "enum");
    mechp_text_array(w);
    for (size_t k = 0; k < n; k++) {
        mechp_text_string(w, codes[k]);
    }
    mechp_text_end(w);
    mechp_text_end(w);
    mechp_text_end(w);
    mechp_text_end(w);
    mechp_text_end(w);
    mechp_text_end(w);
    mechp_text_key(w, "examples");
    mechp_text_object(w);
    for (size_t k = 0; k < n; k++) {
        if (mechp_recorded("problem", codes[k]) != NULL) {
            mechp_text_key(w, codes[k]);
            reference(w, "examples", codes[k]);
        }
    }
    mechp_text_end(w);
    mechp_text_end(w);
    mechp_text_end(w);
}

/* What a refusal carries beside the problem, by its status. */
static void write_refusal_headers(struct mechp_text *w, int status, const char *const *codes,
                                  size_t n)
{
    bool again = status == 429;
    for (size_t k = 0; k < n; k++) {
        again = again || strcmp(codes[k], "draining") == 0;
    }
    mechp_text_key(w, "headers");
    mechp_text_object(w);
    if (status == 401) {
        mechp_text_key(w, "WWW-Authenticate");
        reference(w, "headers", "WwwAuthenticate");
    }
    if (again) {
        mechp_text_key(w, "Retry-After");
        reference(w, "headers", "RetryAfter");
    }
    mechp_text_key(w, "traceparent");
    reference(w, "headers", "Traceparent");
    mechp_text_end(w);
}

/* The codes of one status. */
struct refusal {
    int status;
    const char *names[MECHP_ROUTE_CODES];
    size_t n;
    char text[1600]; /* the titles */
    char shared[64]; /* name of the component, or "": written where it is used */
};

/* "queue-full" and "limit-reached" as "QueueFullOrLimitReached". */
static void name_refusal(struct refusal *r)
{
    enum { MOST = 2 };
    size_t used = 0;
    for (size_t k = 0; k < r->n && r->n <= MOST; k++) {
        bool upper = true;
        if (k > 0) {
            used += (size_t)snprintf(r->shared + used, sizeof r->shared - used, "Or");
        }
        for (const char *c = r->names[k]; *c != '\0' && used + 1 < sizeof r->shared; c++) {
            if (*c != '-') {
                r->shared[used++] = (char)(upper ? toupper((unsigned char)*c) : *c);
            }
            upper = *c == '-';
        }
    }
}

/* True if some code has this status. */
static bool is_refusal(int status)
{
    int i = 0;
    while (mechp_code_at(i) != NULL && mechp_code_at(i)->http_status != status) {
        i++;
    }
    return mechp_code_at(i) != NULL;
}

/* How a route refuses with this status. False: it does not. */
static bool find_refusal(const struct mechp_route *route, int status, struct refusal *r)
{
    int codes[MECHP_ROUTE_CODES];
    const size_t n = mechp_route_codes(route, codes);
    *r = (struct refusal){.status = status};
    for (size_t k = 0; k < n; k++) {
        const struct mechp_code_info *const info = mechp_code(codes[k]);
        const size_t used = strlen(r->text);
        if (info->http_status == status) {
            snprintf(r->text + used, sizeof r->text - used, "%s`%s`: %s.", used > 0 ? " " : "",
                     info->text, info->title);
            r->names[r->n++] = info->text;
        }
    }
    name_refusal(r);
    return r->n > 0;
}

static void write_refusal(struct mechp_text *w, const struct refusal *r)
{
    mechp_text_object(w);
    mechp_text_member_string(w, "description", r->text);
    write_refusal_headers(w, r->status, r->names, r->n);
    write_problem(w, r->names, r->n);
    mechp_text_end(w);
}

/* True if a route before this one shares the refusal. */
static bool is_written(const struct refusal *r, int before)
{
    struct refusal other;
    for (int i = 0; i < before; i++) {
        if (find_refusal(mechp_route_at(i), r->status, &other) &&
            strcmp(other.shared, r->shared) == 0) {
            return true;
        }
    }
    return false;
}

void mechp_openapi_refusals(struct mechp_text *w)
{
    struct refusal r;
    for (int status = STATUS_FIRST; status < STATUS_END; status++) {
        for (int i = 0; is_refusal(status) && mechp_route_at(i) != NULL; i++) {
            if (find_refusal(mechp_route_at(i), status, &r) && r.shared[0] != '\0' &&
                !is_written(&r, i)) {
                mechp_text_key(w, r.shared);
                write_refusal(w, &r);
            }
        }
    }
}

static void write_responses(struct mechp_text *w, const struct mechp_route *route)
{
    struct refusal r;
    mechp_text_key(w, "responses");
    mechp_text_object(w);
    write_success(w, route);
    if (goes_on(route) && route->row->status != 202) {
        mechp_text_key(w, "202");
        reference(w, "responses", "Accepted");
    }
    if ((route->row->traits & MECHP_FILE) != 0) {
        mechp_text_key(w, "304");
        reference(w, "responses", "NotModified");
    }
    for (int status = STATUS_FIRST; status < STATUS_END; status++) {
        char key[16];
        snprintf(key, sizeof key, "%d", status);
        if (is_refusal(status) && find_refusal(route, status, &r)) {
            mechp_text_key(w, key);
            if (r.shared[0] != '\0') {
                reference(w, "responses", r.shared);
            } else {
                write_refusal(w, &r);
            }
        }
    }
    mechp_text_key(w, "default");
    reference(w, "responses", "Failure");
    mechp_text_end(w);
}

bool mechp_openapi_refuses(int code)
{
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        int codes[MECHP_ROUTE_CODES];
        const size_t n = mechp_route_codes(mechp_route_at(i), codes);
        for (size_t k = 0; k < n; k++) {
            if (codes[k] == code) {
                return true;
            }
        }
    }
    return false;
}

/* --- operations ------------------------------------------------------------------------------ */

/* "GET_STATE" as "getState". */
static void camel(const char *symbol, char *out, size_t size)
{
    size_t used = 0;
    bool upper = false;
    for (; *symbol != '\0' && used + 1 < size; symbol++) {
        if (*symbol == '_') {
            upper = true;
            continue;
        }
        out[used++] = (char)(upper ? *symbol : tolower((unsigned char)*symbol));
        upper = false;
    }
    out[used] = '\0';
}

/* The scope of the token; a daemon that knows no tokens asks for none. */
static void write_security(struct mechp_text *w, const struct mechp_route *route)
{
    const enum mechp_scope scope = mechp_route_scope(route);
    mechp_text_key(w, "security");
    mechp_text_array(w);
    if (scope != MECHP_SCOPE_NONE) {
        mechp_text_object(w);
        mechp_text_key(w, "bearer");
        mechp_text_array(w);
        mechp_text_string(w, mechp_scope_names[scope]);
        mechp_text_end(w);
        mechp_text_end(w);
        mechp_text_object(w);
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

static void write_operation(struct mechp_text *w, const struct mechp_route *route)
{
    const struct mechp_row *const row = route->row;
    char method[16];
    char id[64];
    snprintf(method, sizeof method, "%s", route->method);
    for (char *c = method; *c != '\0'; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    camel(route->symbol, id, sizeof id);
    mechp_text_key(w, method);
    mechp_text_object(w);
    mechp_text_member_string(w, "operationId", id);
    mechp_text_member_string(w, "summary", route->summary);
    if (row->doc[0] != '\0') {
        mechp_text_member_string(w, "description", row->doc);
    }
    mechp_text_key(w, "tags");
    mechp_text_array(w);
    mechp_text_string(w, row->tag);
    mechp_text_end(w);
    if (route->operation[0] != '\0') {
        mechp_text_member_string(w, "x-zeromq-operation", route->operation);
    }
    write_security(w, route);
    write_parameters(w, route);
    if (row->body != NULL) {
        write_request(w, row);
    }
    write_responses(w, route);
    mechp_text_end(w);
}

void mechp_openapi_paths(struct mechp_text *w)
{
    mechp_text_key(w, "paths");
    mechp_text_object(w);
    const char *open = "";
    // routes of one path are adjacent
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_route *const route = mechp_route_at(i);
        if (strcmp(route->path, open) != 0) {
            if (open[0] != '\0') {
                mechp_text_end(w);
            }
            mechp_text_key(w, route->path);
            mechp_text_object(w);
            open = route->path;
        }
        write_operation(w, route);
    }
    if (open[0] != '\0') {
        mechp_text_end(w);
    }
    mechp_text_end(w);
}
