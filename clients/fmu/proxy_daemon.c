/* The daemon is a grandchild: its parent, the guard, ends it when the pipe to the importer is
 * closed, which the end of the importer does too. Between fork and exec only functions that are
 * safe there are called (signal-safety(7)), since the importer may have other threads. */
#include "clients/fmu/proxy_daemon.h"

#include <stdio.h>
#include <string.h>

#ifdef _WIN32
const char *mechfmu_daemon_start(struct mechfmu_daemon *d, const char *program, double timeout,
                                 char *why, size_t size)
{
    (void)d;
    (void)program;
    (void)timeout;
    snprintf(why, size, "no server can be started on Windows: set proxy:server");
    return NULL;
}

void mechfmu_daemon_stop(struct mechfmu_daemon *d)
{
    (void)d;
}
#else

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 10 };

/* In the child: the daemon beside it, until the pipe is closed. */
static void guard(int end, char *const arguments[])
{
    char byte;
    const pid_t daemon = fork();

    if (daemon == 0) {
        execvp(arguments[0], arguments);
        _exit(127);
    }
    if (daemon < 0) {
        _exit(126);
    }
    for (;;) {
        struct pollfd p = {.fd = end, .events = POLLIN};
        const int ready = poll(&p, 1, LOOK_MS * 10);

        if (waitpid(daemon, NULL, WNOHANG) == daemon) {
            _exit(1); /* by itself */
        }
        if (ready > 0 && read(end, &byte, 1) <= 0) {
            break;
        }
    }
    kill(daemon, SIGTERM);
    while (waitpid(daemon, NULL, 0) < 0 && errno == EINTR) {
    }
    _exit(0);
}

/* 0; else an errno. */
static int launch(struct mechfmu_daemon *d, char *const arguments[])
{
    int ends[2];

    if (pipe(ends) != 0) {
        return errno;
    }
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        guard(ends[0], arguments);
    }
    const int fault = errno;
    close(ends[0]);
    if (child < 0) {
        close(ends[1]);
        return fault;
    }
    d->pipe = ends[1];
    d->guard = (int)child;
    return 0;
}

/* Until the file is there, the daemon has ended, or the time is over. */
static int await_file(struct mechfmu_daemon *d, const char *path, double timeout)
{
    const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000L};

    for (double waited = 0.; waited < timeout; waited += LOOK_MS * 1e-3) {
        if (access(path, F_OK) == 0) {
            return 0;
        }
        if (waitpid((pid_t)d->guard, NULL, WNOHANG) != 0) {
            d->guard = 0;
            close(d->pipe);
            return -1;
        }
        nanosleep(&nap, NULL);
    }
    return -1;
}

static void remove_folder(const struct mechfmu_daemon *d)
{
    static const char *const names[] = {"http", "lane", "ready"};
    char path[96];

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snprintf(path, sizeof path, "%s/%s", d->folder, names[k]);
        unlink(path);
    }
    rmdir(d->folder);
}

const char *mechfmu_daemon_start(struct mechfmu_daemon *d, const char *program, double timeout,
                                 char *why, size_t size)
{
    char http[96], lane[96], ready[96];

    if (d->guard > 0 && waitpid((pid_t)d->guard, NULL, WNOHANG) == 0) {
        return d->endpoint;
    }
    if (d->guard > 0) {
        d->guard = 0; /* it has ended */
        close(d->pipe);
        mechfmu_daemon_stop(d);
    }
    snprintf(d->folder, sizeof d->folder, "/tmp/mechd-fmu-XXXXXX");
    if (!mkdtemp(d->folder)) {
        snprintf(why, size, "no folder can be made for the server: %s", strerror(errno));
        return NULL;
    }
    snprintf(http, sizeof http, "unix:%s/http", d->folder);
    snprintf(lane, sizeof lane, "unix:%s/lane", d->folder);
    snprintf(ready, sizeof ready, "%s/ready", d->folder);
    snprintf(d->endpoint, sizeof d->endpoint, "%s", lane);
    char *const name = strdup(program);
    const char *const list[] = {name,   "--listen",    http,    "--control",    "none", "--stream",
                                "none", "--forces",    "none",  "--lane",       lane,   "--state",
                                "none", "--log-level", "error", "--ready-file", ready,  NULL};
    char *arguments[sizeof list / sizeof *list];
    memcpy(arguments, list, sizeof list); /* execv takes no constant texts, and changes none */
    const int fault = name ? launch(d, arguments) : ENOMEM;
    if (fault != 0) {
        snprintf(why, size, "%.160s: %s", program, strerror(fault));
    } else if (await_file(d, ready, timeout) != 0) {
        snprintf(why, size, "%.160s has not started", program);
    } else {
        free(name);
        return d->endpoint;
    }
    free(name);
    mechfmu_daemon_stop(d);
    return NULL;
}

void mechfmu_daemon_stop(struct mechfmu_daemon *d)
{
    if (d->guard > 0) {
        close(d->pipe);
        while (waitpid((pid_t)d->guard, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (d->folder[0]) {
        remove_folder(d);
    }
    *d = (struct mechfmu_daemon){.folder = ""};
}
#endif
