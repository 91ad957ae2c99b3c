/* HTTP of the daemon, through real sockets, against a bare libmicrohttpd with jansson that takes
 * and sends the same bytes (floor_http.c); the same client asks both in turns. A unit is a request.
 *
 * Bars: POST …/step of a model of 2 coordinates at 0.85 of the rate of a floor that parses the body
 * and prints the answer by jansson, with 1, 8 and 64 connections, each with an instance of its own
 * (told beside: a floor whose answer stands ready as text); a state of 100,000 values as JSON 60 ns
 * a value of the daemon's CPU time (through the socket: told); a million steps in one request at
 * 5e6 a second.
 */
#include "tests/bench/bench.h"
#include "tests/bench/load.h"
#include "tests/bench/model.h"
#include "tests/bench/served.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000, COORDINATES = 50000 };

static const char step_one[] = "{\"count\": 1}";

/* a load of connections on a server */
struct side {
    const struct served *server;
    struct load *load;
};

static void ask(void *side, uint64_t count)
{
    load_run(((const struct side *)side)->load, count);
}

static double wall(const void *side)
{
    (void)side;
    return served_now_ns();
}

static double processor(const void *side)
{
    return served_cpu_ns(((const struct side *)side)->server);
}

static struct load *open_load(const struct served *s, bool local, int count)
{
    struct load *const l = calloc(1, sizeof *l);
    if (l == NULL) {
        served_fail("load", "no memory");
    }
    load_open(l, s, local, count);
    for (int k = 0; k < count; k++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/v1/instances/two-%d/step", k);
        load_request(l, k, "POST", path, step_one);
    }
    return l;
}

/* Steps over so many connections; by the wall with a bar, by the servers' CPU time without. */
static void compare_steps(const struct served *daemon, const struct served *floor,
                          const char *floor_name, int count, double bar)
{
    char what[64];
    const bool local = count < 0;
    const int n = local ? -count : count;
    struct side ours = {daemon, open_load(daemon, local, n)};
    struct side bare = {floor, open_load(floor, local, n)};
    bench_time_by(wall);
    (void)snprintf(what, sizeof what, "step, %s %d / %s", local ? "unix" : "tcp", n, floor_name);
    bench_compare(bench_text(what), ask, &ours, ask, &bare, bar);
    bench_time_by(processor);
    bench_compare("  its CPU time in the server", ask, &ours, ask, &bare, 0.);
    load_close(ours.load);
    load_close(bare.load);
    free(ours.load);
    free(bare.load);
}

/* A request again and again on one connection, by both clocks, each with its bar (0: none). */
static void measure_one(const struct served *daemon, struct load *l, const char *what,
                        double wall_bar, double processor_bar)
{
    char text[96];
    struct side side = {daemon, l};
    bench_time_by(wall);
    (void)snprintf(text, sizeof text, "%s, through the socket", what);
    bench_limit(bench_text(text), ask, &side, wall_bar);
    bench_time_by(processor);
    (void)snprintf(text, sizeof text, "%s, CPU time", what);
    bench_limit(bench_text(text), ask, &side, processor_bar);
}

/* Masses without springs, each somewhere else, as the document of an instance; to be freed. */
static char *masses(int count)
{
    const size_t room = 512 + 48 * (size_t)count;
    char *const text = malloc(room);
    if (text == NULL) {
        served_fail("model", "no memory");
    }
    size_t n = (size_t)snprintf(text, room,
                                "{\"model\": {\"mechd\": 1, \"objects\": [{\"name\": \"system\", "
                                "\"type\": \"LagrangianLinearTIDS\", \"M\": {\"diag\": [1");
    for (int k = 1; k < count; k++) {
        n += (size_t)snprintf(text + n, room - n, ",1");
    }
    n += (size_t)snprintf(text + n, room - n, "]}, \"q0\": [0.1");
    for (int k = 1; k < count; k++) {
        n += (size_t)snprintf(text + n, room - n, ",%.17g", sin(k));
    }
    n += (size_t)snprintf(text + n, room - n, "], \"v0\": [0.1");
    for (int k = 1; k < count; k++) {
        n += (size_t)snprintf(text + n, room - n, ",%.17g", cos(k));
    }
    (void)snprintf(text + n, room - n,
                   "]}], \"solver\": {\"integrator\": \"MoreauJean\", \"stepSize\": 0.001}}}");
    return text;
}

/* How many numbers with a fraction an answer has. */
static int numbers_in(const char *json)
{
    int count = 0;
    for (; *json != '\0'; json++) {
        count += *json == '.';
    }
    return count;
}

/* GET …/state of so many coordinates; each value with all its digits. */
static void measure_state(const struct served *daemon, struct load *l)
{
    struct served_reply reply;
    char *const document = masses(COORDINATES);
    served_expect(daemon, "PUT", "/v1/instances/masses", document, 201);
    served_call(daemon, "GET", "/v1/instances/masses/state", NULL, &reply);
    const int values = numbers_in(reply.body);
    load_request(l, 0, "GET", "/v1/instances/masses/state", "");
    bench_coordinates(values);
    measure_one(daemon, l, "state as JSON", 0., 60. * values);
    bench_coordinates(0);
    free(reply.body);
    free(document);
}

int main(int argc, char **argv)
{
    bench_begin("service", argc, argv);
    bench_time_by(wall);
    struct served daemon, text, tree;
    struct served_reply reply;
    served_mechd(&daemon, NULL);
    for (int k = 0; k < LOAD_MOST; k++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/v1/instances/two-%d", k);
        served_expect(&daemon, "PUT", path, bench_model, 201);
    }
    // the floor answers with what a step has just been answered with
    served_call(&daemon, "POST", "/v1/instances/two-0/step", "{\"count\": 100}", &reply);
    const char *const as_text[] = {"2", "text", reply.body, NULL};
    const char *const as_tree[] = {"2", "tree", reply.body, NULL};
    served_floor(&text, "floor-http", as_text);
    served_floor(&tree, "floor-http", as_tree);
    static const int counts[] = {1, 8, 64};
    for (int k = 0; k < 3; k++) {
        compare_steps(&daemon, &tree, "parse, print", counts[k], 1. / 0.85);
    }
    for (int k = 0; k < 3; k++) {
        compare_steps(&daemon, &text, "parse, fixed text", counts[k], 0.);
    }
    compare_steps(&daemon, &tree, "parse, print", -1, 0.);
    struct load *const one = open_load(&daemon, false, 1);
    load_request(one, 0, "POST", "/v1/instances/two-0/step", "{\"count\": 1000000}");
    measure_one(&daemon, one, "a million steps", 200. * MILLION, 200. * MILLION);
    measure_state(&daemon, one);
    load_close(one);
    free(one);
    served_stop(&tree);
    served_stop(&text);
    served_stop(&daemon);
    free(reply.body);
    return bench_end();
}
