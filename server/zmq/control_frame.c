/* Binary frames over the control socket (server/call/frames.h says what they ask for): whom to
 * answer, and where the answer goes. The second part of a hello and of an answer is a second frame
 * of the message. */
#include "server/call/frames.h"
#include "server/call/service.h"
#include "server/zmq/internal.h"

#include <stdlib.h>

struct frame_request {
    struct mechd_frame_request frame; /* first */
    struct mechd_zmq *zmq;
    struct mechd_peer peer;
    struct mechd_backlog *backlog; /* of its connection, or NULL; it does not count there */
};

/* Send the reply, from the door's thread or through the outbox; the request is over. */
static void reply(struct frame_request *r, bool here)
{
    struct mechd_zmq *const z = r->zmq;
    size_t size = 0, extra = 0;
    mechd_frame_complete(&r->frame, &size, &extra);
    struct mechd_letter *const letter = mechd_letter_create(z, size, extra);
    if (letter != NULL) {
        letter->peer = r->peer;
        mechd_frame_write(&r->frame, letter->bytes, letter->bytes + size);
    }
    if (letter != NULL && here) {
        mechd_letter_send(z, letter);
    } else if (letter != NULL) {
        mechd_letter_post(z, letter);
    }
    mechd_frame_fini(&r->frame);
    mechd_backlog_unref(r->backlog);
    free(r);
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
        return;
    }
    r->zmq = z;
    r->peer = *asked->peer;
    r->backlog = here ? mechd_guard_backlog(z, &r->peer) : mechd_backlog_ref(asked->backlog);
    r->frame.door = MECHD_DOOR_FRAME;
    r->frame.key = r->peer.has_key ? r->peer.key : NULL;
    r->frame.gone = mechd_guard_gone(&r->peer, r->backlog);
    r->frame.answer = answer_later;
    const struct mechd_frame_asked frame = {.bytes = asked->bytes,
                                            .size = asked->size,
                                            .extra = asked->extra,
                                            .extra_size = asked->extra_size,
                                            .refusal = asked->refusal};
    if (mechd_frame_start(&r->frame, z->service, &frame) != MECHD_QUEUED) {
        reply(r, here);
    }
}
