/* From the bytes of a frame to its reply. */
#include "server/call/frames.h"

#include "protocol/wire/bodies_messages.h"
#include "protocol/wire/json.h"
#include "server/call/call.h"
#include "server/call/outside.h"
#include "server/call/service.h"
#include "server/instance/durable.h"
#include "server/os/ticks.h"
#include "solver/base/text.h"

#include <stdlib.h>
#include <string.h>

/* Run it; what it changed is on its way to the disk. */
static enum mechd_progress run_and_store(struct mechd_job *job)
{
    struct mechd_frame_request *r = (struct mechd_frame_request *)job;
    const enum mechd_progress progress = mechd_frame_run(r);
    if (progress == MECHD_DONE && r->partner != NULL) {
        mechd_leases_end(&job->instance->leases, r->in.lease);
    }
    if (progress == MECHD_DONE && !job->reader) {
        // a snapshot has it already
        mechd_durable_sync(job->instance, r->in.kind != MECHP_SNAPSHOT ? &r->ticket : NULL);
    }
    return progress;
}

void mechd_frame_fini(struct mechd_frame_request *r)
{
    mechd_bodies_give(r->service, r->taken);
    atomic_fetch_sub(&r->service->in_flight, 1);
    mechd_instance_unref(r->job.instance);
    if (r->outside != NULL) {
        // its reply is on its way: questions may follow
        mechd_outside_greeted(r->outside, r->out.lease);
        mechd_outside_unref(r->outside);
    }
    json_decref(r->hello);
    mechp_text_fini(&r->second);
    mech_diag_fini(&r->diag);
    free(r->values);
    free(r->reply);
}

static void write_second(struct mechd_frame_request *r, const struct mechp_problem *problem)
{
    mechp_text_fini(&r->second);
    mechp_text_init(&r->second, r->bare, sizeof r->bare);
    mechp_problem_write(problem, &r->second);
}

/* The problem of an error reply. */
static void write_problem(struct mechd_frame_request *r)
{
    const struct mechp_problem problem = {.code = (enum mechp_code)r->out.status,
                                          .detail = r->detail[0] != '\0' ? r->detail : NULL,
                                          .diag = mech_diag_clean(&r->diag) ? NULL : &r->diag};
    write_second(r, &problem);
}

bool mechd_frame_grants(const struct mechd_frame_request *r)
{
    return r->in.kind == MECHP_HELLO && r->out.lease != r->in.lease;
}

void mechd_frame_withdraw(struct mechd_service *service, const struct mechp_frame *hello)
{
    if (mechd_outside_withdraw(service->outsides, hello->lease)) {
        return;
    }
    struct mechd_instance *const i = mechd_table_number(&service->host.table, hello->instance);
    if (i != NULL) {
        (void)mechd_leases_drop(&i->leases, hello->lease);
    }
    mechd_instance_unref(i);
}

void mechd_frame_lose(struct mechd_frame_request *r)
{
    if (!mechd_frame_grants(r)) {
        return;
    }
    mechd_frame_withdraw(r->service, &r->out);
    r->out.lease = r->in.lease;
    mechd_outside_unref(r->outside);
    r->outside = NULL;
}

void mechd_frame_starve(struct mechd_frame_request *r, size_t *size, size_t *extra)
{
    if (r->out.kind != MECHP_ERROR) {
        // what has been done and remains is no out-of-memory
        mechd_frame_fail(r, mechd_frame_grants(r) ? MECHP_OUT_OF_MEMORY : MECHP_INTERNAL, "");
    }
    mechd_frame_lose(r);
    const struct mechp_problem problem = {.code = (enum mechp_code)r->out.status};
    write_second(r, &problem);
    *size = MECHP_FRAME_HEADER;
    *extra = r->second.length;
}

void mechd_frame_complete(struct mechd_frame_request *r, size_t *size, size_t *extra)
{
    if (r->out.kind == MECHP_ERROR) {
        mechd_frame_lose(r); // what followed the hello itself has failed
        write_problem(r);
    }
    *size = MECHP_FRAME_HEADER + 8 * (size_t)r->out.count;
    *extra = r->second.length;
    if (r->second.failed) {
        mechd_frame_starve(r, size, extra);
    }
    const bool error = r->out.kind == MECHP_ERROR;
    const int status = error ? mechp_code(r->out.status)->http_status : 200;
    mechd_requests_count(&r->service->requests, r->door, NULL, status, mechd_now() - r->start);
}

void mechd_frame_write(const struct mechd_frame_request *r, unsigned char *frame,
                       unsigned char *second)
{
    mechp_frame_write(&r->out, frame);
    if (r->out.count > 0) {
        mechp_frame_put_values(frame + MECHP_FRAME_HEADER, r->reply, r->out.count);
    }
    if (r->second.length > 0) {
        memcpy(second, r->second.bytes, r->second.length);
    }
}

static void answer_ticket(struct mechd_ticket *t)
{
    struct mechd_frame_request *r =
        (struct mechd_frame_request *)((char *)t - offsetof(struct mechd_frame_request, ticket));
    if (t->outcome != 0) {
        mechd_frame_fail(r, MECHP_STORAGE_FAILED, "the change could not be stored and was undone");
    }
    r->answer(r);
}

static void finish(struct mechd_job *job)
{
    struct mechd_frame_request *r = (struct mechd_frame_request *)job;
    if (!mechd_ticket_wait(&r->ticket, NULL, NULL)) {
        r->answer(r);
    }
}

/* The token of a hello, with which a lease comes: frames with that lease show none, and are let in
 * as long as it is known. The key of the connection is asked for again with every frame. */
static bool admit(struct mechd_frame_request *r)
{
    const unsigned char *const key = r->key;
    if (r->hello == NULL && key == NULL) {
        return true;
    }
    // a frame behind a hello has the key alone
    struct mechp_body_hello_request in = {.token = NULL};
    if (r->hello != NULL) {
        MECHP_PEEK(hello_request, r->hello, &in);
    }
    const char *const token = json_string_value(in.token);
    struct mechd_service *const d = r->service;
    r->pass.has_token = key == NULL || (token != NULL && d->host.tokens.needed);
    r->pass.turn = atomic_load(&d->host.tokens.turn);
    if (!mechd_call_who(d, token, key, &r->pass.who)) {
        mechd_frame_fail(r, MECHP_UNAUTHORIZED,
                         token == NULL && key != NULL
                             ? "the key of this connection is not known"
                             : "this server requires a token in the hello");
        return false;
    }
    if (r->pass.who.scope < MECHP_SCOPE_STEP) {
        mechd_frame_fail(r, MECHP_FORBIDDEN, "this needs the scope step");
        return false;
    }
    return true;
}

/* The hello of a program that takes part in a coupling: the reply is complete. */
static void greet_outside(struct mechd_frame_request *r)
{
    struct mechd_caller *const caller = r->caller != NULL ? r->caller(r) : NULL;
    struct mechd_outside_hello h = {.body = r->hello,
                                    .pass = r->pass,
                                    .caller = caller,
                                    .diag = &r->diag,
                                    .reply = &r->second,
                                    .detail = r->detail};
    if (caller == NULL && r->caller == NULL) {
        mech_diag_add(&r->diag, "/coupling",
                      "partners of couplings are called over ZeroMQ or the lane");
        mechd_frame_fail(r, MECHP_INVALID_REQUEST, "");
        return;
    }
    if (caller == NULL) {
        mechd_frame_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the partner");
        return;
    }
    const enum mechp_code code = mechd_outside_hello(r->service->outsides, &h);
    if (code != MECHP_OK) {
        char detail[sizeof r->detail];
        mech_text_format(detail, sizeof detail, "%s", r->detail);
        caller->destroy(caller);
        mechd_frame_fail(r, code, detail);
        return;
    }
    r->outside = h.outside;
    r->out.lease = h.lease;
}

/* The instance: by name in a hello, by number afterwards. False: refused. */
static bool find_instance(struct mechd_frame_request *r, const char *extra, size_t extra_size)
{
    struct mechd_table *table = &r->service->host.table;
    const char *id = NULL;
    if (r->in.kind != MECHP_HELLO) {
        if (!admit(r)) {
            return false;
        }
        // no instance has the number 0: the frames of programs in couplings have it
        const struct mechd_outside_answer answer = {
            .frame = &r->in,
            .values = r->values,
            .text = (r->in.flags & MECHP_TEXT) != 0 ? extra : NULL,
            .text_size = (r->in.flags & MECHP_TEXT) != 0 ? extra_size : 0};
        if (r->in.instance == 0 && mechd_outside_take(r->service->outsides, &answer)) {
            r->silent = true;
            return false;
        }
        r->job.instance = mechd_table_number(table, r->in.instance);
    } else {
        struct mechp_json_fault fault;
        if (extra == NULL || mechp_json_parse(extra, extra_size, &mechp_json_limits_request, &fault,
                                              &r->hello) != 0) {
            mechd_frame_fail(r, MECHP_MALFORMED_JSON,
                             extra == NULL ? "a hello needs a second frame, of JSON" : fault.text);
            return false;
        }
        if (!admit(r)) {
            return false;
        }
        if (json_object_get(r->hello, "coupling") != NULL) {
            greet_outside(r);
            return false;
        }
        struct mechp_body_hello_request in;
        MECHP_PEEK(hello_request, r->hello, &in);
        id = json_string_value(in.instance);
        r->job.instance = id != NULL ? mechd_table_find(table, id) : NULL;
    }
    if (r->job.instance == NULL) {
        char text[128];
        mech_text_format(text, sizeof text, "there is no instance %.64s",
                         id != NULL ? id : "with this number");
        mechd_frame_fail(r, MECHP_INSTANCE_NOT_FOUND, text);
        return false;
    }
    return true;
}

/* Decode the frame. False: refused. */
static bool read_frame(struct mechd_frame_request *r, const struct mechd_frame_asked *asked)
{
    const char *const bytes = asked->bytes;
    const size_t size = asked->size;
    static const char *const faults[] = {
        "",
        "a message is an object of JSON, which begins with {, or a "
        "frame of at least 64 bytes",
        "a message is an object of JSON, which begins with {, or a "
        "frame, which begins with MCHD",
        "this version of the frame is not known",
        "this kind of frame is not known",
        "the values do not fit the size of the message"};
    const int fault = mechp_frame_read(bytes, size, &r->in);
    // the sender identifies its request by the sequence, also for a frame that is refused
    r->out = (struct mechp_frame){.kind = r->in.kind,
                                  .instance = r->in.instance,
                                  .iteration = r->in.iteration,
                                  .sequence = r->in.sequence,
                                  .size = r->in.size,
                                  .lease = r->in.lease};
    if (fault != 0) {
        mechd_frame_fail(r, MECHP_MALFORMED_FRAME, faults[fault <= MECHP_FRAME_COUNT ? fault : 0]);
        return false;
    }
    if (asked->refusal != NULL) {
        mechd_frame_fail(r, MECHP_LIMIT_REACHED, asked->refusal);
        return false;
    }
    if (!mechd_bodies_take(r->service, size)) {
        mechd_frame_fail(r, MECHP_LIMIT_REACHED, "too many requests are in progress");
        return false;
    }
    r->taken = size;
    if (r->in.count > 0) {
        r->values = calloc(r->in.count, sizeof *r->values);
        if (r->values == NULL) {
            mechd_frame_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the values");
            return false;
        }
        mechp_frame_get_values(bytes + MECHP_FRAME_HEADER, r->values, r->in.count);
    }
    return true;
}

/* What the request will cost. */
static uint64_t cost_of(struct mechd_frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    if (r->in.kind == MECHP_STEP || r->in.kind == MECHP_TRIAL) {
        const struct mech_step_request request = {.kind = MECH_STEP_SIZE, .size = r->in.size};
        return mechd_stepping_cost(i, &request);
    }
    return r->in.kind == MECHP_STATE ? (uint64_t)i->size * 20 : 0;
}

/* Submit it to its instance, once it has been read. */
static enum mechd_submitted submit(struct mechd_frame_request *r)
{
    r->job.run = run_and_store;
    r->ticket.answer = answer_ticket;
    r->job.finish = finish;
    r->job.cost = cost_of(r);
    r->job.reader = r->in.kind == MECHP_OUTPUTS;
    r->job.stoppable = r->in.kind == MECHP_STEP || r->in.kind == MECHP_TRIAL;
    const enum mechd_submitted submitted = mechd_instance_submit(r->job.instance, &r->job);
    if (submitted == MECHD_FULL) {
        mechd_frame_fail(r, MECHP_QUEUE_FULL, "too many commands wait for this instance");
    }
    return submitted != MECHD_QUEUED && mechd_ticket_wait(&r->ticket, NULL, NULL) ? MECHD_QUEUED
                                                                                  : submitted;
}

enum mechd_submitted mechd_frame_start(struct mechd_frame_request *r, struct mechd_service *service,
                                       const struct mechd_frame_asked *asked)
{
    r->service = service;
    atomic_fetch_add(&service->in_flight, 1);
    r->start = mechd_now();
    mech_diag_init(&r->diag);
    mechp_text_init(&r->second, NULL, 0);
    if (!read_frame(r, asked) || !find_instance(r, asked->extra, asked->extra_size)) {
        return MECHD_RAN;
    }
    if (r->in.kind != MECHP_HELLO && !mechd_leases_lasts(&r->job.instance->leases, r->in.lease)) {
        // a client without a lease takes no place in the queue
        const struct mechd_holder no_holder = {.role = -1};
        char text[256];
        mechd_frame_fail(r, MECHP_FOREIGN_LEASE,
                         mechd_holder_tell(&no_holder, r->job.instance->id, text, sizeof text));
        return MECHD_RAN;
    }
    if (mechd_host_drains(&service->host)) {
        mechd_frame_fail(r, MECHP_DRAINING, "the server is shutting down");
        return MECHD_RAN;
    }
    return submit(r);
}
