/* Sockets, outbox and the thread between them. */
#include "server/zmq/zmq.h"

#include "server/daemon.h"
#include "server/zmq/internal.h"
#include "server/zmq/stream.h"
#include "solver/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

enum { FRAMES_MOST = 8, STREAM_MARK = 1000, NAP_MS = 1000, TURNS = 64 };

/* What each socket takes: bytes of a frame, frames that wait for each peer. A model goes to
 * control, a frame of inputs to forces, a topic to the stream. */
static const struct {
    int64_t bytes;
    int frames;
} bounds[MECHD_ZMQ_SOCKETS] = {[MECHD_ZMQ_CONTROL] = {1 << 20, 64},
                               [MECHD_ZMQ_STREAM] = {4096, 1000},
                               [MECHD_ZMQ_FORCES] = {1 << 20, 1000}};

struct mechd_letter *mechd_letter_create(size_t size, size_t extra)
{
    struct mechd_letter *letter = calloc(1, sizeof *letter + size + extra);
    if (letter != NULL) {
        letter->size = size;
        letter->extra = extra;
    }
    return letter;
}

void mechd_letter_post(struct mechd_zmq *z, struct mechd_letter *letter)
{
    pthread_mutex_lock(&z->m);
    const bool drop = letter->stream && z->waiting >= MECHD_OUTBOX_MOST;
    const bool first = z->head == NULL;
    if (!drop) {
        letter->next = NULL;
        if (first) {
            z->head = letter;
        } else {
            z->tail->next = letter;
        }
        z->tail = letter;
        z->waiting++;
    }
    pthread_mutex_unlock(&z->m);
    if (drop) {
        mechd_count(&z->daemon->metrics.stream_drops, 1);
        free(letter);
    } else if (first) {
        const uint64_t one = 1;
        const ssize_t written = write(z->wake, &one, sizeof one);
        (void)written; // a full counter wakes as well
    }
}

/* One frame; false: the peer is gone or does not read. */
static bool send_frame(void *socket, const void *bytes, size_t size, bool more)
{
    return zmq_send(socket, bytes, size, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) >= 0;
}

void mechd_letter_send(struct mechd_zmq *z, struct mechd_letter *letter)
{
    void *socket = z->sockets[letter->stream ? MECHD_ZMQ_STREAM : MECHD_ZMQ_CONTROL];
    const bool extra = letter->extra > 0;
    bool ok = socket != NULL;
    if (letter->stream) {
        ok = ok && send_frame(socket, letter->topic, strlen(letter->topic), true);
    } else {
        ok = ok && send_frame(socket, letter->peer.id, letter->peer.size, true) &&
             (!letter->peer.delimiter || send_frame(socket, "", 0, true));
    }
    ok = ok && send_frame(socket, letter->bytes, letter->size, extra) &&
         (!extra || send_frame(socket, letter->bytes + letter->size, letter->extra, false));
    if (ok) {
        mechd_count(&z->daemon->metrics.bytes_out, letter->size + letter->extra);
    } else {
        mechd_count(&z->daemon->metrics.unsent, 1);
    }
    free(letter);
}

/* Send everything in the outbox. */
static void drain_outbox(struct mechd_zmq *z)
{
    uint64_t ignored = 0;
    const ssize_t got = read(z->wake, &ignored, sizeof ignored);
    (void)got; // nothing to read is fine
    pthread_mutex_lock(&z->m);
    struct mechd_letter *letter = z->head;
    z->head = NULL;
    z->tail = NULL;
    z->waiting = 0;
    pthread_mutex_unlock(&z->m);
    while (letter != NULL) {
        struct mechd_letter *next = letter->next;
        mechd_letter_send(z, letter);
        letter = next;
    }
}

/* One multipart message without waiting; frames beyond the most are dropped. 0: there is none. */
static int receive(void *socket, zmq_msg_t *frames)
{
    int count = 0;
    int more = 1;
    while (more) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&frame);
            break;
        }
        more = zmq_msg_more(&frame);
        if (count < FRAMES_MOST) {
            frames[count++] = frame;
        } else {
            zmq_msg_close(&frame);
        }
    }
    return count;
}

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
    const char *bytes = zmq_msg_data(body);
    const size_t size = zmq_msg_size(body);
    mechd_count(&z->daemon->metrics.bytes_in, size);
    if (size > 0 && bytes[0] == '{') {
        mechd_control_json(z, &peer, bytes, size);
    } else {
        mechd_control_frame(z, &peer, bytes, size, extra ? zmq_msg_data(body + 1) : NULL,
                            extra ? zmq_msg_size(body + 1) : 0);
    }
}

/* Take what a socket has, a bounded number of messages in a row. */
static void serve(struct mechd_zmq *z, enum mechd_zmq_socket which)
{
    for (int turn = 0; turn < TURNS; turn++) {
        zmq_msg_t frames[FRAMES_MOST];
        const int count = receive(z->sockets[which], frames);
        if (count == 0) {
            return;
        }
        if (which == MECHD_ZMQ_CONTROL) {
            take_control(z, frames, count);
        } else if (which == MECHD_ZMQ_STREAM) {
            mechd_stream_subscription(z, zmq_msg_data(&frames[0]), zmq_msg_size(&frames[0]));
        } else {
            mechd_forces_take(z, zmq_msg_data(&frames[0]), zmq_msg_size(&frames[0]));
        }
        for (int k = 0; k < count; k++) {
            zmq_msg_close(&frames[k]);
        }
    }
}

static void *work(void *context)
{
    struct mechd_zmq *z = context;
    while (!atomic_load(&z->stop)) {
        // sleep until a socket or another thread has something
        zmq_pollitem_t items[MECHD_ZMQ_SOCKETS + 1] = {{.fd = z->wake, .events = ZMQ_POLLIN}};
        enum mechd_zmq_socket which[MECHD_ZMQ_SOCKETS + 1] = {MECHD_ZMQ_SOCKETS};
        int n = 1;
        for (int k = 0; k < MECHD_ZMQ_SOCKETS; k++) {
            if (z->sockets[k] != NULL) {
                items[n] = (zmq_pollitem_t){.socket = z->sockets[k], .events = ZMQ_POLLIN};
                which[n++] = (enum mechd_zmq_socket)k;
            }
        }
        zmq_poll(items, n, NAP_MS);
        for (int k = 1; k < n; k++) {
            if ((items[k].revents & ZMQ_POLLIN) != 0) {
                serve(z, which[k]);
            }
        }
        drain_outbox(z);
        atomic_fetch_add_explicit(&z->turns, 1, memory_order_relaxed);
    }
    drain_outbox(z);
    return NULL;
}

/* Open and bind one socket. */
static int open_socket(struct mechd_zmq *z, enum mechd_zmq_socket which, int type,
                       const char *endpoint, char *fault, size_t size)
{
    if (strcmp(endpoint, "none") == 0) {
        return 0;
    }
    void *socket = zmq_socket(z->context, type);
    const int64_t models = which == MECHD_ZMQ_CONTROL ? (int64_t)mechd_model_most(z->daemon) : 0;
    const int64_t most = models + bounds[which].bytes;
    const int waiting = bounds[which].frames;
    const int linger = 200;
    const int mark = STREAM_MARK;
    const int on = 1;
    if (socket == NULL) {
        snprintf(fault, size, "cannot open a ZeroMQ socket: %s", zmq_strerror(zmq_errno()));
        return MECH_INTERNAL;
    }
    z->sockets[which] = socket;
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(socket, ZMQ_SNDHWM, &mark, sizeof mark);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &waiting, sizeof waiting);
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE, &on, sizeof on);
    if (type == ZMQ_XPUB) {
        zmq_setsockopt(socket, ZMQ_XPUB_VERBOSE, &on, sizeof on);
    }
    size_t room = sizeof z->endpoints[which];
    if (zmq_bind(socket, endpoint) != 0 ||
        zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, z->endpoints[which], &room) != 0) {
        snprintf(fault, size, "cannot bind %s: %s", endpoint, zmq_strerror(zmq_errno()));
        return MECH_INTERNAL;
    }
    return 0;
}

int mechd_zmq_open(struct mechd *d, struct mechd_zmq **out, char *fault, size_t size)
{
    struct mechd_zmq *z = calloc(1, sizeof *z);
    if (z == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = z;
    z->daemon = d;
    pthread_mutex_init(&z->m, NULL);
    pthread_mutex_init(&z->s, NULL);
    z->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    z->context = zmq_ctx_new();
    if (z->wake < 0 || z->context == NULL) {
        snprintf(fault, size, "cannot start ZeroMQ");
        return MECH_INTERNAL;
    }
    const struct mechd_config *c = &d->config;
    MECH_TRY(open_socket(z, MECHD_ZMQ_CONTROL, ZMQ_ROUTER, c->control, fault, size));
    MECH_TRY(open_socket(z, MECHD_ZMQ_STREAM, ZMQ_XPUB, c->stream, fault, size));
    return open_socket(z, MECHD_ZMQ_FORCES, ZMQ_PULL, c->forces, fault, size);
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

void mechd_zmq_poke(struct mechd_zmq *z)
{
    const uint64_t one = 1;
    const ssize_t written = write(z->wake, &one, sizeof one);
    (void)written; // a full counter wakes as well
}

uint64_t mechd_zmq_turns(struct mechd_zmq *z)
{
    return atomic_load_explicit(&z->turns, memory_order_relaxed);
}

int mechd_zmq_waiting(struct mechd_zmq *z)
{
    if (z == NULL) {
        return 0;
    }
    pthread_mutex_lock(&z->m);
    const int waiting = z->waiting;
    pthread_mutex_unlock(&z->m);
    return waiting;
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
    for (int k = 0; k < MECHD_ZMQ_SOCKETS; k++) {
        if (z->sockets[k] != NULL) {
            zmq_close(z->sockets[k]);
        }
    }
    if (z->context != NULL) {
        zmq_ctx_term(z->context);
    }
    close(z->wake);
    pthread_mutex_destroy(&z->m);
    pthread_mutex_destroy(&z->s);
    free(z);
}
