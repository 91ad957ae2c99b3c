/* Events of libzmq's monitor (zmq_socket_monitor(3): event u16 and value u32 in the first frame,
 * the address in the second), and what follows from them. Bytes received are the kernel's count
 * (TCP_INFO): a message whose frames never end shows nowhere else. */
#define _DEFAULT_SOURCE /* SO_ATTACH_FILTER */
#include "server/zmq/guard.h"

#include "server/call/service.h"
#include "server/os/log.h"
#include "server/os/ticks.h"
#include "server/zmq/internal.h"
#include "solver/base/err.h"

#include <linux/filter.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <zmq.h>

enum {
    EVENTS_IN_A_ROW = 256,
    DESCRIPTORS_MOST = 1 << 20,
    WINDOW_MOST = 1 << 30,
    REFUSED_MOST = 64
};
static const uint64_t sweep_ns = 200000000u;
static const uint64_t tell_ns = 1000000000u;
static const uint64_t gate_ns = 1000000000u;
/* beside the largest message: what waits in the kernel */
static const uint64_t slack = 16u << 20;

/* The link of a descriptor, or NULL. */
static struct mechd_zmq_link *link_of(struct mechd_guard *g, int descriptor)
{
    return descriptor >= 0 && (size_t)descriptor < g->room && g->links[descriptor].open
               ? &g->links[descriptor]
               : NULL;
}

/* True if the descriptor is a connection of this socket, whichever. */
static bool is_of(const struct mechd_zmq *z, enum mechd_zmq_socket door, int descriptor)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un path;
    } a = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t size = sizeof a;
    const char *const endpoint = z->endpoints[door];
    const char *const colon = strrchr(endpoint, ':');
    if (colon == NULL || getsockname(descriptor, &a.any, &size) != 0) {
        return false;
    }
    switch (a.any.sa_family) {
    case AF_INET:
        return ntohs(a.v4.sin_port) == strtol(colon + 1, NULL, 10);
    case AF_INET6:
        return ntohs(a.v6.sin6_port) == strtol(colon + 1, NULL, 10);
    case AF_UNIX:
        return strncmp(endpoint, "ipc://", 6) == 0 && strcmp(a.path.sun_path, endpoint + 6) == 0;
    default:
        return false;
    }
}

/* Shut a connection down; libzmq sees its end and frees what it held. `why`: for the log,
 * or NULL. */
static void cut(struct mechd_zmq *z, enum mechd_zmq_socket door, int descriptor, const char *why)
{
    char quoted[96];
    struct mechd_zmq_link *const link = &z->guard.links[descriptor];
    if (link->cut || !is_of(z, door, descriptor)) {
        return;
    }
    shutdown(descriptor, SHUT_RDWR);
    link->cut = true;
    mechd_memory_freed(&z->service->host.memory);
    mechd_count(&z->service->host.counters.peers_cut, 1);
    if (why != NULL && mechd_now() - z->guard.logged > tell_ns) {
        z->guard.logged = mechd_now();
        mechd_log(MECHD_WARNING, "peer-cut", "door=%s reason=%s", mechd_zmq_socket_name(door),
                  mechd_log_quote(quoted, sizeof quoted, why));
    }
}

int mechd_guard_open(struct mechd_zmq *z, enum mechd_zmq_socket door)
{
    static const int wanted = ZMQ_EVENT_LISTENING | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                              ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                              ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    char address[32];
    const int unbounded = 0; // libzmq's thread would wait for us: its events are taken each turn
    snprintf(address, sizeof address, "inproc://guard-%s", mechd_zmq_socket_name(door));
    z->guard.most = mechd_shares(&z->service->config).zmq;
    z->guard.gates[door].listener = -1;
    void *const monitor = zmq_socket(z->context, ZMQ_PAIR);
    z->guard.monitors[door] = monitor;
    const bool ok = monitor != NULL && zmq_socket_monitor(z->sockets[door], address, wanted) == 0 &&
                    zmq_setsockopt(monitor, ZMQ_RCVHWM, &unbounded, sizeof unbounded) == 0 &&
                    zmq_connect(monitor, address) == 0;
    return ok ? 0 : MECH_INTERNAL;
}

void mechd_guard_close(struct mechd_zmq *z)
{
    for (int k = 0; k < MECHD_ZMQ_SOCKETS; k++) {
        if (z->sockets[k] != NULL) {
            zmq_socket_monitor(z->sockets[k], NULL, 0);
        }
        if (z->guard.monitors[k] != NULL) {
            zmq_close(z->guard.monitors[k]);
        }
    }
}

void mechd_guard_fini(struct mechd_guard *g)
{
    for (size_t k = 0; k < g->room; k++) {
        mechd_backlog_unref(g->links[k].backlog);
    }
    free(g->links);
    *g = (struct mechd_guard){.links = NULL};
}

/* Room for a descriptor. */
static bool make_room(struct mechd_guard *g, int descriptor)
{
    const size_t needed = (size_t)descriptor + 1;
    if (needed > g->room) {
        const size_t room = needed + needed / 2 + 64;
        struct mechd_zmq_link *const more = realloc(g->links, room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        memset(more + g->room, 0, (room - g->room) * sizeof *more);
        g->links = more;
        g->room = room;
    }
    return true;
}

/* What was asked through it is not waited for any more. */
static void has_ended(const struct mechd_zmq_link *link)
{
    if (link->backlog != NULL) {
        (void)mechd_stop_raise(&link->backlog->gone, MECHD_STOP_GONE);
    }
}

/* Take connections at the socket that listens, or let the kernel drop what asks for one: it asks
 * again after a second, as TCP does. A Unix socket has no such filter. */
static void set_gate(struct mechd_gate *gate, bool is_open, uint64_t now)
{
    static struct sock_filter none[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    const struct sock_fprog program = {.len = 1, .filter = none};
    const int ignored = 0;
    gate->until = is_open ? 0 : now + gate_ns;
    (void)(is_open
               ? setsockopt(gate->listener, SOL_SOCKET, SO_DETACH_FILTER, &ignored, sizeof ignored)
               : setsockopt(gate->listener, SOL_SOCKET, SO_ATTACH_FILTER, &program,
                            sizeof program));
}

/* One connection too many. libzmq has accepted it, and its client comes again after 0.1 s: where
 * many do, the socket takes none for a second, so that neither thread turns for them alone. */
static void turn_away(struct mechd_zmq *z, enum mechd_zmq_socket door, int descriptor)
{
    struct mechd_gate *const gate = &z->guard.gates[door];
    const uint64_t now = mechd_now();
    cut(z, door, descriptor, NULL);
    if (!gate->is_full) {
        gate->is_full = true;
        mechd_log(MECHD_WARNING, "door-full", "door=%s connections=%d", mechd_zmq_socket_name(door),
                  z->guard.most);
    }
    if (now - gate->since > gate_ns) {
        gate->since = now;
        gate->refused = 0;
    }
    if (++gate->refused >= REFUSED_MOST && gate->until == 0 && gate->listener >= 0) {
        set_gate(gate, false, now);
    }
}

/* A second later the gate is opened; a door that is well below its bound has been full. */
static void look_at_gates(struct mechd_guard *g, uint64_t now)
{
    for (int k = 0; k < MECHD_ZMQ_SOCKETS; k++) {
        struct mechd_gate *const gate = &g->gates[k];
        if (gate->until != 0 && now > gate->until) {
            set_gate(gate, true, now);
        }
        gate->is_full = gate->is_full && atomic_load(&g->open[k]) > g->most - g->most / 4;
    }
}

static void accepted(struct mechd_zmq *z, enum mechd_zmq_socket door, int descriptor)
{
    struct mechd_guard *const g = &z->guard;
    if (descriptor < 0 || descriptor >= DESCRIPTORS_MOST || !make_room(g, descriptor)) {
        return;
    }
    struct mechd_zmq_link *const link = &g->links[descriptor];
    if (link->open) {
        // the end of the previous one is an event of another socket's monitor, and comes later
        has_ended(link);
        atomic_fetch_sub(&g->open[link->door], 1);
    }
    mechd_backlog_unref(link->backlog);
    *link = (struct mechd_zmq_link){.open = true, .door = door, .serial = link->serial + 1};
    if (atomic_fetch_add(&g->open[door], 1) >= g->most) {
        turn_away(z, door, descriptor);
    }
}

static void disconnected(struct mechd_zmq *z, enum mechd_zmq_socket door, int descriptor)
{
    struct mechd_zmq_link *const link = link_of(&z->guard, descriptor);
    if (link != NULL && link->door == door) {
        link->open = false;
        has_ended(link);
        atomic_fetch_sub(&z->guard.open[door], 1);
        if (link->cut) {
            mechd_memory_freed(&z->service->host.memory);
        }
    }
}

bool mechd_guard_serve(struct mechd_zmq *z, enum mechd_zmq_socket door)
{
    zmq_msg_t frames[2];
    for (int turn = 0; turn < EVENTS_IN_A_ROW; turn++) {
        const int count = mechd_zmq_receive(z->guard.monitors[door], frames, 2);
        if (count == 0) {
            return true;
        }
        uint16_t event = 0;
        uint32_t value = 0;
        if (zmq_msg_size(&frames[0]) == sizeof event + sizeof value) {
            const char *const bytes = zmq_msg_data(&frames[0]);
            memcpy(&event, bytes, sizeof event);
            memcpy(&value, bytes + sizeof event, sizeof value);
        }
        if (event == ZMQ_EVENT_LISTENING) {
            z->guard.gates[door].listener = (int)value;
        } else if (event == ZMQ_EVENT_ACCEPTED) {
            accepted(z, door, (int)value);
        } else if (event == ZMQ_EVENT_DISCONNECTED) {
            disconnected(z, door, (int)value);
        } else if (event != 0) {
            mechd_count(&z->service->host.counters.handshakes_failed, 1);
        }
        for (int k = 0; k < count; k++) {
            zmq_msg_close(&frames[k]);
        }
    }
    return false;
}

/* What a peer may send before we acknowledge that we have read it: so little that it waits, or as
 * much as the kernel finds right. What has been granted is not taken back, and the kernel widens a
 * window when it enlarges its buffer: so it is set again with every large request. */
static void set_window(struct mechd_zmq *z, int descriptor, bool slowed)
{
    const int window = slowed ? 1 : WINDOW_MOST; // the kernel takes the smallest that it can
    struct mechd_zmq_link *const link = &z->guard.links[descriptor];
    if ((slowed || link->slowed) && is_of(z, link->door, descriptor)) {
        (void)setsockopt(descriptor, IPPROTO_TCP, TCP_WINDOW_CLAMP, &window, sizeof window);
    }
    link->slowed = slowed;
}

/* Bytes that the kernel has received; 0: not known. */
static uint64_t received(int descriptor)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0
               ? info.tcpi_bytes_received
               : 0;
}

/* Bytes of a message that is not whole yet. */
static uint64_t parts_of(struct mechd_zmq_link *link, int descriptor)
{
    const uint64_t now = received(descriptor);
    if (link->heard || now < link->base) {
        link->base = now;
        link->heard = false;
    }
    return now - link->base;
}

/* A key may have lost its line, or its scope. */
static bool is_known(struct mechd_zmq *z, const struct mechd_zmq_link *link)
{
    struct mechd_token who;
    return !link->has_key || (mechd_tokens_find_key(&z->service->peers, link->key, &who) &&
                              who.scope >= mechd_zap_needs(link->door));
}

void mechd_guard_sweep(struct mechd_zmq *z)
{
    struct mechd_guard *const g = &z->guard;
    const uint64_t now = mechd_now();
    const bool recheck = atomic_exchange(&g->recheck, false);
    if (now - g->swept < sweep_ns && !recheck) {
        return;
    }
    g->swept = now;
    look_at_gates(g, now);
    uint64_t all = 0, largest = 0;
    int hoarder = -1;
    for (size_t k = 0; k < g->room; k++) {
        struct mechd_zmq_link *const link = &g->links[k];
        if (!link->open) {
            continue;
        }
        if (recheck && !is_known(z, link)) {
            cut(z, link->door, (int)k, "its key is no longer known");
            continue;
        }
        if (link->slowed && atomic_load(&link->backlog->asked) < mechd_asked_slow / 2) {
            set_window(z, (int)k, false);
        }
        const uint64_t parts = parts_of(link, (int)k);
        if (parts > slack + 4 * z->largest[link->door]) {
            cut(z, link->door, (int)k, "an unfinished message is too large");
            continue;
        }
        all += parts;
        if (parts > largest) {
            largest = parts;
            hoarder = (int)k;
        }
    }
    if (all > mechd_parts_most && hoarder >= 0) {
        cut(z, g->links[hoarder].door, hoarder, "unfinished messages take too much memory");
    }
}

void mechd_guard_heard(struct mechd_zmq *z, enum mechd_zmq_socket door, int descriptor,
                       struct mechd_peer *peer)
{
    struct mechd_zmq_link *link = link_of(&z->guard, descriptor);
    if (link == NULL) {
        // accepted since the monitor was looked at last
        mechd_guard_serve(z, door);
        link = link_of(&z->guard, descriptor);
    }
    if (link == NULL || link->door != door) {
        peer->left = descriptor >= 0 && (size_t)descriptor < z->guard.room && link == NULL &&
                     z->guard.links[descriptor].serial > 0 &&
                     z->guard.links[descriptor].door == door;
        return;
    }
    link->heard = true;
    peer->descriptor = descriptor;
    peer->serial = link->serial;
    if (peer->has_key && !link->has_key) {
        memcpy(link->key, peer->key, sizeof link->key);
        link->has_key = true;
    }
}

uint32_t mechd_guard_serial(struct mechd_zmq *z, int descriptor)
{
    const struct mechd_zmq_link *const link = link_of(&z->guard, descriptor);
    return link != NULL && link->door == MECHD_ZMQ_STREAM && is_of(z, link->door, descriptor)
               ? link->serial
               : 0;
}

bool mechd_guard_subscribed(struct mechd_zmq *z, int descriptor, bool subscribe, bool whole)
{
    struct mechd_zmq_link *const link = link_of(&z->guard, descriptor);
    if (link == NULL || link->door != MECHD_ZMQ_STREAM) {
        return true;
    }
    int *const count = whole ? &link->topics : &link->prefixes;
    *count += subscribe ? 1 : -1;
    if (subscribe && *count > (whole ? MECHD_TOPICS_MOST : MECHD_PREFIXES_MOST)) {
        cut(z, link->door, descriptor, "too many subscriptions");
        return false;
    }
    return true;
}

void mechd_guard_full(struct mechd_zmq *z, const struct mechd_peer *peer)
{
    const struct mechd_zmq_link *const link = link_of(&z->guard, peer->descriptor);
    if (link != NULL && link->serial == peer->serial) {
        cut(z, link->door, peer->descriptor, "it does not read its answers");
    }
}

/* Where a peer's connection counts what it leaves open; NULL: it is not known, or has ended. */
static struct mechd_backlog *backlog_of(struct mechd_guard *g, const struct mechd_peer *peer)
{
    struct mechd_zmq_link *const link = link_of(g, peer->descriptor);
    if (link == NULL || link->serial != peer->serial) {
        return NULL;
    }
    if (link->backlog == NULL) {
        link->backlog = calloc(1, sizeof *link->backlog);
        if (link->backlog != NULL) {
            atomic_init(&link->backlog->refs, 1);
        }
    }
    return link->backlog;
}

bool mechd_guard_unread(struct mechd_zmq *z, const struct mechd_peer *peer,
                        struct mechd_backlog **backlog)
{
    *backlog = backlog_of(&z->guard, peer);
    if (*backlog != NULL && atomic_load(&(*backlog)->bytes) > mechd_unread_most) {
        mechd_guard_full(z, peer);
        return false;
    }
    return true;
}

bool mechd_guard_call(struct mechd_zmq *z, const struct mechd_peer *peer, size_t room,
                      struct mechd_backlog **backlog)
{
    *backlog = backlog_of(&z->guard, peer);
    if (*backlog == NULL) {
        return true;
    }
    atomic_fetch_add(&(*backlog)->refs, 1);
    // both are raised on this thread alone
    const size_t before = atomic_fetch_add(&(*backlog)->asked, room);
    if (before > 0 && before + room > mechd_asked_slow && room > MECHD_LARGE) {
        set_window(z, peer->descriptor, true);
    }
    const bool much =
        room > MECHD_LARGE + MECHD_ASKED_ROOM && before > 0 && before + room > mechd_asked_most;
    if (atomic_fetch_add(&(*backlog)->calls, 1) >= MECHD_CALLS_MOST || much) {
        mechd_guard_called(*backlog, room);
        *backlog = NULL;
        return false;
    }
    return true;
}

void mechd_guard_called(struct mechd_backlog *backlog, size_t room)
{
    if (backlog != NULL) {
        atomic_fetch_sub(&backlog->asked, room);
        atomic_fetch_sub(&backlog->calls, 1);
        mechd_backlog_unref(backlog);
    }
}

struct mechd_backlog *mechd_guard_backlog(struct mechd_zmq *z, const struct mechd_peer *peer)
{
    return mechd_backlog_ref(backlog_of(&z->guard, peer));
}

const struct mechd_stop *mechd_guard_gone(const struct mechd_peer *peer,
                                          const struct mechd_backlog *backlog)
{
    static const struct mechd_stop gone = {.reason = MECHD_STOP_GONE};
    return backlog != NULL ? &backlog->gone : peer->left ? &gone : NULL;
}

struct mechd_backlog *mechd_backlog_ref(struct mechd_backlog *o)
{
    if (o != NULL) {
        atomic_fetch_add(&o->refs, 1);
    }
    return o;
}

void mechd_backlog_unref(struct mechd_backlog *o)
{
    if (o != NULL && atomic_fetch_sub(&o->refs, 1) == 1) {
        free(o);
    }
}
