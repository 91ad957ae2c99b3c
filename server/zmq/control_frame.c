/* Binary frames over the control socket: hello, step, trial, commit, inputs, outputs, state,
 * snapshot, restore, bye.
 *
 *   step, trial   values: the partner's inputs in the order of its hello (or none: they hold), then
 *                 their derivatives by the hello's order; size: H. Reply: its outputs at the end.
 *   commit        keeps the last trial of this partner. Reply: its outputs.
 *   inputs        sets them. outputs: asks for them.
 *   state         no values: asks for [q v x z]; values: sets them; time 0 or the new time.
 *   snapshot      takes one in memory; its number comes back in `iteration`, where restore sends it
 *
 * A reply carries the request's kind, sequence and iteration. An error reply has kind error, the
 * code in `status` and the problem as JSON in a second frame.
 */
#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/os/ticks.h"
#include "server/zmq/frame_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same; what it changed is on its way to the disk. */
static enum mechd_progress run_and_store(struct mechd_job *job)
{
    struct mechd_frame_request *r = (struct mechd_frame_request *)job;
    const enum mechd_progress progress = mechd_frame_run(r);
    if (progress == MECHD_DONE && r->partner != NULL) {
        mechd_leases_end(&job->instance->leases, r->in.lease);
    }
    if (progress == MECHD_DONE && !job->reader) {
        mechd_durable_sync(job->instance, &r->ticket);
    }
    return progress;
}

static void free_request(struct mechd_frame_request *r)
{
    mechd_bodies_give(r->zmq->service, r->taken);
    mechd_backlog_unref(r->backlog);
    atomic_fetch_sub(&r->zmq->service->in_flight, 1);
    mechd_instance_unref(r->job.instance);
    json_decref(r->hello);
    mechp_text_fini(&r->second);
    mech_diag_fini(&r->diag);
    free(r->values);
    free(r->reply);
    free(r);
}

/* The problem of an error reply. */
static void write_problem(struct mechd_frame_request *r)
{
    const struct mechp_problem problem = {.code = (enum mechp_code)r->out.status,
                                          .detail = r->detail[0] != '\0' ? r->detail : NULL,
                                          .diag = mech_diag_clean(&r->diag) ? NULL : &r->diag};
    mechp_text_fini(&r->second);
    mechp_text_init(&r->second, NULL, 0);
    mechp_problem_write(&problem, &r->second);
}

/* Send the reply, from the door's thread or through the outbox; the request is over. */
static void reply(struct mechd_frame_request *r, bool here)
{
    struct mechd_zmq *z = r->zmq;
    const bool error = r->out.kind == MECHP_ERROR;
    if (error) {
        write_problem(r);
    }
    const size_t size = MECHP_FRAME_HEADER + 8 * (size_t)r->out.count;
    const size_t extra = r->second.failed ? 0 : r->second.length;
    struct mechd_letter *letter = mechd_letter_create(z, size, extra);
    if (letter != NULL) {
        letter->peer = r->peer;
        mechp_frame_write(&r->out, letter->bytes);
        if (r->out.count > 0) {
            mechp_frame_put_values(letter->bytes + MECHP_FRAME_HEADER, r->reply, r->out.count);
        }
        if (extra > 0) {
            memcpy(letter->bytes + size, r->second.bytes, extra);
        }
    }
    const int status = error ? mechp_code(r->out.status)->http_status : 200;
    mechd_requests_count(&z->service->requests, MECHD_DOOR_FRAME, NULL, status,
                         mechd_now() - r->start);
    if (letter != NULL && here) {
        mechd_letter_send(z, letter);
    } else if (letter != NULL) {
        mechd_letter_post(z, letter);
    }
    free_request(r);
}

static void answer_ticket(struct mechd_ticket *t)
{
    struct mechd_frame_request *r =
        (struct mechd_frame_request *)((char *)t - offsetof(struct mechd_frame_request, ticket));
    if (t->outcome != 0) {
        mechd_frame_fail(r, MECHP_STORAGE_FAILED, "the change could not be stored and was undone");
    }
    reply(r, false);
}

static void finish(struct mechd_job *job)
{
    struct mechd_frame_request *r = (struct mechd_frame_request *)job;
    if (!mechd_ticket_wait(&r->ticket, NULL, NULL)) {
        reply(r, false);
    }
}

/* The token of a hello, with which a lease comes: frames with that lease show none, and are let in
 * as long as it is known. The key of the connection is asked for again with every frame. */
static bool admit(struct mechd_frame_request *r)
{
    const char *const token = json_string_value(json_object_get(r->hello, "token"));
    const unsigned char *const key = r->peer.has_key ? r->peer.key : NULL;
    if (r->hello == NULL && key == NULL) {
        return true;
    }
    struct mechd_service *const d = r->zmq->service;
    r->pass.has_token = key == NULL || (token != NULL && d->host.tokens.needed);
    r->pass.turn = atomic_load(&d->host.tokens.turn);
    if (!mechd_call_who(d, token, key, &r->pass.who)) {
        mechd_frame_fail(r, MECHP_UNAUTHORIZED,
                         token == NULL && key != NULL
                             ? "the key of this connection is not known"
                             : "this server asks for a token in the hello");
        return false;
    }
    if (r->pass.who.scope < MECHD_SCOPE_STEP) {
        mechd_frame_fail(r, MECHP_FORBIDDEN, "this needs the scope step");
        return false;
    }
    return true;
}

/* The instance: by name in a hello, by number afterwards. False: refused. */
static bool find_instance(struct mechd_frame_request *r, const char *extra, size_t extra_size)
{
    struct mechd_table *table = &r->zmq->service->host.table;
    if (r->in.kind != MECHP_HELLO) {
        if (!admit(r)) {
            return false;
        }
        r->job.instance = mechd_table_number(table, r->in.instance);
    } else {
        struct mechp_json_fault fault;
        if (extra == NULL || mechp_json_parse(extra, extra_size, &mechp_json_limits_request, &fault,
                                              &r->hello) != 0) {
            mechd_frame_fail(r, MECHP_MALFORMED_JSON,
                             extra == NULL ? "a hello has a second, JSON frame" : fault.text);
            return false;
        }
        if (!admit(r)) {
            return false;
        }
        const char *id = json_string_value(json_object_get(r->hello, "instance"));
        r->job.instance = id != NULL ? mechd_table_find(table, id) : NULL;
    }
    if (r->job.instance == NULL) {
        const char *id = json_string_value(json_object_get(r->hello, "instance"));
        char text[128];
        snprintf(text, sizeof text, "there is no instance %.64s",
                 id != NULL ? id : "of this number");
        mechd_frame_fail(r, MECHP_INSTANCE_NOT_FOUND, text);
        return false;
    }
    return true;
}

/* Decode the frame. False: refused. */
static bool read_frame(struct mechd_frame_request *r, const struct mechd_asked *asked)
{
    const char *const bytes = asked->bytes;
    const size_t size = asked->size;
    static const char *const faults[] = {"",
                                         "a frame has at least 64 bytes",
                                         "a frame begins with MCHD",
                                         "this version of the frame is not known",
                                         "this kind of frame is not known",
                                         "the values do not fit the size of the message"};
    const int fault = mechp_frame_read(bytes, size, &r->in);
    // who sent it finds its request by the sequence, also of a frame that is refused
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
    if (!mechd_bodies_take(r->zmq->service, size)) {
        mechd_frame_fail(r, MECHP_LIMIT_REACHED, "too many requests are on their way");
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

void mechd_control_frame(struct mechd_zmq *z, const struct mechd_asked *asked)
{
    const bool here = asked->place == MECHD_AT_THE_DOOR;
    struct mechd_frame_request *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return;
    }
    atomic_fetch_add(&z->service->in_flight, 1);
    r->zmq = z;
    r->peer = *asked->peer;
    r->backlog = here ? mechd_guard_backlog(z, &r->peer) : mechd_backlog_ref(asked->backlog);
    r->start = mechd_now();
    mech_diag_init(&r->diag);
    mechp_text_init(&r->second, NULL, 0);
    if (!read_frame(r, asked) || !find_instance(r, asked->extra, asked->extra_size)) {
        reply(r, here);
        return;
    }
    if (r->in.kind != MECHP_HELLO && !mechd_leases_lasts(&r->job.instance->leases, r->in.lease)) {
        // who holds none takes no place in the queue
        const struct mechd_holder nobody = {.role = -1};
        char text[256];
        mechd_frame_fail(r, MECHP_FOREIGN_LEASE,
                         mechd_holder_tell(&nobody, r->job.instance->id, text, sizeof text));
        reply(r, here);
        return;
    }
    if (atomic_load(&z->service->host.draining)) {
        mechd_frame_fail(r, MECHP_DRAINING, "the server is shutting down");
        reply(r, here);
        return;
    }
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
    if (submitted != MECHD_QUEUED && !mechd_ticket_wait(&r->ticket, NULL, NULL)) {
        reply(r, here);
    }
}
