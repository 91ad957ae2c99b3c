/* Requests that wait for the pool, in turns. */
#include "server/zmq/lines.h"

#include "server/call/service.h"
#include "server/zmq/internal.h"

#include <stdlib.h>
#include <string.h>

/* A request that waits. */
struct waiting {
    struct waiting *next;
    struct mechd_peer peer;
    zmq_msg_t body, extra;
    bool has_extra;
    size_t room; /* taken of the bodies in flight */
    struct mechd_backlog *backlog;
};

struct mechd_partner_line {
    struct mechd_partner_line *next;
    struct waiting *first, *last; /* first: waits, or is begun */
    size_t size;
    unsigned char id[MECHD_PEER_MOST];
};

void mechd_lines_init(struct mechd_lines *l, struct mechd_zmq *z)
{
    *l = (struct mechd_lines){.zmq = z};
    pthread_mutex_init(&l->m, NULL);
}

void mechd_lines_fini(struct mechd_lines *l)
{
    pthread_mutex_destroy(&l->m);
}

/* The line of a partner, or NULL; m is held. */
static struct mechd_partner_line *line_of(struct mechd_lines *l, const struct mechd_peer *peer)
{
    struct mechd_partner_line *line = l->head;
    while (line != NULL &&
           (line->size != peer->size || memcmp(line->id, peer->id, peer->size) != 0)) {
        line = line->next;
    }
    return line;
}

static void append_line(struct mechd_lines *l, struct mechd_partner_line *line)
{
    line->next = NULL;
    if (l->head == NULL) {
        l->head = line;
    } else {
        l->tail->next = line;
    }
    l->tail = line;
}

static void free_waiting(struct mechd_lines *l, struct waiting *w)
{
    zmq_msg_close(&w->body);
    if (w->has_extra) {
        zmq_msg_close(&w->extra);
    }
    free(w);
    atomic_fetch_sub(&l->zmq->service->in_flight, 1);
}

/* Read and begin a request, on a thread of the pool. */
static void begin(struct mechd_lines *l, struct waiting *w)
{
    struct mechd_zmq *const z = l->zmq;
    struct mechd_asked asked = {.peer = &w->peer,
                                .bytes = zmq_msg_data(&w->body),
                                .size = zmq_msg_size(&w->body),
                                .extra = w->has_extra ? zmq_msg_data(&w->extra) : NULL,
                                .extra_size = w->has_extra ? zmq_msg_size(&w->extra) : 0,
                                .place = MECHD_ON_A_WORKER};
    if (mechd_asked_is_json(&asked)) {
        // what it has taken goes with the call, which gives it back
        asked.room = w->room;
        asked.backlog = w->backlog;
        mechd_control_json(z, &asked);
        return;
    }
    asked.backlog = w->backlog;
    mechd_bodies_give(z->service, w->room);
    mechd_control_frame(z, &asked);
    mechd_guard_called(w->backlog, w->room);
}

/* One request of the line whose turn it is. */
static void take_turn(struct mechd_task *task)
{
    struct mechd_lines *const l = (struct mechd_lines *)task;
    pthread_mutex_lock(&l->m);
    struct mechd_partner_line *const line = l->head;
    struct waiting *const w = line->first;
    pthread_mutex_unlock(&l->m);

    begin(l, w);

    // it has stood in its line until now, so that none of the same partner has gone past it
    pthread_mutex_lock(&l->m);
    line->first = w->next;
    l->head = line->next;
    if (line->first != NULL) {
        append_line(l, line);
    } else {
        free(line);
    }
    const bool more = l->head != NULL;
    pthread_mutex_unlock(&l->m);
    if (more) {
        mechd_pool_push(&l->zmq->service->host.pool, task);
    }
    free_waiting(l, w); // it is in flight until the pool has been asked again
}

/* Room for a request of `size` bytes; false, and why not. Half of what bodies may take is left to
 * small ones and to other doors. */
static bool take_room(struct mechd_zmq *z, struct mechd_asked *asked, struct waiting *w)
{
    struct mechd_service *const s = z->service;
    const size_t size = asked->size + asked->extra_size;
    const size_t room = size + MECHD_ASKED_ROOM;
    const size_t others = size > MECHD_LARGE ? 2 * mechd_model_most(s) : 0;
    if (!mechd_bodies_fit(s, room + others) || !mechd_bodies_take(s, room)) {
        asked->refusal = "too many requests are in progress";
        return false;
    }
    if (!mechd_guard_call(z, asked->peer, room, &w->backlog)) {
        mechd_bodies_give(s, room);
        asked->refusal = "too many requests of this connection are waiting";
        return false;
    }
    w->room = room;
    return true;
}

/* To the end of its partner's line, which may be new. False: no memory. */
static bool stand(struct mechd_lines *l, struct waiting *w)
{
    pthread_mutex_lock(&l->m);
    const bool idle = l->head == NULL;
    struct mechd_partner_line *line = line_of(l, &w->peer);
    if (line != NULL) {
        line->last->next = w;
        line->last = w;
    } else {
        line = calloc(1, sizeof *line);
        if (line != NULL) {
            line->size = w->peer.size;
            memcpy(line->id, w->peer.id, w->peer.size);
            line->first = line->last = w;
            append_line(l, line);
        }
    }
    pthread_mutex_unlock(&l->m);
    if (line != NULL && idle) {
        l->task.run = take_turn;
        mechd_pool_push(&l->zmq->service->host.pool, &l->task);
    }
    return line != NULL;
}

static const char no_memory[] = "no memory for one more request";

/* It is refused: the messages are the caller's again. */
static void give_back(struct waiting *w, struct mechd_asked *asked, zmq_msg_t *body,
                      zmq_msg_t *extra)
{
    zmq_msg_move(body, &w->body);
    asked->bytes = zmq_msg_data(body);
    if (extra != NULL) {
        zmq_msg_move(extra, &w->extra);
        asked->extra = zmq_msg_data(extra);
    }
    asked->refusal = no_memory;
}

bool mechd_lines_take(struct mechd_lines *l, struct mechd_asked *asked, zmq_msg_t *body,
                      zmq_msg_t *extra)
{
    struct mechd_service *const s = l->zmq->service;
    const bool large = (mechd_asked_is_json(asked) ? asked->size : asked->extra_size) > MECHD_LARGE;
    pthread_mutex_lock(&l->m);
    const bool behind = l->head != NULL && line_of(l, asked->peer) != NULL;
    pthread_mutex_unlock(&l->m);
    if (!large && !behind) {
        return false;
    }
    struct waiting *const w = calloc(1, sizeof *w);
    if (w == NULL) {
        asked->refusal = no_memory;
        return false;
    }
    // first, so that the end of the daemon waits for it, or is seen here
    atomic_fetch_add(&s->in_flight, 1);
    if (mechd_host_stops(&s->host) || !take_room(l->zmq, asked, w)) {
        atomic_fetch_sub(&s->in_flight, 1);
        free(w);
        return false;
    }
    w->peer = *asked->peer;
    zmq_msg_init(&w->body);
    zmq_msg_move(&w->body, body);
    w->has_extra = extra != NULL;
    if (extra != NULL) {
        zmq_msg_init(&w->extra);
        zmq_msg_move(&w->extra, extra);
    }
    if (!stand(l, w)) {
        give_back(w, asked, body, extra);
        mechd_bodies_give(s, w->room);
        mechd_guard_called(w->backlog, w->room);
        free_waiting(l, w);
        return false;
    }
    return true;
}
