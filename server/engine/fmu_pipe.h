/* Messages between the daemon and the process that hosts an FMU, over a stream of a socket pair.
 *
 * A message is a head and its bytes, in the byte order of the machine, which both ends share. Both
 * read it as if the other end were hostile: the hosted library can write to the socket any
 * bytes. A head of another kind or size, a value that is not there, a text without its end, bytes
 * left over: each makes the message broken, which ends the process and not the daemon.
 *
 *     mechd_pipe_begin(&m, VERB);                        mechd_pipe_receive(&pipe, &m, &wait)
 *     mechd_pipe_put_f64(&m, &time, 1);                  mechd_pipe_get_f64(&m, &time, 1);
 *     mechd_pipe_send(&pipe, &m, &wait)                  if (!mechd_pipe_whole(&m)) { … broken … }
 *
 * owner: one thread an end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mechd_pipe_outcome {
    MECHD_PIPE_CLOSED = 1, /* the other end is gone */
    MECHD_PIPE_LATE,       /* nothing came, or nothing could be sent, within the time */
    MECHD_PIPE_STOPPED,    /* `wanted` said so */
    MECHD_PIPE_BROKEN      /* what came is no message */
};

enum { MECHD_PIPE_MOST = 64 << 20 /* bytes of a message */ };

struct mechd_pipe_message {
    uint32_t verb;
    unsigned char *bytes; /* [size], room for `room`; malloc'ed */
    size_t size, room;
    size_t at;   /* bytes that have been taken */
    bool failed; /* putting had no memory or too much to put; taking did not find what it should */
};

struct mechd_pipe_wait {
    uint64_t ms;                   /* the most that a message may take; 0: no limit */
    bool (*wanted)(void *context); /* asked every few milliseconds whether to stop; or NULL */
    void *context;
};

/* An empty message; memory of an earlier one is used again. A zeroed struct is one. */
void mechd_pipe_begin(struct mechd_pipe_message *m, uint32_t verb);
void mechd_pipe_fini(struct mechd_pipe_message *m);

/* Values in order. Failing, they mark the message, which is then not sent. */
void mechd_pipe_put(struct mechd_pipe_message *m, const void *bytes, size_t size);
void mechd_pipe_put_u32(struct mechd_pipe_message *m, uint32_t value);
void mechd_pipe_put_f64(struct mechd_pipe_message *m, const double *values, size_t count);
void mechd_pipe_put_text(struct mechd_pipe_message *m, const char *text);

/* The next values. Those that are not there are zeros, and mark the message. */
void mechd_pipe_get(struct mechd_pipe_message *m, void *bytes, size_t size);
uint32_t mechd_pipe_get_u32(struct mechd_pipe_message *m);
void mechd_pipe_get_f64(struct mechd_pipe_message *m, double *values, size_t count);
/* Within the message; "" where there is none. */
const char *mechd_pipe_get_text(struct mechd_pipe_message *m);
/* The next `size` bytes within the message, or NULL. */
const unsigned char *mechd_pipe_get_bytes(struct mechd_pipe_message *m, size_t size);
/* Everything was there, and nothing is left. */
bool mechd_pipe_whole(const struct mechd_pipe_message *m);

/* Over a stream socket, blocking or not. 0, MECH_NO_MEMORY or an outcome; after one that is not 0
 * the stream is of no use. SIGPIPE is ignored by the process. */
int mechd_pipe_send(int socket, const struct mechd_pipe_message *m,
                    const struct mechd_pipe_wait *wait);
int mechd_pipe_receive(int socket, struct mechd_pipe_message *m,
                       const struct mechd_pipe_wait *wait);
