/* Letters: outgoing messages, the outbox where other threads put them, and sending.
 *
 * Answers are sent only by the door's thread. A frame of the stream is sent by the thread that made
 * it, unless the stream's socket is in use or an earlier frame is waiting; then it waits in the
 * outbox too. A stream therefore needs no second thread, and its frames keep their order.
 *
 * libzmq gets the bytes without a copy and releases them when they are in the batch that it writes
 * next: a letter exists until then, and their number is known at shutdown.
 *
 * Where there is no memory for an answer, a letter of a stock that was made at the start takes its
 * place, if it fits, and comes back when libzmq is done with it. Where there is none for libzmq to
 * take a letter, a refusal is sent, for which it needs none: to a frame an error with its sequence,
 * in a message of a second stock, and the problem; to JSON, and to a frame once that stock is used
 * up, a reply in JSON (ok: false) without a sequence. Its bytes are constant, but for the sequence.
 * An answer ends in any case. A question to a program is not sent then, nor after a hello that is
 * without effect.
 */
#pragma once

#include "server/auth/curve.h"
#include "server/zmq/guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

enum {
    MECHD_PEER_MOST = 256, /* bytes of a routing id */
    MECHD_TOPIC_MOST = 144,
    MECHD_STOCK = 32,        /* letters of the stock */
    MECHD_STOCK_ROOM = 1024, /* bytes of an answer in each */
    MECHD_REFUSALS = 32,     /* messages of the second stock */
    MECHD_STARVED_ROOM = 320 /* bytes of the refusal without a sequence */
};

/* Recipient of an answer. */
struct mechd_peer {
    unsigned char id[MECHD_PEER_MOST];
    size_t size;
    bool delimiter; /* an empty frame precedes the body */
    bool has_key;   /* CURVE is on */
    unsigned char key[MECHD_CURVE_KEY];
    int descriptor; /* of the connection, and its serial; 0: not known */
    uint32_t serial;
    bool left; /* its connection had ended when the message was examined */
};

/* An outgoing message: an answer to a peer, or a frame of the stream with its topic. */
struct mechd_letter {
    struct mechd_letter *next;
    struct mechd_letters *home;
    bool stream;
    bool stocked;                  /* it belongs to the stock */
    bool grants;                   /* the reply to a hello, with a new lease: withdrawn if unsent */
    bool asks;                     /* a question to a program, no answer */
    bool cancelled;                /* its hello was withdrawn: it is not sent */
    _Atomic int frames;            /* that libzmq has; partner: its thread that frees them */
    struct mechd_backlog *backlog; /* where they are counted, or NULL */
    size_t size, extra;            /* body, and a second frame after it (0: none) */
    size_t room;                   /* of bytes */
    union {
        struct mechd_peer peer;
        char topic[MECHD_TOPIC_MOST];
    };
    unsigned char bytes[]; /* [room] */
};

struct mechd_line {
    struct mechd_letter *head, *tail;
    int count;
};

struct mechd_letters {
    struct mechd_backlog streamed; /* large frames that subscribers have not read */
    _Atomic size_t lent;           /* letters that libzmq has; partner: its thread */

    /* letters of the stream that can be reused */
    _Atomic(struct mechd_letter *) returned; /* partner: libzmq's thread */
    _Atomic size_t spare;                    /* bytes of them, kept ones too */

    /* const: the refusal, as JSON, and its problem, [starved_size] and [problem_size] bytes */
    char starved[MECHD_STARVED_ROOM], problem[MECHD_STARVED_ROOM];
    size_t starved_size, problem_size;
    /* the door's thread's: messages for frames of refusals */
    zmq_msg_t refusals[MECHD_REFUSALS];
    int refusal_count;

    pthread_mutex_t x; /* the stream's socket: held while sending or reading there; before m */
    uint64_t looked;   /* locked by x: time of the last check of its events, ns */

    pthread_mutex_t m;                 /* locked by it: */
    struct mechd_line answers, frames; /* the outbox */
    struct mechd_letter *kept;         /* for reuse */
    struct mechd_letter *stock;        /* those that are not under way */
    bool asleep;        /* the door's thread has found nothing and waits: a post wakes it */
    _Atomic int queued; /* frames.count, written under m; partner: the thread with the next frame */
};

/* Negative: no memory; mechd_letters_fini follows all the same. */
int mechd_letters_init(struct mechd_letters *l);
/* After the context has ended. */
void mechd_letters_fini(struct mechd_letters *l);

/* A letter to be filled, peer and bytes; without memory one of the stock, as long as there is one
 * and it has that room. NULL: neither. Any thread. */
struct mechd_letter *mechd_letter_create(struct mechd_zmq *z, size_t size, size_t extra);
/* The same for a frame of the stream, topic and bytes. */
struct mechd_letter *mechd_letter_create_frame(struct mechd_zmq *z, size_t size);
/* To be sent; a frame of the stream may be dropped, which is counted. Any thread. */
void mechd_letter_post(struct mechd_zmq *z, struct mechd_letter *letter);
/* Send an answer at once. On the door's thread. */
void mechd_letter_send(struct mechd_zmq *z, struct mechd_letter *letter);

/* The answer to a request, from the door's thread (`here`) or any other; NULL: there is none, which
 * is counted. */
void mechd_letter_deliver(struct mechd_zmq *z, struct mechd_letter *letter, bool here);

/* Send the letters in the outbox, and those added meanwhile. True: nothing is left, and the next
 * post will wake the thread; false: other work has waited long enough. On the door's thread. */
bool mechd_letters_drain(struct mechd_zmq *z);
/* Send the answers that wait there, so that none is overtaken by one that is sent at once. On the
 * door's thread. */
void mechd_letters_answer(struct mechd_zmq *z);
/* Messages in the outbox. Any thread. */
int mechd_letters_waiting(struct mechd_letters *l);
/* Wait until libzmq has written out all letters, at most `most` ns. */
void mechd_letters_settle(struct mechd_letters *l, uint64_t most);
