/* A message of the lane as a request: a frame (server/call/frames.h) or JSON (messages.h). */
#include "protocol/wire/parts.h"
#include "protocol/wire/problem.h"
#include "server/lane/internal.h"

#include <stdlib.h>
#include <string.h>

enum { ASKED_ROOM = 4096 /* what a request takes beside its text */ };

static bool is_json(const struct mechd_lane_message *m)
{
    return m->size > 0 && (m->bytes[0] == '{' || mechp_json_begins(m->bytes, m->size) ||
                           mechp_parts_are(m->bytes, m->size));
}

/* --- frames ----------------------------------------------------------------------------------- */

static struct mechd_lane_link *link_of_frame(struct mechd_frame_request *r)
{
    return (struct mechd_lane_link *)((char *)r - offsetof(struct mechd_lane_link, frame));
}

static void answer_frame(struct mechd_frame_request *r)
{
    mechd_lane_post(link_of_frame(r));
}

static struct mechd_caller *make_caller(struct mechd_frame_request *r)
{
    return mechd_lane_caller_of(link_of_frame(r));
}

static bool ask_frame(struct mechd_lane_link *link)
{
    const struct mechd_lane_message *const m = &link->message;
    const struct mechd_frame_asked asked = {
        .bytes = m->bytes, .size = m->size, .extra = m->extra, .extra_size = m->extra_size};
    memset(&link->frame, 0, sizeof link->frame);
    link->frame.door = MECHD_DOOR_LANE_FRAME;
    link->frame.gone = &link->gone;
    link->frame.answer = answer_frame;
    link->frame.caller = make_caller;
    return mechd_frame_start(&link->frame, link->thread->door->service, &asked) != MECHD_QUEUED;
}

static void put_length(unsigned char *at, size_t length)
{
    for (int k = 0; k < MECHD_LANE_LENGTH; k++) {
        at[k] = (unsigned char)(length >> (8 * k) & 0xffu);
    }
}

static bool reply_frame(struct mechd_lane_link *link)
{
    struct mechd_lane_buffer *const b = &link->out;
    struct mechd_frame_request *const r = &link->frame;
    size_t size = 0, extra = 0;
    if (r->silent) {
        mechd_frame_fini(r);
        return true;
    }
    mechd_frame_complete(r, &size, &extra);
    const bool second = r->out.kind == MECHP_HELLO || r->out.kind == MECHP_ERROR;
    const size_t all = MECHD_LANE_LENGTH + size + (second ? MECHD_LANE_LENGTH + extra : 0);
    const bool ok = mechd_lane_reserve(link, b, all);
    if (ok) {
        unsigned char *const at = b->bytes + b->to;
        unsigned char *const behind = at + MECHD_LANE_LENGTH + size;
        put_length(at, size);
        mechd_frame_write(r, at + MECHD_LANE_LENGTH, second ? behind + MECHD_LANE_LENGTH : NULL);
        if (second) {
            put_length(behind, extra);
        }
        b->to += all;
    } else {
        mechd_frame_lose(r);
    }
    link->greeted = (link->greeted || r->out.kind == MECHP_HELLO) && r->out.kind != MECHP_BYE;
    mechd_frame_fini(r);
    return ok;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void wait_for(struct mechd_job *job)
{
    (void)job; // no thread is blocked: the reply is posted
}

/* The link of a call, by its message. */
struct json_request {
    struct mechd_message message; /* first */
    struct mechd_lane_link *link;
};

static void answer_json(struct mechd_call *c)
{
    mechd_lane_post(((struct json_request *)c)->link);
}

static bool start_json(struct mechd_lane_link *link)
{
    const struct mechd_lane_message *const asked = &link->message;
    struct mechd_message *const m = link->json;
    struct mechd_call *const c = &m->call;
    const size_t room = asked->size + ASKED_ROOM;
    if (!mechd_bodies_take(c->service, room)) {
        mechd_fail(c, MECHP_LIMIT_REACHED, "too many requests are in progress");
        return true;
    }
    link->json_room = room;
    return mechd_message_parse(m, asked->bytes, asked->size) != 0 ||
           mechd_message_admit(m, asked->size, NULL) != 0 || mechd_call_start(c) != MECHD_QUEUED;
}

static bool ask_json(struct mechd_lane_link *link)
{
    struct mechd_service *const s = link->thread->door->service;
    struct json_request *const r = calloc(1, sizeof *r);
    if (r == NULL) {
        return true;
    }
    r->link = link;
    link->json = &r->message;
    mechd_call_init(&r->message.call, s, MECHD_DOOR_LANE_JSON);
    r->message.call.answer = answer_json;
    r->message.call.job.wait = wait_for;
    r->message.call.gone = &link->gone;
    return start_json(link);
}

/* Append a text as a message. False: no memory. */
static bool append_text(struct mechd_lane_link *link, const struct mechp_text *w)
{
    struct mechd_lane_buffer *const b = &link->out;
    if (w->failed || !mechd_lane_reserve(link, b, MECHD_LANE_LENGTH + w->length)) {
        return false;
    }
    put_length(b->bytes + b->to, w->length);
    memcpy(b->bytes + b->to + MECHD_LANE_LENGTH, w->bytes, w->length);
    b->to += MECHD_LANE_LENGTH + w->length;
    return true;
}

static bool reply_json(struct mechd_lane_link *link)
{
    struct mechd_service *const s = link->thread->door->service;
    char room[1024];
    struct mechp_text w;
    if (link->json == NULL) {
        atomic_fetch_sub(&s->in_flight, 1);
        return false;
    }
    mechp_text_init(&w, room, sizeof room);
    mechd_message_write(link->json, &w);
    const bool ok = append_text(link, &w);
    mechd_message_note(link->json, link->message.size, w.length);
    mechp_text_fini(&w);
    mechd_message_fini(link->json);
    free(link->json);
    link->json = NULL;
    mechd_bodies_give(s, link->json_room);
    link->json_room = 0;
    atomic_fetch_sub(&s->in_flight, 1);
    return ok;
}

/* --- both ------------------------------------------------------------------------------------- */

/* A large request, on a thread of the pool. */
static void ask_from_pool(struct mechd_task *task)
{
    struct mechd_lane_link *const link =
        (struct mechd_lane_link *)((char *)task - offsetof(struct mechd_lane_link, task));
    struct mechd_service *const s = link->thread->door->service;
    const bool json = is_json(&link->message);
    if (json ? ask_json(link) : ask_frame(link)) {
        mechd_lane_post(link);
    }
    if (!json) {
        atomic_fetch_sub(&s->in_flight, 1); // the frame has counted itself
    }
}

bool mechd_lane_ask(struct mechd_lane_link *link)
{
    struct mechd_service *const s = link->thread->door->service;
    const bool json = is_json(&link->message);
    const size_t text = json ? link->message.size : link->message.extra_size;
    link->works = true;
    if (text <= MECHD_LANE_LARGE) {
        atomic_fetch_add(&s->in_flight, json ? 1 : 0);
        return json ? ask_json(link) : ask_frame(link);
    }
    // first, so that the shutdown waits for it, or is seen here
    atomic_fetch_add(&s->in_flight, 1);
    if (!mechd_host_stops(&s->host)) {
        link->task.run = ask_from_pool;
        mechd_pool_push(&s->host.pool, &link->task);
        return false;
    }
    if (json) {
        return ask_json(link); // refused before it works
    }
    atomic_fetch_sub(&s->in_flight, 1);
    return ask_frame(link);
}

bool mechd_lane_reply(struct mechd_lane_link *link)
{
    link->works = false;
    return is_json(&link->message) ? reply_json(link) : reply_frame(link);
}

bool mechd_lane_refuse(struct mechd_lane_link *link, enum mechp_code code, const char *text)
{
    const struct mechp_problem problem = {.code = code, .detail = text};
    struct mechd_requests *const requests = &link->thread->door->service->requests;
    char room[512];
    struct mechp_text w;
    mechp_text_init(&w, room, sizeof room);
    mechp_problem_write_reply(&problem, NULL, 0, &w);
    mechd_requests_count(requests, MECHD_DOOR_LANE_JSON, NULL, mechp_code((int)code)->http_status,
                         0);
    const bool ok = append_text(link, &w);
    mechp_text_fini(&w);
    return ok;
}
