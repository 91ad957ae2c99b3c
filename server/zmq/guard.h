/* Limits of one ZeroMQ connection. owner: the door's thread, except where noted.
 *
 * libzmq bounds messages in numbers and a frame in bytes, not the frames of a message, the answers
 * that a peer leaves unread, its subscriptions, or the connections. The door therefore listens to
 * libzmq's monitor, which reports every descriptor that is accepted and closed, knows the
 * descriptor of each message, and shuts down a connection that exceeds a limit; libzmq then frees
 * its resources. A descriptor's number may have been reused for another connection meanwhile: only
 * one that is bound to the socket's own address is shut down, and a peer that was disconnected by
 * mistake connects again.
 */
#pragma once

#include "server/auth/curve.h"
#include "server/os/shares.h"
#include "server/os/stop.h"
#include "server/zmq/zmq.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    MECHD_TOPICS_MOST = 20000, /* subscriptions of one connection: two for each instance */
    MECHD_PREFIXES_MOST = 64,  /* of these, subscriptions to less than a whole topic */
    MECHD_CALLS_MOST = 512,    /* JSON requests of one connection that wait: answers fit a pipe */
    MECHD_LETTER_LARGE = 4096  /* bytes from which outgoing messages are counted */
};
/* Bytes that one connection leaves unread; that all subscribers together do. */
static const size_t mechd_unread_most = (size_t)256 << 20;
/* Bytes of the waiting requests of one connection, in addition to a first one of any size, from
 * which on no large one is accepted. */
static const size_t mechd_asked_most = (size_t)16 << 20;
/* Bytes of them from which on it is slowed down: the kernel accepts no more than it already holds.
 * */
static const size_t mechd_asked_slow = (size_t)4 << 20;
/* Bytes of incomplete messages, of all connections together. */
static const uint64_t mechd_parts_most = (uint64_t)1 << 30;

struct mechd_peer;

/* Unread messages and unanswered requests of a connection, or of all subscribers. Freed with the
 * last of them. */
struct mechd_backlog {
    _Atomic int refs; /* the connection's own, and one for each letter and call */
    _Atomic size_t
        bytes;         /* of large messages that libzmq has; partner: its thread that frees them */
    _Atomic int calls; /* requests accepted and not answered; partner: the answering thread */
    _Atomic size_t asked;   /* bytes of them; partner: the answering thread */
    struct mechd_stop gone; /* GONE: the connection has ended */
};

/* A connection, by its descriptor. */
struct mechd_zmq_link {
    bool open;
    bool heard;   /* a complete message arrived since the last sweep */
    bool has_key; /* the key is known */
    bool cut;     /* only once: its descriptor may be reused before its end is reported */
    bool slowed;  /* its window is small, until its requests are answered */
    enum mechd_zmq_socket door;
    uint32_t serial; /* connections through this descriptor */
    int topics, prefixes;
    uint64_t base; /* bytes received when the last complete message arrived */
    unsigned char key[MECHD_CURVE_KEY];
    struct mechd_backlog *backlog; /* NULL: none yet */
};

struct mechd_guard {
    void *monitors[MECHD_ZMQ_SOCKETS]; /* PAIR; NULL: closed */
    struct mechd_zmq_link *links;      /* [room] by descriptor */
    size_t room;
    _Atomic int open[MECHD_ZMQ_SOCKETS]; /* partner: /metrics */
    int most;                            /* connections of each socket */
    /* connections refused since the last second began, and the means to limit them: the listening
     * socket, -1: not known, and the time until which it accepts none, ns */
    struct mechd_gate {
        int listener;
        int refused;
        uint64_t until, since;
        bool is_full; /* logged, and not well below since */
    } gates[MECHD_ZMQ_SOCKETS];
    uint64_t swept;       /* ns */
    uint64_t logged;      /* last line of the log, ns */
    _Atomic bool recheck; /* keys have changed; partner: SIGHUP */
};

/* Before a socket is bound. Negative: no monitor. */
int mechd_guard_open(struct mechd_zmq *z, enum mechd_zmq_socket door);
/* No events from now on; before the sockets are closed. */
void mechd_guard_close(struct mechd_zmq *z);
/* After the context has ended. */
void mechd_guard_fini(struct mechd_guard *g);

/* Process the events of a socket. False: there may be more. */
bool mechd_guard_serve(struct mechd_zmq *z, enum mechd_zmq_socket door);
/* Check for messages that never end, and for keys that are no longer known; every 200 ms at most.
 * */
void mechd_guard_sweep(struct mechd_zmq *z);

/* A complete message arrived through `descriptor` (negative: not known), of a connection that may
 * have ended since. */
void mechd_guard_heard(struct mechd_zmq *z, enum mechd_zmq_socket door, int descriptor,
                       struct mechd_peer *peer);
/* The serial of the stream's connection that has the descriptor now; 0: not known. On the door's
 * thread. */
uint32_t mechd_guard_serial(struct mechd_zmq *z, int descriptor);
/* It subscribes or unsubscribes. False: too many subscriptions, and the connection ends. */
bool mechd_guard_subscribed(struct mechd_zmq *z, int descriptor, bool subscribe, bool whole);
/* A large answer to a peer: where its bytes are counted into *backlog (NULL: nowhere). False: too
 * much is unread, and its connection ends. */
bool mechd_guard_unread(struct mechd_zmq *z, const struct mechd_peer *peer,
                        struct mechd_backlog **backlog);
/* A request of a peer that takes `room` bytes, as JSON or in a line, which counts in *backlog
 * (NULL: nowhere) until it is answered. False: too many of its requests, or too many bytes, are
 * waiting, and it does not count. */
bool mechd_guard_call(struct mechd_zmq *z, const struct mechd_peer *peer, size_t room,
                      struct mechd_backlog **backlog);
void mechd_guard_called(struct mechd_backlog *backlog, size_t room);
/* A reference to the backlog of its connection (NULL: it is not known), of a request that does not
 * count there: mechd_backlog_unref. On the door's thread. */
struct mechd_backlog *mechd_guard_backlog(struct mechd_zmq *z, const struct mechd_peer *peer);
/* GONE once the connection has ended through which a request came, as long as it has a reference to
 * `backlog`; or NULL: not known. Any thread. */
const struct mechd_stop *mechd_guard_gone(const struct mechd_peer *peer,
                                          const struct mechd_backlog *backlog);
/* One reference more, of a backlog to which there is one (may be NULL); one less. Any thread. */
struct mechd_backlog *mechd_backlog_ref(struct mechd_backlog *o);
void mechd_backlog_unref(struct mechd_backlog *o);
/* libzmq holds as many answers for a peer as it may: it has read none of them, and would lose the
 * next. Its connection ends. */
void mechd_guard_full(struct mechd_zmq *z, const struct mechd_peer *peer);
