#include "server/daemon/watchdog.h"

#include "server/daemon/daemon.h"
#include "server/http/http.h"
#include "server/lane/lane.h"
#include "server/os/address.h"
#include "server/os/log.h"
#include "server/os/notify.h"
#include "server/os/thread.h"
#include "server/os/ticks.h"
#include "server/zmq/zmq.h"
#include "solver/base/err.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* owner: its thread; stop and socket locked by m. */
struct mechd_watchdog {
    struct mechd *daemon;
    uint64_t period; /* ns between two looks */
    pthread_t thread;
    pthread_mutex_t m;
    pthread_cond_t c;
    bool stop;
    int socket;     /* on which it asks, or -1; locked by m */
    uint64_t turns; /* of the ZeroMQ thread at the last look */
    struct mechd_task task;
    _Atomic bool queued; /* the task is in the pool; partner: run_task */
};

static void run_task(struct mechd_task *task)
{
    struct mechd_watchdog *w =
        (struct mechd_watchdog *)((char *)task - offsetof(struct mechd_watchdog, task));
    atomic_store(&w->queued, false);
}

/* The first HTTP address. False: it cannot be determined. */
static bool find_http(const struct mechd *d, struct sockaddr_storage *to, socklen_t *size)
{
    char host[MECHD_ADDRESS + 16];
    const char *address = mechd_http_address(d->http);
    if (strncmp(address, "unix:", 5) == 0) {
        return mechd_unix_address((struct sockaddr_un *)(void *)to, size, address + 5);
    }
    const char *at = mechd_address_host(address);
    const char *colon = strrchr(at, ':');
    if (colon == NULL || colon == at) {
        return false;
    }
    const bool v6 = at[0] == '[';
    snprintf(host, sizeof host, "%.*s", (int)(colon - at) - (v6 ? 2 : 0), at + (v6 ? 1 : 0));
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0) {
        return false;
    }
    memcpy(to, found->ai_addr, found->ai_addrlen);
    *size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

/* Ask over a connected socket. That something comes back shows that HTTP's threads turn: an answer,
 * the refusal of what is no TLS, or the end of a connection that is one too many. */
static bool ask_livez(int s)
{
    static const char request[] =
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char answer[16];
    return send(s, request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)sizeof request - 1 &&
           (recv(s, answer, sizeof answer, 0) >= 0 || errno == ECONNRESET);
}

/* True if HTTP answers within the period. The end shuts the socket down. */
static bool answers_http(struct mechd_watchdog *w)
{
    const struct timeval timeout = {.tv_sec = (time_t)(w->period / 1000000000u),
                                    .tv_usec = (long)(w->period % 1000000000u / 1000u)};
    struct sockaddr_storage to;
    socklen_t size = 0;
    const int s =
        find_http(w->daemon, &to, &size) ? socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (s < 0) {
        return false;
    }
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    pthread_mutex_lock(&w->m);
    w->socket = w->stop ? -1 : s;
    const bool go = !w->stop;
    pthread_mutex_unlock(&w->m);
    const bool good = go && connect(s, (const struct sockaddr *)&to, size) == 0 && ask_livez(s);
    pthread_mutex_lock(&w->m);
    w->socket = -1;
    pthread_mutex_unlock(&w->m);
    close(s);
    return good;
}

/* One look: has what the last one began come to its end? */
static bool is_alive(struct mechd_watchdog *w)
{
    const uint64_t turns = mechd_zmq_turns(w->daemon->zmq);
    const bool zmq = turns != w->turns;
    const bool pool = !atomic_load(&w->queued);
    const bool lane = mechd_lane_turns(w->daemon->lane);
    w->turns = turns;
    mechd_zmq_poke(w->daemon->zmq);
    if (pool) {
        atomic_store(&w->queued, true);
        w->task.run = run_task;
        mechd_pool_push(&w->daemon->service.host.pool, &w->task);
    }
    const bool http = answers_http(w);
    pthread_mutex_lock(&w->m);
    const bool stop = w->stop;
    pthread_mutex_unlock(&w->m);
    if (!stop && (!zmq || !pool || !http || !lane)) {
        mechd_log(MECHD_ERROR, "watchdog", "pool=%d zmq=%d http=%d lane=%d", pool, zmq, http, lane);
    }
    return zmq && pool && http && lane;
}

static void *look(void *context)
{
    struct mechd_watchdog *w = context;
    mechd_thread_name("mechd-watchdog");
    pthread_mutex_lock(&w->m);
    while (!w->stop) {
        pthread_mutex_unlock(&w->m);
        if (is_alive(w)) {
            mechd_notify("WATCHDOG=1");
        }
        const uint64_t until = mechd_now() + w->period;
        const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
                                   .tv_nsec = (long)(until % 1000000000u)};
        pthread_mutex_lock(&w->m);
        while (!w->stop && pthread_cond_timedwait(&w->c, &w->m, &t) == 0) {
        }
    }
    pthread_mutex_unlock(&w->m);
    return NULL;
}

int mechd_watchdog_start(struct mechd *d, struct mechd_watchdog **out)
{
    const char *text = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");
    const uint64_t patience = text != NULL ? strtoull(text, NULL, 10) : 0;
    *out = NULL;
    if (patience == 0 || (pid != NULL && strtol(pid, NULL, 10) != (long)getpid())) {
        return 0;
    }
    struct mechd_watchdog *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return MECH_NO_MEMORY;
    }
    w->daemon = d;
    w->socket = -1;
    w->turns = UINT64_MAX;
    w->period = (patience < UINT64_MAX / 1000 ? patience * 1000 : UINT64_MAX) / 3;
    pthread_mutex_init(&w->m, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->c, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&w->thread, NULL, look, w) != 0) {
        free(w);
        return MECH_INTERNAL;
    }
    *out = w;
    return 0;
}

void mechd_watchdog_stop(struct mechd_watchdog *w)
{
    if (w == NULL) {
        return;
    }
    pthread_mutex_lock(&w->m);
    w->stop = true;
    if (w->socket >= 0) {
        shutdown(w->socket, SHUT_RDWR);
    }
    pthread_cond_signal(&w->c);
    pthread_mutex_unlock(&w->m);
    pthread_join(w->thread, NULL);
}

void mechd_watchdog_free(struct mechd_watchdog *w)
{
    if (w != NULL) {
        pthread_cond_destroy(&w->c);
        pthread_mutex_destroy(&w->m);
        free(w);
    }
}
