/* GET …/events: live outputs as server-sent events, at most `rate` a second (default 10, most 60).
 *
 *   id: 6b02756300001.17.running
 *   data: {"time":0.5,"step":500,"sequence":50,"running":true,"outputs":{"x":1.25}}
 *
 * The newest values are written; what came between is skipped. The id identifies these values:
 * a client that comes back with it as Last-Event-ID gets no event before there are others. `life`
 * says which instance of this id it is; one that comes back from another life of the id gets
 * "rewound": true with the first event, as after a time that went back. The event `end` says that
 * the instance or the server is gone.
 */
#include "protocol/wire/bodies_messages.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/http/sse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct events {
    struct mechd_sse sse;            /* first */
    struct mechd_instance *instance; /* a reference */
    uint64_t revision;               /* written last */
    bool running;                    /* written last */
    bool rewound;                    /* to be written: the client comes from another life */
    double time;                     /* written last; −INFINITY: none */
    double *values;
};

static bool is_over(const struct events *e)
{
    return !mechd_instance_lives(e->instance) || mechd_host_drains(e->instance->host);
}

static bool has_changed(const struct events *e)
{
    return atomic_load(&e->instance->revision) != e->revision ||
           atomic_load(&e->instance->running) != e->running;
}

static bool has_news(struct mechd_sse *s)
{
    const struct events *const e = (const struct events *)s;
    return is_over(e) || has_changed(e);
}

/* What Last-Event-ID brings back. */
static void write_id(const struct mechd_instance *i, uint64_t revision, bool running, char out[64])
{
    snprintf(out, 64, "%llx.%llu%s", (unsigned long long)i->incarnation,
             (unsigned long long)revision, running ? ".running" : "");
}

static void write_outputs(const void *events, struct mechp_text *w)
{
    const struct events *const e = events;
    const struct mechd_instance *const i = e->instance;
    mechp_text_object(w);
    for (size_t k = 0; k < i->channel_count; k++) {
        mechp_text_key(w, i->channels[k].name);
        mechd_write_value(&i->channels[k], e->values + i->channels[k].offset, w);
    }
    mechp_text_end(w);
}

/* The newest values as one event; the simulation itself is not asked. */
static void write_event(struct events *e)
{
    struct mechd_instance *i = e->instance;
    struct mechd_published now;
    char id[64], life[MECHD_LIFE];
    mechd_instance_life(i, life);
    mechd_instance_peek(i, &now, e->values);
    e->revision = now.revision;
    e->running = atomic_load(&i->running);
    write_id(i, e->revision, e->running, id);
    const struct mechp_body_published_event body = {.life = life,
                                                    .rewound = e->rewound || now.time < e->time,
                                                    .time = now.time,
                                                    .step = now.steps,
                                                    .sequence = now.sequence,
                                                    .running = e->running,
                                                    .outputs = {write_outputs, e}};
    mechd_sse_head(&e->sse, NULL, id);
    MECHP_WRITE(published_event, &body, &e->sse.text);
    e->rewound = false;
    e->time = now.time;
    mechd_sse_tail(&e->sse);
}

static void compose(struct mechd_sse *s)
{
    struct events *const e = (struct events *)s;
    if (is_over(e)) {
        mechd_sse_head(s, "end", NULL);
        mechp_text_object(&s->text);
        mechp_text_end(&s->text);
        mechd_sse_tail(s);
        s->ended = true;
    } else if (has_changed(e)) {
        write_event(e);
    }
}

static void destroy(struct mechd_sse *s)
{
    struct events *const e = (struct events *)s;
    mechd_instance_unref(e->instance);
    free(e->values);
    free(e);
}

/* Whether an id is of another life than the instance's. */
static bool is_of_another(const struct mechd_instance *i, const char *last)
{
    char *end = NULL;
    const unsigned long long life = strtoull(last, &end, 16);
    return end == last || *end != '.' || life != i->incarnation;
}

/* A client that has seen what is there now waits for more. */
static void take_last(struct events *e, struct mechd_exchange *x)
{
    char id[64];
    const uint64_t revision = atomic_load(&e->instance->revision);
    const bool running = atomic_load(&e->instance->running);
    const char *const last =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Last-Event-ID");
    write_id(e->instance, revision, running, id);
    if (last != NULL && strcmp(last, id) == 0) {
        e->revision = revision;
        e->running = running;
    }
    e->rewound = last != NULL && *last != '\0' && is_of_another(e->instance, last);
}

enum MHD_Result mechd_events_serve(struct mechd_exchange *x)
{
    static const struct mechd_sse_ops ops = {has_news, compose, destroy};
    struct mechd_instance *i = x->call.job.instance;
    struct events *e = calloc(1, sizeof *e);
    double *values = calloc(i->output_size + 1, sizeof *values);
    if (e == NULL || values == NULL) {
        free(e);
        free(values);
        mechd_fail(&x->call, MECHP_OUT_OF_MEMORY, "no memory for another stream of events");
        return mechd_exchange_answer(x);
    }
    mechd_instance_ref(i);
    e->sse.ops = &ops;
    e->instance = i;
    e->values = values;
    e->time = -INFINITY;
    take_last(e, x);
    return mechd_sse_serve(x, &e->sse);
}

static enum mechd_progress run_events(struct mechd_call *c)
{
    // the door does the rest
    mechd_sse_check(c);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_EVENTS = {.run = run_events};
const struct mechd_operation mechd_operation_COUPLING_EVENTS = {.run = run_events};
