/* A lock-step partner: binary frames (protocol/frame/frame.h) over its line (line.h). Each request
 * waits for the reply with its own sequence number; older replies are passed over. */
#include "clients/c/line.h"
#include "protocol/frame/frame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

enum { MOST_VALUES = 1 << 24 };

/* owner: the thread of its handle. */
struct mechc_partner {
    struct mechc *c;
    pid_t process; /* that has opened it */
    struct mechc_line line;
    void *forces; /* socket; NULL until the first push */
    uint32_t instance;
    uint64_t lease, sequence, pushed;
    struct mechc_channel *channels; /* [channel_count] */
    size_t channel_count;
    struct mechc_bytes names; /* of the channels */
    struct mechc_bytes out;   /* frame going out */
    char id[MECHC_ID];        /* of the instance */
};

/* --- messages --------------------------------------------------------------------------------- */

static int compose(struct mechc_partner *p, struct mechp_frame f, const double *values)
{
    return mechc_compose(p->c, &p->out, &f, values);
}

static int deliver(struct mechc_partner *p, const char *extra)
{
    return mechc_line_send(&p->line, p->out.at, p->out.length, extra);
}

static const char *door_name(const struct mechc_partner *p)
{
    return p->line.door == MECHC_LANE ? "lane" : "control socket";
}

/* Wait for the reply to the frame sent last. */
static int await(struct mechc_partner *p, uint8_t kind, struct mechp_frame *f)
{
    const double deadline = mechc_now() + p->c->timeout;
    do {
        const int result = mechc_line_receive(&p->line);
        if (result != MECHC_OK) {
            return result;
        }
        if (mechp_frame_read(p->line.frame, p->line.size, f) != 0) {
            return mechc_fail(p->c, MECHC_BAD_REPLY, "the reply is not a frame");
        }
        if (f->sequence != p->sequence) {
            continue;
        }
        if (f->kind == MECHP_ERROR) {
            return mechc_line_refused(&p->line, f->status);
        }
        return f->kind == kind || f->kind == MECHP_OUTPUTS
                   ? MECHC_OK
                   : mechc_fail(p->c, MECHC_BAD_REPLY, "a %s was answered by a %s",
                                mechp_frame_kind_name(kind), mechp_frame_kind_name(f->kind));
    } while (mechc_now() < deadline);
    return mechc_fail(p->c, MECHC_TIMEOUT, "no answer on the %s in time", door_name(p));
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
    return mechc_fail(c, MECHC_TIMEOUT, "no answer on the %s within %g s; %s", door_name(p),
                      patience,
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
    const bool steps = kind == MECHP_STEP || kind == MECHP_TRIAL;
    const double expected = steps ? p->c->expected : (double)NAN;
    p->c->expected = steps ? (double)NAN : p->c->expected;
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
    struct mechp_frame f = {.kind = kind,
                            .instance = p->instance,
                            .count = (uint32_t)x->input_count,
                            .iteration = x->iteration,
                            .sequence = ++p->sequence,
                            .size = x->size,
                            .lease = p->lease};
    if (!isnan(expected)) {
        f.flags = MECHP_EXPECT;
        f.time = expected;
    }
    result = compose(p, f, x->inputs);
    if (result == MECHC_OK) {
        result = deliver(p, NULL);
    }
    struct mechp_frame reply;
    if (result == MECHC_OK) {
        result = await(p, kind, &reply);
    }
    if (result == MECHC_TIMEOUT && steps) {
        result = stop_late(p);
    }
    if (result == MECHC_OK) {
        x->time = reply.time;
        x->step = reply.step;
        x->iteration = kind == MECHP_SNAPSHOT ? reply.iteration : x->iteration;
        x->output_count = reply.count;
        const size_t most = reply.count < x->output_capacity ? reply.count : x->output_capacity;
        if (most > 0) {
            mechp_frame_get_values(p->line.frame + MECHP_FRAME_HEADER, x->outputs, (uint32_t)most);
        }
    }
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

static int read_hello(struct mechc_partner *p, const struct mechp_frame *f)
{
    struct mechc_json json, v;
    uint64_t instance = 0;
    if (!mechc_json_open(p->line.extra, p->line.extra_size, &json) ||
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
    struct mechp_frame reply;
    if (result == MECHC_OK) {
        result = await(p, MECHP_HELLO, &reply);
    }
    if (result == MECHC_OK) {
        result = read_hello(p, &reply);
    }
    return result;
}

static void destroy(struct mechc_partner *p)
{
    const bool here = p->process == getpid();
    mechc_line_close(&p->line, here);
    if (p->forces && here) {
        zmq_close(p->forces);
    }
    mechc_bytes_fini(&p->names);
    mechc_bytes_fini(&p->out);
    free(p->channels);
    free(p);
}

static int begin(struct mechc *c, enum mechc_socket door, const char *id,
                 const struct mechc_hello *hello, struct mechc_partner **out)
{
    *out = NULL;
    mechc_clear_error(c);
    struct mechc_partner *const p = calloc(1, sizeof *p);
    if (!p) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    p->c = c;
    p->process = getpid();
    snprintf(p->id, sizeof p->id, "%s", id);
    int result = mechc_line_open(c, door, &p->line);
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

int mechc_partner_open(struct mechc *c, const char *id, const struct mechc_hello *hello,
                       struct mechc_partner **out)
{
    MECHC_ENTER(c);
    return begin(c, MECHC_CONTROL, id, hello, out);
}

int mechc_partner_open_lane(struct mechc *c, const char *id, const struct mechc_hello *hello,
                            struct mechc_partner **out)
{
    MECHC_ENTER(c);
    return begin(c, MECHC_LANE, id, hello, out);
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

int mechc_partner_snapshot(struct mechc_partner *p, uint32_t *number)
{
    MECHC_ENTER(p->c);
    struct mechc_exchange x = {0};
    const int result = exchange(p, MECHP_SNAPSHOT, &x);
    *number = result == MECHC_OK ? x.iteration : 0;
    return result;
}

int mechc_partner_restore(struct mechc_partner *p, uint32_t number)
{
    MECHC_ENTER(p->c);
    struct mechc_exchange x = {.iteration = number};
    return exchange(p, MECHP_RESTORE, &x);
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
