/* What the files of server/zmq share. */
#pragma once

#include "server/routes/call.h"
#include "server/zmq/zmq.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

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
};

/* A message on its way out: an answer to a peer, or a frame of the stream with its topic. */
struct mechd_letter {
    struct mechd_letter *next;
    bool stream;
    struct mechd_peer peer;
    char topic[MECHD_TOPIC_MOST];
    size_t size, extra;    /* body, and a second frame behind it (0: none) */
    unsigned char bytes[]; /* [size + extra] */
};

struct mechd_zmq {
    struct mechd *daemon;
    void *context;
    void *sockets[MECHD_ZMQ_SOCKETS]; /* the thread's; NULL when closed */
    char endpoints[MECHD_ZMQ_SOCKETS][256];
    int wake; /* eventfd */
    pthread_t thread;
    bool running;
    _Atomic bool stop;
    _Atomic uint64_t turns; /* of the thread; partner: the watchdog */

    /* locked by m */
    pthread_mutex_t m;
    struct mechd_letter *head, *tail;
    int waiting;

    /* locked by s */
    pthread_mutex_t s;
    int subscription_count;
    struct mechd_subscription {
        char prefix[MECHD_TOPIC_MOST];
        size_t size;
    } subscriptions[MECHD_SUBSCRIPTIONS];
    bool overflow;
};

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
void mechd_forces_take(struct mechd_zmq *z, const void *bytes, size_t size);
