/* HTTP of the daemon, through real sockets, against a bare libmicrohttpd that takes and sends the
 * same bytes (floor_http.c: a hello); the same client asks both in turns. A unit is a request.
 *
 * POST …/step of a model of 2 coordinates with 1, 8 and 64 connections, each with an instance of
 * its own, by the wall and by the CPU time of the servers, against a hello and against one that
 * parses the body and prints the answer by jansson; with 64 connections, each to an instance of
 * its own, a parameter set and a step after it against hellos, where a unit is 64 of both; a
 * million steps in one request against the same steps by a loop for two masses; a state of 100,000
 * values as JSON against std::to_chars of as many.
 */
#include "protocol/wire/text.h"
#include "tests/bench/bench.h"
#include "tests/bench/floors_linear.h"
#include "tests/bench/load.h"
#include "tests/bench/model.h"
#include "tests/bench/served.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000, COORDINATES = 50000, INSTANCES = 64 };

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

/* CPU time of the server, or of this thread where the floor runs in it */
static double processor(const void *side)
{
    const struct served *const server = *(const struct served *const *)side;
    return server != NULL ? served_cpu_ns(server) : served_thread_ns();
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

/* Steps over so many connections, TCP or (below 0) the Unix socket. */
static void compare_steps(const struct served *daemon, const struct served *floor, const char *name,
                          int count)
{
    char what[64];
    const bool local = count < 0;
    const int n = local ? -count : count;
    struct side ours = {daemon, open_load(daemon, local, n)};
    struct side bare = {floor, open_load(floor, local, n)};
    bench_time_by(wall);
    (void)snprintf(what, sizeof what, "step, %s %d / %s", local ? "unix" : "tcp", n, name);
    // one connection alone sleeps between its requests, on the same core or on two, and what a
    // server uses is four times as much on some days: for information
    (n > 1 ? bench_compare : bench_beside)(bench_text(what), ask, &ours, ask, &bare);
    bench_time_by(processor);
    (void)snprintf(what, sizeof what, "step, %s %d / %s, CPU", local ? "unix" : "tcp", n, name);
    (n > 1 ? bench_compare : bench_beside)(bench_text(what), ask, &ours, ask, &bare);
    load_close(ours.load);
    load_close(bare.load);
    free(ours.load);
    free(bare.load);
}

/* --- long answers and long commands ----------------------------------------------------------- */

/* a floor in this thread: its server is none */
struct loop {
    const struct served *none;
    struct floor_two two;
    int values;
    char *text;
};

static void loop_steps(void *loop, uint64_t count)
{
    floor_two_step(&((struct loop *)loop)->two, count * MILLION);
}

static void loop_numbers(void *loop, uint64_t count)
{
    struct loop *const l = loop;
    for (uint64_t i = 0; i < count; i++) {
        size_t at = 0;
        for (int k = 0; k < l->values; k++) {
            at += mechp_number_text(sin(k), l->text + at);
        }
        bench_use((const double *)(const void *)l->text);
    }
}

static void measure_million(const struct served *daemon, struct load *l)
{
    struct side side = {daemon, l};
    struct loop floor = {.none = NULL};
    floor_two_init(&floor.two);
    load_request(l, 0, "POST", "/v1/instances/two-0/step", "{\"count\": 1000000}");
    bench_time_by(processor);
    bench_compare("a million steps, CPU", ask, &side, loop_steps, &floor);
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
    struct side side = {daemon, l};
    struct loop floor = {.values = values, .text = malloc(32 * (size_t)values)};
    if (floor.text == NULL) {
        served_fail("state", "no memory");
    }
    bench_coordinates(values);
    bench_time_by(processor);
    bench_compare("state as JSON / to_chars, CPU", ask, &side, loop_numbers, &floor);
    bench_coordinates(0);
    free(floor.text);
    free(reply.body);
    free(document);
}

/* --- parameters ------------------------------------------------------------------------------- */

/* on each connection a parameter set, to another value than before, and then a step */
static void set_and_step(void *side, uint64_t count)
{
    static const char *const values[] = {"{\"k\": 100}", "{\"k\": 120}"};
    struct load *const l = ((const struct side *)side)->load;
    char path[64];
    for (uint64_t turn = 0; turn < count; turn++) {
        for (int k = 0; k < l->count; k++) {
            (void)snprintf(path, sizeof path, "/v1/instances/tuned-%d/parameters", k);
            load_request(l, k, "PUT", path, values[turn % 2]);
        }
        load_run(l, (uint64_t)l->count);
        for (int k = 0; k < l->count; k++) {
            (void)snprintf(path, sizeof path, "/v1/instances/tuned-%d/step", k);
            load_request(l, k, "POST", path, step_one);
        }
        load_run(l, (uint64_t)l->count);
    }
}

static void compare_parameters(const struct served *daemon, const struct served *floor)
{
    for (int k = 0; k < INSTANCES; k++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/v1/instances/tuned-%d", k);
        served_expect(daemon, "PUT", path, bench_tuned, 201);
    }
    struct side ours = {daemon, open_load(daemon, false, INSTANCES)};
    struct side bare = {floor, open_load(floor, false, INSTANCES)};
    bench_time_by(wall);
    bench_compare("parameter and step, tcp 64 / hellos", set_and_step, &ours, set_and_step, &bare);
    bench_time_by(processor);
    bench_compare("parameter and step, tcp 64 / hellos, CPU", set_and_step, &ours, set_and_step,
                  &bare);
    load_close(ours.load);
    load_close(bare.load);
    free(ours.load);
    free(bare.load);
}

int main(int argc, char **argv)
{
    served_apart();
    bench_begin("service", argc, argv);
    bench_time_by(wall);
    struct served daemon, text, tree;
    struct served_reply reply;
    served_mechd(&daemon, NULL);
    for (int k = 0; k < INSTANCES; k++) {
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
    static const int counts[] = {1, 8, 64, -1};
    for (int k = 0; k < 4; k++) {
        compare_steps(&daemon, &text, "hello", counts[k]);
        compare_steps(&daemon, &tree, "parse, print", counts[k]);
    }
    compare_parameters(&daemon, &text);
    struct load *const one = open_load(&daemon, false, 1);
    measure_million(&daemon, one);
    measure_state(&daemon, one);
    load_close(one);
    free(one);
    served_stop(&tree);
    served_stop(&text);
    served_stop(&daemon);
    free(reply.body);
    return bench_end();
}
