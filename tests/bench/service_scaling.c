/* How requests take more time with more connections and instances: a step over 1 to 512 connections
 * with an instance each, beside a bare libmicrohttpd and, where it is installed, nginx, which take
 * and send the same bodies; ten steps of each of 1 to 10,000 instances in one request. The tables,
 * plots and slopes of book.py; no row has a bar. A row "family: N" is a point of a plot. A unit is
 * a request on each connection; its "coordinates" are these requests. By the wall; the servers are
 * kept to one processor, the client to the other.
 */
#include "tests/bench/bench.h"
#include "tests/bench/load.h"
#include "tests/bench/model.h"
#include "tests/bench/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64, PATH = 64, BODY = 256, MANY = 10000 };

static double wall(const void *load)
{
    (void)load;
    return served_now_ns();
}

/* a request on each connection */
static void ask(void *load, uint64_t count)
{
    load_run(load, count * (uint64_t)((const struct load *)load)->count);
}

static struct load *open_load(const struct served *s, int count)
{
    struct load *const l = calloc(1, sizeof *l);
    if (l == NULL) {
        served_fail("load", "no memory");
    }
    load_open(l, s, false, count);
    for (int k = 0; k < count; k++) {
        char path[PATH];
        (void)snprintf(path, sizeof path, "/v1/instances/two-%d/step", k);
        load_request(l, k, "POST", path, "{\"count\": 1}");
    }
    return l;
}

static void compare(const char *family, const struct served *daemon, const struct served *floor,
                    int count)
{
    char name[NAME];
    (void)snprintf(name, sizeof name, "%s: %d", family, count);
    if (!bench_wants(name)) {
        return;
    }
    struct load *const ours = open_load(daemon, count), *const bare = open_load(floor, count);
    bench_coordinates(count);
    bench_beside(bench_text(name), ask, ours, ask, bare);
    bench_coordinates(0);
    load_close(ours);
    load_close(bare);
    free(ours);
    free(bare);
}

static void measure_connections(const struct served *daemon)
{
    static const int counts[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    struct served floor, nginx;
    struct served_reply reply;
    if (!bench_wants("connections: 1") && !bench_wants("connections beside nginx: 1")) {
        return;
    }
    for (int k = 0; k < LOAD_MOST; k++) {
        char path[PATH];
        (void)snprintf(path, sizeof path, "/v1/instances/two-%d", k);
        served_expect(daemon, "PUT", path, bench_model, 201);
    }
    served_call(daemon, "POST", "/v1/instances/two-0/step", "{\"count\": 100}", &reply);
    const char *const arguments[] = {"2", "text", reply.body, NULL};
    served_floor(&floor, "floor-http", arguments);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        compare("connections", daemon, &floor, counts[k]);
    }
    served_stop(&floor);
    if (served_nginx(&nginx, reply.body)) {
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            compare("connections beside nginx", daemon, &nginx, counts[k]);
        }
        served_stop(&nginx);
    } else {
        bench_skip("connections beside nginx", "nginx is not installed");
    }
    free(reply.body);
}

/* n instances with a label of their own. */
static void make_instances(const struct served *daemon, int n)
{
    char body[sizeof bench_model + BODY];
    (void)snprintf(body, sizeof body, "{\"labels\": {\"many\": \"%d\"}, %s", n, bench_model + 1);
    for (int k = 0; k < n; k++) {
        served_expect(daemon, "POST", "/v1/instances", body, 201);
    }
}

/* An operation on them in one request. */
static void form_batch(char body[BODY], const char *operation, const char *members, int n)
{
    (void)snprintf(body, BODY,
                   "{\"operation\": \"%s\", %s\"results\": \"table\", \"instances\": {\"label\": "
                   "\"many=%d\"}}",
                   operation, members, n);
}

static void measure_instances(const struct served *daemon)
{
    static struct load load;
    if (!bench_wants("instances in a request")) {
        return;
    }
    for (int n = 1; n <= MANY; n *= 10) {
        char body[BODY], name[NAME];
        make_instances(daemon, n);
        (void)snprintf(name, sizeof name, "instances in a request: %d", n);
        form_batch(body, "step", "\"body\": {\"count\": 10}, ", n);
        load_open(&load, daemon, false, 1);
        load_request(&load, 0, "POST", "/v1/batch", body);
        bench_tell(bench_text(name), ask, &load);
        load_close(&load);
        memset(&load, 0, sizeof load);
        form_batch(body, "delete", "", n);
        served_expect(daemon, "POST", "/v1/batch", body, 200);
    }
}

int main(int argc, char **argv)
{
    struct served daemon;
    served_apart();
    bench_begin("service-scaling", argc, argv);
    bench_time_by(wall);
    served_mechd(&daemon, NULL);
    measure_instances(&daemon);
    measure_connections(&daemon);
    served_stop(&daemon);
    return bench_end();
}
