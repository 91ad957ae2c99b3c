/* The line of a partner, over either door. */
#include "clients/c/line.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double mechc_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int lost(struct mechc *c)
{
    return errno == EAGAIN
               ? mechc_fail(c, MECHC_TIMEOUT, "no answer on the control socket in time")
               : mechc_fail(c, MECHC_UNREACHABLE, "control socket: %s", zmq_strerror(errno));
}

static int open_line(struct mechc *c, enum mechc_socket door, double end, struct mechc_line *l,
                     void **events)
{
    l->c = c;
    l->door = door;
    l->lane = -1;
    l->patience = c->timeout;
    zmq_msg_init(&l->parts[0]);
    zmq_msg_init(&l->parts[1]);
    if (door != MECHC_LANE) {
        return mechc_connect(c, door, ZMQ_DEALER, &l->control, events);
    }
    const char *endpoint;
    int result = mechc_own(c);
    if (result == MECHC_OK) {
        result = mechc_endpoint(c, door, &endpoint);
    }
    return result == MECHC_OK ? mechc_lane_open(l, endpoint, end) : result;
}

int mechc_line_open(struct mechc *c, enum mechc_socket door, struct mechc_line *l)
{
    return open_line(c, door, mechc_now() + c->timeout, l, NULL);
}

int mechc_line_open_watched(struct mechc *c, enum mechc_socket door, double end,
                            struct mechc_line *l)
{
    return open_line(c, door, end, l, &l->events);
}

bool mechc_line_is_open(const struct mechc_line *l)
{
    return l->door == MECHC_LANE ? l->lane >= 0 : (l->control != NULL);
}

static int away(struct mechc_line *l)
{
    return mechc_fail(l->c, MECHC_UNREACHABLE, "%s: not connected",
                      l->door == MECHC_LANE ? "the lane" : "control socket");
}

/* A message behind its length. */
static void add_message(struct mechc_bytes *b, const void *bytes, size_t size)
{
    unsigned char length[4];
    for (size_t k = 0; k < sizeof length; k++) {
        length[k] = (unsigned char)(size >> (8 * k) & 0xffu);
    }
    mechc_bytes_add(b, length, sizeof length);
    mechc_bytes_add(b, bytes, size);
}

int mechc_line_send(struct mechc_line *l, const void *frame, size_t size, const char *extra)
{
    if (!mechc_line_is_open(l)) {
        return away(l);
    }
    if (l->door != MECHC_LANE) {
        const int more = extra ? ZMQ_SNDMORE : 0;
        if (zmq_send(l->control, "", 0, ZMQ_SNDMORE) < 0 ||
            zmq_send(l->control, frame, size, more) < 0 ||
            (extra && zmq_send(l->control, extra, strlen(extra), 0) < 0)) {
            return lost(l->c);
        }
        return MECHC_OK;
    }
    mechc_bytes_clear(&l->out);
    add_message(&l->out, frame, size);
    if (extra) {
        add_message(&l->out, extra, strlen(extra));
    }
    return l->out.failed ? mechc_fail(l->c, MECHC_NO_MEMORY, "out of memory")
                         : mechc_lane_send(l, mechc_now() + l->c->timeout);
}

/* The frame is the first part with anything in it; the part after it is the extra one. */
static int receive_parts(struct mechc_line *l)
{
    int have = 0;
    for (bool more = true; more;) {
        zmq_msg_t part;
        zmq_msg_init(&part);
        if (zmq_msg_recv(&part, l->control, 0) < 0) {
            zmq_msg_close(&part);
            return lost(l->c);
        }
        more = zmq_msg_more(&part);
        if (have < 2 && (have == 1 || zmq_msg_size(&part) > 0)) {
            zmq_msg_move(&l->parts[have++], &part);
        }
        zmq_msg_close(&part);
    }
    l->frame = have > 0 ? zmq_msg_data(&l->parts[0]) : "";
    l->size = have > 0 ? zmq_msg_size(&l->parts[0]) : 0;
    l->extra = have > 1 ? zmq_msg_data(&l->parts[1]) : NULL;
    l->extra_size = have > 1 ? zmq_msg_size(&l->parts[1]) : 0;
    return MECHC_OK;
}

int mechc_line_receive(struct mechc_line *l)
{
    const double timeout = l->c->timeout;
    if (!mechc_line_is_open(l)) {
        return away(l);
    }
    if (l->door == MECHC_LANE) {
        return mechc_lane_receive(l, mechc_now() + timeout);
    }
    if (l->patience != timeout) {
        const int wait = mechc_milliseconds(timeout);
        zmq_setsockopt(l->control, ZMQ_RCVTIMEO, &wait, sizeof wait);
        l->patience = timeout;
    }
    return receive_parts(l);
}

/* True if the next event is the end of the connection. */
static bool has_ended(struct mechc_line *l)
{
    uint16_t event = 0;
    zmq_msg_t part;
    zmq_msg_init(&part);
    int read = zmq_msg_recv(&part, l->events, ZMQ_DONTWAIT);
    if (read >= (int)sizeof event) {
        memcpy(&event, zmq_msg_data(&part), sizeof event);
    }
    while (read >= 0 && zmq_msg_more(&part)) {
        read = zmq_msg_recv(&part, l->events, ZMQ_DONTWAIT);
    }
    zmq_msg_close(&part);
    return event == ZMQ_EVENT_DISCONNECTED;
}

int mechc_line_await(struct mechc_line *l, double seconds)
{
    const int wait = mechc_milliseconds(seconds);
    if (!mechc_line_is_open(l)) {
        return away(l);
    }
    if (l->door == MECHC_LANE) {
        struct pollfd p = {.fd = l->lane, .events = POLLIN};
        return l->from < l->in.length || poll(&p, 1, wait) > 0 ? MECHC_OK : MECHC_TIMEOUT;
    }
    zmq_pollitem_t items[] = {{.socket = l->control, .events = ZMQ_POLLIN},
                              {.socket = l->events, .events = ZMQ_POLLIN}};
    if (zmq_poll(items, l->events ? 2 : 1, wait) <= 0) {
        return MECHC_TIMEOUT;
    }
    if (items[0].revents) {
        return MECHC_OK; // also what arrived before the end
    }
    return has_ended(l) ? mechc_fail(l->c, MECHC_UNREACHABLE, "control socket: connection lost")
                        : MECHC_TIMEOUT;
}

int mechc_compose(struct mechc *c, struct mechc_bytes *out, const struct mechp_frame *f,
                  const double *values)
{
    mechc_bytes_clear(out);
    char header[MECHP_FRAME_HEADER];
    mechp_frame_write(f, header);
    mechc_bytes_add(out, header, sizeof header);
    // values are appended as they are, then written over in the frame's byte order
    if (f->count > 0) {
        mechc_bytes_add(out, values, (size_t)f->count * sizeof *values);
    }
    if (out->failed) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    if (f->count > 0) {
        mechp_frame_put_values(out->at + MECHP_FRAME_HEADER, values, f->count);
    }
    return MECHC_OK;
}

int mechc_line_refused(struct mechc_line *l, int32_t status)
{
    struct mechc_json json;
    if (l->extra_size > 0 && mechc_json_open(l->extra, l->extra_size, &json)) {
        return mechc_refused(l->c, 0, l->extra, l->extra_size);
    }
    return mechc_fail(l->c, MECHC_REFUSED, "the server answered with error %d", (int)status);
}

void mechc_line_close(struct mechc_line *l, bool here)
{
    if (l->control && here) {
        zmq_close(l->control);
    }
    if (l->events && here) {
        zmq_close(l->events);
    }
    if (l->lane >= 0) {
        close(l->lane);
    }
    zmq_msg_close(&l->parts[0]);
    zmq_msg_close(&l->parts[1]);
    mechc_bytes_fini(&l->in);
    mechc_bytes_fini(&l->out);
}
