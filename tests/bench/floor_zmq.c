/* What ZeroMQ costs without a daemon around it: a ROUTER that sends every body back, and an XPUB
 * that sends frames of 1,000 numbers behind a topic, as fast as it can, while it has subscribers.
 * Frames are made by one thread and sent by another, which takes them from an inproc socket, or,
 * "alone", made and sent by the thread that serves. "echo" has the ROUTER alone, and a thread that
 * waits in its receive: the least that a request can cost. Bounds, linger and keep-alive are those
 * of server/zmq/zmq.c. With a model the thread that makes frames steps it by the library and sends
 * its outputs; without, the numbers are anything.
 *
 *     floor-zmq READY-FILE SOCKET [alone | echo | MODEL]
 *
 * SOCKET is not used; MODEL is JSON. Serves free ports of 127.0.0.1 until SIGTERM.
 */
#include "tests/bench/floor_life.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { HEAD = 64, VALUES = 1000, MARK = 1000, TURNS = 64 };

static const char topic[] = "state/wide/";

struct floor {
    void *context, *control, *stream, *frames;
    struct mech_sim *sim; /* the producer's, or NULL */
    _Atomic bool wanted;  /* it has subscribers; partner: the producer */
    bool alone;           /* no producer */
    uint64_t made;        /* without one */
};

/* The values of the next frame. */
static void next_values(struct mech_sim *sim, uint64_t k, double *values)
{
    const struct mech_step_request one = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;
    if (sim == NULL) {
        values[k % VALUES] = (double)k;
    } else if (mech_sim_step(sim, &one, &report) == 0) {
        mech_sim_get_outputs(sim, values);
    } else {
        exit(2);
    }
}

static void *open_socket(void *context, int type, const char *endpoint, bool binds)
{
    const int64_t most = 65 << 20;
    const int linger = 0, mark = MARK, on = 1;
    void *const socket = zmq_socket(context, type);
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(socket, ZMQ_SNDHWM, &mark, sizeof mark);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &mark, sizeof mark);
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE, &on, sizeof on);
    if ((binds ? zmq_bind(socket, endpoint) : zmq_connect(socket, endpoint)) != 0) {
        (void)fprintf(stderr, "floor-zmq: %s: %s\n", endpoint, zmq_strerror(zmq_errno()));
        exit(2);
    }
    return socket;
}

/* Frame k: a head, and values that differ from frame to frame. */
static void make_frame(struct floor *f, uint64_t k, zmq_msg_t *message)
{
    static double values[VALUES];
    static char head[HEAD] = "MCHD";
    if (zmq_msg_init_size(message, sizeof head + sizeof values) != 0) {
        exit(2);
    }
    next_values(f->sim, k, values);
    memcpy(head + 24, &k, sizeof k);
    memcpy(zmq_msg_data(message), head, sizeof head);
    memcpy((char *)zmq_msg_data(message) + sizeof head, values, sizeof values);
}

/* Make frames while they are wanted. */
static void *produce(void *context)
{
    struct floor *const f = context;
    void *const out = open_socket(f->context, ZMQ_PUSH, "inproc://frames", false);
    const struct timespec nap = {.tv_nsec = 100000};
    for (uint64_t k = 0;; k++) {
        while (!atomic_load(&f->wanted)) {
            (void)nanosleep(&nap, NULL);
        }
        zmq_msg_t message;
        make_frame(f, k, &message);
        if (zmq_msg_send(&message, out, 0) < 0) {
            exit(2);
        }
    }
    return NULL;
}

/* Make frames and send each behind its topic. */
static void send_own(struct floor *f)
{
    for (int turn = 0; turn < TURNS; turn++) {
        zmq_msg_t message;
        make_frame(f, f->made++, &message);
        if (zmq_send(f->stream, topic, sizeof topic - 1, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
            zmq_msg_send(&message, f->stream, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&message);
        }
    }
}

/* A frame from the producer goes out behind its topic. */
static void forward(struct floor *f)
{
    for (int turn = 0; turn < TURNS; turn++) {
        zmq_msg_t message;
        zmq_msg_init(&message);
        if (zmq_msg_recv(&message, f->frames, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&message);
            return;
        }
        if (zmq_send(f->stream, topic, sizeof topic - 1, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
            zmq_msg_send(&message, f->stream, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&message);
        }
    }
}

static void take_subscription(struct floor *f)
{
    char bytes[256];
    const int n = zmq_recv(f->stream, bytes, sizeof bytes, ZMQ_DONTWAIT);
    if (n > 0) {
        atomic_store(&f->wanted, bytes[0] == 1);
    }
}

/* Send a request back to its sender. */
static void echo(struct floor *f, int flags)
{
    for (int more = 1; more != 0;) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, f->control, flags) < 0) {
            zmq_msg_close(&frame);
            return;
        }
        more = zmq_msg_more(&frame);
        if (zmq_msg_send(&frame, f->control, more ? ZMQ_SNDMORE : 0) < 0) {
            zmq_msg_close(&frame);
        }
    }
}

static void *serve(void *context)
{
    struct floor *const f = context;
    for (;;) {
        zmq_pollitem_t items[] = {{.socket = f->control, .events = ZMQ_POLLIN},
                                  {.socket = f->stream, .events = ZMQ_POLLIN},
                                  {.socket = f->frames, .events = ZMQ_POLLIN}};
        const bool makes = f->alone && atomic_load(&f->wanted);
        (void)zmq_poll(items, 3, makes ? 0 : 1000);
        if ((items[0].revents & ZMQ_POLLIN) != 0) {
            echo(f, ZMQ_DONTWAIT);
        }
        if ((items[1].revents & ZMQ_POLLIN) != 0) {
            take_subscription(f);
        }
        if ((items[2].revents & ZMQ_POLLIN) != 0) {
            forward(f);
        }
        if (makes) {
            send_own(f);
        }
    }
    return NULL;
}

static void *serve_control(void *context)
{
    for (;;) {
        echo(context, 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        (void)fprintf(stderr, "usage: floor-zmq READY-FILE SOCKET [alone | echo | MODEL]\n");
        return 2;
    }
    floor_begin();
    const bool alone = argc == 4 && strcmp(argv[3], "alone") == 0;
    const bool echoes = argc == 4 && strcmp(argv[3], "echo") == 0;
    struct floor f = {.context = zmq_ctx_new(),
                      .sim = argc == 4 && !alone && !echoes ? floor_sim(argv[3], VALUES, VALUES)
                                                            : NULL,
                      .alone = alone};
    f.control = open_socket(f.context, ZMQ_ROUTER, "tcp://127.0.0.1:*", true);
    f.stream = open_socket(f.context, ZMQ_XPUB, "tcp://127.0.0.1:*", true);
    f.frames = open_socket(f.context, ZMQ_PULL, "inproc://frames", true);
    char control[256], stream[256], where[600];
    size_t control_size = sizeof control, stream_size = sizeof stream;
    zmq_getsockopt(f.control, ZMQ_LAST_ENDPOINT, control, &control_size);
    zmq_getsockopt(f.stream, ZMQ_LAST_ENDPOINT, stream, &stream_size);
    pthread_t producer, server;
    if ((!alone && !echoes && pthread_create(&producer, NULL, produce, &f) != 0) ||
        pthread_create(&server, NULL, echoes ? serve_control : serve, &f) != 0) {
        return 2;
    }

    (void)snprintf(where, sizeof where, "{\"control\": \"%s\", \"stream\": \"%s\"}", control,
                   stream);
    return floor_live_on(argv[1], where);
}
