/* Start and end of the daemon.
 *
 * The end takes at most two seconds: readiness goes off and new work is refused; clocks stop, which
 * ends runs and streams of events; calls in flight get 1.2 s; then what has not begun is refused,
 * and long commands are cancelled at their next slice; then the pool, the ZeroMQ thread and the
 * HTTP threads are joined. Then what has changed and not been stored is. What is stuck 1.7 s after
 * the beginning (the building of a huge model, a step without end) ends with the process: all but
 * the instances that are being computed is stored, for which the disk has 5 s. The process has
 * failed if a stored instance is being computed, or if the disk did not take the rest.
 */
#include "server/daemon.h"

#include "protocol/wire/json.h"
#include "server/http/http.h"
#include "server/instance/durable.h"
#include "server/log.h"
#include "server/notify.h"
#include "server/ready.h"
#include "server/store/store.h"
#include "server/ticks.h"
#include "server/zmq/zmq.h"
#include "solver/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const uint64_t finish_ns = 1200000000u;
static const uint64_t stuck_ns = 1700000000u;
static const uint64_t store_ns = 5000000000u;

int mechd_daemon_start(struct mechd *d, char *fault, size_t size)
{
    mechp_json_watch_memory();
    d->started = mechd_now();
    mechd_table_init(&d->table);
    mechd_sweeps_init(&d->sweeps);
    mechd_backgrounds_init(&d->backgrounds);
    mechd_accounts_init(&d->accounts);
    MECH_TRY(mechd_accounts_preset(&d->accounts, d->config.quota, fault, size));
    MECH_TRY(mechd_tokens_init(&d->tokens, d->config.tokens, fault, size));
    mechd_accounts_apply(&d->accounts, &d->tokens);
    MECH_TRY(mechd_curve_init(&d->curve, d->config.curve_key, fault, size));
    MECH_TRY(mechd_tokens_init_keys(&d->peers, d->config.curve_clients, fault, size));
    snprintf(fault, size, "no threads or no memory");
    MECH_TRY(mechd_receipts_init(&d->receipts));
    snprintf(fault, size, "no threads or no memory");
    MECH_TRY(mechd_pool_init(&d->pool, d->config.workers));
    MECH_TRY(mechd_clock_init(&d->clock));
    mechd_memory_init(&d->memory, &d->clock, &d->pool);
    mechd_reaper_init(&d->reaper, d);
    const bool stores = strcmp(d->config.state, "none") != 0;
    if (stores) {
        MECH_TRY(mechd_store_open(d->config.state, fault, size, &d->store));
    }
    d->incarnation = mechd_store_incarnation(d->store);
    if (stores) {
        snprintf(fault, size, "what %s holds cannot be loaded", d->config.state);
        MECH_TRY(mechd_recover(d));
        MECH_TRY(mechd_sweeps_load(d));
        MECH_TRY(mechd_receipts_load(d));
        d->backgrounds.serial = mechd_store_last(d->store, MECHD_NUMBER_OPERATION);
    }
    MECH_TRY(mechd_zmq_open(d, &d->zmq, fault, size));
    MECH_TRY(mechd_http_start(d, &d->http, fault, size));
    MECH_TRY(mechd_zmq_run(d->zmq));
    // who has seen the ready file finds it ready
    atomic_store(&d->ready, true);
    if (mechd_ready_write(d) != 0) {
        snprintf(fault, size, "cannot write the ready file %s: %s", d->config.ready_file,
                 strerror(errno));
        return MECH_INTERNAL;
    }
    mechd_memory_started(&d->memory);
    snprintf(fault, size, "no thread for the watchdog");
    return mechd_watchdog_start(d, &d->watchdog);
}

/* Wait until no call is in flight; false if there are some at `until`. */
static bool wait_for_calls(struct mechd *d, uint64_t until)
{
    const struct timespec nap = {.tv_nsec = MECHD_MS};
    while (atomic_load(&d->in_flight) > 0) {
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
    while (!mechd_pool_stop(&d->pool)) {
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
    for (; d->store != NULL; nanosleep(&nap, NULL)) {
        const struct mechd_store_counts counts = mechd_store_counts(d->store);
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
    const int computing = mechd_durable_flush(d);
    const bool stored = wait_for_store(d, store_ns);
    mechd_log(MECHD_WARNING, "stuck", "calls=%d stored=%s not_stored_for_computing=%d",
              atomic_load(&d->in_flight), stored ? "yes" : "no", computing);
    _exit(computing == 0 && stored ? EXIT_SUCCESS : EXIT_FAILURE);
}

void mechd_daemon_stop(struct mechd *d)
{
    const uint64_t begin = mechd_now();
    mechd_notify("STOPPING=1\nWATCHDOG=1\nSTATUS=finishing what is in flight");
    atomic_store(&d->ready, false);
    atomic_store(&d->draining, true);
    mechd_watchdog_stop(d->watchdog);
    mechd_http_quiesce(d->http);
    mechd_clock_stop(&d->clock);
    (void)wait_for_calls(d, begin + finish_ns);
    atomic_store(&d->cancel, true);
    // who reads could go on for ever, and would meet a pool and a door that are gone
    atomic_store(&d->closed, true);
    const bool done = wait_for_calls(d, begin + stuck_ns) && wait_for_pool(d, begin + stuck_ns);
    mechd_ready_remove(d);
    if (!done) {
        end_stuck(d);
    }
    mechd_pool_fini(&d->pool);
    mechd_watchdog_free(d->watchdog);
    mechd_zmq_stop(d->zmq);
    mechd_http_stop(d->http);
    (void)mechd_durable_flush(d);
    mechd_store_close(d->store);
    mechd_sweeps_fini(&d->sweeps);
    mechd_backgrounds_fini(&d->backgrounds);
    mechd_table_fini(&d->table);
    mechd_accounts_fini(&d->accounts);
    mechd_receipts_fini(&d->receipts);
    mechd_tokens_fini(&d->tokens);
    mechd_tokens_fini(&d->peers);
    mechd_curve_fini(&d->curve);
    mechd_clock_fini(&d->clock);
    mechd_reaper_fini(&d->reaper);
    mechd_log(MECHD_INFO, "stopped", "seconds=%.3f", 1e-9 * (double)(mechd_now() - d->started));
}
