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
#include "server/daemon.h"
#include "server/instance/partners.h"
#include "server/instance/snapshots.h"
#include "server/instance/stepping.h"
#include "server/ticks.h"
#include "server/zmq/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct frame_request {
    struct mechd_job job; /* first */
    struct mechd_zmq *zmq;
    struct mechd_peer peer;
    struct mechd_token who; /* known with a hello, and with a key */
    struct mechp_frame in, out;
    uint64_t start;
    double *values; /* [in.count], then room for the reply's values */
    double *reply;  /* [out.count] */
    size_t room;    /* of reply */
    size_t taken;   /* of the bodies in flight */
    json_t *hello;
    struct mechp_text second; /* second frame of the reply */
    struct mech_diag diag;
    char detail[256];
    struct mechd_stepping stepping;
    struct mechd_partner *partner;
    struct mechd_ticket ticket;
};

static void fail(struct frame_request *r, enum mechp_code code, const char *text)
{
    r->out.kind = MECHP_ERROR;
    r->out.status = (int32_t)code;
    r->out.count = 0;
    snprintf(r->detail, sizeof r->detail, "%s", text);
}

static void fail_outcome(struct frame_request *r, int outcome)
{
    fail(r, mechp_code_of_outcome(outcome), mech_err_text(outcome));
}

/* Room for n values of the reply. False: refused. */
static bool reserve(struct frame_request *r, size_t n)
{
    if (n > r->room) {
        double *more = realloc(r->reply, n * sizeof *more);
        if (more == NULL) {
            fail(r, MECHP_OUT_OF_MEMORY, "no memory for the reply");
            return false;
        }
        r->reply = more;
        r->room = n;
    }
    r->out.count = (uint32_t)n;
    return true;
}

/* The partner's outputs into the reply; from the trial or the committed state. */
static void reply_outputs(struct frame_request *r, bool trial)
{
    struct mechd_instance *i = r->job.instance;
    struct mechd_partner *p = r->partner;
    if (!reserve(r, p->output_size)) {
        return;
    }
    if (trial) {
        mechd_engine_trial_outputs(&i->engine, p->packed);
        r->out.time = mechd_engine_trial_time(&i->engine);
        r->out.step = mechd_engine_step_count(&i->engine) + r->stepping.report.steps;
    } else {
        mechd_engine_get_outputs(&i->engine, p->packed);
        r->out.time = mechd_engine_time(&i->engine);
        r->out.step = mechd_engine_step_count(&i->engine);
    }
    mechd_partner_pick(i, p, p->packed, r->reply);
}

static void run_hello(struct frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    struct mechd_partner *p = NULL;
    struct mechd_holder holder;
    char text[256];
    const struct mechd_hello hello = {r->hello, r->in.lease, r->who.name};
    const int outcome = mechd_partner_hello(i, &hello, &r->diag, &holder, &p);
    if (outcome == MECH_INVALID) {
        fail(r, MECHP_INVALID_REQUEST, "");
    } else if (outcome == MECH_MISMATCH) {
        fail(r, MECHP_FOREIGN_LEASE, mechd_holder_tell(&holder, i->id, text, sizeof text));
    } else if (outcome == MECH_UNSUPPORTED) {
        fail(r, MECHP_LIMIT_REACHED, "too many partners hold leases on this instance");
    } else if (outcome != 0) {
        fail_outcome(r, outcome);
    } else {
        mechd_partner_write(i, p, &r->second);
        r->out.instance = i->number;
        r->out.lease = p->lease;
        r->out.time = mechd_engine_time(&i->engine);
        r->out.step = mechd_engine_step_count(&i->engine);
    }
}

/* Why the inputs of a frame cannot be set. */
static void refuse_inputs(struct frame_request *r, int outcome)
{
    if (outcome == MECH_MISMATCH) {
        fail(r, MECHP_MALFORMED_FRAME, "the values do not fit the inputs of the hello");
    } else if (outcome == MECH_NOT_FINITE) {
        fail(r, MECHP_INVALID_REQUEST, "an input is not finite");
    } else {
        fail_outcome(r, outcome);
    }
}

/* The command of the frame, with its inputs. False: refused, nothing has changed. */
static bool begin_step(struct frame_request *r)
{
    struct mechd_partner *p = r->partner;
    struct mech_step_request *step = &r->stepping.request;
    *step = (struct mech_step_request){
        .kind = MECH_STEP_SIZE, .size = r->in.size, .trial = r->in.kind == MECHP_TRIAL};
    if (!(r->in.size > 0.) || !isfinite(r->in.size)) {
        fail(r, MECHP_INVALID_REQUEST, "size must be greater than 0");
        return false;
    }
    if (r->in.count > 0) {
        const int outcome =
            mechd_partner_inputs(r->job.instance, p, r->values, r->in.count, &p->step);
        if (outcome != 0) {
            refuse_inputs(r, outcome);
            return false;
        }
        step->inputs = p->step.changes;
        step->input_count = p->input_count;
    }
    return true;
}

static enum mechd_progress run_step(struct frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    struct mechd_stepping *s = &r->stepping;
    // what could fail after the step is had before it
    if (!s->begun && (!reserve(r, r->partner->output_size) || !begin_step(r))) {
        return MECHD_DONE;
    }
    const enum mechd_progress progress = mechd_stepping_slice(i, s);
    if (progress != MECHD_DONE) {
        return progress;
    }
    // the lease has lasted: hello and bye, which could end it, do not run between two slices
    r->partner->used = mechd_now();
    if (s->outcome != 0) {
        fail(r, s->over ? MECHP_QUOTA_EXCEEDED : mechp_code_of_outcome(s->outcome),
             s->report.reason[0] != '\0' ? s->report.reason : mech_err_text(s->outcome));
        return MECHD_DONE;
    }
    if (s->request.trial) {
        i->trial = ++i->trials;
        r->partner->trial = i->trial;
    }
    reply_outputs(r, s->request.trial);
    return MECHD_DONE;
}

static void run_commit(struct frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    if (i->trial == 0 || r->partner->trial != i->trial || !mechd_engine_has_trial(&i->engine)) {
        fail(r, MECHP_NO_TRIAL, "there is no trial of this partner");
        return;
    }
    int outcome = reserve(r, r->partner->output_size) ? 0 : MECH_NO_MEMORY;
    outcome = outcome == 0 ? mechd_engine_commit(&i->engine) : outcome;
    if (outcome != 0) {
        fail_outcome(r, outcome);
        return;
    }
    mechd_instance_stepped(i, 0);
    reply_outputs(r, false);
}

static void run_inputs(struct frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    const int outcome =
        r->in.count > 0 ? mechd_partner_set(i, r->partner, r->values, r->in.count) : 0;
    if (outcome != 0) {
        refuse_inputs(r, outcome);
        return;
    }
    mechd_instance_changed(i, 0);
    r->out.time = mechd_engine_time(&i->engine);
}

/* [q v x z]: asked for, or set. */
static void run_state(struct frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    if (i->sim == NULL) {
        fail(r, MECHP_INVALID_REQUEST, "the instance is not a model of the solver");
        return;
    }
    const struct mech_sizes n = mech_sim_sizes(i->sim);
    const size_t q = (size_t)n.q;
    const size_t v = (size_t)n.v;
    const size_t x = (size_t)n.x;
    const size_t all = q + v + x + (size_t)n.z;
    if (r->in.count > 0) {
        const double *from = r->values;
        if (r->in.count != all) {
            fail(r, MECHP_MALFORMED_FRAME, "the values do not fit the state [q v x z]");
            return;
        }
        const struct mech_state_view in = {.time = r->in.time != 0. ? r->in.time : NAN,
                                           .q = from,
                                           .v = from + q,
                                           .x = from + q + v,
                                           .z = from + q + v + x};
        const int outcome = mech_sim_set_state(i->sim, &in);
        if (outcome != 0) {
            fail(r, MECHP_INVALID_REQUEST, "a value of the state is not finite");
            return;
        }
        mechd_instance_changed(i, 0);
    }
    if (!reserve(r, all)) {
        return;
    }
    struct mech_state_view s;
    mech_sim_state(i->sim, &s);
    const struct part {
        const double *from;
        size_t count;
    } parts[] = {{s.q, q}, {s.v, v}, {s.x, x}, {s.z, (size_t)n.z}};
    double *to = r->reply;
    for (int k = 0; k < 4; k++) {
        if (parts[k].count > 0) {
            memcpy(to, parts[k].from, parts[k].count * sizeof *to);
        }
        to += parts[k].count;
    }
    r->out.time = s.time;
    r->out.step = mechd_engine_step_count(&i->engine);
}

static void run_snapshot(struct frame_request *r)
{
    struct mechd_snapshot *s = NULL;
    struct mechd_excess excess;
    const int outcome = mechd_snapshots_take(r->job.instance, &excess, &s);
    if (outcome == MECH_UNSUPPORTED) {
        fail(r, excess.which == MECHD_QUOTAS ? MECHP_LIMIT_REACHED : MECHP_QUOTA_EXCEEDED,
             "too many snapshots, of this instance or of its token");
    } else if (outcome != 0) {
        fail_outcome(r, outcome);
    } else {
        r->out.iteration = (uint32_t)s->id;
        r->out.time = s->time;
    }
}

static void run_restore(struct frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    char id[32];
    snprintf(id, sizeof id, "s-%" PRIu32, r->in.iteration);
    const struct mechd_snapshot *s = mechd_snapshots_find(i, id);
    bool same_kernel = true;
    if (s == NULL) {
        fail(r, MECHP_NOT_FOUND, "there is no such snapshot");
    } else if (mechd_engine_snapshot_read(&i->engine, s->bytes, s->size, &same_kernel) != 0) {
        fail(r, MECHP_SNAPSHOT_MISMATCH, "the snapshot does not fit");
    } else {
        mechd_instance_changed(i, MECHP_REWOUND);
        r->out.time = mechd_engine_time(&i->engine);
        r->out.step = mechd_engine_step_count(&i->engine);
    }
}

/* Checks as owner. False: refused. */
static bool may_run(struct frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    const bool reads = r->in.kind == MECHP_OUTPUTS || r->in.kind == MECHP_HELLO ||
                       r->in.kind == MECHP_BYE || (r->in.kind == MECHP_STATE && r->in.count == 0);
    if (atomic_load(&i->deleted)) {
        fail(r, MECHP_INSTANCE_NOT_FOUND, "the instance has been deleted");
        return false;
    }
    if (!reads && mechd_durable_repair(i) != 0) {
        fail(r, MECHP_STORAGE_FAILED, "what could not be stored cannot be undone now");
        return false;
    }
    if (r->in.kind == MECHP_HELLO) {
        return true;
    }
    const enum mechd_act act = reads                        ? MECHD_ACT_READ
                               : r->in.kind == MECHP_INPUTS ? MECHD_ACT_INPUTS
                                                            : MECHD_ACT_CHANGE;
    struct mechd_holder holder;
    char text[256];
    r->partner = mechd_partner_begin(i, r->in.lease, act,
                                     r->in.count > 0 && r->in.kind != MECHP_STATE, &holder);
    if (r->partner == NULL) {
        fail(r, MECHP_FOREIGN_LEASE, mechd_holder_tell(&holder, i->id, text, sizeof text));
        return false;
    }
    if (!reads && r->in.kind != MECHP_INPUTS && atomic_load(&i->running)) {
        fail(r, MECHP_RUN_IN_PROGRESS, "the instance is stepped by a run");
        return false;
    }
    return true;
}

static enum mechd_progress run_request(struct mechd_job *job)
{
    struct frame_request *r = (struct frame_request *)job;
    if (!r->stepping.begun && !may_run(r)) {
        return MECHD_DONE;
    }
    switch (r->in.kind) {
    case MECHP_HELLO:
        run_hello(r);
        break;
    case MECHP_STEP:
    case MECHP_TRIAL:
        return run_step(r);
    case MECHP_COMMIT:
        run_commit(r);
        break;
    case MECHP_INPUTS:
        run_inputs(r);
        break;
    case MECHP_OUTPUTS:
        reply_outputs(r, false);
        break;
    case MECHP_STATE:
        run_state(r);
        break;
    case MECHP_SNAPSHOT:
        run_snapshot(r);
        break;
    case MECHP_RESTORE:
        run_restore(r);
        break;
    case MECHP_BYE:
        mechd_partner_bye(job->instance, r->partner);
        break;
    default:
        fail(r, MECHP_UNKNOWN_OPERATION, "this kind is not a request");
    }
    return MECHD_DONE;
}

/* The same; what it changed is on its way to the disk. */
static enum mechd_progress run_and_store(struct mechd_job *job)
{
    struct frame_request *r = (struct frame_request *)job;
    const enum mechd_progress progress = run_request(job);
    if (progress == MECHD_DONE && r->partner != NULL) {
        mechd_leases_end(&job->instance->leases, r->in.lease);
    }
    if (progress == MECHD_DONE && !job->reader) {
        mechd_durable_sync(job->instance, &r->ticket);
    }
    return progress;
}

static void free_request(struct frame_request *r)
{
    mechd_bodies_give(r->zmq->daemon, r->taken);
    atomic_fetch_sub(&r->zmq->daemon->in_flight, 1);
    mechd_instance_unref(r->job.instance);
    json_decref(r->hello);
    mechp_text_fini(&r->second);
    mech_diag_fini(&r->diag);
    free(r->values);
    free(r->reply);
    free(r);
}

/* The problem of an error reply. */
static void write_problem(struct frame_request *r)
{
    const struct mechp_problem problem = {.code = (enum mechp_code)r->out.status,
                                          .detail = r->detail[0] != '\0' ? r->detail : NULL,
                                          .diag = mech_diag_clean(&r->diag) ? NULL : &r->diag};
    mechp_text_fini(&r->second);
    mechp_text_init(&r->second, NULL, 0);
    mechp_problem_write(&problem, &r->second);
}

/* Send the reply, from the door's thread or through the outbox; the request is over. */
static void reply(struct frame_request *r, bool here)
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
    mechd_metrics_request(&z->daemon->metrics, MECHD_DOOR_FRAME, NULL, status,
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
    struct frame_request *r =
        (struct frame_request *)((char *)t - offsetof(struct frame_request, ticket));
    if (t->outcome != 0) {
        fail(r, MECHP_STORAGE_FAILED, "the change could not be stored and was undone");
    }
    reply(r, false);
}

static void finish(struct mechd_job *job)
{
    struct frame_request *r = (struct frame_request *)job;
    if (!mechd_ticket_wait(&r->ticket, NULL, NULL)) {
        reply(r, false);
    }
}

/* The token of a hello, with which a lease comes: frames with that lease need none. The key of the
 * connection is asked for again with every frame. */
static bool admit(struct frame_request *r)
{
    const char *const token = json_string_value(json_object_get(r->hello, "token"));
    const unsigned char *const key = r->peer.has_key ? r->peer.key : NULL;
    if (r->hello == NULL && key == NULL) {
        return true;
    }
    if (!mechd_call_who(r->zmq->daemon, token, key, &r->who)) {
        fail(r, MECHP_UNAUTHORIZED,
             token == NULL && key != NULL ? "the key of this connection is not known"
                                          : "this server asks for a token in the hello");
        return false;
    }
    if (r->who.scope < MECHD_SCOPE_STEP) {
        fail(r, MECHP_FORBIDDEN, "this needs the scope step");
        return false;
    }
    return true;
}

/* The instance: by name in a hello, by number afterwards. False: refused. */
static bool find_instance(struct frame_request *r, const char *extra, size_t extra_size)
{
    struct mechd_table *table = &r->zmq->daemon->table;
    if (r->in.kind != MECHP_HELLO) {
        if (!admit(r)) {
            return false;
        }
        r->job.instance = mechd_table_number(table, r->in.instance);
    } else {
        struct mechp_json_fault fault;
        if (extra == NULL || mechp_json_parse(extra, extra_size, &mechp_json_limits_request, &fault,
                                              &r->hello) != 0) {
            fail(r, MECHP_MALFORMED_JSON,
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
        fail(r, MECHP_INSTANCE_NOT_FOUND, text);
        return false;
    }
    return true;
}

/* Decode the frame. False: refused. */
static bool read_frame(struct frame_request *r, const void *bytes, size_t size)
{
    static const char *const faults[] = {"",
                                         "a frame has at least 64 bytes",
                                         "a frame begins with MCHD",
                                         "this version of the frame is not known",
                                         "this kind of frame is not known",
                                         "the values do not fit the size of the message"};
    const int fault = mechp_frame_read(bytes, size, &r->in);
    if (fault != 0) {
        fail(r, MECHP_MALFORMED_FRAME, faults[fault <= MECHP_FRAME_COUNT ? fault : 0]);
        return false;
    }
    r->out = (struct mechp_frame){.kind = r->in.kind,
                                  .instance = r->in.instance,
                                  .iteration = r->in.iteration,
                                  .sequence = r->in.sequence,
                                  .size = r->in.size,
                                  .lease = r->in.lease};
    if (!mechd_bodies_take(r->zmq->daemon, size)) {
        fail(r, MECHP_LIMIT_REACHED, "too many requests are on their way");
        return false;
    }
    r->taken = size;
    if (r->in.count > 0) {
        r->values = calloc(r->in.count, sizeof *r->values);
        if (r->values == NULL) {
            fail(r, MECHP_OUT_OF_MEMORY, "no memory for the values");
            return false;
        }
        mechp_frame_get_values((const char *)bytes + MECHP_FRAME_HEADER, r->values, r->in.count);
    }
    return true;
}

/* What the request will cost. */
static uint64_t cost_of(struct frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    if (r->in.kind == MECHP_STEP || r->in.kind == MECHP_TRIAL) {
        const struct mech_step_request request = {.kind = MECH_STEP_SIZE, .size = r->in.size};
        return mechd_stepping_cost(i, &request);
    }
    return r->in.kind == MECHP_STATE ? (uint64_t)i->size * 20 : 0;
}

void mechd_control_frame(struct mechd_zmq *z, const struct mechd_peer *peer, const void *bytes,
                         size_t size, const char *extra, size_t extra_size)
{
    struct frame_request *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return;
    }
    atomic_fetch_add(&z->daemon->in_flight, 1);
    r->zmq = z;
    r->peer = *peer;
    r->start = mechd_now();
    mech_diag_init(&r->diag);
    mechp_text_init(&r->second, NULL, 0);
    if (!read_frame(r, bytes, size) || !find_instance(r, extra, extra_size)) {
        reply(r, true);
        return;
    }
    if (atomic_load(&z->daemon->draining)) {
        fail(r, MECHP_DRAINING, "the server is shutting down");
        reply(r, true);
        return;
    }
    r->job.run = run_and_store;
    r->ticket.answer = answer_ticket;
    r->job.finish = finish;
    r->job.cost = cost_of(r);
    r->job.reader = r->in.kind == MECHP_OUTPUTS;
    const enum mechd_submitted submitted = mechd_instance_submit(r->job.instance, &r->job);
    if (submitted == MECHD_FULL) {
        fail(r, MECHP_QUEUE_FULL, "too many commands wait for this instance");
    }
    if (submitted != MECHD_QUEUED && !mechd_ticket_wait(&r->ticket, NULL, NULL)) {
        reply(r, true);
    }
}
