/* What the files of server/zmq share. */
#pragma once

#include "protocol/wire/parts.h"
#include "server/auth/curve.h"
#include "server/call/call.h"
#include "server/zmq/guard.h"
#include "server/zmq/letters.h"
#include "server/zmq/lines.h"
#include "server/zmq/readers.h"
#include "server/zmq/zmq.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <zmq.h>

enum {
    MECHD_SUBSCRIPTIONS = 1024, /* topics remembered; beyond, everything counts as watched */
    MECHD_ASKED_ROOM = 4096 /* what a request takes beside its text: small ones count too, when many
                               wait */
};

/* Where a request is read. */
enum mechd_place { MECHD_AT_THE_DOOR, MECHD_ON_A_WORKER };

/* A request of the control socket. The bytes are the caller's. */
struct mechd_asked {
    const struct mechd_peer *peer;
    const char *bytes;
    size_t size;
    const char *extra; /* the frame after the body, or NULL */
    size_t extra_size;
    enum mechd_place place;
    const char *refusal; /* the reason for refusing it; or NULL */
    /* on a worker: bytes reserved for it, which a JSON call releases */
    size_t room;
    struct mechd_backlog *backlog;
};

static inline bool mechd_asked_is_json(const struct mechd_asked *a)
{
    return a->size > 0 && (a->bytes[0] == '{' || mechp_json_begins(a->bytes, a->size) ||
                           mechp_parts_are(a->bytes, a->size));
}

/* What the door's thread waits for: the monitors first, so that a message finds its connection. */
enum {
    MECHD_WATCH_MONITORS, /* one of each socket */
    MECHD_WATCH_SOCKETS = MECHD_WATCH_MONITORS + MECHD_ZMQ_SOCKETS,
    MECHD_WATCH_ZAP = MECHD_WATCH_SOCKETS + MECHD_ZMQ_SOCKETS,
    MECHD_WATCHED
};

/* A socket of libzmq. Its descriptor becomes readable when libzmq's threads have something new for
 * it, and any call takes that in: after a call the descriptor says nothing of what has come before
 * it, and the socket is looked at once more before the thread sleeps. */
struct mechd_watched {
    int descriptor; /* −1: there is no such socket */
    bool unseen;    /* there has been a call since a receive that found nothing */
};

struct mechd_zmq {
    struct mechd_service *service;
    void *context;
    void *
        sockets[MECHD_ZMQ_SOCKETS]; /* the thread's, the stream's locked by letters.x; NULL: none */
    struct mechd_watched watched[MECHD_WATCHED]; /* the thread's */
    void *zap;       /* the thread's; receives authentication requests; NULL without CURVE */
    uint64_t logged; /* the thread's; last line of a refusal, ns */
    char endpoints[MECHD_ZMQ_SOCKETS][256];
    uint64_t largest[MECHD_ZMQ_SOCKETS]; /* largest accepted frame, bytes */
    int wake;                            /* eventfd */
    struct mechd_guard guard;
    struct mechd_letters letters;
    struct mechd_lines lines;
    struct mechd_readers readers;
    pthread_t thread;
    uint64_t served; /* the thread's: when the stream's socket was looked at last, ns */
    bool rests;      /* the thread's: the outbox was empty, it may wait */
    bool running;
    _Atomic bool stop;
    _Atomic uint64_t turns; /* of the thread; partner: the watchdog */

    /* locked by s */
    pthread_mutex_t s;
    int subscription_count;
    struct mechd_subscription {
        char prefix[MECHD_TOPIC_MOST];
        size_t size;
    } subscriptions[MECHD_SUBSCRIPTIONS];
    bool overflow;
};

/* Receive one multipart message without waiting into frames [most]; further frames are dropped.
 * Number of frames; 0: there is no message. */
int mechd_zmq_receive(void *socket, zmq_msg_t *frames, int most);

/* CURVE: bind the handler of ZAP before all sockets, protect each of them before it is bound.
 * Negative: a sentence. Nothing is done when it is off. */
int mechd_zap_open(struct mechd_zmq *z, char *fault, size_t size);
int mechd_zap_protect(struct mechd_zmq *z, enum mechd_zmq_socket which, char *fault, size_t size);
/* Answer waiting authentication requests. False: there may be more. On the door's thread. */
bool mechd_zap_serve(struct mechd_zmq *z);
/* The scope that a connection to this socket requires. */
enum mechp_scope mechd_zap_needs(enum mechd_zmq_socket which);
/* The key of the connection that a message came through, into *peer. */
void mechd_zap_key(struct mechd_zmq *z, zmq_msg_t *message, struct mechd_peer *peer);

/* A request of the control socket, as JSON and as a frame. On the door's thread, or a worker. */
void mechd_control_json(struct mechd_zmq *z, const struct mechd_asked *asked);
void mechd_control_frame(struct mechd_zmq *z, const struct mechd_asked *asked);
/* A message of the forces socket. */
void mechd_forces_take(struct mechd_zmq *z, const struct mechd_peer *peer, const void *bytes,
                       size_t size);
