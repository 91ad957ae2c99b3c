/* Listening, and the threads that serve connections. */
#define _GNU_SOURCE /* accept4 */
#include "server/lane/lane.h"

#include "server/lane/internal.h"
#include "server/os/listen.h"
#include "server/os/log.h"
#include "server/os/shares.h"
#include "server/os/thread.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 64, ACCEPTED = 64, LOOK_MS = 250, LARGEST = 64 << 20, REST_MS = 10 };
static const char tcp[] = "tcp://";

/* --- threads ---------------------------------------------------------------------------------- */

/* One more connection, for the thread whose turn it is. */
static void take(struct mechd_lane_door *l, int s)
{
    const int on = 1;
    struct mechd_lane_link *const link = calloc(1, sizeof *link);
    if (link == NULL) {
        close(s);
        return;
    }
    if (l->is_tcp) {
        setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    struct mechd_lane_thread *const t = &l->threads[l->turn++ % (unsigned)l->count];
    atomic_fetch_add(&l->open, 1);
    link->socket = s;
    link->thread = t;
    pthread_mutex_lock(&t->m);
    link->next = t->arrived;
    t->arrived = link;
    mechd_lane_wake(t);
    pthread_mutex_unlock(&t->m);
}

/* Take no connections until the next look, because there are no descriptors, or again. On the
 * accepting thread. */
static void rest(struct mechd_lane_door *l, bool rests)
{
    struct epoll_event event = {.events = rests ? 0 : EPOLLIN, .data.ptr = l};
    if (rests != l->rests) {
        l->rests = rests;
        (void)epoll_ctl(l->threads[0].epoll, EPOLL_CTL_MOD, l->listener, &event);
    }
}

/* A connection beyond the limit is closed as it is accepted. */
static void accept_some(struct mechd_lane_door *l)
{
    for (int k = 0; k < ACCEPTED; k++) {
        const int s = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (s < 0) {
            rest(l, errno != EAGAIN && errno != ECONNABORTED && errno != EINTR);
            return;
        }
        const int open = atomic_load(&l->open);
        l->is_full = l->is_full && open > l->most - l->most / 4;
        if (open < l->most && !mechd_host_stops(&l->service->host)) {
            take(l, s);
            continue;
        }
        close(s);
        mechd_count(&l->service->host.counters.lane_refused, 1);
        if (open >= l->most && !l->is_full) {
            l->is_full = true;
            mechd_log(MECHD_WARNING, "door-full", "door=lane connections=%d", l->most);
        }
    }
}

/* Work left by other threads: connections, and completed replies. */
static void take_news(struct mechd_lane_thread *t)
{
    uint64_t ignored = 0;
    const ssize_t got = read(t->wake, &ignored, sizeof ignored);
    (void)got; // it wakes once more
    pthread_mutex_lock(&t->m);
    struct mechd_lane_link *arrived = t->arrived, *answered = t->answered;
    struct mechd_lane_caller *const asking = t->asking;
    t->arrived = t->answered = t->last = NULL;
    t->asking = NULL;
    pthread_mutex_unlock(&t->m);
    while (arrived != NULL) {
        struct mechd_lane_link *const link = arrived;
        arrived = link->next;
        mechd_lane_meet(t, link);
    }
    while (answered != NULL) {
        struct mechd_lane_link *const link = answered;
        answered = link->next_answered;
        mechd_lane_answered(link);
    }
    mechd_lane_questions(t, asking, mechd_lane_put);
}

/* Does a peer still have to take an answer? */
static bool owes(const struct mechd_lane_thread *t)
{
    const struct mechd_lane_link *link = t->links;
    while (link != NULL && link->phase != MECHD_LANE_ANSWER) {
        link = link->next;
    }
    return link != NULL;
}

static void turn(struct mechd_lane_thread *t, int patience)
{
    struct epoll_event events[EVENTS];
    const int n = epoll_wait(t->epoll, events, EVENTS, patience);
    bool news = false;
    for (int k = 0; k < n; k++) {
        void *const of = events[k].data.ptr;
        if (of == t) {
            news = true;
        } else if (of == t->door) {
            accept_some(t->door);
        } else {
            mechd_lane_serve(of, events[k].events);
        }
    }
    if (news) {
        take_news(t);
    }
    const bool rests = t == t->door->threads && t->door->rests;
    if (t->limited || rests) {
        const uint64_t now = mechd_now();
        if (now - t->looked > LOOK_MS * (uint64_t)MECHD_MS) {
            mechd_lane_look(t, now);
            if (rests) {
                rest(t->door, false);
            }
        }
    }
    mechd_lane_bury(t);
    atomic_fetch_add_explicit(&t->turns, 1, memory_order_relaxed);
}

static void *work(void *context)
{
    struct mechd_lane_thread *const t = context;
    mechd_thread_name("mechd-lane");
    const uint64_t settle = (uint64_t)t->door->service->config.settle_ms * MECHD_MS;
    while (!atomic_load(&t->door->stop)) {
        const bool looks = t->limited || (t == t->door->threads && t->door->rests);
        turn(t, looks ? LOOK_MS : -1);
    }
    take_news(t);
    const uint64_t until = mechd_now() + settle;
    while (owes(t) && mechd_now() < until) {
        turn(t, REST_MS);
    }
    while (t->links != NULL) {
        mechd_lane_close(t->links);
    }
    mechd_lane_bury(t);
    return NULL;
}

/* --- open and stop ---------------------------------------------------------------------------- */

/* Listen; the endpoint is known from then on. -1 with errno. */
static int open_listener(struct mechd_lane_door *l, const char *text)
{
    struct mechd_hostport p;
    char port[MECHD_PORT] = "";
    const struct mechd_config *const c = &l->service->config;
    l->is_tcp = strncmp(text, tcp, sizeof tcp - 1) == 0;
    if (!l->is_tcp) {
        const char *const path = text + strlen("unix:");
        l->listener = mechd_listen_unix(path, (unsigned)strtoul(c->unix_mode, NULL, 8));
        if (l->listener >= 0) {
            snprintf(l->path, sizeof l->path, "%s", path);
        }
        snprintf(l->endpoint, sizeof l->endpoint, "%s", text);
    } else if (mechd_hostport_read(&p, text + sizeof tcp - 1) != NULL) {
        errno = EINVAL;
        l->listener = -1;
    } else {
        l->listener = mechd_listen_tcp(&p, port);
        snprintf(l->endpoint, sizeof l->endpoint, p.is_v6 ? "tcp://[%s]:%s" : "tcp://%s:%s",
                 p.host[0] != '\0' ? p.host : "0.0.0.0", port);
    }
    return l->listener;
}

static bool open_thread(struct mechd_lane_door *l, struct mechd_lane_thread *t)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = t};
    t->door = l;
    t->turned = UINT64_MAX;
    pthread_mutex_init(&t->m, NULL);
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return t->epoll >= 0 && t->wake >= 0 &&
           epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->wake, &event) == 0;
}

int mechd_lane_open(struct mechd_service *s, struct mechd_lane_door **out, char *fault, size_t size)
{
    const struct mechd_config *const c = &s->config;
    *out = NULL;
    if (strcmp(c->lane, "none") == 0) {
        return 0;
    }
    struct mechd_lane_door *const l = calloc(1, sizeof *l);
    if (l == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = l;
    l->service = s;
    l->most = mechd_shares(c).zmq;
    const size_t own = (size_t)c->message_size << 20;
    l->largest = own > 0 ? own : mechd_model_most(s) + MECHD_BODY_MOST;
    l->largest = l->largest < LARGEST ? l->largest : LARGEST;
    if (open_listener(l, c->lane) < 0) {
        mechd_address_fault("lane", c->lane, errno, fault, size);
        return MECH_INTERNAL;
    }
    bool ok = fcntl(l->listener, F_SETFL, O_NONBLOCK) == 0;
    const int wanted = c->workers < MECHD_LANE_THREADS ? c->workers : MECHD_LANE_THREADS;
    for (; ok && l->count < wanted; l->count++) {
        ok = open_thread(l, &l->threads[l->count]);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
    ok = ok && epoll_ctl(l->threads[0].epoll, EPOLL_CTL_ADD, l->listener, &event) == 0;
    if (!ok) {
        mech_text_format(fault, size, "cannot watch the lane: %s", strerror(errno));
    }
    return ok ? 0 : MECH_INTERNAL;
}

int mechd_lane_run(struct mechd_lane_door *l)
{
    while (l != NULL && l->running < l->count) {
        struct mechd_lane_thread *const t = &l->threads[l->running];
        if (pthread_create(&t->thread, NULL, work, t) != 0) {
            return MECH_INTERNAL;
        }
        l->running++;
    }
    return 0;
}

const char *mechd_lane_endpoint(const struct mechd_lane_door *l)
{
    return l != NULL ? l->endpoint : "";
}

int mechd_lane_connections(const struct mechd_lane_door *l)
{
    return l != NULL ? atomic_load(&l->open) : 0;
}

bool mechd_lane_turns(struct mechd_lane_door *l)
{
    bool all = true;
    for (int k = 0; l != NULL && k < l->count; k++) {
        struct mechd_lane_thread *const t = &l->threads[k];
        const uint64_t turns = atomic_load_explicit(&t->turns, memory_order_relaxed);
        all = all && turns != t->turned;
        t->turned = turns;
        mechd_lane_wake(t);
    }
    return all;
}

void mechd_lane_stop(struct mechd_lane_door *l)
{
    if (l == NULL) {
        return;
    }
    atomic_store(&l->stop, true);
    for (int k = 0; k < l->running; k++) {
        mechd_lane_wake(&l->threads[k]);
    }
    for (int k = 0; k < l->running; k++) {
        pthread_join(l->threads[k].thread, NULL);
    }
    for (int k = 0; k < l->count; k++) {
        struct mechd_lane_thread *const t = &l->threads[k];
        while (t->arrived != NULL) {
            struct mechd_lane_link *const link = t->arrived;
            t->arrived = link->next;
            close(link->socket);
            free(link);
        }
        close(t->epoll);
        close(t->wake);
        pthread_mutex_destroy(&t->m);
    }
    close(l->listener);
    if (l->path[0] != '\0') {
        unlink(l->path);
    }
    free(l);
}
