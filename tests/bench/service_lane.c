/* The lane of the daemon over a Unix socket: a step as a frame beside a message of the answer's
 * size that a bare socket sends back (floor_socket.c), by the clock and by the CPU time of the
 * servers; the same with the jacobian of an interface of two inputs and two outputs beside the one
 * without; and what a window of a coupling of two instances with two coordinates each takes, which
 * is promised.
 */
#include "protocol/frame/frame.h"
#include "tests/bench/bench.h"
#include "tests/bench/served.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ROOM = 4096, WINDOWS = 200000 };

/* Two masses between springs, a force and a position each. */
static const char model[] =
    "{\"model\":{\"mechd\":1,\"nodes\":[{\"name\":\"n\",\"type\":\"NodePoint2D\","
    "\"referenceCoordinates\":[0,0],\"initialVelocities\":[1,0]}],\"objects\":[{\"name\":\"m\","
    "\"type\":\"MassPoint2D\",\"node\":\"n\",\"physicsMass\":1},{\"name\":\"s\",\"type\":"
    "\"CoordinateSpringDamper\",\"markers\":[\"g\",\"x\"],\"stiffness\":110}],\"markers\":[{"
    "\"name\":\"g\",\"type\":\"MarkerGroundCoordinate\"},{\"name\":\"x\",\"type\":"
    "\"MarkerNodeCoordinate\",\"node\":\"n\",\"coordinate\":0},{\"name\":\"y\",\"type\":"
    "\"MarkerNodeCoordinate\",\"node\":\"n\",\"coordinate\":1}],\"loads\":[{\"name\":\"F\","
    "\"type\":\"LoadCoordinate\",\"marker\":\"x\",\"load\":0},{\"name\":\"G\",\"type\":"
    "\"LoadCoordinate\",\"marker\":\"y\",\"load\":0}],\"sensors\":[{\"name\":\"p\",\"type\":"
    "\"SensorNode\",\"node\":\"n\",\"outputVariable\":\"Coordinates\"}],\"inputs\":[{\"name\":"
    "\"F\",\"load\":\"F\"},{\"name\":\"G\",\"load\":\"G\"}],\"outputs\":[{\"name\":\"x\","
    "\"sensor\":\"p\",\"component\":0},{\"name\":\"y\",\"sensor\":\"p\",\"component\":1}],"
    "\"solver\":{\"integrator\":\"GeneralizedAlpha\",\"stepSize\":0.001}}}";

/* One side of a comparison. */
struct side {
    const struct served *server;
    int fd;
    struct mechp_frame frame;
    size_t size; /* of a message that is sent back; 0: a step as a frame */
    size_t have; /* bytes that have been read */
    unsigned char bytes[ROOM];
};

static double wall(const void *side)
{
    (void)side;
    return served_now_ns();
}

static double processor(const void *side)
{
    return served_cpu_ns(((const struct side *)side)->server);
}

/* --- messages --------------------------------------------------------------------------------- */

/* Behind its length, in one write. */
static void put(int fd, const void *bytes, size_t size)
{
    unsigned char message[ROOM];
    const uint32_t length = (uint32_t)size;
    memcpy(message, &length, sizeof length);
    memcpy(message + sizeof length, bytes, size);
    if (write(fd, message, sizeof length + size) != (ssize_t)(sizeof length + size)) {
        served_fail("lane", "cannot be written");
    }
}

/* The next message; its size. What has come behind it waits in s->bytes. */
static size_t take(struct side *s, unsigned char message[ROOM])
{
    uint32_t length = 0;
    const size_t head = sizeof length;
    for (;;) {
        memcpy(&length, s->bytes, head);
        if (s->have >= head && s->have >= head + length) {
            break;
        }
        const ssize_t got = read(s->fd, s->bytes + s->have, sizeof s->bytes - s->have);
        if (got <= 0) {
            served_fail("lane", "the connection has ended");
        }
        s->have += (size_t)got;
    }
    memcpy(message, s->bytes + head, length);
    s->have -= head + length;
    memmove(s->bytes, s->bytes + head + length, s->have);
    return length;
}

static int connect_to(const char *path)
{
    struct sockaddr_un where = {.sun_family = AF_UNIX};
    (void)snprintf(where.sun_path, sizeof where.sun_path, "%s", path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&where, sizeof where) != 0) {
        served_fail(path, "cannot connect");
    }
    return fd;
}

/* A partner of the instance: both inputs and both outputs, and `want` of JSON behind them. */
static void say_hello(struct side *s, const char *path, const char *instance, const char *want)
{
    char hello[256];
    unsigned char bytes[ROOM];
    const struct mechp_frame frame = {.kind = MECHP_HELLO};
    struct mechp_frame reply;
    s->fd = connect_to(path);
    (void)snprintf(hello, sizeof hello,
                   "{\"instance\":\"%s\",\"inputs\":[\"F\",\"G\"],\"outputs\":[\"x\",\"y\"]%s}",
                   instance, want);
    mechp_frame_write(&frame, bytes);
    put(s->fd, bytes, MECHP_FRAME_HEADER);
    put(s->fd, hello, strlen(hello));
    const size_t size = take(s, bytes);
    if (mechp_frame_read(bytes, size, &reply) != 0 || reply.kind != MECHP_HELLO) {
        served_fail("hello", "refused");
    }
    (void)take(s, bytes);
    s->frame = (struct mechp_frame){.kind = MECHP_STEP,
                                    .instance = reply.instance,
                                    .count = 2,
                                    .size = 0.001,
                                    .lease = reply.lease};
}

/* One request after the other. */
static void ask(void *side, uint64_t count)
{
    static const double forces[2] = {1., -1.};
    struct side *const s = side;
    unsigned char bytes[ROOM] = {0};
    for (uint64_t k = 0; k < count; k++) {
        size_t size = s->size;
        if (size == 0) {
            s->frame.sequence++;
            mechp_frame_write(&s->frame, bytes);
            mechp_frame_put_values(bytes + MECHP_FRAME_HEADER, forces, 2);
            size = MECHP_FRAME_HEADER + sizeof forces;
        }
        put(s->fd, bytes, size);
        const size_t got = take(s, bytes);
        struct mechp_frame reply;
        if (s->size == 0 &&
            (mechp_frame_read(bytes, got, &reply) != 0 || reply.kind != MECHP_STEP)) {
            served_fail("step", "an error");
        }
    }
}

/* --- couplings -------------------------------------------------------------------------------- */

/* Windows of one internal step, in one request; each takes `most` us at most. */
static void require_windows(const struct served *daemon, const char *what, const char *scheme,
                            double most)
{
    static int made;
    char path[64], body[512];
    struct served_reply reply;
    for (int k = 0; k < 2; k++) {
        (void)snprintf(path, sizeof path, "/v1/instances/%c%d", 'a' + k, made);
        served_expect(daemon, "PUT", path, model, 201);
    }
    (void)snprintf(body, sizeof body,
                   "{\"stepSize\":0.001,\"scheme\":%s,\"participants\":[{\"name\":\"a\","
                   "\"instance\":\"a%d\"},{\"name\":\"b\",\"instance\":\"b%d\"}],\"connections\":["
                   "{\"from\":\"a.x\",\"to\":\"b.F\",\"factor\":100},"
                   "{\"from\":\"b.x\",\"to\":\"a.F\",\"factor\":100}]}",
                   scheme, made, made);
    served_couple(daemon, body, path);
    made++;
    (void)snprintf(body, sizeof body, "{\"count\":%d}", WINDOWS);
    served_call(daemon, "POST", path, body, &reply);
    if (reply.status != 200) {
        served_fail(what, reply.body);
    }
    bench_require(what, 1e-3 * bench_plant() * reply.ns / WINDOWS, most);
    free(reply.body);
}

int main(int argc, char **argv)
{
    static const char *const none[] = {NULL};
    char lane[64], argument[80];
    struct served daemon, floor;
    bench_begin("service-lane", argc, argv);
    (void)snprintf(lane, sizeof lane, "/tmp/mechd-bench-lane-%d", (int)getpid());
    (void)snprintf(argument, sizeof argument, "unix:%s", lane);
    served_mechd(&daemon, (const char *const[]){"--lane", argument, NULL});
    served_floor(&floor, "floor-socket", none);
    served_expect(&daemon, "PUT", "/v1/instances/plain", model, 201);
    served_expect(&daemon, "PUT", "/v1/instances/sloped", model, 201);
    struct side ours = {.server = &daemon}, sloped = {.server = &daemon};
    struct side bare = {.server = &floor,
                        .fd = connect_to(floor.path),
                        .size = MECHP_FRAME_HEADER + 2 * sizeof(double)};
    say_hello(&ours, lane, "plain", "");
    say_hello(&sloped, lane, "sloped", ",\"want\":[\"jacobian\"]");

    bench_time_by(wall);
    bench_compare("step as a frame / a frame back", ask, &ours, ask, &bare);
    bench_compare("with its jacobian / without", ask, &sloped, ask, &ours);
    bench_time_by(processor);
    bench_compare("step as a frame / a frame back, CPU", ask, &ours, ask, &bare);
    // 200,000 and 60,000 a second
    require_windows(&daemon, "a window of Gauss-Seidel in the daemon, us",
                    "{\"type\":\"GaussSeidel\"}", 5.);
    require_windows(&daemon, "a window of IQN-ILS in the daemon, us",
                    "{\"type\":\"IQN-ILS\",\"reuse\":2}", 16.7);
    close(bare.fd);
    close(sloped.fd);
    close(ours.fd);
    served_stop(&floor);
    served_stop(&daemon);
    (void)unlink(lane);
    return bench_end();
}
