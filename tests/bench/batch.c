/* Batches of the daemon, through real sockets: requests over 1,000 instances of two coordinates
 * each, against a bare libmicrohttpd (floor_http.c) that takes and sends the same bytes and steps
 * as many simulations by the library: instances of a batch are not in the caches, so that the
 * memory takes most of the time, and what it takes differs from minute to minute. A unit is a
 * request of each of two connections, with instances of its own; the server stays on one processor.
 * By the wall and by the CPU time of the servers.
 */
#include "tests/bench/bench.h"
#include "tests/bench/load.h"
#include "tests/bench/model.h"
#include "tests/bench/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    load_run(&((struct side *)side)->load, CONNECTIONS * count);
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

/* The model in a body that makes an instance of it: {"model": …}. */
static const char *find_model(char *copy, size_t size)
{
    (void)snprintf(copy, size, "%s", strchr(bench_model + 1, '{'));
    copy[strlen(copy) - 1] = '\0';
    return copy;
}

/* A floor that makes so many steps of each simulation and answers with these bytes. */
static void start_floor(struct served *floor, int steps, const struct served_reply *reply)
{
    char model[sizeof bench_model], groups[16], count[16], each[16];
    char path[] = "/tmp/mechd-bench-reply-XXXXXX", argument[64];
    const int fd = mkstemp(path);
    if (fd < 0 || write(fd, reply->body, reply->size) != (ssize_t)reply->size) {
        served_fail(path, "cannot be written");
    }
    (void)close(fd);
    (void)snprintf(argument, sizeof argument, "@%s", path);
    (void)snprintf(groups, sizeof groups, "%d", CONNECTIONS);
    (void)snprintf(count, sizeof count, "%d", INSTANCES);
    (void)snprintf(each, sizeof each, "%d", steps);
    const char *const arguments[] = {"1",    "text", argument, find_model(model, sizeof model),
                                     groups, count,  each,     NULL};
    served_floor(floor, "floor-http", arguments);
    (void)unlink(path);
}

static void compare(const struct served *daemon, int steps, const char *results)
{
    // a single step of each instance is little beside fetching it: for information
    void (*const pair)(const char *, bench_work *, void *, bench_work *, void *) =
        steps > 1 ? bench_compare : bench_beside;
    static struct side ours, bare;
    char body[BODY], what[64];
    struct served_reply reply;
    struct served floor;
    form_batch(body, 0, steps, results);
    served_call(daemon, "POST", "/v1/batch", body, &reply);
    if (reply.status != 200) {
        served_fail("batch", reply.body);
    }
    start_floor(&floor, steps, &reply);
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
    (void)snprintf(what, sizeof what, "1000 x %d, %s / the steps", steps, results);
    pair(bench_text(what), ask, &ours, ask, &bare);
    bench_time_by(processor);
    (void)snprintf(what, sizeof what, "1000 x %d, %s / the steps, CPU", steps, results);
    pair(bench_text(what), ask, &ours, ask, &bare);
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
