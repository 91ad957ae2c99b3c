/* Sockets, and the thread that serves them. */
#include "server/zmq/zmq.h"

#include "server/call/service.h"
#include "server/os/thread.h"
#include "server/os/ticks.h"
#include "server/zmq/internal.h"
#include "server/zmq/stream.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

enum {
    FRAMES_MOST = 8,
    /* messages that wait for a peer: not changed later, because libzmq 4.3.4 would then write to
     * peers' ends that may be gone, and crash */
    MARK = 1000,
    BACKLOG = 256, /* connections that wait to be accepted */
    NAP_MS = 1000,
    WATCH_MS = 200, /* while there are connections */
    TURNS = 64,
    TURN_BYTES = MECHD_LARGE
};

static const uint64_t watch_ns = WATCH_MS * (uint64_t)MECHD_MS;

/* What each socket takes: bytes of a frame, frames that wait for each peer. A model goes to
 * control, a frame of inputs to forces, a topic to the stream. */
static const struct {
    uint64_t bytes;
    int frames;
} bounds[MECHD_ZMQ_SOCKETS] = {[MECHD_ZMQ_CONTROL] = {1 << 20, 64},
                               [MECHD_ZMQ_STREAM] = {4096, 1000},
                               [MECHD_ZMQ_FORCES] = {1 << 20, 1000}};

/* A request: peer, perhaps an empty frame, the body, perhaps one more. */
static void take_control(struct mechd_zmq *z, zmq_msg_t *frames, int count)
{
    struct mechd_peer peer = {.size = zmq_msg_size(&frames[0])};
    if (peer.size > MECHD_PEER_MOST || count < 2) {
        return;
    }
    memcpy(peer.id, zmq_msg_data(&frames[0]), peer.size);
    peer.delimiter = count > 2 && zmq_msg_size(&frames[1]) == 0;
    zmq_msg_t *body = &frames[peer.delimiter ? 2 : 1];
    const bool extra = body + 1 < frames + count;
    mechd_zap_key(z, body, &peer);
    mechd_guard_heard(z, MECHD_ZMQ_CONTROL, zmq_msg_get(body, ZMQ_SRCFD), &peer);
    struct mechd_asked asked = {.peer = &peer,
                                .bytes = zmq_msg_data(body),
                                .size = zmq_msg_size(body),
                                .extra = extra ? zmq_msg_data(body + 1) : NULL,
                                .extra_size = extra ? zmq_msg_size(body + 1) : 0,
                                .place = MECHD_AT_THE_DOOR};
    mechd_count(&mechd_tally(&z->service->host.counters)->bytes_in, asked.size);
    if (mechd_lines_take(&z->lines, &asked, body, extra ? body + 1 : NULL)) {
        return;
    }
    // a worker may have answered what the same partner has asked before
    mechd_letters_answer(z);
    if (mechd_asked_is_json(&asked)) {
        mechd_control_json(z, &asked);
    } else {
        mechd_control_frame(z, &asked);
    }
}

/* A frame of forces, or a subscription. */
static void take_one(struct mechd_zmq *z, enum mechd_zmq_socket which, zmq_msg_t *frame)
{
    struct mechd_peer peer = {.size = 0};
    const int descriptor = zmq_msg_get(frame, ZMQ_SRCFD);
    mechd_zap_key(z, frame, &peer);
    mechd_guard_heard(z, which, descriptor, &peer);
    if (which == MECHD_ZMQ_STREAM) {
        mechd_stream_subscription(z, zmq_msg_data(frame), zmq_msg_size(frame), descriptor);
    } else {
        mechd_forces_take(z, &peer, zmq_msg_data(frame), zmq_msg_size(frame));
    }
}

/* Take what a socket has, a bounded number of messages and bytes in a row: libzmq looks for peers
 * that have something new when the socket is polled, else every hundred messages only, and answers
 * of others wait meanwhile. False: there may be more. */
static bool serve(struct mechd_zmq *z, enum mechd_zmq_socket which)
{
    size_t bytes = 0;
    for (int turn = 0; turn < TURNS && bytes < TURN_BYTES; turn++) {
        zmq_msg_t frames[FRAMES_MOST];
        const int count = mechd_zmq_receive(z->sockets[which], frames, FRAMES_MOST);
        if (count == 0) {
            return true;
        }
        for (int k = 0; k < count; k++) {
            bytes += zmq_msg_size(&frames[k]);
        }
        if (which == MECHD_ZMQ_CONTROL) {
            take_control(z, frames, count);
        } else {
            take_one(z, which, &frames[0]);
        }
        for (int k = 0; k < count; k++) {
            zmq_msg_close(&frames[k]);
        }
    }
    return false;
}

/* The same for the stream's socket, which is shared with those who send there: all that waits is
 * noted before one more frame can be sent. */
static bool serve_stream(struct mechd_zmq *z)
{
    zmq_msg_t taken[TURNS];
    int n = 0;
    pthread_mutex_lock(&z->letters.x);
    while (n < TURNS && mechd_zmq_receive(z->sockets[MECHD_ZMQ_STREAM], &taken[n], 1) > 0) {
        const char *const bytes = zmq_msg_data(&taken[n]);
        const size_t size = zmq_msg_size(&taken[n]);
        if (size > 0 && (bytes[0] == 0 || bytes[0] == 1)) {
            mechd_readers_subscribed(z, zmq_msg_get(&taken[n], ZMQ_SRCFD), bytes[0] == 1, bytes + 1,
                                     size - 1);
        }
        n++;
    }
    pthread_mutex_unlock(&z->letters.x);
    for (int k = 0; k < n; k++) {
        take_one(z, MECHD_ZMQ_STREAM, &taken[k]);
        zmq_msg_close(&taken[k]);
    }
    return n < TURNS;
}

/* Wait until a descriptor is readable, or for as long as there may be nothing to look at. `has`: of
 * each socket whether it is to be looked at; *woken: another thread has something. False: the time
 * is over. */
static bool wait_for_news(struct mechd_zmq *z, bool has[MECHD_WATCHED], bool *woken)
{
    struct pollfd items[MECHD_WATCHED + 1];
    bool rests = z->rests;
    int links = 0;
    for (int k = 0; k < MECHD_WATCHED; k++) {
        items[k] = (struct pollfd){.fd = z->watched[k].descriptor, .events = POLLIN};
        rests = rests && !z->watched[k].unseen;
    }
    items[MECHD_WATCHED] = (struct pollfd){.fd = z->wake, .events = POLLIN};
    for (int k = 0; k < MECHD_ZMQ_SOCKETS; k++) {
        links += atomic_load(&z->guard.open[k]);
    }
    const int ready = poll(items, MECHD_WATCHED + 1, !rests ? 0 : links > 0 ? WATCH_MS : NAP_MS);
    const bool over = ready == 0 && rests;
    for (int k = 0; k < MECHD_WATCHED; k++) {
        has[k] = z->watched[k].descriptor >= 0 &&
                 (over || z->watched[k].unseen || (ready > 0 && items[k].revents != 0));
    }
    *woken = ready > 0 && items[MECHD_WATCHED].revents != 0;
    return !over;
}

/* More than a turn's messages wait: libzmq looks for peers that have something new. */
static void look_for_peers(void *socket)
{
    int events = 0;
    size_t size = sizeof events;
    (void)zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size);
}

/* Sleep until a socket, a monitor or another thread has something, and take it. */
static void turn(struct mechd_zmq *z)
{
    bool has[MECHD_WATCHED], woken = false;
    const bool news = wait_for_news(z, has, &woken);
    if (woken) {
        uint64_t ignored = 0;
        const ssize_t got = read(z->wake, &ignored, sizeof ignored);
        (void)got; // it wakes once more
    }
    if (has[MECHD_WATCH_ZAP]) {
        z->watched[MECHD_WATCH_ZAP].unseen = !mechd_zap_serve(z);
    }
    for (int k = 0; k < MECHD_ZMQ_SOCKETS; k++) {
        if (has[MECHD_WATCH_MONITORS + k]) {
            z->watched[MECHD_WATCH_MONITORS + k].unseen =
                !mechd_guard_serve(z, (enum mechd_zmq_socket)k);
        }
    }
    for (int k = 0; k < MECHD_ZMQ_SOCKETS; k++) {
        struct mechd_watched *const w = &z->watched[MECHD_WATCH_SOCKETS + k];
        if (k == MECHD_ZMQ_STREAM) {
            // its descriptor reports news once, and perhaps to those who send
            if (w->descriptor >= 0 && (has[MECHD_WATCH_SOCKETS + k] || woken || !news ||
                                       mechd_now() - z->served > watch_ns)) {
                z->served = mechd_now();
                w->unseen = !serve_stream(z);
            }
        } else if (has[MECHD_WATCH_SOCKETS + k]) {
            if (w->unseen) {
                look_for_peers(z->sockets[k]);
            }
            w->unseen = !serve(z, (enum mechd_zmq_socket)k);
        }
    }
    mechd_guard_sweep(z);
    mechd_readers_look(z);
    z->rests = mechd_letters_drain(z);
}

static void *work(void *context)
{
    struct mechd_zmq *z = context;
    mechd_thread_name("mechd-zmq");
    while (!atomic_load(&z->stop)) {
        turn(z);
        atomic_fetch_add_explicit(&z->turns, 1, memory_order_relaxed);
    }
    mechd_letters_drain(z);
    return NULL;
}

/* Bounds of a socket before it is bound: bytes of a frame, messages that wait, and for how long a
 * peer may be silent or half greeted. A ROUTER reports an answer that it cannot deliver; it does
 * not hand a routing id over to a second connection that claims it. */
static void bound(struct mechd_zmq *z, enum mechd_zmq_socket which, int type)
{
    const struct mechd_config *const c = &z->service->config;
    void *const socket = z->sockets[which];
    const uint64_t models = which == MECHD_ZMQ_CONTROL ? mechd_model_most(z->service) : 0;
    const uint64_t own = which == MECHD_ZMQ_STREAM ? 0 : (uint64_t)c->message_size << 20;
    const int64_t most = (int64_t)(own > 0 ? own : models + bounds[which].bytes);
    const struct {
        int option, value;
    } numbers[] = {{ZMQ_LINGER, 0},
                   {ZMQ_SNDHWM, MARK},
                   {ZMQ_RCVHWM, bounds[which].frames},
                   {ZMQ_TCP_KEEPALIVE, 1},
                   {ZMQ_BACKLOG, BACKLOG},
                   {ZMQ_HANDSHAKE_IVL, c->handshake_ms},
                   {ZMQ_HEARTBEAT_IVL, 1000 * c->heartbeat},
                   {ZMQ_HEARTBEAT_TIMEOUT, 2000 * c->heartbeat},
                   {ZMQ_HEARTBEAT_TTL, 3000 * c->heartbeat}};
    const int on = 1;
    z->largest[which] = (uint64_t)most;
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        zmq_setsockopt(socket, numbers[k].option, &numbers[k].value, sizeof numbers[k].value);
    }
    if (type == ZMQ_XPUB) {
        zmq_setsockopt(socket, ZMQ_XPUB_VERBOSE, &on, sizeof on);
        zmq_setsockopt(socket, ZMQ_XPUB_NODROP, &on, sizeof on);
    } else if (type == ZMQ_ROUTER) {
        zmq_setsockopt(socket, ZMQ_ROUTER_MANDATORY, &on, sizeof on);
    }
}

/* Bind a socket, of IPv6 only where the endpoint is. */
static int bind_socket(struct mechd_zmq *z, enum mechd_zmq_socket which, const char *endpoint,
                       char *fault, size_t size)
{
    const char *const option = mechd_zmq_socket_name(which);
    void *const socket = z->sockets[which];
    char numeric[MECHD_ADDRESS + 16];
    bool is_v6 = false;
    const char *const why = mechd_endpoint_resolve(endpoint, numeric, &is_v6);
    if (why != NULL && mechd_address_unknown(endpoint) != NULL) {
        mechd_address_fault(option, endpoint, EADDRNOTAVAIL, fault, size);
        return MECH_INTERNAL;
    }
    if (why != NULL) {
        mech_text_format(fault, size, "--%s %s: %s", option, endpoint, why);
        return MECH_INTERNAL;
    }
    const int on = is_v6;
    size_t room = sizeof z->endpoints[which];
    if (zmq_setsockopt(socket, ZMQ_IPV6, &on, sizeof on) != 0 || zmq_bind(socket, numeric) != 0 ||
        zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, z->endpoints[which], &room) != 0) {
        mechd_address_fault(option, endpoint, zmq_errno(), fault, size);
        return MECH_INTERNAL;
    }
    return 0;
}

/* Open and bind one socket. */
static int open_socket(struct mechd_zmq *z, enum mechd_zmq_socket which, int type,
                       const char *endpoint, char *fault, size_t size)
{
    if (strcmp(endpoint, "none") == 0) {
        return 0;
    }
    void *socket = zmq_socket(z->context, type);
    if (socket == NULL) {
        mech_text_format(fault, size, "cannot open a ZeroMQ socket: %s", zmq_strerror(zmq_errno()));
        return MECH_INTERNAL;
    }
    z->sockets[which] = socket;
    bound(z, which, type);
    if (mechd_guard_open(z, which) != 0) {
        mech_text_format(fault, size, "cannot watch a ZeroMQ socket: %s",
                         zmq_strerror(zmq_errno()));
        return MECH_INTERNAL;
    }
    MECH_TRY(mechd_zap_protect(z, which, fault, size));
    return bind_socket(z, which, endpoint, fault, size);
}

/* The descriptors of all sockets, each of which is looked at once. */
static int watch_all(struct mechd_zmq *z, char *fault, size_t size)
{
    void *sockets[MECHD_WATCHED] = {[MECHD_WATCH_ZAP] = z->zap};
    for (int k = 0; k < MECHD_ZMQ_SOCKETS; k++) {
        sockets[MECHD_WATCH_MONITORS + k] = z->guard.monitors[k];
        sockets[MECHD_WATCH_SOCKETS + k] = z->sockets[k];
    }
    for (int k = 0; k < MECHD_WATCHED; k++) {
        struct mechd_watched *const w = &z->watched[k];
        size_t wide = sizeof w->descriptor;
        *w = (struct mechd_watched){.descriptor = -1, .unseen = sockets[k] != NULL};
        if (sockets[k] != NULL && zmq_getsockopt(sockets[k], ZMQ_FD, &w->descriptor, &wide) != 0) {
            mech_text_format(fault, size, "cannot watch a ZeroMQ socket: %s",
                             zmq_strerror(zmq_errno()));
            return MECH_INTERNAL;
        }
    }
    return 0;
}

int mechd_zmq_open(struct mechd_service *d, struct mechd_zmq **out, char *fault, size_t size)
{
    struct mechd_zmq *z = calloc(1, sizeof *z);
    if (z == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = z;
    z->service = d;
    z->wake = -1;
    const int stocked = mechd_letters_init(&z->letters);
    mechd_lines_init(&z->lines, z);
    pthread_mutex_init(&z->s, NULL);
    MECH_TRY(stocked);
    MECH_TRY(mechd_readers_init(&z->readers));
    z->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    z->context = zmq_ctx_new();
    if (z->wake < 0 || z->context == NULL) {
        mech_text_format(fault, size, "cannot start ZeroMQ");
        return MECH_INTERNAL;
    }
    const struct mechd_config *c = &d->config;
    MECH_TRY(mechd_zap_open(z, fault, size));
    MECH_TRY(open_socket(z, MECHD_ZMQ_CONTROL, ZMQ_ROUTER, c->control, fault, size));
    MECH_TRY(open_socket(z, MECHD_ZMQ_STREAM, ZMQ_XPUB, c->stream, fault, size));
    MECH_TRY(open_socket(z, MECHD_ZMQ_FORCES, ZMQ_PULL, c->forces, fault, size));
    return watch_all(z, fault, size);
}

int mechd_zmq_run(struct mechd_zmq *z)
{
    z->running = pthread_create(&z->thread, NULL, work, z) == 0;
    return z->running ? 0 : MECH_INTERNAL;
}

const char *mechd_zmq_endpoint(const struct mechd_zmq *z, enum mechd_zmq_socket socket)
{
    return z != NULL ? z->endpoints[socket] : "";
}

void mechd_zmq_library(char *out, size_t size)
{
    int major = 0, minor = 0, patch = 0;
    zmq_version(&major, &minor, &patch);
    snprintf(out, size, "%d.%d.%d", major, minor, patch);
}

uint64_t mechd_zmq_turns(struct mechd_zmq *z)
{
    return atomic_load_explicit(&z->turns, memory_order_relaxed);
}

void mechd_zmq_recheck(struct mechd_zmq *z)
{
    atomic_store(&z->guard.recheck, true);
    mechd_zmq_poke(z);
}

int mechd_zmq_connections(struct mechd_zmq *z, enum mechd_zmq_socket socket)
{
    return z != NULL ? atomic_load(&z->guard.open[socket]) : 0;
}

int mechd_zmq_waiting(struct mechd_zmq *z)
{
    return z != NULL ? mechd_letters_waiting(&z->letters) : 0;
}

void mechd_zmq_stop(struct mechd_zmq *z)
{
    if (z == NULL) {
        return;
    }
    if (z->running) {
        const uint64_t one = 1;
        atomic_store(&z->stop, true);
        const ssize_t written = write(z->wake, &one, sizeof one);
        (void)written; // a full counter wakes as well
        pthread_join(z->thread, NULL);
    }
    mechd_guard_close(z);
    // the last answers go out
    mechd_letters_settle(&z->letters, (uint64_t)z->service->config.settle_ms * (uint64_t)MECHD_MS);
    for (int k = 0; k < MECHD_ZMQ_SOCKETS; k++) {
        if (z->sockets[k] != NULL) {
            zmq_close(z->sockets[k]);
        }
    }
    if (z->zap != NULL) {
        zmq_close(z->zap);
    }
    if (z->context != NULL) {
        zmq_ctx_term(z->context);
    }
    mechd_letters_fini(&z->letters);
    mechd_lines_fini(&z->lines);
    mechd_readers_fini(&z->readers);
    mechd_guard_fini(&z->guard);
    close(z->wake);
    pthread_mutex_destroy(&z->s);
    free(z);
}
