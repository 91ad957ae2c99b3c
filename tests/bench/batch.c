/* Batches of the daemon, through real sockets: requests over 1,000 instances of two coordinates
 * each, against a bare libmicrohttpd that takes and sends the same bytes (floor_http.c: a hello).
 * A unit is a request; two connections, each with instances of its own, keep the server busy,
 * which stays on one processor. By the wall and by the CPU time of the servers.
 */
#include "tests/bench/bench.h"
#include "tests/bench/load.h"
#include "tests/bench/model.h"
#include "tests/bench/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONNECTIONS = 2, INSTANCES = 1000, BODY = 1 << 16 };

struct side {
    const struct served *server;
    struct load load;
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
    load_run(&((struct side *)side)->load, count);
}

/* What connection k asks for. */
static void form_batch(char *body, int k, int steps, const char *results)
{
    size_t at = (size_t)snprintf(body, BODY,
                                 "{\"operation\":\"step\",\"body\":{\"count\":%d},\"results\":"
                                 "\"%s\",\"instances\":[",
                                 steps, results);
    for (int i = 1; i <= INSTANCES; i++) {
        at += (size_t)snprintf(body + at, BODY - at, i > 1 ? ",\"i-%d\"" : "\"i-%d\"",
                               k * INSTANCES + i);
    }
    (void)snprintf(body + at, BODY - at, "]}");
}

/* A floor that answers with these bytes. */
static void start_floor(struct served *floor, const struct served_reply *reply)
{
    char path[] = "/tmp/mechd-bench-reply-XXXXXX", argument[64];
    const int fd = mkstemp(path);
    if (fd < 0 || write(fd, reply->body, reply->size) != (ssize_t)reply->size) {
        served_fail(path, "cannot be written");
    }
    (void)close(fd);
    (void)snprintf(argument, sizeof argument, "@%s", path);
    const char *const hello[] = {"2", "text", argument, NULL};
    served_floor(floor, "floor-http", hello);
    (void)unlink(path);
}

static void compare(const struct served *daemon, int steps, const char *results)
{
    static struct side ours, bare;
    char body[BODY], what[64];
    struct served_reply reply;
    struct served floor;
    form_batch(body, 0, steps, results);
    served_call(daemon, "POST", "/v1/batch", body, &reply);
    if (reply.status != 200) {
        served_fail("batch", reply.body);
    }
    start_floor(&floor, &reply);
    free(reply.body);
    ours.server = daemon;
    bare.server = &floor;
    load_open(&ours.load, daemon, false, CONNECTIONS);
    load_open(&bare.load, &floor, false, CONNECTIONS);
    for (int k = 0; k < CONNECTIONS; k++) {
        form_batch(body, k, steps, results);
        load_request(&ours.load, k, "POST", "/v1/batch", body);
        load_request(&bare.load, k, "POST", "/v1/batch", body);
    }
    bench_time_by(wall);
    (void)snprintf(what, sizeof what, "1000 x %d, %s / hello", steps, results);
    bench_compare(bench_text(what), ask, &ours, ask, &bare);
    bench_time_by(processor);
    (void)snprintf(what, sizeof what, "1000 x %d, %s / hello, CPU", steps, results);
    bench_compare(bench_text(what), ask, &ours, ask, &bare);
    load_close(&ours.load);
    load_close(&bare.load);
    served_stop(&floor);
}

int main(int argc, char **argv)
{
    struct served daemon;
    served_apart();
    bench_begin("batch", argc, argv);
    served_mechd(&daemon, NULL);
    for (int k = 0; k < CONNECTIONS * INSTANCES; k++) {
        served_expect(&daemon, "POST", "/v1/instances", bench_model, 201);
    }
    compare(&daemon, 100, "full");
    compare(&daemon, 100, "table");
    compare(&daemon, 1, "full");
    compare(&daemon, 1, "table");
    served_stop(&daemon);
    return bench_end();
}
