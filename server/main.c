/* mechd: reads the configuration, opens the doors, waits for a signal, and ends in order.
 *
 * The end takes at most two seconds: readiness goes off and new work is refused; clocks stop, which
 * ends runs and streams of events; calls in flight get 1.2 s; then long commands are cancelled at
 * their next slice and answered; then the pool, the ZeroMQ thread and the HTTP threads are joined.
 * What is stuck after that (the building of a huge model, say) ends with the process. Then what has
 * changed and not been stored is.
 */
#include "protocol/bind/bind.h"
#include "server/access.h"
#include "server/check.h"
#include "server/daemon.h"
#include "server/http/http.h"
#include "server/instance/durable.h"
#include "server/notify.h"
#include "server/ready.h"
#include "server/signals.h"
#include "server/store/store.h"
#include "server/ticks.h"
#include "server/zmq/zmq.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t finish_ns = 1200000000u;
static const uint64_t cancel_ns = 500000000u;

/* --print: a generated document on standard output. */
static int print_document(const char *what)
{
    struct mechp_text w;
    if (strcmp(what, "man") == 0) {
        mechd_config_manual();
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    mechp_text_init(&w, NULL, 0);
    if (mechp_bind_print(what, &w) != 0) {
        mechp_text_fini(&w);
        fprintf(stderr, "mechd: --print takes openapi, schema, types, errors or man\n");
        return EXIT_FAILURE;
    }
    const bool ok = !w.failed && fwrite(w.bytes, 1, w.length, stdout) == w.length;
    mechp_text_fini(&w);
    return ok && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Everything that needs no thread first, then the doors. 0, or a sentence. */
static int start(struct mechd *d, char *fault, size_t size)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    d->started = mechd_now();
    d->incarnation = (uint64_t)now.tv_sec << 20;
    mechd_table_init(&d->table);
    MECH_TRY(mechd_tokens_init(&d->tokens, d->config.tokens, fault, size));
    snprintf(fault, size, "no threads or no memory");
    MECH_TRY(mechd_receipts_init(&d->receipts));
    snprintf(fault, size, "no threads or no memory");
    MECH_TRY(mechd_pool_init(&d->pool, d->config.workers));
    MECH_TRY(mechd_clock_init(&d->clock));
    mechd_memory_init(&d->memory, &d->clock, &d->pool);
    if (strcmp(d->config.state, "none") != 0) {
        MECH_TRY(mechd_store_open(d->config.state, fault, size, &d->store));
        snprintf(fault, size, "what %s holds cannot be loaded", d->config.state);
        MECH_TRY(mechd_recover(d));
        MECH_TRY(mechd_receipts_load(&d->receipts, d->store));
    }
    MECH_TRY(mechd_zmq_open(d, &d->zmq, fault, size));
    MECH_TRY(mechd_http_start(d, &d->http, fault, size));
    MECH_TRY(mechd_zmq_run(d->zmq));
    if (mechd_ready_write(d) != 0) {
        snprintf(fault, size, "cannot write the ready file %s", d->config.ready_file);
        return MECH_INTERNAL;
    }
    atomic_store(&d->ready, true);
    snprintf(fault, size, "no thread for the watchdog");
    return mechd_watchdog_start(d, &d->watchdog);
}

/* Wait until no call is in flight; false after `most` ns. */
static bool wait_for_calls(struct mechd *d, uint64_t most)
{
    const uint64_t until = mechd_now() + most;
    const struct timespec nap = {.tv_nsec = MECHD_MS};
    while (atomic_load(&d->in_flight) > 0) {
        if (mechd_now() > until) {
            return false;
        }
        nanosleep(&nap, NULL);
    }
    return true;
}

static void stop(struct mechd *d)
{
    mechd_notify("STOPPING=1\nWATCHDOG=1\nSTATUS=finishing what is in flight");
    atomic_store(&d->ready, false);
    atomic_store(&d->draining, true);
    mechd_watchdog_stop(d->watchdog);
    mechd_http_quiesce(d->http);
    mechd_clock_stop(&d->clock);
    bool done = wait_for_calls(d, finish_ns);
    atomic_store(&d->cancel, true);
    done = done || wait_for_calls(d, cancel_ns);
    mechd_ready_remove(d);
    if (!done) {
        mechd_log(MECHD_WARNING, "stuck", "calls=%d", atomic_load(&d->in_flight));
        _exit(EXIT_SUCCESS);
    }
    mechd_pool_fini(&d->pool);
    mechd_watchdog_free(d->watchdog);
    mechd_zmq_stop(d->zmq);
    mechd_http_stop(d->http);
    mechd_durable_flush(d);
    mechd_store_close(d->store);
    mechd_table_fini(&d->table);
    mechd_receipts_fini(&d->receipts);
    mechd_tokens_fini(&d->tokens);
    mechd_clock_fini(&d->clock);
    mechd_log(MECHD_INFO, "stopped", "seconds=%.3f", 1e-9 * (double)(mechd_now() - d->started));
}

static void set_log(const struct mechd_config *c)
{
    mechd_log_set_level((enum mechd_level)mechd_log_level_find(c->log_level));
    mechd_access_set(c->access_log);
}

/* SIGHUP: files are read again; one with a fault changes nothing. Of the configuration, level and
 * access log count; all else holds until the next start. */
static void reload(struct mechd *d, int argc, char **argv)
{
    char fault[512];
    char quoted[512];
    struct mechd_config again;
    if (mechd_config_read(&again, argc, argv, fault, sizeof fault) != 0) {
        mechd_log(MECHD_ERROR, "reload", "reason=%s",
                  mechd_log_quote(quoted, sizeof quoted, fault));
    } else {
        set_log(&again);
    }
    if (mechd_tokens_reload(&d->tokens, d->config.tokens, fault, sizeof fault) != 0) {
        mechd_log(MECHD_ERROR, "reload", "reason=%s",
                  mechd_log_quote(quoted, sizeof quoted, fault));
    } else {
        mechd_log(MECHD_INFO, "reload", "tokens=%zu", d->tokens.count);
    }
}

static int serve(struct mechd *d, int argc, char **argv)
{
    char fault[512];
    char quoted[512];
    mech_blas_pin();
    if (mechd_signals_catch() != 0) {
        mechd_log(MECHD_ERROR, "failed", "reason=signals");
        return EXIT_FAILURE;
    }
    if (start(d, fault, sizeof fault) != 0) {
        mechd_log(MECHD_ERROR, "failed", "reason=%s",
                  mechd_log_quote(quoted, sizeof quoted, fault));
        // threads of what has been opened still run: the process takes them with it
        _exit(EXIT_FAILURE);
    }
    mechd_log(MECHD_INFO, "ready",
              "version=" MECHD_VERSION " pid=%d http=%s control=%s stream=%s forces=%s workers=%d",
              (int)getpid(), mechd_http_address(d->http),
              mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_CONTROL),
              mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_STREAM),
              mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_FORCES), d->config.workers);
    char lines[MECHD_ADDRESS + 64];
    snprintf(lines, sizeof lines, "READY=1\nSTATUS=serving %s", mechd_http_address(d->http));
    mechd_notify(lines);
    int number = mechd_signals_wait();
    for (; number == SIGHUP; number = mechd_signals_wait()) {
        mechd_notify_reloading();
        reload(d, argc, argv);
        mechd_notify(lines);
    }
    mechd_log(MECHD_INFO, "stopping", "signal=%d", number);
    stop(d);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    char fault[512];
    struct mechd *d = calloc(1, sizeof *d);
    int status = EXIT_FAILURE;
    if (d == NULL) {
        return EXIT_FAILURE;
    }
    if (mechd_config_read(&d->config, argc, argv, fault, sizeof fault) != 0) {
        fprintf(stderr, "mechd: %s\n", fault);
    } else if (d->config.action == MECHD_SAY_HELP) {
        mechd_config_help();
        status = EXIT_SUCCESS;
    } else if (d->config.action == MECHD_SAY_VERSION) {
        status = printf("mechd " MECHD_VERSION "\n") > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    } else if (d->config.action == MECHD_MAKE_TOKEN) {
        status = mechd_token_make(d->config.print, d->config.scopes, fault, sizeof fault) == 0
                     ? EXIT_SUCCESS
                     : EXIT_FAILURE;
        if (status != EXIT_SUCCESS) {
            fprintf(stderr, "mechd: %s\n", fault);
        }
    } else if (d->config.action == MECHD_PRINT) {
        status = print_document(d->config.print);
    } else if (d->config.check_config) {
        const bool sound = mechd_config_probe(&d->config) == 0;
        status = sound && printf("the configuration is sound\n") > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    } else {
        set_log(&d->config);
        status = serve(d, argc, argv);
    }
    free(d);
    return status;
}
