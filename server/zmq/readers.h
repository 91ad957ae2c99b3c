/* Frames offered to each subscriber of the stream, and frames lost.
 *
 * libzmq drops a frame for a subscriber whose pipe is full and does not report for which one.
 * Frames are therefore counted twice: those that match its subscriptions, with the bytes that they
 * take on the wire, when they are sent; and the bytes that the kernel has accepted for its
 * connection (TCP_INFO). The difference is waiting in libzmq, at most MECHD_READER_QUEUE frames and
 * a batch, or is lost: a lower bound at any time. It is exact, for frames of one size, once nothing
 * is offered or written between two checks and the kernel holds nothing: libzmq has nothing more
 * for it then. Frames of several sizes count by their mean. Not seen: frames that other threads
 * send in the ms in which a subscription arrives, and answers to the subscriber's own pings, 10
 * bytes or so each. Connections that are not TCP, and those beyond MECHD_PREFIXES_COUNTED
 * subscriptions of all, are not reported.
 *
 * locked by mechd_letters.x, except where noted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mechd_zmq;

enum {
    MECHD_READER_QUEUE = 1000,    /* frames that libzmq queues for a subscriber */
    MECHD_READERS_MOST = 256,     /* subscribers that are reported */
    MECHD_PREFIXES_COUNTED = 512, /* subscriptions with which every frame is compared */
    MECHD_DROPPED_TOPICS = 64     /* in one outbox between two checks */
};

/* A subscriber. */
struct mechd_reader {
    int descriptor;
    uint32_t serial;       /* of the connection */
    char peer[64];         /* address and port */
    uint64_t frames;       /* offered to it */
    uint64_t bytes;        /* of them on the wire */
    uint64_t base, start;  /* bytes written, ns, when it was first seen */
    uint64_t looked[3];    /* bytes offered and written, frames offered at the last check */
    uint64_t lost, behind; /* frames: lost, a lower bound; further ones waiting or lost */
};

struct mechd_readers {
    int count, prefix_count;
    struct mechd_reader *all;             /* [MECHD_READERS_MOST] or NULL */
    struct mechd_reader_prefix *prefixes; /* [MECHD_PREFIXES_COUNTED], those of a reader in a row */
    uint64_t ended;                       /* lost by disconnected ones */
    uint64_t looked;                      /* ns */
    /* locked by mechd_letters.m: frames that were dropped before the socket */
    int dropped_count;
    struct mechd_reader_drop *dropped; /* [MECHD_DROPPED_TOPICS] or NULL */
};

/* Negative: no memory. */
int mechd_readers_init(struct mechd_readers *r);
void mechd_readers_fini(struct mechd_readers *r);

/* A connection subscribes, or unsubscribes. x is held. On the door's thread. */
void mechd_readers_subscribed(struct mechd_zmq *z, int descriptor, bool subscribe,
                              const char *prefix, size_t size);
/* A frame of `size` bytes is sent to all its subscribers. x is held. */
void mechd_readers_offer(struct mechd_zmq *z, const char *topic, size_t size);
/* A frame is dropped before the socket. m is held. */
void mechd_readers_dropped(struct mechd_readers *r, const char *topic, size_t size);
/* Check the bytes that the kernel has accepted, every 200 ms at most. Takes x. On the door's
 * thread. */
void mechd_readers_look(struct mechd_zmq *z);
/* Copies of all into out [MECHD_READERS_MOST]; their number, and the total lost by all subscribers
 * so far. Frames offered since the last check are reported as behind: lost and behind together are
 * never too few. Takes x. Any thread. */
int mechd_readers_tell(struct mechd_zmq *z, struct mechd_reader *out, uint64_t *lost);
