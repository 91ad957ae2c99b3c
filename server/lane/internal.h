/* Shared by the files of server/lane. */
#pragma once

#include "server/call/frames.h"
#include "server/call/messages.h"
#include "server/call/service.h"
#include "server/lane/lane.h"
#include "server/os/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    MECHD_LANE_THREADS = 4,        /* most */
    MECHD_LANE_LENGTH = 4,         /* bytes before a message */
    MECHD_LANE_ROOM = 4096,        /* bytes of a buffer that is kept */
    MECHD_LANE_COUNTED = 64 << 10, /* bytes from which on a buffer counts as a body */
    MECHD_LANE_LARGE = 32 << 10 /* bytes of JSON that are not read by the door's thread: 0.3 ms */
};

/*   phase    what                                       its end, at most (link.c)
 *   NEW      no whole message has come                  handshake_ms after its begin
 *   IDLE     none is begun, the last is answered        idle_seconds; after a hello: none
 *   PART     a message has begun to come                body_seconds + bytes / body_rate
 *   WORK     a request is queued or works elsewhere     none
 *   ANSWER   the peer has not taken its answer          body_seconds + bytes / body_rate
 *   GONE     closed, its request works
 *   DEAD     closed, to be freed at the end of the turn */
enum mechd_lane_phase {
    MECHD_LANE_NEW,
    MECHD_LANE_IDLE,
    MECHD_LANE_PART,
    MECHD_LANE_WORK,
    MECHD_LANE_ANSWER,
    MECHD_LANE_GONE,
    MECHD_LANE_DEAD
};

struct mechd_caller;
struct mechd_lane_caller;

/* Received bytes, or bytes to be sent. */
struct mechd_lane_buffer {
    unsigned char *bytes;  /* [room] */
    size_t room, from, to; /* [from, to) are there */
    size_t taken;          /* of the bodies in flight */
};

/* A complete message without its length, and the message after a hello or an error with a text. */
struct mechd_lane_message {
    const char *bytes, *extra; /* extra: NULL or the second */
    size_t size, extra_size;
    size_t all; /* bytes with lengths */
};

/* One connection. owner: its thread; while it is in WORK, `gone` and the data of the request are
 * shared with the thread that runs the request, and the connection's thread neither reads nor
 * writes. */
struct mechd_lane_link {
    struct mechd_lane_link *next, *before;
    struct mechd_lane_link *next_answered; /* locked by the thread's m */
    struct mechd_lane_thread *thread;
    int socket; /* -1: closed */
    unsigned interest;
    enum mechd_lane_phase phase;
    bool greeted;          /* a hello has succeeded */
    bool ends;             /* once its answer is sent */
    bool works;            /* its request is not over yet */
    size_t missing;        /* bytes that the next message lacks, at least */
    uint64_t seen;         /* messages, */
    uint64_t since, known; /* ns, and messages, of the last look that saw a change */
    enum mechd_lane_phase known_phase;
    struct mechd_lane_buffer in, out;
    struct mechd_lane_message message; /* of the request */
    struct mechd_stop gone;            /* GONE: the peer has closed its side */
    struct mechd_frame_request frame;  /* the request, if it is one */
    struct mechd_message *json;        /* or this; or NULL */
    size_t json_room;                  /* reserved of the bodies in flight */
    struct mechd_task task;            /* that reads a large request */
    struct mechd_lane_caller *caller;  /* locked by the thread's m: its programs are asked there */
};

struct mechd_lane_thread {
    struct mechd_lane_door *door;
    pthread_t thread;
    int epoll, wake;
    /* the thread's */
    struct mechd_lane_link *links; /* open ones, and those whose request works */
    struct mechd_lane_link *dead;  /* to be freed when the events of a turn are over */
    bool limited;                  /* some connection has a time limit: check periodically */
    uint64_t looked;               /* ns */
    _Atomic uint64_t turns;        /* partner: the watchdog */
    uint64_t turned;               /* the watchdog's */

    pthread_mutex_t m;                       /* locked by it: */
    struct mechd_lane_link *answered, *last; /* with completed replies */
    struct mechd_lane_link *arrived;         /* accepted by another thread */
    struct mechd_lane_caller *asking;        /* with questions to be sent */
};

struct mechd_lane_door {
    struct mechd_service *service;
    int listener;
    bool is_tcp;
    char endpoint[MECHD_ADDRESS + 16], path[MECHD_ADDRESS]; /* path: of a Unix socket, or "" */
    size_t largest;                                         /* bytes of a message */
    int most;                                               /* connections */
    _Atomic int open;                                       /* of them; partner: /metrics */
    /* the accepting thread's: */
    bool is_full; /* logged */
    bool rests;   /* accepts none until the next check */
    int count, running;
    unsigned turn; /* the accepting thread's: the thread that gets the next one */
    struct mechd_lane_thread threads[MECHD_LANE_THREADS];
    _Atomic bool stop; /* partner: the threads */
};

/* --- buffers (buffers.c) ---------------------------------------------------------------------- */

/* Reserve n more bytes, which count as bodies if they are many. False: limit reached or no memory.
 * */
bool mechd_lane_reserve(struct mechd_lane_link *link, struct mechd_lane_buffer *b, size_t n);
/* An empty one that is large is freed. */
void mechd_lane_settle(struct mechd_lane_link *link, struct mechd_lane_buffer *b);
void mechd_lane_drop(struct mechd_lane_link *link, struct mechd_lane_buffer *b);
static inline size_t mechd_lane_held(const struct mechd_lane_buffer *b)
{
    return b->to - b->from;
}
/* Its thread looks for news. Any thread. */
void mechd_lane_wake(struct mechd_lane_thread *t);
/* The reply of a queued request is complete: its thread continues with it. Any thread. */
void mechd_lane_post(struct mechd_lane_link *link);

/* --- connections (link.c), on the connection's thread ----------------------------------------- */

/* A connection that has been accepted begins. */
void mechd_lane_meet(struct mechd_lane_thread *t, struct mechd_lane_link *link);
/* Its events (epoll). */
void mechd_lane_serve(struct mechd_lane_link *link, unsigned events);
/* Its reply is complete: send it and continue with its next request. */
void mechd_lane_answered(struct mechd_lane_link *link);
/* End those that are too slow. */
void mechd_lane_look(struct mechd_lane_thread *t, uint64_t now);
/* Close it; it is freed when its request is over. */
void mechd_lane_close(struct mechd_lane_link *link);
/* Free those that have been closed. */
void mechd_lane_bury(struct mechd_lane_thread *t);
/* Send bytes that are not a reply, behind what waits to be taken. */
void mechd_lane_put(struct mechd_lane_link *link, const void *bytes, size_t size);

/* --- questions to programs (caller.c) --------------------------------------------------------- */

/* Where the program of a hello is asked; NULL: no memory. On the thread that reads the hello. */
struct mechd_caller *mechd_lane_caller_of(struct mechd_lane_link *link);
/* The connection has ended. On its thread. */
void mechd_lane_caller_end(struct mechd_lane_link *link);
/* Send what a list of them, taken from the thread, has to ask: by `put`, that of link.c. On that
 * thread. */
void mechd_lane_questions(struct mechd_lane_thread *t, struct mechd_lane_caller *first,
                          void (*put)(struct mechd_lane_link *link, const void *bytes,
                                      size_t size));

/* --- requests (request.c) --------------------------------------------------------------------- */

/* Run or queue link->message. True: the reply is complete. False: mechd_lane_post will be called.
 * */
bool mechd_lane_ask(struct mechd_lane_link *link);
/* Append the reply to link->out and end the request. False: no memory. */
bool mechd_lane_reply(struct mechd_lane_link *link);
/* Refuse an invalid message, in its order. */
bool mechd_lane_refuse(struct mechd_lane_link *link, enum mechp_code code, const char *text);
