/* What the files of server/zmq share. */
#pragma once

#include "server/auth/curve.h"
#include "server/routes/call.h"
#include "server/zmq/guard.h"
#include "server/zmq/zmq.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <zmq.h>

enum {
    MECHD_PEER_MOST = 256,      /* bytes of a routing id */
    MECHD_OUTBOX_MOST = 4096,   /* frames waiting for the stream's socket */
    MECHD_SUBSCRIPTIONS = 1024, /* topics remembered; beyond, everything counts as watched */
    MECHD_TOPIC_MOST = 96
};

/* Whom to answer. */
struct mechd_peer {
    unsigned char id[MECHD_PEER_MOST];
    size_t size;
    bool delimiter; /* an empty frame stands before the body */
    bool has_key;   /* CURVE is on */
    unsigned char key[MECHD_CURVE_KEY];
    int descriptor; /* of the connection, and which one it was; serial 0: not known */
    uint32_t serial;
};

/* A message on its way out: an answer to a peer, or a frame of the stream with its topic. */
struct mechd_letter {
    struct mechd_letter *next;
    bool stream;
    _Atomic int frames;          /* that libzmq has; partner: its thread that frees them */
    struct mechd_unread *unread; /* where they are counted, or NULL */
    struct mechd_peer peer;
    char topic[MECHD_TOPIC_MOST];
    size_t size, extra;    /* body, and a second frame behind it (0: none) */
    unsigned char bytes[]; /* [size + extra] */
};

struct mechd_zmq {
    struct mechd *daemon;
    void *context;
    void *sockets[MECHD_ZMQ_SOCKETS]; /* the thread's; NULL when closed */
    void *zap;                        /* the thread's; asks who may connect; NULL without CURVE */
    uint64_t told;                    /* the thread's; last line of a refusal, ns */
    char endpoints[MECHD_ZMQ_SOCKETS][256];
    uint64_t largest[MECHD_ZMQ_SOCKETS]; /* bytes of a frame that is taken */
    int wake;                            /* eventfd */
    struct mechd_guard guard;
    struct mechd_unread streamed; /* large frames that subscribers have not read */
    pthread_t thread;
    bool rests; /* the thread's: the outbox was empty, it may wait */
    bool running;
    _Atomic bool stop;
    _Atomic uint64_t turns; /* of the thread; partner: the watchdog */

    /* locked by m */
    pthread_mutex_t m;
    struct mechd_letter *head, *tail;
    int waiting;
    bool asleep; /* the thread has found nothing and waits: who posts wakes it */

    /* locked by s */
    pthread_mutex_t s;
    int subscription_count;
    struct mechd_subscription {
        char prefix[MECHD_TOPIC_MOST];
        size_t size;
    } subscriptions[MECHD_SUBSCRIPTIONS];
    bool overflow;
};

/* One multipart message without waiting into frames [most]; what is beyond is dropped. How many
 * frames; 0: there is none. */
int mechd_zmq_receive(void *socket, zmq_msg_t *frames, int most);

/* CURVE: bind the handler of ZAP before all sockets, protect each of them before it is bound.
 * Negative: a sentence. Nothing is done when it is off. */
int mechd_zap_open(struct mechd_zmq *z, char *fault, size_t size);
int mechd_zap_protect(struct mechd_zmq *z, enum mechd_zmq_socket which, char *fault, size_t size);
/* Answer the questions that wait. On the door's thread. */
void mechd_zap_serve(struct mechd_zmq *z);
/* The scope that a connection to this socket takes. */
enum mechd_scope mechd_zap_needs(enum mechd_zmq_socket which);
/* The key of the connection that a message came through, into *peer. */
void mechd_zap_key(struct mechd_zmq *z, zmq_msg_t *message, struct mechd_peer *peer);

/* A letter with room for its bytes, or NULL. */
struct mechd_letter *mechd_letter_create(size_t size, size_t extra);
/* Into the outbox; a frame of the stream may be dropped there. Any thread. */
void mechd_letter_post(struct mechd_zmq *z, struct mechd_letter *letter);
/* Send and free at once. On the door's thread. */
void mechd_letter_send(struct mechd_zmq *z, struct mechd_letter *letter);

/* A request of the control socket; `extra` is the frame behind the body. On the door's thread. */
void mechd_control_json(struct mechd_zmq *z, const struct mechd_peer *peer, const char *bytes,
                        size_t size);
void mechd_control_frame(struct mechd_zmq *z, const struct mechd_peer *peer, const void *bytes,
                         size_t size, const char *extra, size_t extra_size);
/* A message of the forces socket. */
void mechd_forces_take(struct mechd_zmq *z, const struct mechd_peer *peer, const void *bytes,
                       size_t size);
