/* What the daemon takes before and beside its work: time from exec to ready, memory when idle and
 * for each of 10,000 small instances, and how long a probe and another instance wait while both
 * workers are busy with commands of seconds.
 *
 * Promises: ready in 20 ms (the quickest of 15), 12 MB resident two seconds after the start, 16
 * KiB for each instance of 2 coordinates, 50 ms for the longest wait. Times are the wall's. Bars:
 * start to ready against that of a bare libmicrohttpd, memory of an instance.
 */
#include "tests/bench/bench.h"
#include "tests/bench/model.h"
#include "tests/bench/served.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A daemon holds 10,000: so many, half as many again of a planted loss, and those of the waits. */
enum { STARTS = 15, INSTANCES = 6600, PROBES = 400 };

static double shared_clock(const void *unused)
{
    (void)unused;
    return served_now_ns();
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sleep_for(double seconds)
{
    const struct timespec nap = {.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
    (void)nanosleep(&nap, NULL);
}

/* Start and stop; the last one goes on. */
static void measure_start(struct served *daemon)
{
    double ready[STARTS], answered[STARTS];
    for (int k = 0; k < STARTS; k++) {
        struct served_reply reply;
        served_mechd(daemon, NULL);
        served_call(daemon, "GET", "/livez", NULL, &reply);
        ready[k] = 1e-6 * daemon->ready_ns;
        answered[k] = ready[k] + 1e-6 * reply.ns;
        free(reply.body);
        if (k < STARTS - 1) {
            served_stop(daemon);
        }
    }
    qsort(ready, STARTS, sizeof *ready, ascending);
    qsort(answered, STARTS, sizeof *answered, ascending);
    // what else runs on the machine only adds: the quickest shows what the daemon takes
    bench_require("ready file after, ms", ready[0], 20.);
    bench_tell_value("  median", ready[STARTS / 2]);
    bench_require("first answer of /livez after, ms", answered[0], 20.);
    bench_tell_value("  median", answered[STARTS / 2]);
    sleep_for(2.);
    bench_require("resident when idle, MB", 1e-6 * served_resident(daemon), 12.);
}

/* one unit: start to ready; the clock stands still otherwise */
struct starts {
    const char *floor; /* its program, or NULL: the daemon */
    double ns;
};

static double starts_clock(const void *starts)
{
    return ((const struct starts *)starts)->ns;
}

static void start(void *starts, uint64_t count)
{
    static const char *const hello[] = {"2", "text", "{}", NULL};
    struct starts *const s = starts;
    for (uint64_t k = 0; k < count; k++) {
        struct served server;
        if (s->floor != NULL) {
            served_floor(&server, s->floor, hello);
        } else {
            served_mechd(&server, NULL);
        }
        s->ns += server.ready_ns;
        served_stop(&server);
    }
}

static void compare_starts(void)
{
    struct starts ours = {.floor = NULL}, bare = {.floor = "floor-http"};
    bench_time_by(starts_clock);
    bench_compare("start to ready / hello", start, &ours, start, &bare);
    bench_time_by(shared_clock);
}

static void measure_instances(const struct served *daemon)
{
    struct served_reply reply;
    // the first ones also bring in what all of them share
    for (int k = 0; k < INSTANCES / 100; k++) {
        served_expect(daemon, "POST", "/v1/instances", bench_model, 201);
    }
    const double before = served_resident(daemon), from = served_now_ns();
    const int made = (int)(bench_plant() * (INSTANCES - INSTANCES / 100));
    for (int k = 0; k < made; k++) {
        served_expect(daemon, "POST", "/v1/instances", bench_model, 201);
    }
    const double count = INSTANCES - INSTANCES / 100;
    const double each = (served_now_ns() - from) / count;
    // more of them than are counted, where a loss is planted
    const double kib = (served_resident(daemon) - before) / count / 1024.;
    bench_value("memory of an instance, KiB", kib);
    bench_require("memory of an instance, KiB, promised", kib / bench_plant(), 16.);
    bench_tell_value("creating one, a connection each, us", 1e-3 * each);
    served_call(daemon, "GET", "/v1/instances?limit=100", NULL, &reply);
    bench_tell_value("100 of 6,600 in a list, ms", 1e-6 * reply.ns);
    free(reply.body);
}

/* Many waits for the same answer: the median, and the longest but `spared` of them. */
static void probe(const struct served *daemon, const char *what, const char *path, const char *body,
                  int spared)
{
    static double waits[PROBES];
    for (int k = 0; k < PROBES; k++) {
        struct served_reply reply;
        served_call(daemon, body != NULL ? "POST" : "GET", path, body, &reply);
        waits[k] = 1e-6 * reply.ns;
        if (reply.status != 200) {
            served_fail(path, reply.body);
        }
        free(reply.body);
        sleep_for(0.002);
    }
    qsort(waits, PROBES, sizeof *waits, ascending);
    bench_require(what, waits[PROBES - 1 - spared], 50.);
    bench_tell_value("  median", waits[PROBES / 2]);
}

/* Three long commands, more than there are workers. */
static void measure_waits(const struct served *daemon)
{
    static const char *const busy[] = {"busy-0", "busy-1", "busy-2"};
    enum { BUSY = sizeof busy / sizeof *busy };
    int connections[BUSY];
    char path[64];
    for (int k = 0; k < BUSY; k++) {
        (void)snprintf(path, sizeof path, "/v1/instances/%s", busy[k]);
        served_expect(daemon, "PUT", path, bench_model, 201);
        (void)snprintf(path, sizeof path, "/v1/instances/%s/step", busy[k]);
        connections[k] = served_send(daemon, "POST", path, "{\"count\": 1000000000}");
    }
    served_expect(daemon, "PUT", "/v1/instances/other", bench_model, 201);
    probe(daemon, "longest /livez beside, ms", "/livez", NULL, 0);
    probe(daemon, "longest step of another beside, ms", "/v1/instances/other/step",
          "{\"count\": 1}", 0);
    // it shares the cores with the long ones, and these with whatever else the machine does
    probe(daemon, "90 of 100 pooled steps beside, ms", "/v1/instances/other/step",
          "{\"count\": 5000}", PROBES / 10);
    for (int k = 0; k < BUSY; k++) {
        (void)snprintf(path, sizeof path, "/v1/instances/%s", busy[k]);
        served_expect(daemon, "DELETE", path, NULL, 204);
        served_drop(connections[k]);
    }
}

int main(int argc, char **argv)
{
    bench_begin("service-start", argc, argv);
    bench_time_by(shared_clock);
    struct served daemon;
    compare_starts();
    measure_start(&daemon);
    measure_instances(&daemon);
    measure_waits(&daemon);
    served_stop(&daemon);
    return bench_end();
}
