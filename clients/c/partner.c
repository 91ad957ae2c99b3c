/* A lock-step partner: binary frames (protocol/frame/frame.h) over a DEALER on the control socket.
 * Each request waits for the reply with its own sequence number; older replies are passed over. */
#include "clients/c/handle.h"
#include "protocol/frame/frame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { MOST_VALUES = 1 << 24 };

/* owner: the thread of its handle. */
struct mechc_partner {
    struct mechc *c;
    pid_t process;          /* that has opened it */
    void *control, *forces; /* sockets; forces is NULL until the first push */
    uint32_t instance;
    uint64_t lease, sequence, pushed;
    struct mechc_channel *channels; /* [channel_count] */
    size_t channel_count;
    struct mechc_bytes names; /* of the channels */
    struct mechc_bytes out;   /* frame going out */
    char id[MECHC_ID];        /* of the instance */
    double patience;          /* s that the control socket waits */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- messages --------------------------------------------------------------------------------- */

static int lost(struct mechc *c)
{
    return errno == EAGAIN
               ? mechc_fail(c, MECHC_TIMEOUT, "no answer on the control socket in time")
               : mechc_fail(c, MECHC_UNREACHABLE, "control socket: %s", zmq_strerror(errno));
}

static int compose(struct mechc_partner *p, struct mechp_frame f, const double *values)
{
    mechc_bytes_clear(&p->out);
    char header[MECHP_FRAME_HEADER];
    mechp_frame_write(&f, header);
    mechc_bytes_add(&p->out, header, sizeof header);
    // values are appended as they are, then written over in the frame's byte order
    if (f.count > 0) {
        mechc_bytes_add(&p->out, values, (size_t)f.count * sizeof *values);
    }
    if (p->out.failed) {
        return mechc_fail(p->c, MECHC_NO_MEMORY, "out of memory");
    }
    if (f.count > 0) {
        mechp_frame_put_values(p->out.at + MECHP_FRAME_HEADER, values, f.count);
    }
    return MECHC_OK;
}

static int deliver(struct mechc_partner *p, const char *extra)
{
    const int more = extra ? ZMQ_SNDMORE : 0;
    if (zmq_send(p->control, "", 0, ZMQ_SNDMORE) < 0 ||
        zmq_send(p->control, p->out.at, p->out.length, more) < 0 ||
        (extra && zmq_send(p->control, extra, strlen(extra), 0) < 0)) {
        return lost(p->c);
    }
    return MECHC_OK;
}

/* One message: its frame into `frame`, the part after it (if any) into `extra`. */
static int receive(struct mechc_partner *p, zmq_msg_t *frame, zmq_msg_t *extra)
{
    bool have_frame = false, have_extra = false, more = true;
    while (more) {
        zmq_msg_t part;
        zmq_msg_init(&part);
        if (zmq_msg_recv(&part, p->control, 0) < 0) {
            zmq_msg_close(&part);
            return lost(p->c);
        }
        more = zmq_msg_more(&part);
        if (!have_frame && zmq_msg_size(&part) > 0) {
            have_frame = true;
            zmq_msg_move(frame, &part);
        } else if (have_frame && !have_extra) {
            have_extra = true;
            zmq_msg_move(extra, &part);
        }
        zmq_msg_close(&part);
    }
    return MECHC_OK;
}

static int refused(struct mechc_partner *p, const struct mechp_frame *f, zmq_msg_t *extra)
{
    struct mechc_json json;
    const char *const text = zmq_msg_data(extra);
    if (zmq_msg_size(extra) > 0 && mechc_json_open(text, zmq_msg_size(extra), &json)) {
        return mechc_refused(p->c, 0, text, zmq_msg_size(extra));
    }
    return mechc_fail(p->c, MECHC_REFUSED, "the server answered with error %d", (int)f->status);
}

/* Wait for the reply to the frame sent last. */
static int await(struct mechc_partner *p, uint8_t kind, struct mechp_frame *f, zmq_msg_t *frame,
                 zmq_msg_t *extra)
{
    const double deadline = now() + p->c->timeout;
    do {
        const int result = receive(p, frame, extra);
        if (result != MECHC_OK) {
            return result;
        }
        if (mechp_frame_read(zmq_msg_data(frame), zmq_msg_size(frame), f) != 0) {
            return mechc_fail(p->c, MECHC_BAD_REPLY, "the reply is not a frame");
        }
        if (f->sequence != p->sequence) {
            continue;
        }
        if (f->kind == MECHP_ERROR) {
            return refused(p, f, extra);
        }
        return f->kind == kind || f->kind == MECHP_OUTPUTS
                   ? MECHC_OK
                   : mechc_fail(p->c, MECHC_BAD_REPLY, "a %s was answered by a %s",
                                mechp_frame_kind_name(kind), mechp_frame_kind_name(f->kind));
    } while (now() < deadline);
    return mechc_fail(p->c, MECHC_TIMEOUT, "no answer on the control socket in time");
}

/* An abandoned step would continue, and the next request wait for it: it is
 * stopped over HTTP, under the partner's lease. The words give the outcome. */
static int stop_late(struct mechc_partner *p)
{
    struct mechc *const c = p->c;
    const double patience = c->timeout;
    const uint64_t lease = c->lease;
    struct mechc_json reply, v;
    c->timeout = 1.;
    c->lease = p->lease;
    mechc_bytes_clear(&c->body);
    mechc_bytes_text(&c->body, "{}");
    const int result = mechc_send(
        c, "POST", (const char *const[]){"v1", "instances", p->id, "stop", NULL}, &reply);
    const bool stopped =
        result == MECHC_OK && mechc_json_member(reply, "stopped", &v) && mechc_json_kind(v) == 't';
    c->timeout = patience;
    c->lease = lease;
    return mechc_fail(c, MECHC_TIMEOUT, "no answer on the control socket within %g s; %s", patience,
                      stopped              ? "the step has been stopped and is undone"
                      : result == MECHC_OK ? "the step was done before it could be stopped"
                                           : "the step may be in progress there");
}

/* Frames carry any number; non-finite ones are refused here, with their place. */
static int check_finite(struct mechc *c, const char *name, double value, const double *inputs,
                        size_t count)
{
    if (!isfinite(value)) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "%s must be finite", name);
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(inputs[i])) {
            return mechc_fail(c, MECHC_BAD_ARGUMENT, "inputs[%zu] must be finite", i);
        }
    }
    return MECHC_OK;
}

static int exchange(struct mechc_partner *p, uint8_t kind, struct mechc_exchange *x)
{
    mechc_clear_error(p->c);
    if (x->input_count > MOST_VALUES || (x->input_count > 0 && !x->inputs)) {
        return mechc_fail(p->c, MECHC_BAD_ARGUMENT, "inputs are missing, or too many");
    }
    int result = mechc_opened_here(p->c, p->process, "partner");
    if (result == MECHC_OK) {
        result = check_finite(p->c, "size", x->size, x->inputs, x->input_count);
    }
    if (result != MECHC_OK) {
        return result;
    }
    const struct mechp_frame f = {.kind = kind,
                                  .instance = p->instance,
                                  .count = (uint32_t)x->input_count,
                                  .iteration = x->iteration,
                                  .sequence = ++p->sequence,
                                  .size = x->size,
                                  .lease = p->lease};
    if (p->patience != p->c->timeout) {
        const int wait = mechc_milliseconds(p->c->timeout);
        zmq_setsockopt(p->control, ZMQ_RCVTIMEO, &wait, sizeof wait);
        p->patience = p->c->timeout;
    }
    result = compose(p, f, x->inputs);
    if (result == MECHC_OK) {
        result = deliver(p, NULL);
    }
    zmq_msg_t frame, extra;
    zmq_msg_init(&frame);
    zmq_msg_init(&extra);
    struct mechp_frame reply;
    if (result == MECHC_OK) {
        result = await(p, kind, &reply, &frame, &extra);
    }
    if (result == MECHC_TIMEOUT && (kind == MECHP_STEP || kind == MECHP_TRIAL)) {
        result = stop_late(p);
    }
    if (result == MECHC_OK) {
        x->time = reply.time;
        x->step = reply.step;
        x->output_count = reply.count;
        const size_t most = reply.count < x->output_capacity ? reply.count : x->output_capacity;
        if (most > 0) {
            const char *const bytes = zmq_msg_data(&frame);
            mechp_frame_get_values(bytes + MECHP_FRAME_HEADER, x->outputs, (uint32_t)most);
        }
    }
    zmq_msg_close(&frame);
    zmq_msg_close(&extra);
    return result;
}

/* --- hello ------------------------------------------------------------------------------------ */

static void add_names(struct mechc_bytes *b, const char *key, const char *const *names,
                      size_t count)
{
    mechc_bytes_text(b, ",");
    mechc_bytes_string(b, key);
    mechc_bytes_text(b, ":[");
    for (size_t i = 0; i < count; i++) {
        mechc_bytes_text(b, i ? "," : "");
        mechc_bytes_string(b, names[i]);
    }
    mechc_bytes_text(b, "]");
}

static int read_layout(struct mechc_partner *p, struct mechc_json layout)
{
    const size_t count = mechc_json_count(layout);
    p->channels = calloc(count ? count : 1, sizeof *p->channels);
    // reserve first, so that the names do not move: a name takes no more than its JSON
    const size_t room = (size_t)(layout.end - layout.at) + 1;
    mechc_bytes_add(&p->names, layout.at, room - 1);
    if (!p->channels || p->names.failed) {
        return mechc_fail(p->c, MECHC_NO_MEMORY, "out of memory");
    }
    char *at = p->names.at;
    for (struct mechc_json_walk w = mechc_json_walk(layout); mechc_json_next(&w);) {
        struct mechc_json name, v;
        uint64_t offset = 0, values = 0;
        if (!mechc_json_member(w.value, "name", &name) ||
            !mechc_json_member(w.value, "offset", &v) || !mechc_json_unsigned(v, &offset) ||
            !mechc_json_member(w.value, "count", &v) || !mechc_json_unsigned(v, &values) ||
            offset > MOST_VALUES || values > MOST_VALUES) {
            return mechc_fail(p->c, MECHC_BAD_REPLY, "the reply to hello has no layout");
        }
        p->channels[p->channel_count++] = (struct mechc_channel){
            .name = at, .offset = (uint32_t)offset, .count = (uint32_t)values};
        at += mechc_json_text(name, at, (size_t)(p->names.at + room - at)) + 1;
    }
    return MECHC_OK;
}

static int read_hello(struct mechc_partner *p, const struct mechp_frame *f, zmq_msg_t *extra)
{
    struct mechc_json json, v;
    uint64_t instance = 0;
    if (!mechc_json_open(zmq_msg_data(extra), zmq_msg_size(extra), &json) ||
        !mechc_json_member(json, "instance", &v) || !mechc_json_unsigned(v, &instance) ||
        instance > UINT32_MAX || !mechc_json_member(json, "layout", &v)) {
        return mechc_fail(p->c, MECHC_BAD_REPLY, "the reply to hello is not understood");
    }
    p->instance = (uint32_t)instance;
    p->lease = f->lease;
    return read_layout(p, v);
}

static int greet(struct mechc_partner *p, const char *id, const struct mechc_hello *hello)
{
    struct mechc_bytes *const b = &p->c->body;
    mechc_bytes_clear(b);
    mechc_bytes_text(b, "{\"instance\":");
    mechc_bytes_string(b, id);
    add_names(b, "inputs", hello->inputs, hello->input_count);
    add_names(b, "outputs", hello->outputs, hello->output_count);
    mechc_bytes_text(b, ",\"inputOrder\":");
    mechc_bytes_number(b, hello->input_order);
    if (p->c->token) {
        mechc_bytes_text(b, ",\"token\":");
        mechc_bytes_string(b, p->c->token);
    }
    mechc_bytes_text(b, "}");
    if (b->failed) {
        return mechc_fail(p->c, MECHC_NO_MEMORY, "out of memory");
    }
    int result = compose(
        p,
        (struct mechp_frame){.kind = MECHP_HELLO, .sequence = ++p->sequence, .lease = p->c->lease},
        NULL);
    if (result == MECHC_OK) {
        result = deliver(p, b->at);
    }
    zmq_msg_t frame, extra;
    zmq_msg_init(&frame);
    zmq_msg_init(&extra);
    struct mechp_frame reply;
    if (result == MECHC_OK) {
        result = await(p, MECHP_HELLO, &reply, &frame, &extra);
    }
    if (result == MECHC_OK) {
        result = read_hello(p, &reply, &extra);
    }
    zmq_msg_close(&frame);
    zmq_msg_close(&extra);
    return result;
}

static void destroy(struct mechc_partner *p)
{
    const bool here = p->process == getpid();
    if (p->control && here) {
        zmq_close(p->control);
    }
    if (p->forces && here) {
        zmq_close(p->forces);
    }
    mechc_bytes_fini(&p->names);
    mechc_bytes_fini(&p->out);
    free(p->channels);
    free(p);
}

int mechc_partner_open(struct mechc *c, const char *id, const struct mechc_hello *hello,
                       struct mechc_partner **out)
{
    MECHC_ENTER(c);
    *out = NULL;
    mechc_clear_error(c);
    struct mechc_partner *const p = calloc(1, sizeof *p);
    if (!p) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    p->c = c;
    p->process = getpid();
    snprintf(p->id, sizeof p->id, "%s", id);
    int result = mechc_connect(c, MECHC_CONTROL, ZMQ_DEALER, &p->control, NULL);
    if (result == MECHC_OK) {
        result = greet(p, id, hello);
    }
    if (result != MECHC_OK) {
        destroy(p);
        return result;
    }
    *out = p;
    return MECHC_OK;
}

/* --- the public rest -------------------------------------------------------------------------- */

const struct mechc_channel *mechc_partner_layout(const struct mechc_partner *p, size_t *count)
{
    *count = p->channel_count;
    return p->channels;
}

int mechc_partner_step(struct mechc_partner *p, struct mechc_exchange *x)
{
    MECHC_ENTER(p->c);
    return exchange(p, MECHP_STEP, x);
}

int mechc_partner_trial(struct mechc_partner *p, struct mechc_exchange *x)
{
    MECHC_ENTER(p->c);
    return exchange(p, MECHP_TRIAL, x);
}

int mechc_partner_commit(struct mechc_partner *p, struct mechc_exchange *x)
{
    MECHC_ENTER(p->c);
    return exchange(p, MECHP_COMMIT, x);
}

int mechc_partner_inputs(struct mechc_partner *p, struct mechc_exchange *x)
{
    MECHC_ENTER(p->c);
    return exchange(p, MECHP_INPUTS, x);
}

int mechc_partner_outputs(struct mechc_partner *p, struct mechc_exchange *x)
{
    MECHC_ENTER(p->c);
    return exchange(p, MECHP_OUTPUTS, x);
}

int mechc_partner_push(struct mechc_partner *p, double time, const double *inputs, size_t count)
{
    MECHC_ENTER(p->c);
    mechc_clear_error(p->c);
    if (count > MOST_VALUES) {
        return mechc_fail(p->c, MECHC_BAD_ARGUMENT, "too many inputs");
    }
    int result = mechc_opened_here(p->c, p->process, "partner");
    if (result == MECHC_OK) {
        result = check_finite(p->c, "time", time, inputs, count);
    }
    if (result == MECHC_OK && !p->forces) {
        result = mechc_connect(p->c, MECHC_FORCES, ZMQ_PUSH, &p->forces, NULL);
    }
    if (result == MECHC_OK) {
        result = compose(p,
                         (struct mechp_frame){.kind = MECHP_INPUTS,
                                              .instance = p->instance,
                                              .count = (uint32_t)count,
                                              .sequence = ++p->pushed,
                                              .time = time,
                                              .lease = p->lease},
                         inputs);
    }
    if (result == MECHC_OK && zmq_send(p->forces, p->out.at, p->out.length, 0) < 0) {
        return mechc_fail(p->c, MECHC_UNREACHABLE, "forces socket: %s", zmq_strerror(errno));
    }
    return result;
}

void mechc_partner_close(struct mechc_partner *p)
{
    if (!p) {
        return;
    }
    if (p->process != getpid()) {
        destroy(p);
        return;
    }
    // a goodbye that is not answered soon is abandoned: the lease expires
    const double patience = p->c->timeout;
    p->c->timeout = 1.;
    exchange(p, MECHP_BYE, &(struct mechc_exchange){0});
    p->c->timeout = patience;
    destroy(p);
}
