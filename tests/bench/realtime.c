/* Paced runs through the real daemon: N instances of two coordinates, each at 1 kHz, in one batch.
 * Printed for each N: the rate that an instance has; that of all over what they ask for, or over
 * what four free runs get together where that is less, and the same of as many free runs; the
 * slowest over the fastest one; the part of the periods that began more than half a period late,
 * and the same of one thread that does nothing but sleep until each millisecond, just before; the
 * daemon's CPU time a period, beside that of the same steps of as many simulations in turn in this
 * process, with nothing around them; the processors that the daemon had meanwhile, and those that
 * all else on the machine had.
 *
 *     bench-realtime [--quick] [--json] [--plant F]
 *
 * Promised where the rest of the machine is at rest: at 1,000, less than 0.1 % late, and at most a
 * microsecond of CPU a period beyond the step itself (neighbours empty the caches); beyond 1,000,
 * that the slowest instance has at least 0.8 of 1 kHz, or of what as many free runs have each where
 * that is less. Where the rest is not at rest the promises are not judged: then it says so and ends
 * with 77. The table goes to stderr; --json prints that there are no rows for run.py. --quick: a
 * second for each N, not four. --plant: F times as many instances are paced as are counted.
 */
#define _GNU_SOURCE /* PR_SET_TIMERSLACK */
#include "protocol/bind/bind.h"
#include "tests/bench/served.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 17, PROMISED = 1000, FREE = 4 };
enum { BROKEN = 1, NOT_JUDGED = 77 }; /* exit codes */

/* Part of the rate that the cores allow which is promised to each instance. */
static const double kept = 0.8;

/* Processors that the rest of the machine may use while it counts as at rest. */
static const double QUIET = 0.1;

static const double period = 1e-3;

/* Two masses on springs. */
static const char model[] =
    "{\"mechd\":1,\"objects\":[{\"name\":\"s\",\"type\":\"LagrangianLinearTIDS\",\"M\":{\"diag\":"
    "[1,1]},\"K\":[[200,-100],[-100,200]],\"q0\":[1,0],\"v0\":[0,0]}],\"sensors\":[{\"name\":"
    "\"at\",\"type\":\"SensorObject\",\"object\":\"s\",\"outputVariable\":\"Coordinates\"}],"
    "\"outputs\":[{\"name\":\"q\",\"sensor\":\"at\"}],\"solver\":{\"integrator\":\"MoreauJean\","
    "\"theta\":0.5,\"stepSize\":0.001}}";

/* What the daemon has done so far, and how long all processors together were not idle, ns. */
struct sample {
    double ns, cpu, periods, late, busy;
};

/* Of so many instances: what they did in a second; of paced ones, how even they are. */
struct rates {
    double each, least, evenness, late, cpu, used, others;
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

/* The part of the milliseconds at which this thread, which only sleeps until each, wakes more than
 * half a millisecond late. */
static double measure_sleep(double seconds)
{
    const uint64_t count = (uint64_t)(seconds / period), step = 1000000u;
    const uint64_t start = (uint64_t)served_now_ns();
    const int slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
    uint64_t late = 0;
    // of this thread alone: a daemon that is started later has the usual one
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    for (uint64_t k = 1; k <= count; k++) {
        const uint64_t due = start + k * step;
        const struct timespec t = {.tv_sec = (time_t)(due / 1000000000u),
                                   .tv_nsec = (long)(due % 1000000000u)};
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        late += served_now_ns() - (double)due > 0.5 * (double)step;
    }
    (void)prctl(PR_SET_TIMERSLACK, (unsigned long)slack, 0UL, 0UL, 0UL);
    return (double)late / (double)count;
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

/* Time in which a processor was not idle, of all of them, ns (proc(5)). */
static double busy_ns(void)
{
    FILE *const f = fopen("/proc/stat", "r");
    double ticks[8] = {0.};
    int count = 0;
    if (f == NULL || fscanf(f, "cpu") != 0) {
        served_fail("/proc/stat", "cannot be read");
    }
    while (count < 8 && fscanf(f, "%lf", &ticks[count]) == 1) {
        count++;
    }
    (void)fclose(f);
    // user, nice, system, then idle and waiting for disks, then interrupts
    const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
    return 1e9 * busy / (double)sysconf(_SC_CLK_TCK);
}

static struct sample look(const struct served *s)
{
    struct served_reply reply;
    served_call(s, "GET", "/metrics", NULL, &reply);
    const struct sample now = {.ns = served_now_ns(),
                               .cpu = served_cpu_ns(s),
                               .periods = find(reply.body, "mechd_commands_total"),
                               .late = find(reply.body, "mechd_run_late_total"),
                               .busy = busy_ns()};
    free(reply.body);
    return now;
}

static void sleep_for(double seconds)
{
    const struct timespec t = {.tv_sec = (time_t)seconds,
                               .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    (void)nanosleep(&t, NULL);
}

/* So many instances, named n0, n1, …, that run as the body says. */
static void begin_runs(const struct served *s, size_t count, const char *run)
{
    char path[64];
    char body[sizeof model + 16];
    char *const batch = malloc(ROOM);
    if (batch == NULL) {
        served_fail("no memory", "");
    }
    size_t length =
        (size_t)snprintf(batch, ROOM, "{\"operation\":\"run\",\"body\":%s,\"instances\":[", run);
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

/* The rates of the slowest run and of the fastest one. */
static void compare_runs(const struct served *s, size_t count, double *slowest, double *fastest)
{
    double least = INFINITY, most = 0.;
    for (size_t k = 0; k < count; k++) {
        char path[64];
        struct served_reply reply;
        (void)snprintf(path, sizeof path, "/v1/instances/n%zu/runs", k);
        served_call(s, "GET", path, NULL, &reply);
        const char *const periods = strstr(reply.body, "\"periods\":");
        const char *const elapsed = strstr(reply.body, "\"elapsed\":");
        if (periods == NULL || elapsed == NULL) {
            served_fail("no run", reply.body);
        }
        const double rate = strtod(periods + 10, NULL) / strtod(elapsed + 10, NULL);
        free(reply.body);
        least = fmin(least, rate);
        most = fmax(most, rate);
    }
    *slowest = least;
    *fastest = most;
}

static struct rates measure_runs(size_t count, double seconds, const char *run, bool even)
{
    struct served daemon;
    served_mechd(&daemon, NULL);
    begin_runs(&daemon, count, run);
    sleep_for(0.25 * seconds);
    const struct sample a = look(&daemon);
    sleep_for(seconds);
    const struct sample b = look(&daemon);
    const double periods = b.periods - a.periods, ns = b.ns - a.ns;
    double slowest = 0., fastest = 0.;
    if (even) {
        compare_runs(&daemon, count, &slowest, &fastest);
    }
    served_stop(&daemon);
    if (periods <= 0.) {
        served_fail("nothing runs", "");
    }
    return (struct rates){.each = 1e9 * periods / ns / (double)count,
                          .least = slowest,
                          .evenness = slowest / fastest,
                          .late = (b.late - a.late) / periods,
                          .cpu = (b.cpu - a.cpu) / periods,
                          .used = (b.cpu - a.cpu) / ns,
                          .others = fmax(0., (b.busy - a.busy - (b.cpu - a.cpu)) / ns)};
}

static int refuse(const char *what, double value, const char *unit, double most)
{
    (void)fprintf(stderr, "%s: %.3g %s, promised %.3g: BROKEN\n", what, value, unit, most);
    return BROKEN;
}

/* What is promised of so many paced runs: 0 or BROKEN. `bare`: of a step, ns; `allowed`: the rate
 * that the cores allow each, Hz. */
static int judge(size_t count, const struct rates *r, double bare, double allowed)
{
    int code = 0;
    if (count == PROMISED && 1e-3 * (r->cpu - bare) > 1.) {
        code = refuse("CPU a period beyond the step", 1e-3 * (r->cpu - bare), "us", 1.);
    }
    if (count == PROMISED && 100. * r->late >= 0.1) {
        code = refuse("late", 100. * r->late, "%", 0.1);
    }
    if (count > PROMISED && !(r->least >= kept * allowed)) {
        code = refuse("the slowest instance", r->least, "Hz", kept * allowed);
    }
    return code;
}

/* 0, BROKEN, or NOT_JUDGED. */
static int measure(size_t count, double seconds, double plant)
{
    const double bare = measure_bare(count, 0.25 * seconds);
    const double sleeper = measure_sleep(seconds);
    static const char free_run[] = "{\"period\":0.001,\"count\":1000000000}";
    const struct rates few = measure_runs(FREE, 0.25 * seconds, free_run, false);
    const struct rates many = measure_runs(count, 0.25 * seconds, free_run, false);
    const struct rates r = measure_runs((size_t)(plant * (double)count), seconds,
                                        "{\"pace\":1,\"period\":0.001}", true);
    const double most = few.each * FREE / (double)count;
    const double allowed = fmin(1. / period, many.each);
    (void)fprintf(
        stderr, "%9zu %9.0f %9.0f %8.2f %8.2f %8.2f %8.3f %8.3f %12.2f %9.2f %9.2f %7.2f %7.2f\n",
        count, r.each, r.least, r.each / fmin(1. / period, most), r.each / allowed, r.evenness,
        100. * r.late, 100. * sleeper, 1e-3 * r.cpu, 1e-3 * bare, r.cpu / bare, r.used, r.others);
    if (count < PROMISED) {
        return 0;
    }
    if (!(r.others < QUIET)) {
        (void)fprintf(stderr,
                      "NOT JUDGED: the rest of the machine used %.2f processors, %g at most "
                      "are at rest\n",
                      r.others, QUIET);
        return NOT_JUDGED;
    }
    return judge(count, &r, bare, allowed);
}

int main(int argc, char **argv)
{
    static const size_t counts[] = {200, PROMISED, 2000, 5000};
    bool quick = false, json = false;
    double plant = 1.;
    int code = 0;
    for (int k = 1; k < argc; k++) {
        quick = quick || strcmp(argv[k], "--quick") == 0;
        json = json || strcmp(argv[k], "--json") == 0;
        if (strcmp(argv[k], "--plant") == 0 && k + 1 < argc) {
            plant = strtod(argv[++k], NULL);
        }
    }
    if (json) {
        (void)printf("{\"rows\":[]}\n");
    }
    (void)fprintf(stderr, "%9s %9s %9s %8s %8s %8s %8s %8s %12s %9s %9s %7s %7s\n", "instances",
                  "Hz each", "slowest", "of 4", "of all", "even", "late %", "bare %", "µs a period",
                  "µs bare", "ratio", "CPUs", "others");
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const int found = measure(counts[k], quick ? 1. : 4., plant);
        code = code == BROKEN || found == 0 ? code : found;
    }
    return code;
}
