/* A partner's line to the server: a DEALER on ZeroMQ's control socket, or a connection of the lane,
 * whose messages (u32 length, little-endian, then bytes) need libc alone. Both carry the same
 * frames; the JSON part of a hello, and of a reply of kind hello or error, goes with its frame. */
#pragma once

#include "clients/c/handle.h"
#include "protocol/frame/frame.h"

#include <zmq.h>

/* owner: the partner's thread. */
struct mechc_line {
    struct mechc *c;
    enum mechc_socket door; /* MECHC_CONTROL or MECHC_LANE */
    double patience;        /* s that ZeroMQ's socket waits */
    void *control;
    void *events; /* of its connection, zmq_socket_monitor(3); NULL: not watched */
    int lane;     /* descriptor, negative: none */
    bool returns; /* mechc_interrupt ends its waits on a lane, with MECHC_INTERRUPTED */
    struct mechc_bytes in, out;
    size_t from; /* of `in`: read and over */

    /* the message received last, valid until the next call */
    const char *frame, *extra;
    size_t size, extra_size; /* extra_size 0: there is none */
    zmq_msg_t parts[2];      /* where it is, over ZeroMQ */
};

/* Connect; the line is zeroed. To be closed in any case. */
int mechc_line_open(struct mechc *c, enum mechc_socket door, struct mechc_line *l);
/* The same for one that waits for questions: mechc_line_await sees the end of its connection. It is
 * there by the monotonic time `end`, or the result is MECHC_TIMEOUT. */
int mechc_line_open_watched(struct mechc *c, enum mechc_socket door, double end,
                            struct mechc_line *l);
/* False: not connected, or not any more; then each of the following is MECHC_UNREACHABLE. */
bool mechc_line_is_open(const struct mechc_line *l);
/* Send a frame and the text that belongs to it (NULL: none). */
int mechc_line_send(struct mechc_line *l, const void *frame, size_t size, const char *extra);
/* Wait for a message, at most the handle's timeout. */
int mechc_line_receive(struct mechc_line *l);
/* MECHC_OK: there is something to receive; MECHC_TIMEOUT: not within so many seconds, or a signal
 * came; MECHC_UNREACHABLE: the connection has ended. */
int mechc_line_await(struct mechc_line *l, double seconds);
/* A frame with its values [f->count] into `out`, which is cleared first. */
int mechc_compose(struct mechc *c, struct mechc_bytes *out, const struct mechp_frame *f,
                  const double *values);
/* The frame received last is of kind error: it becomes the handle's error. */
int mechc_line_refused(struct mechc_line *l, int32_t status);
/* `here`: this process has opened it. */
void mechc_line_close(struct mechc_line *l, bool here);

/* lane.c: the same for a lane, on l->lane, until the monotonic time `end`. */
int mechc_lane_open(struct mechc_line *l, const char *endpoint, double end);
int mechc_lane_send(struct mechc_line *l, double end);
int mechc_lane_receive(struct mechc_line *l, double end);

double mechc_now(void);
