/* What binary frames ask for, as owner of the instance. */
#include "server/call/frames.h"

#include "server/call/service.h"
#include "server/instance/durable.h"
#include "server/instance/effort.h"
#include "server/instance/lives.h"
#include "server/instance/partner_wants.h"
#include "server/instance/snapshots.h"
#include "server/instance/state.h"
#include "server/os/ticks.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Internal steps of one jacobian: some seconds of a small model. */
static const uint64_t jacobian_steps = 1000000;

void mechd_frame_fail(struct mechd_frame_request *r, enum mechp_code code, const char *text)
{
    r->out.kind = MECHP_ERROR;
    r->out.status = (int32_t)code;
    r->out.count = 0;
    mech_text_format(r->detail, sizeof r->detail, "%s", text);
}

static void fail_outcome(struct mechd_frame_request *r, int outcome)
{
    mechd_frame_fail(r, mechp_code_of_outcome(outcome), mech_err_text(outcome));
}

/* GONE: its partner has disconnected and, with a lease that expires, was inactive for that time, so
 * that no answer is awaited. The `asks` of its efforts (instance/effort.h). As owner. */
static enum mechd_stop_reason asks(const void *request)
{
    const struct mechd_frame_request *const r = request;
    const enum mechd_stop_reason gone = mechd_stop_reason(r->gone);
    const bool awaited =
        gone == MECHD_STOP_NONE ||
        !mechd_leases_silent(&r->job.instance->leases, r->in.lease, r->partner != NULL);
    return awaited ? MECHD_STOP_NONE : gone;
}

/* Room for n values of the reply. False: refused. */
static bool reserve(struct mechd_frame_request *r, size_t n)
{
    if (n > r->room) {
        double *more = realloc(r->reply, n * sizeof *more);
        if (more == NULL) {
            mechd_frame_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the reply");
            return false;
        }
        r->reply = more;
        r->room = n;
    }
    r->out.count = (uint32_t)n;
    return true;
}

/* The partner's outputs into the reply; from the trial or the committed state. */
static void reply_outputs(struct mechd_frame_request *r, bool trial)
{
    struct mechd_instance *i = r->job.instance;
    struct mechd_partner *p = r->partner;
    const bool steps = r->phase == MECHD_FRAME_STEPS;
    if (!reserve(r, mechd_partner_reply_size(p, steps))) {
        return;
    }
    if (trial) {
        mechd_engine_trial_outputs(&i->engine, p->packed);
        r->out.time = mechd_engine_trial_time(&i->engine);
        r->out.step = mechd_engine_step_count(&i->engine) + r->stepping.report.steps;
    } else {
        r->out.time = mechd_engine_time(&i->engine);
        r->out.step = mechd_engine_step_count(&i->engine);
    }
    mechd_partner_pick(i, p, trial ? p->packed : i->published.values, r->reply);
    if (p->want != 0 && r->reply != NULL) { // a reply without values has none that are wanted
        mechd_partner_wanted(i, p, trial, steps, r->reply + p->output_size);
    }
}

static void run_hello(struct mechd_frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    struct mechd_partner *p = NULL;
    struct mechd_holder holder;
    char text[256];
    const struct mechd_hello hello = {r->hello, r->in.lease, &r->pass};
    const int outcome = mechd_partner_hello(i, &hello, &r->diag, &holder, &p);
    if (outcome == MECH_INVALID) {
        mechd_frame_fail(r, MECHP_INVALID_REQUEST, "");
    } else if (outcome == MECH_MISMATCH) {
        mechd_frame_fail(r, mechd_holder_code(&holder),
                         mechd_holder_tell(&holder, i->id, text, sizeof text));
    } else if (outcome == MECH_UNSUPPORTED) {
        mechd_frame_fail(r, MECHP_LIMIT_REACHED, "too many partners hold leases on this instance");
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
static void refuse_inputs(struct mechd_frame_request *r, int outcome)
{
    if (outcome == MECH_MISMATCH) {
        mechd_frame_fail(r, MECHP_MALFORMED_FRAME, "the values do not fit the inputs of the hello");
    } else if (outcome == MECH_NOT_FINITE) {
        mechd_frame_fail(r, MECHP_INVALID_REQUEST, "an input is not finite");
    } else {
        fail_outcome(r, outcome);
    }
}

/* A frame that is sent again after its answer was lost has been done: the reply says where the
 * instance is. False: refused. */
static bool is_expected(struct mechd_frame_request *r)
{
    const struct mechd_instance *const i = r->job.instance;
    const double now = mechd_engine_time(&i->engine), asked = r->in.time;
    const uint64_t steps = mechd_engine_step_count(&i->engine);
    const double h = i->step_size > 0. ? fmin(r->in.size, i->step_size) : r->in.size;
    if ((r->in.flags & MECHP_EXPECT) == 0 || mech_time_expected(now, asked, steps, h)) {
        return true;
    }
    char text[160];
    mech_text_format(text, sizeof text, "the instance is at time %.17g, %.3g s %s %.17g", now,
                     fabs(now - asked), now > asked ? "after" : "before", asked);
    mechd_frame_fail(r, MECHP_TIME_MISMATCH, text);
    r->out.time = now;
    r->out.step = steps;
    return false;
}

/* Before the end of its command is committed. */
static bool closes(void *request)
{
    const struct mechd_frame_request *const r = request;
    return mechd_stop_close(&r->job.instance->stop);
}

/* The command of the frame, with its inputs. False: refused, nothing has changed. */
static bool begin_step(struct mechd_frame_request *r)
{
    struct mechd_partner *p = r->partner;
    struct mech_step_request *step = &r->stepping.request;
    *step = (struct mech_step_request){
        .kind = MECH_STEP_SIZE, .size = r->in.size, .trial = r->in.kind == MECHP_TRIAL};
    if (!(r->in.size > 0.) || !isfinite(r->in.size)) {
        mechd_frame_fail(r, MECHP_INVALID_REQUEST, "size must be greater than 0");
        return false;
    }
    if (!is_expected(r)) {
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
    mechd_partner_watch(p, step);
    r->stepping.asks = asks;
    r->stepping.closes = closes;
    r->stepping.of = r;
    return true;
}

/* A derivative has failed; the reply says so. */
static void fail_deriving(struct mechd_frame_request *r)
{
    const struct mechd_deriving *const d = &r->deriving;
    char text[160];
    if (d->why == MECHD_STOP_QUOTA) {
        mechd_frame_fail(r, MECHP_QUOTA_EXCEEDED, mechd_excess_tell(&d->excess, text, sizeof text));
    } else if (d->why == MECHD_STOP_SHUTDOWN) {
        mechd_frame_fail(r, MECHP_DRAINING, "stopped and undone: the server is shutting down");
    } else {
        mechd_frame_fail(r, mechp_code_of_outcome(d->outcome),
                         r->derived.reason[0] != '\0' ? r->derived.reason
                                                      : mech_err_text(d->outcome));
    }
}

/* The jacobian of the step to come, in slices. DONE: it is there and r->phase STEPS, or refused. */
static enum mechd_progress derive(struct mechd_frame_request *r)
{
    struct mechd_instance *const i = r->job.instance;
    struct mechd_deriving *const d = &r->deriving;
    // a long one does not begin on a thread that carries requests
    const uint64_t columns = 1 + mechd_engine_input_size(&i->engine);
    if (d->work == NULL && mechd_instance_carried(i) && r->job.cost * columns > MECHD_SHORT) {
        return MECHD_MORE;
    }
    if (d->work == NULL) {
        if (!r->stepping.admitted && !mechd_deriving_may(i, d)) {
            fail_deriving(r);
            return MECHD_DONE;
        }
        r->stepping.admitted = true;
        static const int32_t none = 0; // NULL would be all outputs
        const int32_t *const outputs = r->partner->outputs;
        const struct mech_jacobian_query query = {.step = &r->stepping.request,
                                                  .steps_most = jacobian_steps,
                                                  .outputs = outputs != NULL ? outputs : &none,
                                                  .output_count = r->partner->output_count};
        d->outcome = mechd_deriving_begin(i, d, &query, r->partner->matrix, &r->derived);
        if (d->outcome != 0) {
            mechd_deriving_fini(d);
            fail_deriving(r);
            return MECHD_DONE;
        }
    }
    const enum mechd_progress progress = mechd_deriving_slice(i, d, asks, r);
    if (progress != MECHD_DONE) {
        return progress;
    }
    r->stepping.worked = d->worked;
    if (d->outcome != 0) {
        fail_deriving(r);
    } else {
        r->phase = MECHD_FRAME_STEPS;
    }
    return MECHD_DONE;
}

static enum mechd_progress run_step(struct mechd_frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    struct mechd_stepping *s = &r->stepping;
    if (r->phase == MECHD_FRAME_BEGINS) {
        // what could fail after the step is had before it
        if (!reserve(r, mechd_partner_reply_size(r->partner, true)) || !begin_step(r)) {
            return MECHD_DONE;
        }
        r->phase = (r->partner->want & MECHP_WANTS(JACOBIAN)) != 0 ? MECHD_FRAME_DERIVES
                                                                   : MECHD_FRAME_STEPS;
    }
    if (r->phase == MECHD_FRAME_DERIVES) {
        const enum mechd_progress derived = derive(r);
        if (derived != MECHD_DONE || r->phase != MECHD_FRAME_STEPS) {
            return derived;
        }
    }
    const enum mechd_progress progress = mechd_stepping_slice(i, s);
    if (progress != MECHD_DONE) {
        return progress;
    }
    // the lease has lasted: hello and bye, which could end it, do not run between two slices
    r->partner->used = mechd_now();
    if (s->why == MECHD_STOP_SHUTDOWN) {
        mechd_frame_fail(r, MECHP_DRAINING, "stopped and undone: the server is shutting down");
        return MECHD_DONE;
    }
    if (s->outcome != 0) {
        const bool over = s->why == MECHD_STOP_QUOTA;
        mechd_frame_fail(r, over ? MECHP_QUOTA_EXCEEDED : mechp_code_of_outcome(s->outcome),
                         s->report.reason[0] != '\0' ? s->report.reason
                                                     : mech_err_text(s->outcome));
        return MECHD_DONE;
    }
    if (s->request.trial) {
        r->partner->trial = mechd_lives_trial(i);
    }
    reply_outputs(r, s->request.trial);
    r->out.flags |= mechd_stepping_eventful(s) ? MECHP_EVENT : 0;
    return MECHD_DONE;
}

static void run_commit(struct mechd_frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    if (i->trial == 0 || r->partner->trial != i->trial || !mechd_engine_has_trial(&i->engine)) {
        mechd_frame_fail(r, MECHP_NO_TRIAL, "there is no trial of this partner");
        return;
    }
    int outcome = reserve(r, mechd_partner_reply_size(r->partner, false)) ? 0 : MECH_NO_MEMORY;
    outcome = outcome == 0 ? mechd_engine_commit(&i->engine) : outcome;
    if (outcome != 0) {
        fail_outcome(r, outcome);
        return;
    }
    mechd_instance_stepped(i, 0);
    reply_outputs(r, false);
}

static void run_inputs(struct mechd_frame_request *r)
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
static void run_state(struct mechd_frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    if (i->sim == NULL) {
        mechd_frame_fail(r, MECHP_INVALID_REQUEST,
                         "the instance is an FMU, not a model of the solver");
        return;
    }
    const size_t size = mechd_state_size(i);
    if (r->in.count > 0) {
        if (r->in.count != size) {
            mechd_frame_fail(r, MECHP_MALFORMED_FRAME, "the values do not fit the state [q v x z]");
            return;
        }
        if (mechd_state_set(i, r->in.time != 0. ? r->in.time : NAN, r->values) != 0) {
            mechd_frame_fail(r, MECHP_NOT_FINITE, mechd_engine_refusal(&i->engine));
            return;
        }
        mechd_instance_changed(i, 0);
    }
    if (!reserve(r, size)) {
        return;
    }
    r->out.time = mechd_state_get(i, r->reply);
    r->out.step = mechd_engine_step_count(&i->engine);
}

/* It is on its way to the store, with the ticket; or it is gone again. */
static int store_snapshot(struct mechd_frame_request *r, struct mechd_snapshot *s)
{
    const int stored = mechd_durable_snapshot(r->job.instance, s, &r->ticket);
    if (stored != 0) {
        mechd_snapshots_delete(r->job.instance, s);
    }
    return stored;
}

static void run_snapshot(struct mechd_frame_request *r)
{
    struct mechd_snapshot *s = NULL;
    struct mechd_excess excess;
    int outcome = mechd_snapshots_take(r->job.instance, &excess, &s);
    outcome = outcome == 0 ? store_snapshot(r, s) : outcome;
    if (outcome == MECH_UNSUPPORTED) {
        mechd_frame_fail(r,
                         excess.which == MECHD_QUOTAS ? MECHP_LIMIT_REACHED : MECHP_QUOTA_EXCEEDED,
                         "too many snapshots, of this instance or of its token");
    } else if (outcome == MECH_CANCELLED) {
        char why[MECHD_LIVES_UNRECORDED];
        mechd_frame_fail(r, MECHP_STORAGE_FAILED, mechd_lives_unrecorded(r->job.instance, why));
    } else if (outcome != 0) {
        fail_outcome(r, outcome);
    } else {
        r->out.iteration = (uint32_t)s->id;
        r->out.time = s->time;
    }
}

static void run_restore(struct mechd_frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    char id[32];
    snprintf(id, sizeof id, "s-%" PRIu32, r->in.iteration);
    const struct mechd_snapshot *s = mechd_snapshots_find(i, id);
    if (s == NULL) {
        mechd_frame_fail(r, MECHP_NOT_FOUND, "there is no such snapshot");
    } else if (mechd_snapshots_restore(i, s, NULL) != 0) {
        mechd_frame_fail(r, MECHP_SNAPSHOT_MISMATCH, "the snapshot does not fit the model");
    } else {
        mechd_instance_changed(i, MECHP_REWOUND);
        r->out.time = mechd_engine_time(&i->engine);
        r->out.step = mechd_engine_step_count(&i->engine);
    }
}

/* Checks as owner. False: refused. */
static bool may_run(struct mechd_frame_request *r)
{
    struct mechd_instance *i = r->job.instance;
    const bool reads = r->in.kind == MECHP_OUTPUTS || r->in.kind == MECHP_HELLO ||
                       r->in.kind == MECHP_BYE || (r->in.kind == MECHP_STATE && r->in.count == 0);
    if (mechd_host_stops(i->host)) {
        mechd_frame_fail(r, MECHP_DRAINING, "not started: the server is shutting down");
        return false;
    }
    if (!mechd_instance_lives(i)) {
        mechd_frame_fail(r, MECHP_INSTANCE_NOT_FOUND, "the instance has been deleted");
        return false;
    }
    if (r->in.kind != MECHP_HELLO && r->in.kind != MECHP_BYE && asks(r) != MECHD_STOP_NONE) {
        mechd_frame_fail(r, MECHP_CANCELLED, "cancelled before it started");
        return false;
    }
    if (!reads && mechd_durable_repair(i) != 0) {
        mechd_frame_fail(r, MECHP_STORAGE_FAILED,
                         "changes that could not be stored cannot be undone at present");
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
        mechd_frame_fail(r, mechd_holder_code(&holder),
                         mechd_holder_tell(&holder, i->id, text, sizeof text));
        return false;
    }
    if (!mechd_partner_still(i, r->partner)) {
        mechd_leases_end(&i->leases, r->in.lease);
        // a reader comes between two slices of a step, which may be this partner's
        if (!r->job.reader) {
            mechd_partner_bye(i, r->partner);
        }
        r->partner = NULL;
        mechd_frame_fail(r, MECHP_UNAUTHORIZED, "the token of the hello is no longer known");
        return false;
    }
    if (!reads && r->in.kind != MECHP_INPUTS && atomic_load(&i->running)) {
        mechd_frame_fail(r, MECHP_RUN_IN_PROGRESS, "the instance is stepped by a run");
        return false;
    }
    return true;
}

enum mechd_progress mechd_frame_run(struct mechd_frame_request *r)
{
    if (r->phase == MECHD_FRAME_BEGINS && !may_run(r)) {
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
        mechd_partner_bye(r->job.instance, r->partner);
        break;
    default:
        mechd_frame_fail(r, MECHP_UNKNOWN_OPERATION, "this kind is not a request");
    }
    return MECHD_DONE;
}
