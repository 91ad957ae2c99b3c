/* JSON over the control socket: {"op": "step", "id": "i-1", …} is the same call as over HTTP
 * (server/call/messages.h). */
#include "protocol/wire/problem.h"
#include "server/call/messages.h"
#include "server/call/service.h"
#include "server/zmq/internal.h"

#include <stdlib.h>
#include <string.h>

struct json_request {
    struct mechd_message message; /* first */
    size_t room;                  /* taken of the bodies in flight */
    struct mechd_zmq *zmq;
    struct mechd_peer peer;
    struct mechd_backlog *backlog; /* where it counts, or NULL */
    size_t counted;                /* bytes there */
};

static void free_request(struct json_request *r)
{
    struct mechd_service *const s = r->zmq->service;
    mechd_bodies_give(s, r->room);
    mechd_guard_called(r->backlog, r->counted);
    atomic_fetch_sub(&s->in_flight, 1);
    mechd_message_fini(&r->message);
    free(r);
}

/* The reply as a letter; without memory for it, that there is none. NULL: not for that either. */
static struct mechd_letter *write_reply(struct json_request *r)
{
    char room[MECHD_STOCK_ROOM];
    struct mechd_letter *letter = NULL;
    for (int turn = 0; turn < 2 && letter == NULL; turn++) {
        struct mechp_text w;
        mechp_text_init(&w, room, sizeof room);
        (turn == 0 ? mechd_message_write : mechd_message_starve)(&r->message, &w);
        letter = w.failed ? NULL : mechd_letter_create(r->zmq, w.length, 0);
        if (letter != NULL) {
            memcpy(letter->bytes, w.bytes, w.length);
        }
        mechp_text_fini(&w);
    }
    if (letter != NULL) {
        letter->peer = r->peer;
    }
    return letter;
}

/* Send the reply, from the door's thread or through the outbox; the request is over. */
static void reply(struct json_request *r, bool here)
{
    struct mechd_zmq *z = r->zmq;
    struct mechd_letter *const letter = write_reply(r);
    mechd_message_note(&r->message, r->room > MECHD_ASKED_ROOM ? r->room - MECHD_ASKED_ROOM : 0,
                       letter != NULL ? letter->size : 0);
    mechd_letter_deliver(z, letter, here);
    free_request(r);
}

/* There is no memory for the request itself: it is not read. */
static void refuse_unread(struct mechd_zmq *z, const struct mechd_asked *asked)
{
    const struct mechp_problem problem = {.code = MECHP_OUT_OF_MEMORY,
                                          .detail = "no memory for the request; nothing was done"};
    size_t n = 0;
    const char *const sequence = asked->size <= MECHD_LARGE
                                     ? mechd_message_sequence_unread(asked->bytes, asked->size, &n)
                                     : NULL;
    char room[MECHD_STOCK_ROOM];
    struct mechp_text w;
    mechp_text_init(&w, room, sizeof room);
    mechp_problem_write_reply(&problem, sequence, n, &w);
    struct mechd_letter *const letter = w.failed ? NULL : mechd_letter_create(z, w.length, 0);
    if (letter != NULL) {
        letter->peer = *asked->peer;
        memcpy(letter->bytes, w.bytes, w.length);
    }
    mechp_text_fini(&w);
    mechd_requests_count(&z->service->requests, MECHD_DOOR_JSON, NULL,
                         mechp_code(MECHP_OUT_OF_MEMORY)->http_status, 0);
    mechd_letter_deliver(z, letter, asked->place == MECHD_AT_THE_DOOR);
    mechd_bodies_give(z->service, asked->room);
    mechd_guard_called(asked->backlog, asked->room);
}

static void answer_later(struct mechd_call *c)
{
    reply((struct json_request *)c, false);
}

static void wait_for(struct mechd_job *job)
{
    (void)job; // no thread is blocked: the reply goes through the outbox
}

/* From text to a tree, as far as there is room for it. 0, or refused. */
static int read_text(struct json_request *r, const struct mechd_asked *asked)
{
    struct mechd_call *c = &r->message.call;
    const size_t room = asked->size + MECHD_ASKED_ROOM;
    if (asked->place == MECHD_ON_A_WORKER) {
        r->room = asked->room;
        r->counted = asked->room;
        r->backlog = asked->backlog;
    } else if (asked->refusal != NULL && asked->size > MECHD_LARGE) {
        // to look for its sequence would take what is refused here
        return mechd_refuse(c, MECHP_LIMIT_REACHED, "%s", asked->refusal);
    } else if (!mechd_bodies_take(c->service, room)) {
        return mechd_refuse(c, MECHP_LIMIT_REACHED, "too many requests are in progress");
    } else {
        r->room = room;
    }
    if (mechd_message_parse(&r->message, asked->bytes, asked->size) != 0) {
        return 1;
    }
    if (asked->refusal != NULL) {
        return mechd_refuse(c, MECHP_LIMIT_REACHED, "%s", asked->refusal);
    }
    if (asked->place == MECHD_AT_THE_DOOR) {
        if (!mechd_guard_call(r->zmq, &r->peer, room, &r->backlog)) {
            return mechd_refuse(c, MECHP_LIMIT_REACHED,
                                "%d requests of this connection are waiting", MECHD_CALLS_MOST);
        }
        r->counted = room;
    }
    c->gone = mechd_guard_gone(&r->peer, r->backlog);
    return 0;
}

void mechd_control_json(struct mechd_zmq *z, const struct mechd_asked *asked)
{
    struct json_request *r = calloc(1, sizeof *r);
    if (r == NULL) {
        refuse_unread(z, asked);
        return;
    }
    struct mechd_call *const c = &r->message.call;
    mechd_call_init(c, z->service, MECHD_DOOR_JSON);
    atomic_fetch_add(&z->service->in_flight, 1);
    r->zmq = z;
    r->peer = *asked->peer;
    c->answer = answer_later;
    c->job.wait = wait_for;
    const unsigned char *const key = r->peer.has_key ? r->peer.key : NULL;
    if (read_text(r, asked) != 0 || mechd_message_admit(&r->message, asked->size, key) != 0 ||
        mechd_call_start(c) == MECHD_RAN) {
        reply(r, asked->place == MECHD_AT_THE_DOOR);
    }
}
