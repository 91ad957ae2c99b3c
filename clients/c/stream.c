/* Live outputs: a SUB socket on the stream, one topic "state/<id>/". The frame's sequence number
 * shows how many frames a slow reader lost. libzmq reconnects repeatedly without a report;
 * its monitor distinguishes an idle stream from one that is not connected. */
#include "clients/c/handle.h"
#include "protocol/frame/frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

/* Topics under which the server answers. */
#define QUESTION "ready/"

static const double AGAIN = 1.; // s after which it is asked once more

/* owner: the thread of its handle. */
struct mechc_stream {
    struct mechc *c;
    pid_t process;         /* that has opened it */
    void *socket, *events; /* events: of the connection */
    bool connected;
    double since; /* monotonic s at which it was not connected, as last reported */
    char id[MECHC_ID];
    double *values; /* [capacity] */
    size_t capacity;
    uint64_t sequence; /* of the last frame, 0: none yet */
    uint32_t number;   /* of its instance, 0: none yet */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One event (zmq_socket_monitor(3)): its number as u16 in the first part. A handshake that the
 * server refuses is refused again at each attempt. */
static int read_event(struct mechc_stream *s)
{
    uint16_t event = 0;
    zmq_msg_t part;
    zmq_msg_init(&part);
    int read = zmq_msg_recv(&part, s->events, ZMQ_DONTWAIT);
    if (read >= (int)sizeof event) {
        memcpy(&event, zmq_msg_data(&part), sizeof event);
    }
    while (read >= 0 && zmq_msg_more(&part)) {
        read = zmq_msg_recv(&part, s->events, ZMQ_DONTWAIT);
    }
    zmq_msg_close(&part);
    if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
        s->connected = true;
        return MECHC_OK;
    }
    if (event != 0) {
        s->since = s->connected ? now() : s->since;
        s->connected = false;
    }
    return event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
               ? mechc_fail(s->c, MECHC_UNREACHABLE, "the stream of %s refuses this client's key",
                            s->c->base)
               : MECHC_OK;
}

/* Until a frame is there. */
static int await_frame(struct mechc_stream *s, double seconds)
{
    zmq_pollitem_t items[] = {{.socket = s->socket, .events = ZMQ_POLLIN},
                              {.socket = s->events, .events = ZMQ_POLLIN}};
    const double end = now() + (seconds > 0. ? seconds : 0.);
    for (double left = end - now();; left = end - now()) {
        // a signal ends the wait, as its deadline does
        const bool over = zmq_poll(items, 2, mechc_milliseconds(left > 0. ? left : 0.)) <= 0;
        if (!over && items[0].revents) {
            return MECHC_OK;
        }
        const int result = over ? MECHC_OK : read_event(s);
        if (result != MECHC_OK) {
            return result;
        }
        if (!s->connected && now() - s->since > s->c->timeout) {
            s->since = now();
            return mechc_fail(s->c, MECHC_UNREACHABLE, "no connection to the stream %s%s",
                              s->c->endpoints[MECHC_STREAM],
                              s->c->secret_key[0] ? "; is the server's key the right one?" : "");
        }
        if (over) {
            return mechc_fail(s->c, MECHC_TIMEOUT, "no frame of %s in time", s->id);
        }
    }
}

/* Until the subscription has reached the server, so that no later frame is missed: it answers
 * another one, which is behind it on the connection; and any frame shows the same. */
static int arrive(struct mechc_stream *s)
{
    uint64_t own = 0;
    if (getrandom(&own, sizeof own, 0) != sizeof own) {
        return mechc_fail(s->c, MECHC_UNREACHABLE, "no random numbers: %s", strerror(errno));
    }
    char question[sizeof QUESTION + 17];
    const int n = snprintf(question, sizeof question, QUESTION "%016" PRIx64 "/", own);
    const double end = now() + s->c->timeout;
    int result = MECHC_TIMEOUT;
    while (result == MECHC_TIMEOUT) {
        const double left = end - now();
        if (atomic_exchange(&s->c->interrupted, false)) {
            return mechc_fail(s->c, MECHC_INTERRUPTED, "the stream: interrupted");
        }
        if (zmq_setsockopt(s->socket, ZMQ_SUBSCRIBE, question, (size_t)n) != 0) {
            return mechc_fail(s->c, MECHC_UNREACHABLE, "stream socket: %s", zmq_strerror(errno));
        }
        result = await_frame(s, left < AGAIN ? left : AGAIN);
        zmq_setsockopt(s->socket, ZMQ_UNSUBSCRIBE, question, (size_t)n);
        if (result == MECHC_TIMEOUT && left <= 0.) {
            result = mechc_fail(s->c, MECHC_UNREACHABLE, "the stream %s has not answered in time",
                                s->c->endpoints[MECHC_STREAM]);
        }
    }
    if (result == MECHC_OK) {
        mechc_clear_error(s->c); // of the times at which it had not answered yet
    }
    return result;
}

int mechc_stream_open(struct mechc *c, const char *id, struct mechc_stream **out)
{
    MECHC_ENTER(c);
    *out = NULL;
    mechc_clear_error(c);
    struct mechc_stream *const s = calloc(1, sizeof *s);
    if (!s) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    s->c = c;
    s->process = getpid();
    s->since = now();
    int result = MECHC_OK;
    if (snprintf(s->id, sizeof s->id, "%s", id) >= (int)sizeof s->id) {
        result = mechc_fail(c, MECHC_BAD_ARGUMENT, "the id is too long");
    }
    if (result == MECHC_OK) {
        result = mechc_connect(c, MECHC_STREAM, ZMQ_SUB, &s->socket, &s->events);
    }
    char topic[MECHC_ID + 16];
    const int n = snprintf(topic, sizeof topic, "state/%s/", s->id);
    if (result == MECHC_OK && zmq_setsockopt(s->socket, ZMQ_SUBSCRIBE, topic, (size_t)n) != 0) {
        result = mechc_fail(c, MECHC_UNREACHABLE, "stream socket: %s", zmq_strerror(errno));
    }
    if (result == MECHC_OK) {
        result = arrive(s);
    }
    if (result != MECHC_OK) {
        mechc_stream_close(s);
        return result;
    }
    *out = s;
    return MECHC_OK;
}

/* The last part of a message: the frame, after its topic; or it is the answer to a question. */
static int receive(struct mechc_stream *s, zmq_msg_t *frame, bool *answer)
{
    *answer = false;
    for (bool first = true, more = true; more; first = false) {
        if (zmq_msg_recv(frame, s->socket, 0) < 0) {
            return mechc_fail(s->c, MECHC_UNREACHABLE, "stream socket: %s", zmq_strerror(errno));
        }
        more = zmq_msg_more(frame);
        *answer = *answer || (first && zmq_msg_size(frame) >= strlen(QUESTION) &&
                              memcmp(zmq_msg_data(frame), QUESTION, strlen(QUESTION)) == 0);
    }
    return MECHC_OK;
}

static int read_sample(struct mechc_stream *s, zmq_msg_t *frame, struct mechc_sample *out)
{
    struct mechp_frame f;
    const char *const bytes = zmq_msg_data(frame);
    if (mechp_frame_read(bytes, zmq_msg_size(frame), &f) != 0) {
        return mechc_fail(s->c, MECHC_BAD_REPLY, "the stream sent a message that is not a frame");
    }
    if (f.count > s->capacity) {
        double *const values = realloc(s->values, (size_t)f.count * sizeof *values);
        if (!values) {
            return mechc_fail(s->c, MECHC_NO_MEMORY, "out of memory");
        }
        s->values = values;
        s->capacity = f.count;
    }
    if (f.count > 0) {
        mechp_frame_get_values(bytes + MECHP_FRAME_HEADER, s->values, f.count);
    }
    // a repeated frame carries the number that it had
    const bool another = s->number != 0 && f.instance != s->number;
    const bool gap = s->sequence > 0 && f.sequence > s->sequence && !another;
    *out = (struct mechc_sample){.id = s->id,
                                 .values = s->values,
                                 .count = f.count,
                                 .time = f.time,
                                 .step = f.step,
                                 .sequence = f.sequence,
                                 .lost = gap ? f.sequence - s->sequence - 1 : 0,
                                 .flags = f.flags | (another ? MECHC_REWOUND | MECHC_ANOTHER : 0u)};
    s->sequence = f.sequence;
    s->number = f.instance;
    return MECHC_OK;
}

int mechc_stream_next(struct mechc_stream *s, double seconds, struct mechc_sample *out)
{
    MECHC_ENTER(s->c);
    mechc_clear_error(s->c);
    int result = mechc_opened_here(s->c, s->process, "stream");
    const double end = now() + seconds;
    bool answer = false;
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    do {
        result = result == MECHC_OK ? await_frame(s, end - now()) : result;
        result = result == MECHC_OK ? receive(s, &frame, &answer) : result;
    } while (result == MECHC_OK && answer);
    if (result == MECHC_OK) {
        result = read_sample(s, &frame, out);
    }
    zmq_msg_close(&frame);
    return result;
}

void mechc_stream_close(struct mechc_stream *s)
{
    if (!s) {
        return;
    }
    const bool here = s->process == getpid();
    if (s->socket && here) {
        zmq_close(s->socket);
    }
    if (s->events && here) {
        zmq_close(s->events);
    }
    free(s->values);
    free(s);
}
