/* Paced runs through the real daemon: N instances of two coordinates, each at 1 kHz, in one batch.
 * Printed for each N: the rate that an instance has, the part of the periods that began more
 * than half a period late, and the daemon's CPU time a period; beside it the CPU time of the same
 * steps of as many simulations in turn in this process, with nothing around them.
 *
 *     bench-realtime [--quick]
 *
 * No bar: whether the rate is held is the machine's business, and its neighbours'; what the daemon
 * itself promises is in tests/integration/test_realtime.py. --quick: a second for each N, not four.
 */
#include "protocol/bind/bind.h"
#include "tests/bench/served.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 1 << 17 };

static const double period = 1e-3;

/* Two masses on springs. */
static const char model[] =
    "{\"mechd\":1,\"objects\":[{\"name\":\"s\",\"type\":\"LagrangianLinearTIDS\",\"M\":{\"diag\":"
    "[1,1]},\"K\":[[200,-100],[-100,200]],\"q0\":[1,0],\"v0\":[0,0]}],\"sensors\":[{\"name\":"
    "\"at\",\"type\":\"SensorObject\",\"object\":\"s\",\"outputVariable\":\"Coordinates\"}],"
    "\"outputs\":[{\"name\":\"q\",\"sensor\":\"at\"}],\"solver\":{\"integrator\":\"MoreauJean\","
    "\"theta\":0.5,\"stepSize\":0.001}}";

/* What the daemon has done so far. */
struct sample {
    double ns, cpu, periods, late;
};

/* --- the bare loop ---------------------------------------------------------------------------- */

static struct mech_sim *make_sim(void)
{
    struct mech_diag diag;
    struct mech_document *document = NULL;
    struct mech_sim *sim = NULL;
    json_t *const root = json_loads(model, 0, NULL);
    mech_diag_init(&diag);
    if (mechp_bind_read(root, "", &diag, &document) != 0 ||
        mech_sim_create(document, &diag, &sim) != 0) {
        served_fail("the model is none", "");
    }
    json_decref(root);
    mech_diag_fini(&diag);
    return sim;
}

static double cpu_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* CPU time of a step, ns: so many simulations in turn, their outputs read each time. */
static double measure_bare(size_t count, double seconds)
{
    const struct mech_step_request one = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;
    struct mech_sim **const sims = calloc(count, sizeof *sims);
    double values[2] = {0., 0.};
    for (size_t k = 0; sims != NULL && k < count; k++) {
        sims[k] = make_sim();
    }
    if (sims == NULL) {
        served_fail("no memory", "");
    }
    double steps = 0.;
    const double start = cpu_ns();
    double now = start;
    while (now - start < 1e9 * seconds) {
        for (size_t k = 0; k < count; k++) {
            if (mech_sim_step(sims[k], &one, &report) != 0) {
                served_fail("a step failed", report.reason);
            }
            mech_sim_get_outputs(sims[k], values);
        }
        steps += (double)count;
        now = cpu_ns();
    }
    for (size_t k = 0; k < count; k++) {
        mech_sim_destroy(sims[k]);
    }
    free(sims);
    return (now - start) / steps;
}

/* --- the daemon ------------------------------------------------------------------------------- */

/* A number of the page of /metrics. */
static double find(const char *page, const char *name)
{
    char line[64];
    (void)snprintf(line, sizeof line, "\n%s ", name);
    const char *const at = strstr(page, line);
    if (at == NULL) {
        served_fail("not in /metrics", name);
    }
    return strtod(at + strlen(line), NULL);
}

static struct sample look(const struct served *s)
{
    struct served_reply reply;
    served_call(s, "GET", "/metrics", NULL, &reply);
    const struct sample now = {.ns = served_now_ns(),
                               .cpu = served_cpu_ns(s),
                               .periods = find(reply.body, "mechd_commands_total"),
                               .late = find(reply.body, "mechd_run_late_total")};
    free(reply.body);
    return now;
}

static void sleep_for(double seconds)
{
    const struct timespec t = {.tv_sec = (time_t)seconds,
                               .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    (void)nanosleep(&t, NULL);
}

/* So many instances, named n0, n1, …, that run. */
static void begin_runs(const struct served *s, size_t count)
{
    char path[64];
    char body[sizeof model + 16];
    char *const batch = malloc(ROOM);
    if (batch == NULL) {
        served_fail("no memory", "");
    }
    size_t length = (size_t)snprintf(batch, ROOM,
                                     "{\"operation\":\"run\",\"body\":{\"pace\":1,"
                                     "\"period\":%g},\"instances\":[",
                                     period);
    (void)snprintf(body, sizeof body, "{\"model\":%s}", model);
    for (size_t k = 0; k < count; k++) {
        (void)snprintf(path, sizeof path, "/v1/instances/n%zu", k);
        served_expect(s, "PUT", path, body, 201);
        length +=
            (size_t)snprintf(batch + length, ROOM - length, "%s\"n%zu\"", k > 0 ? "," : "", k);
    }
    (void)snprintf(batch + length, ROOM - length, "]}");
    served_expect(s, "POST", "/v1/batch", batch, 200);
    free(batch);
}

static void measure(size_t count, double seconds)
{
    struct served daemon;
    const double bare = measure_bare(count, 0.25 * seconds);
    served_mechd(&daemon, NULL);
    begin_runs(&daemon, count);
    sleep_for(0.25 * seconds);
    const struct sample a = look(&daemon);
    sleep_for(seconds);
    const struct sample b = look(&daemon);
    served_stop(&daemon);
    const double periods = b.periods - a.periods;
    if (periods <= 0.) {
        served_fail("nothing runs", "");
    }
    const double each = (b.cpu - a.cpu) / periods;
    (void)printf("%9zu %9.0f %8.2f %12.2f %9.2f %9.2f %7.2f\n", count,
                 1e9 * periods / (b.ns - a.ns) / (double)count, 100. * (b.late - a.late) / periods,
                 1e-3 * each, 1e-3 * bare, each / bare, (b.cpu - a.cpu) / (b.ns - a.ns));
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t counts[] = {200, 1000, 2000, 5000};
    const bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    (void)printf("%9s %9s %8s %12s %9s %9s %7s\n", "instances", "Hz each", "late %", "µs a period",
                 "µs bare", "ratio", "CPUs");
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        measure(counts[k], quick ? 1. : 4.);
    }
    return 0;
}
