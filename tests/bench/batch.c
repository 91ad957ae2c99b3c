/* Batches of the daemon, through a real socket: one request over 1,000 instances of two
 * coordinates, against a bare libmicrohttpd that takes and sends the same bytes (floor_http.c: a
 * hello). A unit is a request on a connection of its own, by the wall and by the CPU time of the
 * servers.
 */
#include "tests/bench/bench.h"
#include "tests/bench/model.h"
#include "tests/bench/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INSTANCES = 1000, BODY = 1 << 16 };

struct side {
    const struct served *server;
    const char *body;
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

static void ask(void *side, uint64_t count)
{
    const struct side *const s = side;
    for (uint64_t k = 0; k < count; k++) {
        served_expect(s->server, "POST", "/v1/batch", s->body, 200);
    }
}

static void form_batch(char *body, int steps, const char *results)
{
    size_t at = (size_t)snprintf(body, BODY,
                                 "{\"operation\":\"step\",\"body\":{\"count\":%d},\"results\":"
                                 "\"%s\",\"instances\":[",
                                 steps, results);
    for (int i = 1; i <= INSTANCES; i++) {
        at += (size_t)snprintf(body + at, BODY - at, i > 1 ? ",\"i-%d\"" : "\"i-%d\"", i);
    }
    (void)snprintf(body + at, BODY - at, "]}");
}

static void compare(const struct served *daemon, int steps, const char *results)
{
    char body[BODY], what[64], path[] = "/tmp/mechd-bench-reply-XXXXXX", argument[64];
    struct served_reply reply;
    struct served floor;
    form_batch(body, steps, results);
    served_call(daemon, "POST", "/v1/batch", body, &reply);
    const int fd = mkstemp(path);
    if (reply.status != 200 || fd < 0 || write(fd, reply.body, reply.size) != (ssize_t)reply.size) {
        served_fail("batch", reply.body);
    }
    (void)close(fd);
    (void)snprintf(argument, sizeof argument, "@%s", path);
    const char *const hello[] = {"2", "text", argument, NULL};
    served_floor(&floor, "floor-http", hello);
    (void)unlink(path);
    struct side ours = {daemon, body}, bare = {&floor, body};
    bench_time_by(wall);
    (void)snprintf(what, sizeof what, "1000 x %d, %s / hello", steps, results);
    bench_compare(bench_text(what), ask, &ours, ask, &bare);
    bench_time_by(processor);
    (void)snprintf(what, sizeof what, "1000 x %d, %s / hello, CPU", steps, results);
    bench_compare(bench_text(what), ask, &ours, ask, &bare);
    served_stop(&floor);
    free(reply.body);
}

int main(int argc, char **argv)
{
    struct served daemon;
    bench_begin("batch", argc, argv);
    served_mechd(&daemon, NULL);
    for (int k = 0; k < INSTANCES; k++) {
        served_expect(&daemon, "POST", "/v1/instances", bench_model, 201);
    }
    compare(&daemon, 100, "full");
    compare(&daemon, 100, "table");
    compare(&daemon, 1, "full");
    compare(&daemon, 1, "table");
    served_stop(&daemon);
    return bench_end();
}
