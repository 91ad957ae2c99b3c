/* ZeroMQ of the daemon, through real sockets, against bare ZeroMQ sockets that carry the same bytes
 * (floor_zmq.c); the same client asks both in turns.
 *
 * Bar: a free run of a model with 1,000 outputs streams at 0.8 of the rate of bare sockets that
 * carry any numbers, from thread to thread or from the thread that makes them; a unit is a frame
 * received. Told without a bar: the same behind the same steps, made by the library, and a step
 * as a binary frame and as JSON against a message of that size sent back. Starting and stopping a
 * run is not counted.
 */
#include "protocol/frame/frame.h"
#include "tests/bench/bench.h"
#include "tests/bench/model.h"
#include "tests/bench/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { VALUES = 1000, FIRST = 200, WAIT_MS = 10000, QUIET_MS = 20 };

static const char topic[] = "state/wide/";

/* one side of a comparison; its clock stands still between the turns */
struct side {
    const struct served *server;
    void *socket;
    double ns;
    bool runs; /* frames come from a run of the daemon */
    struct mechp_frame frame;
    const char *request; /* JSON, or NULL: the frame */
    size_t size;         /* of a request that is sent back */
};

static double own_clock(const void *side)
{
    return ((const struct side *)side)->ns;
}

static void *open_socket(void *context, int type, const char *endpoint)
{
    const int wait = WAIT_MS, linger = 0;
    void *const socket = zmq_socket(context, type);
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait, sizeof wait);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    if (zmq_connect(socket, endpoint) != 0) {
        served_fail(endpoint, zmq_strerror(zmq_errno()));
    }
    return socket;
}

/* --- the stream ------------------------------------------------------------------------------- */

/* A frame with its topic. */
static void take_frame(void *socket)
{
    static char bytes[64 + 8 * VALUES];
    const int head = zmq_recv(socket, bytes, sizeof bytes, 0);
    const int size = head < 0 ? -1 : zmq_recv(socket, bytes, sizeof bytes, 0);
    if (size != (int)sizeof bytes) {
        served_fail("stream", size < 0 ? "no frame comes" : "a frame of another size");
    }
}

static void begin_stream(struct side *s)
{
    if (s->runs) {
        served_expect(s->server, "POST", "/v1/instances/wide/runs",
                      "{\"until\": 1e9, \"period\": 0.001}", 202);
    } else {
        zmq_setsockopt(s->socket, ZMQ_SUBSCRIBE, topic, sizeof topic - 1);
    }
}

/* The end, and all frames that are still on their way. */
static void end_stream(struct side *s)
{
    static int run;
    char path[64];
    if (s->runs) {
        (void)snprintf(path, sizeof path, "/v1/instances/wide/runs/r-%d", ++run);
        served_expect(s->server, "DELETE", path, NULL, 200);
    } else {
        zmq_setsockopt(s->socket, ZMQ_UNSUBSCRIBE, topic, sizeof topic - 1);
    }
    zmq_pollitem_t item = {.socket = s->socket, .events = ZMQ_POLLIN};
    while (zmq_poll(&item, 1, QUIET_MS) > 0) {
        take_frame(s->socket);
    }
}

static void receive(void *side, uint64_t count)
{
    struct side *const s = side;
    begin_stream(s);
    for (int k = 0; k < FIRST; k++) {
        take_frame(s->socket);
    }
    const double from = served_now_ns();
    for (uint64_t k = 0; k < count; k++) {
        take_frame(s->socket);
    }
    s->ns += served_now_ns() - from;
    end_stream(s);
}

/* 1,000 free coordinates, which are the output: the model of that many outputs that costs least. */
static const char *wide_model(void)
{
    static char model[8 * VALUES];
    char ones[2 * VALUES + 1] = "1";
    for (int k = 1; k < VALUES; k++) {
        memcpy(ones + 2 * k - 1, ",1", 3);
    }
    const int n = snprintf(
        model, sizeof model,
        "{\"mechd\": 1, \"nodes\": [{\"name\": \"n\", \"type\": "
        "\"NodeGenericODE2\", \"referenceCoordinates\": [%s]}], \"objects\": [{\"name\": \"o\", "
        "\"type\": \"GenericODE2\", \"nodes\": [\"n\"], \"massMatrix\": {\"diag\": [%s]}}], "
        "\"sensors\": [{\"name\": \"at\", \"type\": \"SensorNode\", \"node\": \"n\", "
        "\"outputVariable\": \"Coordinates\"}], \"outputs\": [{\"name\": \"q\", \"sensor\": "
        "\"at\"}], \"solver\": {\"integrator\": \"VelocityVerlet\", \"stepSize\": 0.001}}",
        ones, ones);
    if (n < 0 || (size_t)n >= sizeof model) {
        served_fail("model", "does not fit");
    }
    return model;
}

static void make_wide(const struct served *daemon)
{
    static char body[8 * VALUES + 64];
    (void)snprintf(body, sizeof body, "{\"model\": %s}", wide_model());
    served_expect(daemon, "PUT", "/v1/instances/wide", body, 201);
}

static void compare_streams(void *context, const struct served *daemon, const struct served *floor,
                            const char *what, double bar)
{
    struct side ours = {
        .server = daemon, .socket = open_socket(context, ZMQ_SUB, daemon->stream), .runs = true};
    struct side bare = {.server = floor, .socket = open_socket(context, ZMQ_SUB, floor->stream)};
    zmq_setsockopt(ours.socket, ZMQ_SUBSCRIBE, topic, sizeof topic - 1);
    bench_compare(what, receive, &ours, receive, &bare, bar);
    zmq_close(ours.socket);
    zmq_close(bare.socket);
}

/* --- requests --------------------------------------------------------------------------------- */

static void say_hello(struct side *s)
{
    static const char hello[] = "{\"instance\": \"two\", \"outputs\": [\"x1\", \"x2\"]}";
    const struct mechp_frame frame = {.kind = MECHP_HELLO};
    char bytes[4096];
    struct mechp_frame reply;
    mechp_frame_write(&frame, bytes);
    zmq_send(s->socket, bytes, MECHP_FRAME_HEADER, ZMQ_SNDMORE);
    zmq_send(s->socket, hello, sizeof hello - 1, 0);
    const int n = zmq_recv(s->socket, bytes, sizeof bytes, 0);
    if (n < 0 || mechp_frame_read(bytes, (size_t)n, &reply) != 0 || reply.kind != MECHP_HELLO) {
        served_fail("hello", "refused");
    }
    zmq_recv(s->socket, bytes, sizeof bytes, 0);
    s->frame = (struct mechp_frame){
        .kind = MECHP_STEP, .instance = reply.instance, .size = 0.001, .lease = reply.lease};
}

/* One request after the other. */
static void ask(void *side, uint64_t count)
{
    struct side *const s = side;
    char bytes[1024] = "";
    const double from = served_now_ns();
    for (uint64_t k = 0; k < count; k++) {
        size_t size = s->size;
        const void *what = s->request != NULL ? (const void *)s->request : bytes;
        if (s->size == 0) {
            s->frame.sequence++;
            mechp_frame_write(&s->frame, bytes);
            size = s->request != NULL ? strlen(s->request) : MECHP_FRAME_HEADER;
        }
        zmq_send(s->socket, what, size, 0);
        const int n = zmq_recv(s->socket, bytes, sizeof bytes, 0);
        struct mechp_frame reply;
        if (n < 0 ||
            (s->size == 0 && s->request == NULL &&
             (mechp_frame_read(bytes, (size_t)n, &reply) != 0 || reply.kind != MECHP_STEP))) {
            served_fail("step", "no answer, or an error");
        }
    }
    s->ns += served_now_ns() - from;
}

static void compare_requests(void *context, const struct served *daemon, const struct served *floor)
{
    struct side ours = {.server = daemon, .socket = open_socket(context, ZMQ_REQ, daemon->control)};
    struct side bare = {.server = floor, .socket = open_socket(context, ZMQ_REQ, floor->control)};
    served_expect(daemon, "PUT", "/v1/instances/two", bench_model, 201);
    bare.size = MECHP_FRAME_HEADER + 2 * sizeof(double);
    say_hello(&ours);
    bench_compare("step as a frame / a frame back", ask, &ours, ask, &bare, 0.);
    ours.request = "{\"op\": \"step\", \"id\": \"two\", \"count\": 1}";
    bare.size = 300;
    bench_compare("step as JSON / its text back", ask, &ours, ask, &bare, 0.);
    zmq_close(ours.socket);
    zmq_close(bare.socket);
}

int main(int argc, char **argv)
{
    bench_begin("service-zmq", argc, argv);
    bench_time_by(own_clock);
    static const char *const none[] = {NULL};
    const char *const with_model[] = {wide_model(), NULL};
    static const char *const alone[] = {"alone", NULL};
    struct served daemon, floor, single, stepping;
    void *const context = zmq_ctx_new();
    served_mechd(&daemon, NULL);
    served_floor(&floor, "floor-zmq", none);
    served_floor(&single, "floor-zmq", alone);
    served_floor(&stepping, "floor-zmq", with_model);
    make_wide(&daemon);
    compare_requests(context, &daemon, &floor);
    compare_streams(context, &daemon, &floor, "stream / bare sockets", 1. / 0.8);
    compare_streams(context, &daemon, &single, "stream / a bare socket, one thread", 1. / 0.8);
    compare_streams(context, &daemon, &stepping, "stream / bare sockets with the steps", 0.);
    zmq_ctx_term(context);
    served_stop(&stepping);
    served_stop(&single);
    served_stop(&floor);
    served_stop(&daemon);
    return bench_end();
}
