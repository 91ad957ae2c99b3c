/* The life of a stream of events: read → suspend and arm → fire → resume → read … */
#include "server/http/sse.h"

#include "server/call/query.h"
#include "server/call/service.h"
#include "server/os/ticks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384 };

/* Events a second, if the request says nothing else. */
static const double preset = 10.;
static const uint64_t heartbeat = 10000000000u;
/* from one look at the socket to the next, ns */
static const uint64_t look = 1000000000u;
static const char comment[] = ":\n\n";

void mechd_sse_head(struct mechd_sse *s, const char *name, const char *id)
{
    struct mechp_text *const w = &s->text;
    if (name != NULL) {
        mechp_text_plain(w, "event: ", 7);
        mechp_text_plain(w, name, strlen(name));
        mechp_text_plain(w, "\n", 1);
    }
    if (id != NULL) {
        mechp_text_plain(w, "id: ", 4);
        mechp_text_plain(w, id, strlen(id));
        mechp_text_plain(w, "\n", 1);
    }
    mechp_text_plain(w, "data: ", 6);
    w->comma[0] = false;
}

void mechd_sse_tail(struct mechd_sse *s)
{
    mechp_text_plain(&s->text, "\n\n", 2);
}

static bool is_late(const struct mechd_sse *s, uint64_t now)
{
    return now - s->last > heartbeat;
}

/* One holder less; the last one frees. */
static void release(struct mechd_sse *s)
{
    pthread_mutex_lock(&s->m);
    const bool last = --s->holders == 0;
    pthread_mutex_unlock(&s->m);
    if (last) {
        mechp_text_fini(&s->text);
        pthread_mutex_destroy(&s->m);
        s->ops->destroy(s);
    }
}

static void wake(struct mechd_sse *s)
{
    s->suspended = false;
    MHD_resume_connection(s->connection);
}

/* A token may have been taken out of the file. */
static bool is_let_in(struct mechd_sse *s)
{
    return mechd_tokens_still(&s->service->host.tokens, &s->who, MECHP_SCOPE_READ, &s->turn);
}

/* What is seen of the client now and then. The connection is suspended. */
static enum mechd_link_end look_at(struct mechd_sse *s, uint64_t now)
{
    if (now - s->looked < look) {
        return MECHD_LINK_OPEN;
    }
    s->looked = now;
    return mechd_link_end(s->link);
}

/* The timer fires next. */
static uint64_t next_turn(const struct mechd_sse *s)
{
    return s->due < s->looked + look ? s->due : s->looked + look;
}

/* On the clock's thread: wake the connection if there is news, else look again later. */
static void fire(struct mechd_timer *timer)
{
    struct mechd_sse *const s =
        (struct mechd_sse *)((char *)timer - offsetof(struct mechd_sse, timer));
    bool again = false;
    pthread_mutex_lock(&s->m);
    if (!s->closed && s->suspended) {
        const uint64_t now = mechd_now();
        const enum mechd_link_end end = look_at(s, now);
        const bool due = now >= s->due;
        // whether a client that sends no more still reads shows when it is written to
        s->asks = end == MECHD_LINK_HALF;
        if (!is_let_in(s) || end == MECHD_LINK_GONE) {
            s->ended = true;
            wake(s);
        } else if (s->asks || mechd_host_drains(&s->service->host) || is_late(s, now) ||
                   (due && s->ops->has_news(s))) {
            wake(s);
        } else {
            s->due = due ? now + s->period : s->due;
            again = mechd_clock_arm(&s->service->host.clock, &s->timer, next_turn(s));
            if (!again) {
                s->ended = true;
                wake(s);
            }
        }
    }
    pthread_mutex_unlock(&s->m);
    if (!again) {
        release(s);
    }
}

/* Fill the text with what there is to say, if anything. */
static void compose(struct mechd_sse *s, uint64_t now)
{
    const bool due =
        s->eager || now >= s->due || is_late(s, now) || mechd_host_drains(&s->service->host);
    mechp_text_fini(&s->text);
    mechp_text_init(&s->text, NULL, 0);
    s->sent = 0;
    if (due) {
        s->eager = false;
        s->due = now + s->period;
        s->ops->compose(s);
    }
    if (s->text.length == 0 && !s->ended && (s->asks || is_late(s, now))) {
        mechp_text_plain(&s->text, comment, sizeof comment - 1);
    }
    s->asks = false;
}

/* Sleep until the timer finds news; without a clock this is the end. */
static void suspend(struct mechd_sse *s, uint64_t now)
{
    s->due = s->due > now ? s->due : now + s->period;
    s->suspended = true;
    MHD_suspend_connection(s->connection);
    s->holders++;
    if (!mechd_clock_arm(&s->service->host.clock, &s->timer, next_turn(s))) {
        s->holders--;
        s->ended = true;
        wake(s);
    }
}

/* libmicrohttpd asks for bytes: some, none (the connection is suspended), or the end. */
static ssize_t read_events(void *context, uint64_t position, char *out, size_t most)
{
    struct mechd_sse *const s = context;
    (void)position;
    pthread_mutex_lock(&s->m);
    const uint64_t now = mechd_now();
    ssize_t count = 0;
    if (s->sent >= s->text.length && !s->ended && !is_let_in(s)) {
        s->ended = true;
    } else if (s->sent >= s->text.length && !s->ended) {
        compose(s, now);
    }
    if (s->text.failed) {
        count = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (s->sent < s->text.length) {
        const size_t left = s->text.length - s->sent;
        const size_t n = left < most ? left : most;
        memcpy(out, s->text.bytes + s->sent, n);
        s->sent += n;
        s->last = now;
        count = (ssize_t)n;
        mechd_count(&mechd_tally(&s->service->host.counters)->bytes_out, n);
    } else if (s->ended) {
        count = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        suspend(s, now);
    }
    pthread_mutex_unlock(&s->m);
    return count;
}

/* The connection is over. */
static void close_events(void *context)
{
    struct mechd_sse *const s = context;
    atomic_fetch_sub(&s->service->host.counters.event_clients, 1);
    pthread_mutex_lock(&s->m);
    s->closed = true;
    if (mechd_clock_cancel(&s->service->host.clock, &s->timer)) {
        s->holders--;
    }
    pthread_mutex_unlock(&s->m);
    release(s);
}

static uint64_t read_period(struct mechd_call *c)
{
    struct mechp_query_events asked;
    MECHD_ASK(events, c, &asked);
    return (uint64_t)(1e9 / (isnan(asked.rate) ? preset : asked.rate));
}

void mechd_sse_check(struct mechd_call *c)
{
    (void)read_period(c);
}

enum MHD_Result mechd_sse_serve(struct mechd_exchange *x, struct mechd_sse *s)
{
    struct mechd_service *const d = x->call.service;
    struct MHD_Response *const response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_events, s, close_events);
    if (response == NULL) {
        s->ops->destroy(s);
        mechd_fail(&x->call, MECHP_OUT_OF_MEMORY, "no memory for another stream of events");
        return mechd_exchange_answer(x);
    }
    pthread_mutex_init(&s->m, NULL);
    mechp_text_init(&s->text, NULL, 0);
    s->service = d;
    s->connection = x->connection;
    s->who = x->call.who;
    // looked at before the first event: the file may have been read again meanwhile
    s->turn = atomic_load(&d->host.tokens.turn) - 1;
    s->period = read_period(&x->call);
    s->timer.fire = fire;
    s->last = mechd_now();
    s->link = x->link;
    s->looked = s->last;
    s->eager = true;
    s->holders = 1;
    // a stream does not hold up the end of the daemon
    atomic_fetch_add(&d->host.counters.event_clients, 1);
    x->counted = false;
    x->is_stream = true;
    atomic_fetch_sub(&d->in_flight, 1);
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    // neither gathered (nginx) nor compressed (haproxy, envoy) on the way
    MHD_add_response_header(response, "Cache-Control", "no-store, no-transform");
    MHD_add_response_header(response, "X-Accel-Buffering", "no");
    return mechd_exchange_send(x, MHD_HTTP_OK, response, 0);
}
