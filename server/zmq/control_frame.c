/* Binary frames over the control socket (server/call/frames.h says what they ask for): whom to
 * answer, and where the answer goes. The second part of a hello and of an answer is a second frame
 * of the message. */
#include "server/call/frames.h"
#include "server/call/outside.h"
#include "server/call/service.h"
#include "server/zmq/internal.h"

#include <stdlib.h>
#include <string.h>

struct frame_request {
    struct mechd_frame_request frame; /* first */
    struct mechd_zmq *zmq;
    struct mechd_peer peer;
    struct mechd_backlog *backlog; /* of its connection, or NULL; it does not count there */
};

/* --- questions to the peer -------------------------------------------------------------------- */

struct caller {
    struct mechd_caller caller; /* first */
    struct mechd_zmq *zmq;
    struct mechd_peer peer;
    struct mechd_backlog *backlog; /* or NULL */
};

static bool send_question(struct mechd_caller *caller, const struct mechp_frame *frame,
                          const double *values)
{
    struct caller *const c = (struct caller *)caller;
    struct mechd_letter *const letter =
        mechd_letter_create(c->zmq, MECHP_FRAME_HEADER + 8 * (size_t)frame->count, 0);
    if (letter == NULL) {
        return false;
    }
    letter->peer = c->peer;
    letter->asks = true;
    mechp_frame_write(frame, letter->bytes);
    mechp_frame_put_values(letter->bytes + MECHP_FRAME_HEADER, values, frame->count);
    mechd_letter_post(c->zmq, letter);
    return true;
}

static bool has_gone(const struct mechd_caller *caller)
{
    const struct caller *const c = (const struct caller *)caller;
    return mechd_stop_reason(mechd_guard_gone(&c->peer, c->backlog)) != MECHD_STOP_NONE;
}

/* By its identity: a program that says hello again has the answers to both. */
static bool is_same(const struct mechd_caller *caller, const struct mechd_caller *other)
{
    const struct caller *const c = (const struct caller *)caller;
    const struct caller *const d = (const struct caller *)other;
    return c->zmq == d->zmq && c->peer.size == d->peer.size &&
           memcmp(c->peer.id, d->peer.id, c->peer.size) == 0;
}

static void destroy_caller(struct mechd_caller *caller)
{
    mechd_backlog_unref(((struct caller *)caller)->backlog);
    free(caller);
}

static struct mechd_caller *make_caller(struct mechd_frame_request *request)
{
    struct frame_request *const r = (struct frame_request *)request;
    struct caller *const c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    c->caller = (struct mechd_caller){
        .send = send_question, .gone = has_gone, .same = is_same, .destroy = destroy_caller};
    c->zmq = r->zmq;
    c->peer = r->peer;
    c->backlog = r->backlog != NULL ? mechd_backlog_ref(r->backlog) : NULL;
    return &c->caller;
}

/* --- requests --------------------------------------------------------------------------------- */

/* The reply as a letter; without memory for it, an error without detail. */
static struct mechd_letter *write_reply(struct frame_request *r)
{
    size_t size = 0, extra = 0;
    mechd_frame_complete(&r->frame, &size, &extra);
    struct mechd_letter *letter = mechd_letter_create(r->zmq, size, extra);
    if (letter == NULL) {
        mechd_frame_starve(&r->frame, &size, &extra);
        letter = mechd_letter_create(r->zmq, size, extra);
    }
    if (letter != NULL) {
        letter->peer = r->peer;
        letter->grants = mechd_frame_grants(&r->frame);
        mechd_frame_write(&r->frame, letter->bytes, letter->bytes + letter->size);
    }
    return letter;
}

/* Send the reply, from the door's thread or through the outbox; the request is over. */
static void reply(struct frame_request *r, bool here)
{
    if (!r->frame.silent) {
        mechd_letter_deliver(r->zmq, write_reply(r), here);
    }
    mechd_frame_fini(&r->frame);
    mechd_backlog_unref(r->backlog);
    free(r);
}

/* There is no memory for the request itself: an error with its sequence. */
static void refuse_unread(struct mechd_zmq *z, const struct mechd_asked *asked)
{
    static const struct mechp_problem problem = {
        .code = MECHP_OUT_OF_MEMORY, .detail = "no memory for the request; nothing was done"};
    struct mechp_frame in;
    char room[MECHD_FRAME_BARE];
    struct mechp_text w;
    (void)mechp_frame_read(asked->bytes, asked->size, &in);
    const bool answers = in.instance == 0 && in.kind != MECHP_HELLO;
    mechp_text_init(&w, room, sizeof room);
    mechp_problem_write(&problem, &w);
    struct mechd_letter *const letter =
        answers || w.failed ? NULL : mechd_letter_create(z, MECHP_FRAME_HEADER, w.length);
    if (letter != NULL) {
        const struct mechp_frame out = {.kind = MECHP_ERROR,
                                        .status = MECHP_OUT_OF_MEMORY,
                                        .instance = in.instance,
                                        .iteration = in.iteration,
                                        .sequence = in.sequence,
                                        .size = in.size,
                                        .lease = in.lease};
        letter->peer = *asked->peer;
        mechp_frame_write(&out, letter->bytes);
        memcpy(letter->bytes + MECHP_FRAME_HEADER, w.bytes, w.length);
    }
    mechp_text_fini(&w);
    mechd_requests_count(&z->service->requests, MECHD_DOOR_FRAME, NULL,
                         mechp_code(MECHP_OUT_OF_MEMORY)->http_status, 0);
    if (!answers) { // to an answer of a program there is no reply
        mechd_letter_deliver(z, letter, asked->place == MECHD_AT_THE_DOOR);
    }
}

static void answer_later(struct mechd_frame_request *r)
{
    reply((struct frame_request *)r, false);
}

void mechd_control_frame(struct mechd_zmq *z, const struct mechd_asked *asked)
{
    const bool here = asked->place == MECHD_AT_THE_DOOR;
    struct frame_request *const r = calloc(1, sizeof *r);
    if (r == NULL) {
        refuse_unread(z, asked);
        return;
    }
    r->zmq = z;
    r->peer = *asked->peer;
    r->backlog = here ? mechd_guard_backlog(z, &r->peer) : mechd_backlog_ref(asked->backlog);
    r->frame.door = MECHD_DOOR_FRAME;
    r->frame.key = r->peer.has_key ? r->peer.key : NULL;
    r->frame.gone = mechd_guard_gone(&r->peer, r->backlog);
    r->frame.answer = answer_later;
    r->frame.caller = make_caller;
    const struct mechd_frame_asked frame = {.bytes = asked->bytes,
                                            .size = asked->size,
                                            .extra = asked->extra,
                                            .extra_size = asked->extra_size,
                                            .refusal = asked->refusal};
    if (mechd_frame_start(&r->frame, z->service, &frame) != MECHD_QUEUED) {
        reply(r, here);
    }
}
