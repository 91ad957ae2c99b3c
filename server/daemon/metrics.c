/* Prometheus' text format, version 0.0.4. */
#include "server/daemon/metrics.h"

#include "server/daemon/daemon.h"
#include "server/lane/lane.h"
#include "server/os/log.h"
#include "server/os/process.h"
#include "server/os/ticks.h"
#include "server/store/store.h"
#include "server/zmq/readers.h"
#include "server/zmq/zmq.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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
        mechp_text_plain(w, text, (size_t)n);
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

/* A counter of the tallies, by its place in them. */
static void tally(struct mechp_text *w, const char *name, const char *help,
                  const struct mechd_counters *m, size_t place)
{
    uint64_t sum = 0;
    for (int k = 0; k < MECHD_TALLIES; k++) {
        const char *const at = (const char *)&m->tallies[k] + place;
        sum +=
            atomic_load_explicit((const _Atomic uint64_t *)(const void *)at, memory_order_relaxed);
    }
    value(w, name, "counter", help, (int64_t)sum);
}

/* Requests by route and status, those that happened. */
static void write_requests(const struct mechd_request_tally *m, struct mechp_text *w)
{
    head(w, "http_requests_total", "counter", "HTTP requests answered, by route and status.");
    for (int r = 0; r <= MECHP_ROUTES; r++) {
        const struct mechp_route *route = mechp_route_at(r);
        for (int s = 0; s < MECHD_STATUSES; s++) {
            const uint64_t n = atomic_load_explicit(&m->answered[r][s], memory_order_relaxed);
            if (n > 0) {
                char code[16] = "other";
                if (mechd_statuses[s] != 0) {
                    snprintf(code, sizeof code, "%d", mechd_statuses[s]);
                }
                line(w,
                     "mechd_http_requests_total{route=\"%s\",method=\"%s\",code=\"%s\"} %" PRIu64
                     "\n",
                     route != NULL ? route->path : "none", route != NULL ? route->method : "none",
                     code, n);
            }
        }
    }
}

/* One histogram: cumulative buckets, sum and count, each with the same labels. The count is that of
 * the last bucket, whatever is counted meanwhile. */
static void write_histogram(struct mechp_text *w, const char *name, const char *labels,
                            const struct mechd_latency *l)
{
    uint64_t count = 0;
    for (int b = 0; b < MECHD_BUCKETS; b++) {
        count += atomic_load_explicit(&l->buckets[b], memory_order_relaxed);
        line(w, "mechd_%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", name, labels, mechd_buckets[b],
             count);
    }
    count += atomic_load_explicit(&l->buckets[MECHD_BUCKETS], memory_order_relaxed);
    line(w, "mechd_%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name, labels, count);
    line(w, "mechd_%s_sum{%s} %.9g\n", name, labels,
         1e-9 * (double)atomic_load_explicit(&l->sum, memory_order_relaxed));
    line(w, "mechd_%s_count{%s} %" PRIu64 "\n", name, labels, count);
}

/* That of a door; of HTTP's the sum over its routes, because each request is counted once only. */
static struct mechd_latency latency_of(const struct mechd_request_tally *m, int door)
{
    const struct mechd_latency *const from =
        door == MECHD_DOOR_HTTP ? m->route_latency : &m->latency[door];
    const int count = door == MECHD_DOOR_HTTP ? MECHP_ROUTES + 1 : 1;
    uint64_t buckets[MECHD_BUCKETS + 1] = {0};
    uint64_t sum = 0;
    for (int k = 0; k < count; k++) {
        for (int b = 0; b <= MECHD_BUCKETS; b++) {
            buckets[b] += atomic_load_explicit(&from[k].buckets[b], memory_order_relaxed);
        }
        sum += atomic_load_explicit(&from[k].sum, memory_order_relaxed);
    }
    struct mechd_latency out;
    for (int b = 0; b <= MECHD_BUCKETS; b++) {
        atomic_init(&out.buckets[b], buckets[b]);
    }
    atomic_init(&out.sum, sum);
    return out;
}

static bool has_happened(const struct mechd_latency *l)
{
    for (int b = 0; b <= MECHD_BUCKETS; b++) {
        if (atomic_load_explicit(&l->buckets[b], memory_order_relaxed) > 0) {
            return true;
        }
    }
    return false;
}

/* Latency of each door and of each route that was asked, and errors by door. */
static void write_latency(const struct mechd_request_tally *m, struct mechp_text *w)
{
    char labels[160];
    head(w, "request_seconds", "histogram",
         "Time from a complete request to its answer, by door (interface).");
    for (int d = 0; d < MECHD_DOORS; d++) {
        snprintf(labels, sizeof labels, "door=\"%s\"", mechd_door_names[d]);
        const struct mechd_latency l = latency_of(m, d);
        write_histogram(w, "request_seconds", labels, &l);
    }
    head(w, "http_request_seconds", "histogram",
         "Time from the head of an HTTP request to its answer, by route.");
    for (int r = 0; r <= MECHP_ROUTES; r++) {
        const struct mechp_route *route = mechp_route_at(r);
        if (has_happened(&m->route_latency[r])) {
            snprintf(labels, sizeof labels, "route=\"%s\",method=\"%s\"",
                     route != NULL ? route->path : "none", route != NULL ? route->method : "none");
            write_histogram(w, "http_request_seconds", labels, &m->route_latency[r]);
        }
    }
    head(w, "request_errors_total", "counter", "Requests refused or failed, by door (interface).");
    for (int d = 0; d < MECHD_DOORS; d++) {
        line(w, "mechd_request_errors_total{door=\"%s\"} %" PRIu64 "\n", mechd_door_names[d],
             atomic_load_explicit(&m->errors[d], memory_order_relaxed));
    }
}

/* Records of the database; nothing without one. */
static void write_store(struct mechd_store *s, struct mechp_text *w)
{
    if (s == NULL) {
        return;
    }
    char fault[8];
    const struct mechd_store_counts n = mechd_store_counts(s);
    mechd_store_fault(s, fault, sizeof fault);
    value(w, "store_records_total", "counter", "Records that were written or failed to be written.",
          (int64_t)n.records);
    value(w, "store_commits_total", "counter",
          "Transactions in which records were written, or failed to be.", (int64_t)n.commits);
    value(w, "store_failures_total", "counter", "Records that could not be stored.",
          (int64_t)n.failures);
    value(w, "store_waiting", "gauge", "Records waiting for storage.", (int64_t)n.waiting);
    value(w, "store_faulty", "gauge", "1 while records cannot be stored.", fault[0] != '\0');
}

/* The process, under the names that Prometheus' own clients use. */
static void write_process(struct mechp_text *w)
{
    struct mechd_process p;
    mechd_process_read(&p);
    line(w,
         "# HELP process_cpu_seconds_total Processor time, user and system.\n"
         "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total %.3f\n",
         p.processor);
    line(w,
         "# HELP process_resident_memory_bytes Resident memory.\n"
         "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes %" PRIu64 "\n",
         p.resident);
    line(w,
         "# HELP process_open_fds Open file descriptors.\n"
         "# TYPE process_open_fds gauge\nprocess_open_fds %d\n",
         p.descriptors);
    line(w,
         "# HELP process_max_fds Maximum number of open file descriptors.\n"
         "# TYPE process_max_fds gauge\nprocess_max_fds %" PRIu64 "\n",
         p.descriptors_most);
}

/* Connections by socket. */
static void write_connections(const struct mechd *d, struct mechp_text *w)
{
    head(w, "connections", "gauge", "Connections of ZeroMQ and of the lane, by socket.");
    for (int k = 0; k < MECHD_ZMQ_SOCKETS; k++) {
        line(w, "mechd_connections{socket=\"%s\"} %d\n",
             mechd_zmq_socket_name((enum mechd_zmq_socket)k),
             mechd_zmq_connections(d->zmq, (enum mechd_zmq_socket)k));
    }
    line(w, "mechd_connections{socket=\"lane\"} %d\n", mechd_lane_connections(d->lane));
}

/* What subscribers of the stream are offered and lose. */
static void write_readers(struct mechd_zmq *z, struct mechp_text *w)
{
    static const struct {
        const char *name, *kind, *help;
        size_t place;
    } numbers[] = {
        {"stream_offered_frames_total", "counter",
         "Stream frames that match a subscriber's subscriptions.",
         offsetof(struct mechd_reader, frames)},
        {"stream_lost_frames_total", "counter",
         "Stream frames that the subscriber lost: a lower bound, exact once it has read the rest.",
         offsetof(struct mechd_reader, lost)},
        {"stream_behind_frames", "gauge", "Stream frames that are in transit or lost.",
         offsetof(struct mechd_reader, behind)}};
    struct mechd_reader *const all = calloc(MECHD_READERS_MOST, sizeof *all);
    uint64_t lost = 0;
    if (z == NULL || all == NULL) {
        free(all);
        return;
    }
    const int count = mechd_readers_tell(z, all, &lost);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        head(w, numbers[n].name, numbers[n].kind, numbers[n].help);
        for (int k = 0; k < count; k++) {
            const char *const at = (const char *)&all[k] + numbers[n].place;
            line(w, "mechd_%s{subscriber=\"%s\"} %" PRIu64 "\n", numbers[n].name, all[k].peer,
                 *(const uint64_t *)(const void *)at);
        }
    }
    value(w, "stream_lost_of_all_total", "counter",
          "Stream frames lost by all subscribers, including disconnected ones: a lower bound.",
          (int64_t)lost);
    free(all);
}

/* What HTTP counts beside requests. */
static void write_http(const struct mechd_counters *m, struct mechp_text *w)
{
    value(w, "http_connections", "gauge", "HTTP connections.",
          atomic_load_explicit(&m->connections, memory_order_relaxed));
    counter(w, "http_refused_connections_total", "HTTP connections refused because of a limit.",
            &m->refused_connections);
    counter(w, "http_timeouts_total", "HTTP connections closed for being too slow.", &m->timeouts);
    counter(w, "http_left_total", "HTTP clients that closed their connection before the answer.",
            &m->left);
    value(w, "event_clients", "gauge", "Clients of live events.",
          atomic_load_explicit(&m->event_clients, memory_order_relaxed));
}

static void write_couplings(struct mechd *d, struct mechp_text *w)
{
    value(w, "couplings", "gauge", "Couplings of instances.", mechd_couplings_count(&d->couplings));
    counter(w, "coupling_shared_total",
            "Times that a further thread of the pool joined in computing a window of a coupling.",
            &d->service.host.counters.coupling_shared);
}

/* What doors have answered. */
static void write_answered(const struct mechd_service *s, struct mechp_text *w)
{
    const struct mechd_counters *const m = &s->host.counters;
    struct mechd_request_tally *const requests = mechd_requests_sum(&s->requests);
    if (requests == NULL) {
        w->failed = true;
        return;
    }
    write_requests(requests, w);
    write_latency(requests, w);
    free(requests);
    tally(w, "received_bytes_total", "Bytes of request bodies and messages.", m,
          offsetof(struct mechd_tally, bytes_in));
    tally(w, "sent_bytes_total", "Bytes of answers.", m, offsetof(struct mechd_tally, bytes_out));
}

void mechd_metrics_write(struct mechd *d, struct mechp_text *w)
{
    const struct mechd_counters *m = &d->service.host.counters;
    head(w, "build_info", "gauge", "Version of the daemon.");
    line(w, "mechd_build_info{version=\"" MECHD_VERSION "\"} 1\n");
    head(w, "uptime_seconds", "gauge", "Time since the start.");
    line(w, "mechd_uptime_seconds %.3f\n", 1e-9 * (double)(mechd_now() - d->started));
    write_answered(&d->service, w);
    value(w, "instances", "gauge", "Instances.", mechd_table_count(&d->service.host.table));
    write_couplings(d, w);
    counter(w, "batch_items_total", "Operations executed as items of batches.", &m->batch_items);
    counter(w, "instances_created_total", "Instances created.", &m->created);
    counter(w, "instances_deleted_total", "Instances deleted.", &m->deleted);
    counter(w, "instances_expired_total", "Instances deleted by their time to live.", &m->expired);
    counter(w, "leases_total", "Leases taken.", &m->leases);
    counter(w, "leases_ended_total", "Leases that expired.", &m->leases_ended);
    tally(w, "commands_total", "Step commands finished.", m,
          offsetof(struct mechd_tally, commands));
    tally(w, "steps_total", "Internal steps done.", m, offsetof(struct mechd_tally, steps));
    counter(w, "failed_commands_total", "Step commands that failed and were undone.",
            &m->failed_steps);
    tally(w, "newton_iterations_total", "Newton iterations.", m,
          offsetof(struct mechd_tally, iterations));
    tally(w, "vi_iterations_total", "Iterations of complementarity solvers.", m,
          offsetof(struct mechd_tally, vi_iterations));
    tally(w, "contacts_total", "Active contact rows, summed over commands.", m,
          offsetof(struct mechd_tally, contacts));
    value(w, "pool_waiting", "gauge", "Tasks waiting for a thread of the step pool.",
          mechd_pool_waiting(&d->service.host.pool));
    value(w, "queued_commands", "gauge",
          "Commands in the queues of instances, including those in progress.",
          atomic_load_explicit(&m->queued, memory_order_relaxed));
    value(w, "outbox_waiting", "gauge", "Messages waiting for the ZeroMQ thread.",
          mechd_zmq_waiting(d->zmq));
    value(w, "body_bytes", "gauge", "Memory of request bodies in flight.",
          (int64_t)atomic_load(&d->service.bodies));
    value(w, "tree_bytes", "gauge", "Estimated memory of parsed HTTP request bodies.",
          (int64_t)atomic_load(&d->service.trees));
    value(w, "in_flight", "gauge", "Calls accepted and not yet answered.",
          atomic_load(&d->service.in_flight));
    value(w, "streams", "gauge", "Streams that clients have chosen.",
          atomic_load_explicit(&m->picks, memory_order_relaxed));
    counter(w, "stream_frames_total", "Frames encoded for the stream.", &m->stream_frames);
    counter(w, "stream_drops_total", "Frames dropped before they reached the stream socket.",
            &m->stream_drops);
    counter(w, "stream_stalls_total",
            "Times that a subscriber had 1,000 unread frames, so that later ones were lost.",
            &m->stream_stalls);
    counter(w, "unsent_total",
            "ZeroMQ answers dropped: the peer has disconnected or does not read.", &m->unsent);
    counter(w, "peers_refused_total", "ZeroMQ connections whose key may not connect.",
            &m->peers_refused);
    counter(w, "peers_cut_total", "ZeroMQ connections closed because of a limit or an unknown key.",
            &m->peers_cut);
    counter(w, "handshakes_failed_total", "ZeroMQ connections that did not complete the handshake.",
            &m->handshakes_failed);
    write_connections(d, w);
    counter(w, "lane_refused_total", "Connections of the lane refused because of the limit.",
            &m->lane_refused);
    counter(w, "lane_timeouts_total", "Connections of the lane ended for being too slow.",
            &m->lane_timeouts);
    write_readers(d->zmq, w);
    counter(w, "forces_total", "Frames accepted by the forces socket.", &m->forces);
    counter(w, "forces_late_total",
            "Force frames that arrived after the time from which they apply.", &m->forces_late);
    counter(w, "forces_refused_total", "Force frames refused.", &m->forces_refused);
    tally(w, "run_late_total", "Periods of paced runs that began more than half a period late.", m,
          offsetof(struct mechd_tally, late));
    tally(w, "run_overruns_total", "Periods of paced runs that began more than one period late.", m,
          offsetof(struct mechd_tally, overruns));
    write_http(m, w);
    value(w, "log_dropped_total", "counter", "Log lines dropped for lack of space.",
          (int64_t)mechd_log_dropped());
    mechd_accounts_metrics(&d->service.host.accounts, w);
    write_store(d->service.host.store, w);
    write_process(w);
}
