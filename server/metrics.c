/* Prometheus' text format, version 0.0.4. */
#include "server/metrics.h"

#include "server/daemon.h"
#include "server/plain.h"
#include "server/ticks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const int statuses[MECHD_STATUSES] = {200, 201, 202, 204, 206, 304, 400, 401, 403,
                                             404, 405, 406, 408, 409, 411, 412, 413, 415,
                                             422, 429, 500, 501, 503, 507, 0};

/* Upper ends of the latency buckets, s. */
static const double bounds[MECHD_BUCKETS] = {25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3,
                                             5e-3,  10e-3, 50e-3,  100e-3, 500e-3, 1.,   10.};

static const char *const doors[MECHD_DOORS] = {"http", "zmq-json", "zmq-frame"};

void mechd_metrics_request(struct mechd_metrics *m, enum mechd_door door,
                           const struct mechp_route *route, int status, uint64_t ns)
{
    int at = 0;
    while (at < MECHD_STATUSES - 1 && statuses[at] != status) {
        at++;
    }
    if (door == MECHD_DOOR_HTTP) {
        mechd_count(&m->requests[route != NULL ? (int)route->id : MECHP_ROUTES][at], 1);
    }
    int bucket = 0;
    while (bucket < MECHD_BUCKETS && (double)ns * 1e-9 > bounds[bucket]) {
        bucket++;
    }
    mechd_count(&m->messages[door], 1);
    mechd_count(&m->errors[door], status >= 400 ? 1 : 0);
    mechd_count(&m->latency[door][bucket], 1);
    mechd_count(&m->latency_sum[door], ns);
}

/* One formatted line. */
__attribute__((format(printf, 2, 3))) static void line(struct mechp_text *w, const char *format,
                                                       ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < sizeof text) {
        mechd_plain(w, text, (size_t)n);
    }
}

static void head(struct mechp_text *w, const char *name, const char *kind, const char *help)
{
    line(w, "# HELP mechd_%s %s\n# TYPE mechd_%s %s\n", name, help, name, kind);
}

static void value(struct mechp_text *w, const char *name, const char *kind, const char *help,
                  int64_t number)
{
    head(w, name, kind, help);
    line(w, "mechd_%s %" PRId64 "\n", name, number);
}

static void counter(struct mechp_text *w, const char *name, const char *help,
                    const _Atomic uint64_t *number)
{
    value(w, name, "counter", help, (int64_t)atomic_load_explicit(number, memory_order_relaxed));
}

/* Requests by route and status, those that happened. */
static void write_requests(const struct mechd_metrics *m, struct mechp_text *w)
{
    head(w, "http_requests_total", "counter", "HTTP requests answered, by route and status.");
    for (int r = 0; r <= MECHP_ROUTES; r++) {
        const struct mechp_route *route = mechp_route_at(r);
        for (int s = 0; s < MECHD_STATUSES; s++) {
            const uint64_t n = atomic_load_explicit(&m->requests[r][s], memory_order_relaxed);
            if (n > 0) {
                line(w,
                     "mechd_http_requests_total{route=\"%s\",method=\"%s\",code=\"%d\"} %" PRIu64
                     "\n",
                     route != NULL ? route->path : "none", route != NULL ? route->method : "none",
                     statuses[s], n);
            }
        }
    }
}

/* Latency of each door as a histogram, and its errors. */
static void write_latency(const struct mechd_metrics *m, struct mechp_text *w)
{
    head(w, "request_seconds", "histogram", "Time from a whole request to its answer, by door.");
    for (int d = 0; d < MECHD_DOORS; d++) {
        uint64_t sum = 0;
        for (int b = 0; b < MECHD_BUCKETS; b++) {
            sum += atomic_load_explicit(&m->latency[d][b], memory_order_relaxed);
            line(w, "mechd_request_seconds_bucket{door=\"%s\",le=\"%g\"} %" PRIu64 "\n", doors[d],
                 bounds[b], sum);
        }
        sum += atomic_load_explicit(&m->latency[d][MECHD_BUCKETS], memory_order_relaxed);
        line(w, "mechd_request_seconds_bucket{door=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", doors[d],
             sum);
        line(w, "mechd_request_seconds_sum{door=\"%s\"} %.9g\n", doors[d],
             1e-9 * (double)atomic_load_explicit(&m->latency_sum[d], memory_order_relaxed));
        line(w, "mechd_request_seconds_count{door=\"%s\"} %" PRIu64 "\n", doors[d], sum);
    }
    head(w, "request_errors_total", "counter", "Requests refused or failed, by door.");
    for (int d = 0; d < MECHD_DOORS; d++) {
        line(w, "mechd_request_errors_total{door=\"%s\"} %" PRIu64 "\n", doors[d],
             atomic_load_explicit(&m->errors[d], memory_order_relaxed));
    }
}

void mechd_metrics_write(struct mechd *d, struct mechp_text *w)
{
    const struct mechd_metrics *m = &d->metrics;
    head(w, "build_info", "gauge", "Version of the daemon.");
    line(w, "mechd_build_info{version=\"" MECHD_VERSION "\"} 1\n");
    head(w, "uptime_seconds", "gauge", "Time since the start.");
    line(w, "mechd_uptime_seconds %.3f\n", 1e-9 * (double)(mechd_now() - d->started));
    write_requests(m, w);
    write_latency(m, w);
    counter(w, "received_bytes_total", "Bytes of request bodies and messages.", &m->bytes_in);
    counter(w, "sent_bytes_total", "Bytes of answers.", &m->bytes_out);
    value(w, "instances", "gauge", "Instances alive.", mechd_table_count(&d->table));
    counter(w, "instances_created_total", "Instances created.", &m->created);
    counter(w, "instances_deleted_total", "Instances deleted.", &m->deleted);
    counter(w, "commands_total", "Step commands finished.", &m->commands);
    counter(w, "steps_total", "Internal steps done.", &m->steps);
    counter(w, "failed_commands_total", "Step commands that failed and were undone.",
            &m->failed_steps);
    counter(w, "newton_iterations_total", "Newton iterations.", &m->iterations);
    counter(w, "vi_iterations_total", "Iterations of complementarity solvers.", &m->vi_iterations);
    counter(w, "contacts_total", "Active contact rows, summed over commands.", &m->contacts);
    value(w, "pool_waiting", "gauge", "Tasks waiting for a thread of the step pool.",
          mechd_pool_waiting(&d->pool));
    value(w, "in_flight", "gauge", "Calls taken and not yet answered.", atomic_load(&d->in_flight));
    counter(w, "stream_frames_total", "Frames encoded for the stream.", &m->stream_frames);
    counter(w, "stream_drops_total", "Frames dropped before the stream's socket.",
            &m->stream_drops);
    counter(w, "forces_total", "Force frames taken.", &m->forces);
    counter(w, "forces_late_total", "Force frames that came after their time.", &m->forces_late);
    counter(w, "forces_refused_total", "Force frames refused.", &m->forces_refused);
    counter(w, "run_overruns_total", "Periods of paced runs that began too late.", &m->overruns);
    value(w, "event_clients", "gauge", "Clients of live events.",
          atomic_load_explicit(&m->event_clients, memory_order_relaxed));
}
