/* Start and end of the daemon.
 *
 * The end takes at most two seconds unless the options allow more: readiness goes off and new work
 * is refused; clocks stop, which ends runs and streams of events; calls in flight get --finish-ms;
 * then what has not begun is refused, and long commands are cancelled at their next slice; then the
 * pool and the threads of all doors are joined. Then what has changed and is not stored
 * yet is stored. What is stuck --stuck-ms after the cancellation (the building of a huge model, a
 * step without end) ends with the process: all but the instances that are being computed is stored,
 * for which the disk has --store-ms. The process has failed if a stored instance is being computed,
 * or if the disk did not take the rest.
 */
#include "server/daemon/daemon.h"

#include "protocol/wire/json.h"
#include "server/coupling/keep.h"
#include "server/daemon/metrics.h"
#include "server/daemon/operations.h"
#include "server/daemon/ready.h"
#include "server/daemon/watchdog.h"
#include "server/http/http.h"
#include "server/instance/durable.h"
#include "server/instance/expiry.h"
#include "server/instance/lives.h"
#include "server/lane/lane.h"
#include "server/os/ids.h"
#include "server/os/log.h"
#include "server/os/notify.h"
#include "server/os/shares.h"
#include "server/os/ticks.h"
#include "server/store/store.h"
#include "server/zmq/stream.h"
#include "server/zmq/zmq.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A time of the configuration, in ns. */
static uint64_t as_ns(int milliseconds)
{
    return (uint64_t)milliseconds * MECHD_MS;
}

/* What needs no thread, then threads and timers. */
static int start_host(struct mechd_host *h, const struct mechd_config *c, char *fault, size_t size)
{
    mechd_table_init(&h->table);
    mechd_table_init(&h->faces);
    mechd_accounts_init(&h->accounts);
    MECH_TRY(mechd_accounts_preset(&h->accounts, c->quota, fault, size));
    MECH_TRY(mechd_tokens_init(&h->tokens, c->tokens, fault, size));
    mechd_accounts_apply(&h->accounts, &h->tokens);
    mech_text_format(fault, size, "no threads or no memory");
    MECH_TRY(mechd_pool_init(&h->pool, c->workers));
    MECH_TRY(mechd_clock_init(&h->clock, 1));
    MECH_TRY(mechd_clock_init(&h->pace, c->workers));
    mechd_memory_init(&h->memory, &h->clock, &h->pool);
    mechd_reaper_init(&h->reaper, h, mechd_expire);
    return 0;
}

static int start_service(struct mechd *d, char *fault, size_t size)
{
    struct mechd_service *const s = &d->service;
    s->operations = mechd_operations;
    s->sweeps = &d->sweeps;
    mechd_sweeps_init(s->sweeps);
    s->couplings = &d->couplings;
    mechd_couplings_init(s->couplings);
    s->outsides = &d->outsides;
    mechd_outsides_init(s->outsides, &s->host.tokens);
    mechd_backgrounds_init(&s->backgrounds);
    mechd_fmus_init(&s->fmus);
    MECH_TRY(mechd_curve_init(&s->curve, s->config.curve_key, fault, size));
    MECH_TRY(mechd_tokens_init_keys(&s->peers, s->config.curve_clients, fault, size));
    mech_text_format(fault, size, "no threads or no memory");
    MECH_TRY(mechd_receipts_init(&s->receipts));
    const struct mechd_observer receipts = mechd_receipts_observer(&s->receipts);
    mechd_host_observe(&s->host, &receipts);
    return 0;
}

/* What the state directory holds. */
static int load(struct mechd_service *s, char *fault, size_t size)
{
    struct mechd_host *const h = &s->host;
    const bool stores = strcmp(s->config.state, "none") != 0;
    if (stores) {
        MECH_TRY(mechd_store_open(s->config.state, fault, size, &h->store));
    }
    h->incarnation = mechd_store_incarnation(h->store);
    mechd_lives_init(h);
    if (stores) {
        mech_text_format(fault, size, "the contents of %s cannot be loaded", s->config.state);
        MECH_TRY(mechd_recover(h));
        MECH_TRY(mechd_couplings_load(s));
        MECH_TRY(mechd_sweeps_load(s));
        MECH_TRY(mechd_receipts_load(s));
        s->backgrounds.serial = mechd_store_last(h->store, MECHD_NUMBER_OPERATION);
    } else {
        // nothing records what earlier processes have given
        mechd_ids_series(h->incarnation, h->series);
    }
    return 0;
}

/* Once the state directory is this process's own. */
static int open_fmus(struct mechd_service *s, char *fault, size_t size)
{
    const struct mechd_config *const c = &s->config;
    const char *const state = strcmp(c->state, "none") != 0 ? c->state : NULL;
    const struct mechd_fmu_settings limits = {.memory = (uint32_t)c->fmu_memory,
                                              .call_ms = (uint64_t)c->fmu_seconds * 1000};
    mechd_fmus_number(&s->fmus, s->host.store, s->host.series);
    return strcmp(c->fmus, "on") == 0
               ? mechd_fmus_open(&s->fmus, state, &limits, mechd_shares(c).fmus, fault, size)
               : 0;
}

static void write_metrics(void *daemon, struct mechp_text *w)
{
    mechd_metrics_write(daemon, w);
}

static int open_doors(struct mechd *d, char *fault, size_t size)
{
    struct mechd_service *const s = &d->service;
    MECH_TRY(mechd_zmq_open(s, &d->zmq, fault, size));
    if (d->zmq != NULL) {
        const struct mechd_observer stream = mechd_stream_observer(d->zmq);
        mechd_host_observe(&s->host, &stream);
    }
    MECH_TRY(mechd_http_start(s, &d->http, fault, size));
    MECH_TRY(mechd_lane_open(s, &d->lane, fault, size));
    s->self = (struct mechd_self){.http = mechd_http_address(d->http),
                                  .control = mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_CONTROL),
                                  .stream = mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_STREAM),
                                  .forces = mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_FORCES),
                                  .lane = mechd_lane_endpoint(d->lane),
                                  .libmicrohttpd = mechd_http_library(),
                                  .write_metrics = write_metrics,
                                  .daemon = d};
    mechd_zmq_library(s->self.zeromq, sizeof s->self.zeromq);
    MECH_TRY(mechd_lane_run(d->lane));
    return mechd_zmq_run(d->zmq);
}

int mechd_daemon_start(struct mechd *d, char *fault, size_t size)
{
    mechp_json_watch_memory();
    d->started = mechd_now();
    MECH_TRY(start_host(&d->service.host, &d->service.config, fault, size));
    MECH_TRY(start_service(d, fault, size));
    MECH_TRY(load(&d->service, fault, size));
    MECH_TRY(open_fmus(&d->service, fault, size));
    MECH_TRY(open_doors(d, fault, size));
    mechd_memory_started(&d->service.host.memory);
    if (mechd_watchdog_start(d, &d->watchdog) != 0) {
        mech_text_format(fault, size, "no thread for the watchdog");
        return MECH_INTERNAL;
    }
    // a client that has seen the ready file must find the server ready
    atomic_store(&d->service.ready, true);
    if (mechd_ready_write(d) != 0) {
        mech_text_format(fault, size, "cannot write the ready file %s: %s",
                         d->service.config.ready_file, strerror(errno));
        return MECH_INTERNAL;
    }
    return 0;
}

/* Wait until no call is in flight; false if there are some at `until`. */
static bool wait_for_calls(struct mechd *d, uint64_t until)
{
    const struct timespec nap = {.tv_nsec = MECHD_MS};
    while (atomic_load(&d->service.in_flight) > 0) {
        if (mechd_now() > until) {
            return false;
        }
        nanosleep(&nap, NULL);
    }
    return true;
}

/* Wait until no lane computes a period; false if one does at `until`. They end before the pool, to
 * which they may hand a period. */
static bool wait_for_lanes(struct mechd *d, uint64_t until)
{
    const struct timespec nap = {.tv_nsec = MECHD_MS};
    while (!mechd_clock_close(&d->service.host.pace)) {
        if (mechd_now() > until) {
            return false;
        }
        nanosleep(&nap, NULL);
    }
    return true;
}

/* Wait until no thread of the pool works; false if one does at `until`: runs and sweeps, which no
 * call waits for, can be in a step without end. */
static bool wait_for_pool(struct mechd *d, uint64_t until)
{
    const struct timespec nap = {.tv_nsec = MECHD_MS};
    while (!mechd_pool_stop(&d->service.host.pool)) {
        if (mechd_now() > until) {
            return false;
        }
        nanosleep(&nap, NULL);
    }
    return true;
}

/* Wait until what has been posted to the store is on the disk or refused; false after `most` ns. */
static bool wait_for_store(struct mechd *d, uint64_t most)
{
    const uint64_t until = mechd_now() + most;
    const struct timespec nap = {.tv_nsec = MECHD_MS};
    for (; d->service.host.store != NULL; nanosleep(&nap, NULL)) {
        const struct mechd_store_counts counts = mechd_store_counts(d->service.host.store);
        if (counts.records >= counts.posted) {
            return true;
        }
        if (mechd_now() > until) {
            return false;
        }
    }
    return true;
}

/* Threads are stuck in what cannot be cancelled: what they do not work on is stored, and they end
 * with the process, which has failed if anything is lost. */
static void end_stuck(struct mechd *d)
{
    const int held = mechd_couplings_flush(&d->couplings);
    const int computing = mechd_durable_flush(&d->service.host) + held;
    const bool stored = wait_for_store(d, as_ns(d->service.config.store_ms));
    mechd_log(MECHD_WARNING, "stuck", "calls=%d stored=%s not_stored_for_computing=%d",
              atomic_load(&d->service.in_flight), stored ? "yes" : "no", computing);
    _exit(computing == 0 && stored ? EXIT_SUCCESS : EXIT_FAILURE);
}

void mechd_daemon_stop(struct mechd *d)
{
    const uint64_t finish = mechd_now() + as_ns(d->service.config.finish_ms);
    const uint64_t stuck = finish + as_ns(d->service.config.stuck_ms);
    mechd_notify("STOPPING=1\nWATCHDOG=1\nSTATUS=finishing requests in progress");
    atomic_store(&d->service.ready, false);
    (void)mechd_stop_raise(&d->service.host.drain, MECHD_STOP_SHUTDOWN);
    mechd_watchdog_stop(d->watchdog);
    mechd_http_quiesce(d->http);
    mechd_clock_stop(&d->service.host.clock);
    (void)mechd_clock_close(&d->service.host.pace);
    (void)wait_for_calls(d, finish);
    (void)mechd_stop_raise(&d->service.host.stop, MECHD_STOP_SHUTDOWN);
    const bool done =
        wait_for_calls(d, stuck) && wait_for_lanes(d, stuck) && wait_for_pool(d, stuck);
    mechd_ready_remove(d);
    if (!done) {
        end_stuck(d);
    }
    mechd_pool_fini(&d->service.host.pool);
    mechd_watchdog_free(d->watchdog);
    mechd_outsides_close(&d->outsides);
    mechd_zmq_stop(d->zmq);
    mechd_lane_stop(d->lane);
    mechd_http_stop(d->http);
    (void)mechd_couplings_flush(&d->couplings);
    (void)mechd_durable_flush(&d->service.host);
    mechd_store_close(d->service.host.store);
    mechd_couplings_fini(&d->couplings);
    mechd_outsides_fini(&d->outsides);
    mechd_sweeps_fini(&d->sweeps);
    mechd_backgrounds_fini(&d->service.backgrounds);
    mechd_table_fini(&d->service.host.faces);
    mechd_table_fini(&d->service.host.table);
    mechd_fmus_fini(&d->service.fmus);
    mechd_accounts_fini(&d->service.host.accounts);
    mechd_receipts_fini(&d->service.receipts);
    mechd_tokens_fini(&d->service.host.tokens);
    mechd_tokens_fini(&d->service.peers);
    mechd_curve_fini(&d->service.curve);
    mechd_clock_fini(&d->service.host.pace);
    mechd_clock_fini(&d->service.host.clock);
    mechd_reaper_fini(&d->service.host.reaper);
    mechd_log(MECHD_INFO, "stopped", "seconds=%.3f", 1e-9 * (double)(mechd_now() - d->started));
}
