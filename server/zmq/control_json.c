/* JSON over the control socket: {"op": "step", "id": "i-1", …} is the same call as over HTTP. What
 * HTTP has in its path and query stands beside the body's own keys. The reply is the operation's
 * object with "ok": true in front, or {"ok": false, "error": problem}; a "sequence" comes back as
 * it was. */
#include "protocol/wire/json.h"
#include "server/call/access.h"
#include "server/call/messages.h"
#include "server/call/service.h"
#include "server/os/ticks.h"
#include "server/zmq/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json_request {
    struct mechd_call call; /* first */
    size_t room;            /* taken of the bodies in flight */
    struct mechd_zmq *zmq;
    struct mechd_peer peer;
    struct mechd_backlog *backlog; /* where it counts, or NULL */
    size_t counted;                /* bytes there */
    char *sequence;                /* the request's, as it was written; or NULL */
    size_t sequence_length;
    struct mechd_message_room message;
};

/* The reply as it goes over the wire. */
static void write_reply(struct json_request *r, struct mechp_text *w)
{
    struct mechd_call *c = &r->call;
    const size_t n = r->sequence_length;
    if (c->code != MECHP_OK) {
        mechp_text_object(w);
        mechp_text_key(w, "ok");
        mechp_text_bool(w, false);
        if (n > 0) {
            mechp_text_key(w, "sequence");
            mechp_text_raw(w, r->sequence, n);
        }
        mechp_text_key(w, "error");
        mechd_call_problem(c, w);
        mechp_text_end(w);
        return;
    }

    // the operation's object follows the members in front; nothing does without memory for it
    w->failed = c->text.failed;
    mechp_text_raw(w, "{\"ok\":true", 10);
    w->comma[0] = false;
    if (n > 0) {
        mechp_text_raw(w, ",\"sequence\":", 12);
        w->comma[0] = false;
        mechp_text_raw(w, r->sequence, n);
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

static void free_request(struct json_request *r)
{
    mechd_bodies_give(r->call.service, r->room);
    mechd_guard_called(r->backlog, r->counted);
    atomic_fetch_sub(&r->call.service->in_flight, 1);
    mechd_call_fini(&r->call);
    free(r->sequence);
    free(r);
}

/* Send the reply, from the door's thread or through the outbox; the request is over. */
static void reply(struct json_request *r, bool here)
{
    struct mechd_zmq *z = r->zmq;
    struct mechd_call *c = &r->call;
    char room[1024];
    struct mechp_text w;
    mechp_text_init(&w, room, sizeof room);
    write_reply(r, &w);
    struct mechd_letter *letter = w.failed ? NULL : mechd_letter_create(z, w.length, 0);
    if (letter != NULL) {
        letter->peer = r->peer;
        memcpy(letter->bytes, w.bytes, w.length);
    }
    mechp_text_fini(&w);
    const int status = mechd_call_status(c);
    const uint64_t ns = mechd_now() - c->start;
    mechd_requests_count(&c->service->requests, MECHD_DOOR_JSON, c->match.route, status, ns);
    if (mechd_access_wanted()) {
        const struct mechd_access line = {
            .door = MECHD_DOOR_JSON,
            .method = json_string_value(json_object_get(c->body, "op")),
            .route = c->match.route,
            .instance = c->job.instance != NULL ? c->job.instance->id : NULL,
            .token = c->who.name,
            .status = status,
            .ns = ns,
            .in = r->room > MECHD_ASKED_ROOM ? r->room - MECHD_ASKED_ROOM : 0,
            .out = letter != NULL ? letter->size : 0,
        };
        mechd_access_write(&line);
    }
    if (letter != NULL && here) {
        mechd_letter_send(z, letter);
    } else if (letter != NULL) {
        mechd_letter_post(z, letter);
    }
    free_request(r);
}

static void answer_later(struct mechd_call *c)
{
    reply((struct json_request *)c, false);
}

static void wait_for(struct mechd_job *job)
{
    (void)job; // nobody is blocked: the reply goes through the outbox
}

/* The longest sequence: of what comes back in every reply, not of what is stored. */
enum { SEQUENCE_MOST = 4096 };

/* The request's "sequence", to come back byte for byte. 0, or refused. */
static int take_sequence(struct json_request *r, const struct mechd_asked *asked)
{
    size_t n = 0;
    const char *const text = mechp_json_member_text(asked->bytes, asked->size, "sequence", &n);
    if (text == NULL) {
        return 0;
    }
    if (n > SEQUENCE_MOST) {
        return mechd_refuse(&r->call, MECHP_MALFORMED_REQUEST,
                            "the sequence has %zu bytes; at most %d come back", n, SEQUENCE_MOST);
    }
    r->sequence = malloc(n);
    if (r->sequence == NULL) {
        return mechd_refuse(&r->call, MECHP_OUT_OF_MEMORY, "no memory for the sequence");
    }
    memcpy(r->sequence, text, n);
    r->sequence_length = n;
    return 0;
}

/* From text to a tree, as far as there is room for it. 0, or refused. */
static int read_text(struct json_request *r, const struct mechd_asked *asked)
{
    struct mechd_call *c = &r->call;
    const size_t room = asked->size + MECHD_ASKED_ROOM;
    if (asked->place == MECHD_ON_A_WORKER) {
        r->room = asked->room;
        r->counted = asked->room;
        r->backlog = asked->backlog;
    } else if (asked->refusal != NULL && asked->size > MECHD_LARGE) {
        // to look for its sequence would take what is refused here
        return mechd_refuse(c, MECHP_LIMIT_REACHED, "%s", asked->refusal);
    } else if (!mechd_bodies_take(c->service, room)) {
        return mechd_refuse(c, MECHP_LIMIT_REACHED, "too many requests are on their way");
    } else {
        r->room = room;
    }
    struct mechp_json_fault fault;
    const struct mechp_json_limits most = mechp_json_limits_of(mechd_model_most(c->service));
    if (mechp_json_parse(asked->bytes, asked->size, &most, &fault, &c->body) != 0) {
        return mechd_refuse(c, fault.code, "%s", fault.text);
    }
    if (take_sequence(r, asked) != 0) {
        return 1;
    }
    if (asked->refusal != NULL) {
        return mechd_refuse(c, MECHP_LIMIT_REACHED, "%s", asked->refusal);
    }
    if (asked->place == MECHD_AT_THE_DOOR) {
        if (!mechd_guard_call(r->zmq, &r->peer, room, &r->backlog)) {
            return mechd_refuse(c, MECHP_LIMIT_REACHED, "%d requests of this connection wait",
                                MECHD_CALLS_MOST);
        }
        r->counted = room;
    }
    c->gone = mechd_guard_gone(&r->peer, r->backlog);
    return 0;
}

/* From text to a call. 0, or refused. */
static int read_request(struct json_request *r, const struct mechd_asked *asked)
{
    struct mechd_call *c = &r->call;
    if (read_text(r, asked) != 0) {
        return 1;
    }
    const char *op = json_string_value(json_object_get(c->body, "op"));
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
    if (asked->size > (1u << 20) && (mechd_call_row(c)->traits & MECHP_TAKES_MODELS) == 0) {
        return mechd_refuse(c, MECHP_BODY_TOO_LARGE, "at most %u bytes are taken here", 1u << 20);
    }
    c->token = json_string_value(json_object_get(c->body, "token"));
    c->key = r->peer.has_key ? r->peer.key : NULL;
    MECH_TRY(mechd_call_admit(c));
    mechd_message_parameters(c, &r->message);
    return mechd_call_faulty(c) ? 1 : 0;
}

void mechd_control_json(struct mechd_zmq *z, const struct mechd_asked *asked)
{
    struct json_request *r = calloc(1, sizeof *r);
    if (r == NULL) {
        mechd_bodies_give(z->service, asked->room);
        mechd_guard_called(asked->backlog, asked->room);
        return;
    }
    mechd_call_init(&r->call, z->service, MECHD_DOOR_JSON);
    atomic_fetch_add(&z->service->in_flight, 1);
    r->zmq = z;
    r->peer = *asked->peer;
    r->call.answer = answer_later;
    r->call.job.wait = wait_for;
    if (read_request(r, asked) != 0 || mechd_call_start(&r->call) == MECHD_RAN) {
        reply(r, asked->place == MECHD_AT_THE_DOOR);
    }
}
