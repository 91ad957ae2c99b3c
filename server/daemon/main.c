/* mechd: reads the configuration, starts the daemon (daemon.h), waits for a signal, and ends it. */
#include "protocol/bind/bind.h"
#include "server/call/access.h"
#include "server/daemon/check.h"
#include "server/daemon/configuration.h"
#include "server/daemon/daemon.h"
#include "server/http/http.h"
#include "server/os/log.h"
#include "server/os/notify.h"
#include "server/os/signals.h"
#include "server/os/ticks.h"
#include "server/zmq/zmq.h"
#include "solver/base/descriptors.h"
#include "solver/base/odd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All that has been printed has left; a lost part is a failure, and its reason is reported. */
static int printed(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return status;
    }
    fprintf(stderr, "mechd: standard output: %s\n",
            errno != 0 ? strerror(errno) : "it cannot be written");
    return EXIT_FAILURE;
}

/* What is wrong with the start, for people. */
static void say(const char *fault)
{
    char shown[1024];
    mech_text_show(shown, sizeof shown, fault);
    fprintf(stderr, "mechd: %s\n", shown);
}

/* --print: a generated document on standard output. */
static int print_document(const struct mechd_config *c)
{
    const char *const what = c->print;
    struct mechp_text w;
    if (strcmp(what, "man") == 0) {
        mechd_config_manual();
        return EXIT_SUCCESS;
    }
    if (mechd_config_complete(what) == 0) {
        return EXIT_SUCCESS;
    }
    if (strcmp(what, "settings") == 0) {
        mechd_config_print(c);
        return EXIT_SUCCESS;
    }
    mechp_text_init(&w, NULL, 0);
    if (mechp_bind_print(what, &w) != 0) {
        mechp_text_fini(&w);
        fprintf(stderr,
                "mechd: --print takes openapi, schema, types, errors, man, bash, zsh, fish or "
                "settings\n");
        return EXIT_FAILURE;
    }
    const bool ok = !w.failed && fwrite(w.bytes, 1, w.length, stdout) == w.length;
    mechp_text_fini(&w);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void set_log(const struct mechd_config *c)
{
    mechd_log_set_level((enum mechd_level)mechd_log_level_find(c->log_level));
    mechd_access_set(c->access_log);
}

/* SIGHUP: files are read again; one with a fault changes nothing. Of the configuration, level,
 * access log and quota count; all else holds until the next start. */
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
        if (mechd_accounts_preset(&d->service.host.accounts, again.quota, fault, sizeof fault) !=
            0) {
            mechd_log(MECHD_ERROR, "reload", "reason=%s",
                      mechd_log_quote(quoted, sizeof quoted, fault));
        }
        mechd_accounts_apply(&d->service.host.accounts, &d->service.host.tokens);
    }
    if (mechd_tokens_reload(&d->service.host.tokens, d->service.config.tokens, fault,
                            sizeof fault) != 0) {
        mechd_log(MECHD_ERROR, "reload", "reason=%s",
                  mechd_log_quote(quoted, sizeof quoted, fault));
    } else {
        mechd_accounts_apply(&d->service.host.accounts, &d->service.host.tokens);
        mechd_log(MECHD_INFO, "reload", "tokens=%zu", d->service.host.tokens.count);
    }
    if (mechd_tokens_reload(&d->service.peers, d->service.config.curve_clients, fault,
                            sizeof fault) != 0) {
        mechd_log(MECHD_ERROR, "reload", "reason=%s",
                  mechd_log_quote(quoted, sizeof quoted, fault));
    } else if (d->service.peers.needed) {
        mechd_log(MECHD_INFO, "reload", "keys=%zu", d->service.peers.count);
        mechd_zmq_recheck(d->zmq);
    }
    const int renewed = mechd_http_reload(d->http, fault, sizeof fault);
    if (renewed < 0) {
        mechd_log(MECHD_ERROR, "reload", "reason=%s",
                  mechd_log_quote(quoted, sizeof quoted, fault));
    } else if (renewed > 0) {
        mechd_log(MECHD_INFO, "reload", "certificates=%d", renewed);
    }
}

static int serve(struct mechd *d, int argc, char **argv)
{
    char fault[512];
    char quoted[512];
    mech_blas_pin();
    if (mechd_signals_catch() != 0) {
        mechd_log(MECHD_ERROR, "failed", "reason=\"cannot set up the handling of signals\"");
        return EXIT_FAILURE;
    }
    if (mechd_daemon_start(d, fault, sizeof fault) != 0) {
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
              mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_FORCES), d->service.config.workers);
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
    mechd_daemon_stop(d);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    char fault[512];
    mech_descriptors_hold();
    struct mechd *d = calloc(1, sizeof *d);
    int status = EXIT_FAILURE;
    mechd_signals_open();
    if (d == NULL) {
        return EXIT_FAILURE;
    }
    if (mechd_config_read(&d->service.config, argc, argv, fault, sizeof fault) != 0) {
        say(fault);
    } else if (d->service.config.action == MECHD_SAY_HELP) {
        mechd_config_help();
        status = EXIT_SUCCESS;
    } else if (d->service.config.action == MECHD_SAY_VERSION) {
        printf("mechd " MECHD_VERSION "\n");
        status = EXIT_SUCCESS;
    } else if (d->service.config.action == MECHD_MAKE_TOKEN ||
               d->service.config.action == MECHD_MAKE_KEY) {
        const bool key = d->service.config.action == MECHD_MAKE_KEY;
        status = (key ? mechd_curve_make : mechd_token_make)(
                     d->service.config.print, d->service.config.scopes, fault, sizeof fault) == 0
                     ? EXIT_SUCCESS
                     : EXIT_FAILURE;
        if (status != EXIT_SUCCESS) {
            say(fault);
        }
    } else if (d->service.config.action == MECHD_PRINT) {
        status = print_document(&d->service.config);
    } else if (d->service.config.check_config) {
        const bool sound = mechd_config_probe(&d->service.config) == 0;
        status = sound && printf("the configuration is valid\n") > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    } else {
        set_log(&d->service.config);
        status = serve(d, argc, argv);
    }
    free(d);
    return printed(status);
}
