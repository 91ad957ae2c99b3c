/* Parameters by the route's template and by the operation's list. */
#include "server/call/messages.h"

#include "protocol/wire/bodies_messages.h"
#include "server/call/access.h"
#include "server/call/body.h"
#include "server/call/service.h"
#include "server/os/ticks.h"
#include "solver/base/name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A string key as a parameter of the path. */
static void take_parameter(struct mechd_call *c, const char *name, size_t length)
{
    if (c->match.count == MECHP_MATCH_PARAMETERS || length >= sizeof c->match.parameters[0].name) {
        return;
    }
    struct mechp_match_parameter *p = &c->match.parameters[c->match.count];
    memcpy(p->name, name, length);
    p->name[length] = '\0';
    if (mechp_match_value(&c->match, p->name) != NULL) {
        return;
    }
    c->match.count++;
    const char *value = json_string_value(json_object_get(c->body, p->name));
    if (value == NULL || strlen(value) >= sizeof p->value) {
        char path[40];
        snprintf(path, sizeof path, "/%s", p->name);
        if (value == NULL) {
            mech_diag_add(&c->diag, path, "a string is needed");
        } else {
            mech_diag_add(&c->diag, path,
                          "ids and names must have 1 to %d characters of A-Z a-z 0-9 . _ -",
                          MECH_NAME_MAX);
        }
        p->value[0] = '\0';
        return;
    }
    strcpy(p->value, value);
}

static bool is_number_type(const char *type)
{
    const size_t length = strcspn(type, " ");
    return strncmp(type, "integer", length) == 0 || strncmp(type, "number", length) == 0;
}

/* A number as written in a query. */
static void write_number(const json_t *value, char *out, size_t size)
{
    const double real = json_number_value(value);
    if (json_is_integer(value)) {
        snprintf(out, size, "%lld", (long long)json_integer_value(value));
    } else if (floor(real) == real && fabs(real) <= 0x1p53) {
        snprintf(out, size, "%lld", (long long)real);
    } else {
        snprintf(out, size, "%.17g", real);
    }
}

/* Operation and client as the message names them. */
static struct mechp_body_message_request read_request(const struct mechd_call *c)
{
    struct mechp_body_message_request in;
    MECHP_READ(message_request, c->body, NULL, &in); // parts of a tree have no faults
    return in;
}

/* The lease that the message shows. */
static void take_lease(struct mechd_call *c)
{
    struct mechp_body_message_lease in;
    MECHP_READ(message_lease, c->body, &c->diag, &in);
    if (in.lease > 0) {
        c->lease = (uint64_t)in.lease;
    }
}

void mechd_message_parameters(struct mechd_call *c, struct mechd_message_room *room)
{
    take_lease(c);
    for (const char *at = strchr(c->match.route->path, '{'); at != NULL; at = strchr(at, '{')) {
        const size_t length = strcspn(at + 1, "}");
        take_parameter(c, at + 1, length);
        at += length;
    }
    const struct mechp_row *const row = mechd_call_row(c);
    for (int k = 0; k < mechp_query_count(row); k++) {
        const json_t *value = json_object_get(c->body, row->query[k].name);
        if (json_is_string(value)) {
            c->query[k] = json_string_value(value);
        } else if (json_is_number(value)) {
            write_number(value, room->queries[k], sizeof room->queries[k]);
            c->query[k] = room->queries[k];
        } else if (json_is_boolean(value)) {
            c->query[k] = json_is_true(value) ? "true" : "false";
        } else if (value != NULL && (json_is_object(value) || json_is_null(value) ||
                                     is_number_type(row->query[k].type))) {
            // a list may be one of those that the operation takes of the body
            char path[40];
            snprintf(path, sizeof path, "/%s", row->query[k].name);
            mech_diag_add(&c->diag, path, "a string or a number is needed");
        }
    }
}

/* The longest sequence: of what comes back in every reply, not of what is stored. */
enum { SEQUENCE_MOST = 4096 };

/* The request's "sequence", to come back byte for byte. 0, or refused. */
static int take_sequence(struct mechd_message *m, const char *bytes, size_t size)
{
    size_t n = 0;
    const char *const text = mechp_json_member_text(bytes, size, "sequence", &n);
    if (text == NULL) {
        return 0;
    }
    if (n > SEQUENCE_MOST) {
        return mechd_refuse(&m->call, MECHP_MALFORMED_REQUEST,
                            "the sequence has %zu bytes; at most %d are allowed", n, SEQUENCE_MOST);
    }
    m->sequence = n <= sizeof m->few ? m->few : malloc(n);
    if (m->sequence == NULL) {
        return mechd_refuse(&m->call, MECHP_OUT_OF_MEMORY, "no memory for the sequence");
    }
    memcpy(m->sequence, text, n);
    m->sequence_length = n;
    return 0;
}

static bool is_word(const char *text, size_t length)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t n = 0;
    while (n < length && text[n] != '\0' && strchr(good, text[n]) != NULL) {
        n++;
    }
    return n == length;
}

/* As JSON writes it. */
static bool is_whole_number(const char *text, size_t length)
{
    const size_t sign = length > 0 && text[0] == '-' ? 1 : 0;
    size_t n = sign;
    while (n < length && text[n] >= '0' && text[n] <= '9') {
        n++;
    }
    return n == length && n > sign && (text[sign] != '0' || n == sign + 1);
}

const char *mechd_message_sequence_unread(const char *bytes, size_t size, size_t *length)
{
    size_t n = 0;
    const char *const text = mechp_json_member_text(bytes, size, "sequence", &n);
    const bool quoted = text != NULL && n >= 2 && text[0] == '"' && text[n - 1] == '"';
    if (text == NULL || n > MECHD_SEQUENCE_FEW ||
        !(quoted ? is_word(text + 1, n - 2) : is_whole_number(text, n))) {
        return NULL;
    }
    *length = n;
    return text;
}

/* There is no memory for the tree. */
static void take_unread(struct mechd_message *m, const char *bytes, size_t size)
{
    size_t n = 0;
    const char *const text =
        m->sequence == NULL ? mechd_message_sequence_unread(bytes, size, &n) : NULL;
    if (text != NULL) {
        memcpy(m->few, text, n);
        m->sequence = m->few;
        m->sequence_length = n;
    }
}

int mechd_message_parse(struct mechd_message *m, const char *bytes, size_t size)
{
    struct mechd_call *const c = &m->call;
    struct mechd_body body;
    struct mechp_json_fault fault;
    const struct mechp_json_limits most = mechp_json_limits_of(mechd_model_most(c->service));
    m->apart = mechp_parts_are(bytes, size);
    if (mechd_body_open(bytes, size, m->apart, &most, &body, &fault) != 0) {
        return mechd_refuse(c, fault.code, "%s", fault.text);
    }
    // a refusal of the parts has the sequence too
    const int refused = mechd_body_read(c, &body, &most);
    if (c->body != NULL && take_sequence(m, body.json, body.size) != 0) {
        return 1;
    }
    if (refused != 0 && c->code == MECHP_OUT_OF_MEMORY) {
        take_unread(m, body.json, body.size);
    }
    return refused;
}

int mechd_message_admit(struct mechd_message *m, size_t size, const unsigned char *key)
{
    struct mechd_call *const c = &m->call;
    const struct mechp_body_message_request in = read_request(c);
    const char *op = json_string_value(in.op);
    const struct mechp_route *route = op != NULL ? mechp_route_of_operation(op) : NULL;
    if (op == NULL) {
        return mechd_refuse(c, MECHP_UNKNOWN_OPERATION, "\"op\" is needed");
    }
    if (route == NULL) {
        const char *const meant = mechp_operation_closest(op);
        return mechd_refuse(c, MECHP_UNKNOWN_OPERATION, "there is no operation '%.64s'%s%s%s", op,
                            meant != NULL ? ", did you mean '" : "", meant != NULL ? meant : "",
                            meant != NULL ? "'?" : "");
    }
    c->match.route = route;
    c->operation = mechd_operation(c->service, route);
    const bool models = (mechd_call_row(c)->traits & MECHP_TAKES_MODELS) != 0;
    if (m->apart && !models) {
        return mechd_refuse(c, MECHP_MEDIA_TYPE, "%s takes no binary parts", op);
    }
    if (size > (1u << 20) && !models) {
        return mechd_refuse(c, MECHP_BODY_TOO_LARGE, "at most %u bytes are accepted here",
                            1u << 20);
    }
    c->token = json_string_value(in.token);
    c->key = key;
    MECH_TRY(mechd_call_admit(c));
    mechd_message_parameters(c, &m->room);
    return mechd_call_faulty(c) ? 1 : 0;
}

static void write_sequence(const void *message, struct mechp_text *w)
{
    const struct mechd_message *const m = message;
    mechp_text_raw(w, m->sequence, m->sequence_length);
}

void mechd_message_write(struct mechd_message *m, struct mechp_text *w)
{
    struct mechd_call *c = &m->call;
    const size_t n = m->sequence_length;
    if (c->code != MECHP_OK) {
        const struct mechp_body_message_refusal body = {
            .sequence = {n > 0 ? write_sequence : NULL, m}, .error = {mechd_call_problem, c}};
        MECHP_WRITE(message_refusal, &body, w);
        return;
    }

    // the operation's object follows the members in front; nothing does without memory for it
    w->failed = c->text.failed;
    mechp_text_raw(w, "{\"ok\":true", 10);
    w->comma[0] = false;
    if (n > 0) {
        mechp_text_raw(w, ",\"sequence\":", 12);
        w->comma[0] = false;
        mechp_text_raw(w, m->sequence, n);
        w->comma[0] = false;
    }
    const bool object = c->text.length > 2 && c->text.bytes[0] == '{';
    if (object && c->text.bytes[1] != '}') {
        mechp_text_raw(w, ",", 1);
        w->comma[0] = false;
        mechp_text_raw(w, c->text.bytes + 1, c->text.length - 1);
    } else {
        mechp_text_raw(w, "}", 1);
    }
}

enum { SEQUENCE_STARVED = 256, DETAIL_STARVED = 200 /* bytes, escapes and all */ };

void mechd_message_starve(struct mechd_message *m, struct mechp_text *w)
{
    struct mechd_call *const c = &m->call;
    if (c->code == MECHP_OK) {
        // not the code of what may be sent again
        const bool changed = mechd_call_changes(c);
        mechd_fail(c, changed ? MECHP_INTERNAL : MECHP_OUT_OF_MEMORY, "no memory for the answer%s",
                   changed ? "; the change has been made" : "");
    }
    // a detail may hold text of the client
    const bool plain = strlen(c->detail) <= DETAIL_STARVED && strpbrk(c->detail, "\"\\") == NULL;
    const struct mechp_problem problem = {
        .code = c->code, .detail = plain ? c->detail : "no memory for the detail of this error"};
    const bool fits = m->sequence_length > 0 && m->sequence_length <= SEQUENCE_STARVED;
    mechp_problem_write_reply(&problem, fits ? m->sequence : NULL, m->sequence_length, w);
}

void mechd_message_note(const struct mechd_message *m, size_t in, size_t out)
{
    const struct mechd_call *const c = &m->call;
    const int status = mechd_call_status(c);
    const uint64_t ns = mechd_now() - c->start;
    mechd_requests_count(&c->service->requests, c->door, c->match.route, status, ns);
    if (mechd_access_wanted()) {
        const struct mechd_access line = {
            .door = c->door,
            .method = json_string_value(read_request(c).op),
            .route = c->match.route,
            .instance = c->job.instance != NULL ? c->job.instance->id : NULL,
            .token = c->who.name,
            .status = status,
            .ns = ns,
            .in = in,
            .out = out,
        };
        mechd_access_write(&line);
    }
}

void mechd_message_fini(struct mechd_message *m)
{
    mechd_call_fini(&m->call);
    if (m->sequence != m->few) {
        free(m->sequence);
    }
}
