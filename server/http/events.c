/* GET …/events: live outputs as server-sent events, at most `rate` a second (default 10, most 60).
 *
 *   data: {"time":0.5,"step":500,"sequence":50,"running":true,"outputs":{"x":1.25}}
 *
 * No thread waits for a client: a timer looks whether something new has been published, and wakes
 * the suspended connection, whose thread then writes the newest values; what came between is
 * skipped. Without news a comment goes out every ten seconds, so that both ends notice a dead line.
 * The event `end` says that the instance or the server is gone.
 *
 * A stream has two holders: the response (until libmicrohttpd frees it) and an armed timer. `m`
 * guards what both touch; the clock's thread resumes while it holds m, so that nobody can free the
 * connection meanwhile.
 */
#include "server/daemon.h"
#include "server/http/exchange.h"
#include "server/routes/shapes.h"
#include "server/ticks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RATE_PRESET = 10, RATE_MOST = 60, BLOCK = 16384 };
static const uint64_t heartbeat = 10000000000u;

struct events {
    pthread_mutex_t m;
    struct mechd_timer timer;
    struct mechd_instance *instance; /* a reference */
    struct MHD_Connection *connection;
    uint64_t period;   /* ns */
    uint64_t last;     /* when something was written, ns */
    uint64_t revision; /* written last */
    struct mechp_text text;
    size_t sent; /* bytes of text given to the connection */
    double *values;
    int holders;
    bool suspended, ended, closed;
    bool running; /* written last */
};

/* True if the stream has to say something now. */
static bool has_news(struct events *e, uint64_t now)
{
    return atomic_load(&e->instance->deleted) || atomic_load(&e->instance->daemon->draining) ||
           atomic_load(&e->instance->revision) != e->revision ||
           atomic_load(&e->instance->running) != e->running || now - e->last > heartbeat;
}

/* One holder less; the last one frees. */
static void release(struct events *e)
{
    pthread_mutex_lock(&e->m);
    const bool last = --e->holders == 0;
    pthread_mutex_unlock(&e->m);
    if (!last) {
        return;
    }
    mechd_instance_unref(e->instance);
    mechp_text_fini(&e->text);
    free(e->values);
    pthread_mutex_destroy(&e->m);
    free(e);
}

/* On the clock's thread: wake the connection if there is news, else look again later. */
static void fire(struct mechd_timer *timer)
{
    struct events *e = (struct events *)((char *)timer - offsetof(struct events, timer));
    struct mechd_clock *clock = &e->instance->daemon->clock;
    bool again = false;
    pthread_mutex_lock(&e->m);
    if (!e->closed && e->suspended) {
        const uint64_t now = mechd_now();
        if (has_news(e, now)) {
            e->suspended = false;
            MHD_resume_connection(e->connection);
        } else {
            again = mechd_clock_arm(clock, &e->timer, now + e->period);
            if (!again) {
                e->suspended = false;
                e->ended = true;
                MHD_resume_connection(e->connection);
            }
        }
    }
    pthread_mutex_unlock(&e->m);
    if (!again) {
        release(e);
    }
}

/* The newest values as one event; the simulation itself is not asked. */
static void write_event(struct events *e)
{
    struct mechd_instance *i = e->instance;
    struct mechd_published now;
    mechd_instance_peek(i, &now, e->values);
    e->revision = now.revision;
    e->running = atomic_load(&i->running);
    struct mechp_text *w = &e->text;
    mechp_text_raw(w, "data: ", 6);
    w->comma[0] = false;
    mechp_text_object(w);
    mechp_text_key(w, "time");
    mechp_text_number(w, now.time);
    mechp_text_key(w, "step");
    mechp_text_unsigned(w, now.steps);
    mechp_text_key(w, "sequence");
    mechp_text_unsigned(w, now.sequence);
    mechp_text_key(w, "running");
    mechp_text_bool(w, e->running);
    mechp_text_key(w, "outputs");
    mechp_text_object(w);
    for (size_t k = 0; k < i->channel_count; k++) {
        mechp_text_key(w, i->channels[k].name);
        mechd_write_value(&i->channels[k], e->values + i->channels[k].offset, w);
    }
    mechp_text_end(w);
    mechp_text_end(w);
    w->comma[0] = false;
    mechp_text_raw(w, "\n\n", 2);
}

/* Fill the text with what there is to say, if anything. */
static void compose(struct events *e, uint64_t now)
{
    mechp_text_fini(&e->text);
    mechp_text_init(&e->text, NULL, 0);
    e->sent = 0;
    if (atomic_load(&e->instance->deleted) || atomic_load(&e->instance->daemon->draining)) {
        static const char end[] = "event: end\ndata: {}\n\n";
        e->ended = true;
        mechp_text_raw(&e->text, end, sizeof end - 1);
    } else if (atomic_load(&e->instance->revision) != e->revision ||
               atomic_load(&e->instance->running) != e->running) {
        write_event(e);
    } else if (now - e->last > heartbeat) {
        mechp_text_raw(&e->text, ":\n\n", 3);
    }
}

/* libmicrohttpd asks for bytes: some, none (the connection is suspended), or the end. */
static ssize_t read_events(void *context, uint64_t position, char *out, size_t most)
{
    struct events *e = context;
    (void)position;
    pthread_mutex_lock(&e->m);
    const uint64_t now = mechd_now();
    ssize_t count = 0;
    if (e->sent >= e->text.length && !e->ended &&
        (now - e->last >= e->period || atomic_load(&e->instance->daemon->draining))) {
        compose(e, now);
    }
    if (e->sent < e->text.length && !e->text.failed) {
        const size_t left = e->text.length - e->sent;
        const size_t n = left < most ? left : most;
        memcpy(out, e->text.bytes + e->sent, n);
        e->sent += n;
        e->last = now;
        count = (ssize_t)n;
    } else if (e->ended) {
        count = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        // sleep until the timer finds news; without a clock this is the end
        e->suspended = true;
        MHD_suspend_connection(e->connection);
        e->holders++;
        const uint64_t due = e->last + e->period > now ? e->last + e->period : now + e->period;
        if (!mechd_clock_arm(&e->instance->daemon->clock, &e->timer, due)) {
            e->holders--;
            e->suspended = false;
            e->ended = true;
            MHD_resume_connection(e->connection);
        }
    }
    pthread_mutex_unlock(&e->m);
    return count;
}

/* The connection is over. */
static void free_events(void *context)
{
    struct events *e = context;
    struct mechd *d = e->instance->daemon;
    atomic_fetch_sub(&d->metrics.event_clients, 1);
    pthread_mutex_lock(&e->m);
    e->closed = true;
    if (mechd_clock_cancel(&d->clock, &e->timer)) {
        e->holders--;
    }
    pthread_mutex_unlock(&e->m);
    release(e);
}

static struct events *create_events(struct mechd_exchange *x)
{
    struct events *e = calloc(1, sizeof *e);
    struct mechd_instance *i = x->call.job.instance;
    double *values = calloc(i->output_size + 1, sizeof *values);
    if (e == NULL || values == NULL) {
        free(e);
        free(values);
        return NULL;
    }
    const char *text = mechd_call_query(&x->call, "rate");
    const double rate = text != NULL ? strtod(text, NULL) : RATE_PRESET;
    const double sane = rate >= 0.1 && rate <= RATE_MOST ? rate
                        : rate > RATE_MOST               ? RATE_MOST
                                                         : 0.1;
    pthread_mutex_init(&e->m, NULL);
    mechd_instance_ref(i);
    e->instance = i;
    e->connection = x->connection;
    e->values = values;
    e->period = (uint64_t)(1e9 / sane);
    e->timer.fire = fire;
    e->holders = 1;
    mechp_text_init(&e->text, NULL, 0);
    return e;
}

enum MHD_Result mechd_events_serve(struct mechd_exchange *x)
{
    struct mechd *d = x->call.daemon;
    struct events *e = create_events(x);
    if (e == NULL) {
        mechd_fail(&x->call, MECHP_OUT_OF_MEMORY, "no memory for another stream of events");
        return mechd_exchange_answer(x);
    }
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_events, e, free_events);
    if (response == NULL) {
        release(e);
        return MHD_NO;
    }
    // a stream does not hold up the end of the daemon
    atomic_fetch_add(&d->metrics.event_clients, 1);
    x->counted = false;
    atomic_fetch_sub(&d->in_flight, 1);
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    return mechd_exchange_send(x, MHD_HTTP_OK, response, 0);
}

static enum mechd_progress run_events(struct mechd_call *c)
{
    // the door does the rest
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_EVENTS = {
    .run = run_events,
    .flags = MECHD_ON_INSTANCE | MECHD_READS,
    .query = {"rate"},
};
