/* POST …/step.
 *
 * Inputs given with a step go with it: a step that fails and a trial that is dropped leave no trace
 * of them.
 */
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_stepping.h"
#include "protocol/wire/json.h"
#include "protocol/wire/wants.h"
#include "server/call/shapes.h"
#include "server/instance/deriving.h"
#include "server/instance/lives.h"
#include "server/instance/stepping.h"
#include "server/operations/step_jacobian.h"
#include "server/operations/step_report.h"
#include "server/operations/step_signals.h"
#include "server/operations/step_trace.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORCES_MOST = 256,
    JACOBIAN_COST = 10000000, /* ns: never on a carrying thread */
    JACOBIAN_MOST = 1 << 20,  /* numbers */
    EVENTS_MOST = 256         /* in a reply; the rest are counted */
};

/* Most internal steps of one command. */
static const int64_t steps_most = 1000000000000;
/* Internal steps of one jacobian: some seconds of a small model. */
static const uint64_t jacobian_steps = 1000000;

struct step_work {
    struct mechd_stepping stepping;
    struct mechp_body_step_request in; /* unless plain */
    double expect_time;                /* NaN: none */
    bool plain;                        /* size, until or count is all that the body has */
    unsigned want;                     /* a set of MECHP_WANTS */
    struct mech_event_log log;         /* of the events, if they or an early return are requested */
    struct mechd_step_trace trace;     /* of outputs within the step, if requested */
    struct mechd_step_jacobian matrix; /* of the jacobian, if requested */
    struct mechd_deriving deriving;    /* of the jacobian, before the step */
    struct mech_marker_force *forces;
    struct mechd_inputs inputs;
    struct mechd_signals signals;
};

static void free_work(struct mechd_call *c)
{
    struct step_work *w = c->work;
    if (w != NULL) {
        free(w->forces);
        mechd_step_jacobian_fini(&w->matrix);
        free(w->log.at);
        mechd_step_trace_fini(&w->trace);
        mechd_inputs_fini(&w->inputs);
        mechd_signals_fini(&w->signals);
        mechd_call_give_room(c, w);
    }
}

static bool wants(const struct step_work *w, enum mechp_want one)
{
    return (w->want >> one & 1u) != 0;
}

/* What is wanted beside the outputs. */
static void read_want(struct mechd_call *c, struct step_work *w)
{
    const json_t *const want = w->in.want.of;
    for (size_t k = 0; k < json_array_size(want); k++) {
        char path[MECHP_WANT_PATH];
        const int one = mechp_want_read(want, k, MECHP_WANTED_STEP, path, &c->diag);
        w->want |= one >= 0 ? 1u << one : 0;
    }
}

/* A body that is not plain. */
static void read_body(struct mechd_call *c, struct step_work *w)
{
    struct mechp_body_step_request *const in = &w->in;
    struct mech_step_request *const r = &w->stepping.request;
    MECHP_READ(step_request, c->body, &c->diag, in);
    mechd_set_extent(c, (struct mechd_extent){in->size, in->until, in->count}, r);
    w->expect_time = in->expect_time;
    r->early_return = in->early_return;
    r->trial = in->commit != NULL && !*in->commit;
    read_want(c, w);
    if (wants(w, MECHP_WANT_JACOBIAN) && in->early_return) {
        mech_diag_add(&c->diag, "/earlyReturn",
                      "cannot be combined with the Jacobian: it is that of the whole step, which "
                      "may end early");
    }
}

/* The call's work; NULL: no memory. */
static struct step_work *take_work(struct mechd_call *c)
{
    struct step_work *const w = mechd_call_take_room(c, sizeof *w);
    c->work = w;
    c->work_free = free_work;
    if (w != NULL) {
        w->expect_time = NAN;
    }
    return w;
}

/* A body that is nothing but {"count": n}, {"size": H} or {"until": t}, as most are. */
static bool read_plain(struct mechd_call *c, const char *bytes, size_t size)
{
    struct mechp_json_single one;
    if (!mechp_json_single(bytes, size, &one)) {
        return false;
    }
    struct mech_step_request r = {.kind = MECH_STEP_COUNT};
    if (strcmp(one.key, "count") == 0 && one.is_integer && one.value >= 1. &&
        one.value <= (double)steps_most) {
        r.count = (uint64_t)one.value;
    } else if (strcmp(one.key, "size") == 0 && one.value > 0.) {
        r.kind = MECH_STEP_SIZE;
        r.size = one.value;
    } else if (strcmp(one.key, "until") == 0) {
        r.kind = MECH_STEP_UNTIL;
        r.until = one.value;
    } else {
        return false;
    }
    struct step_work *const w = take_work(c);
    if (w == NULL) {
        return false;
    }
    w->stepping.request = r;
    w->plain = true;
    return true;
}

static int prepare_step(struct mechd_call *c)
{
    struct step_work *w = c->work;
    if (w == NULL) {
        w = take_work(c);
        if (w == NULL) {
            return mechd_refuse(c, MECHP_OUT_OF_MEMORY, "no memory for the step");
        }
        if (c->body == NULL) {
            return mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                                "a body with size, until or count is needed");
        }
        read_body(c, w);
    }
    if (!mechd_call_faulty(c)) {
        c->job.cost = mechd_stepping_cost(c->job.instance, &w->stepping.request);
        // a run of its own, and a column an input
        c->job.cost += wants(w, MECHP_WANT_JACOBIAN) ? JACOBIAN_COST : 0;
    }
    return 0;
}

/* Forces on markers, by name, for this step only. */
static void read_forces(struct mechd_call *c, struct step_work *w)
{
    const json_t *const forces = w->in.forces.of;
    const struct mech_sim *sim = c->job.instance->sim;
    if (forces == NULL || json_object_size(forces) == 0) {
        return;
    }
    if (sim == NULL) {
        mech_diag_add(&c->diag, "/forces", "this instance has no markers");
        return;
    }
    const struct mech_document *d = mech_sim_document(sim);
    if (json_object_size(forces) > FORCES_MOST) {
        mech_diag_add(&c->diag, "/forces", "at most %d markers", FORCES_MOST);
        return;
    }
    w->forces = calloc(json_object_size(forces), sizeof *w->forces);
    if (w->forces == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the forces");
        return;
    }
    size_t n = 0;
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)forces, name, value)
    {
        struct mech_path path = {.length = 0};
        (void)mech_path_push(&path, "forces");
        (void)mech_path_push(&path, name);
        struct mech_marker_force *f = &w->forces[n];
        size_t k = 0;
        while (k < d->markers.n && strcmp(d->markers.at[k].name, name) != 0) {
            k++;
        }
        size_t count = 0;
        if (k == d->markers.n) {
            struct mech_guess g;
            mech_diag_add(&c->diag, path.text, "there is no marker '%.64s'%s", name,
                          mech_items_hint(&g, name, mech_diag_full(&c->diag) ? NULL : &d->markers));
        } else if (mechp_json_numbers(value, path.text, &c->diag, 6, f->values, &count)) {
            f->marker = (int32_t)k;
            n++;
        }
    }
    w->stepping.request.forces = w->forces;
    w->stepping.request.force_count = n;
}

/* Room for the events, if the step looks for them. */
static void take_log(struct mechd_call *c, struct step_work *w)
{
    if (!wants(w, MECHP_WANT_EVENTS) && !w->stepping.request.early_return) {
        return;
    }
    const struct mechd_engine *const e = &c->job.instance->engine;
    const char *const blind = mechd_engine_blind(e, w->stepping.request.early_return);
    if (blind != NULL) {
        mech_diag_add(&c->diag, wants(w, MECHP_WANT_EVENTS) ? "/want" : "/earlyReturn", "%s",
                      blind);
        return;
    }
    w->log =
        (struct mech_event_log){.at = malloc(EVENTS_MOST * sizeof *w->log.at), .room = EVENTS_MOST};
    w->stepping.request.events = &w->log;
    if (w->log.at == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the events");
    }
}

/* Names of outputs, checked before the step. */
static void check_outputs(struct mechd_call *c, const json_t *names)
{
    const struct mechd_engine *const engine = &c->job.instance->engine;
    for (size_t k = 0; k < json_array_size(names); k++) {
        const char *name = json_string_value(json_array_get(names, k));
        if (name == NULL || mechd_engine_variable_find(engine, MECH_OUTPUT_VARIABLE, name) < 0) {
            char path[48];
            snprintf(path, sizeof path, "/outputs/%zu", k);
            mechd_engine_lacks(engine, MECH_OUTPUT_VARIABLE, name, path, &c->diag);
        }
    }
}

static void take_trace(struct mechd_call *c, struct step_work *w)
{
    if (wants(w, MECHP_WANT_INTERMEDIATE) && !mechd_call_faulty(c)) {
        mechd_step_trace_begin(c, w->in.outputs.of, &w->trace);
        w->stepping.request.trace = w->trace.trace.rows != NULL ? &w->trace.trace : NULL;
    }
}

/* ∂outputs/∂inputs of the step to come begins, of the outputs that the reply has. */
static void begin_jacobian(struct mechd_call *c, struct step_work *w)
{
    const struct mechd_engine *const e = &c->job.instance->engine;
    struct mech_jacobian_query query = {.step = &w->stepping.request, .steps_most = jacobian_steps};
    if (e->ops->derive == NULL) {
        mech_diag_add(&c->diag, "/want", "this instance has no model to take derivatives of");
        return;
    }
    if (!mechd_step_jacobian_rows(c, w->in.outputs.of, &w->matrix)) {
        return;
    }
    query.outputs = w->matrix.outputs;
    query.output_count = w->matrix.output_count;
    query.active = &w->matrix.active;
    w->matrix.rows = e->ops->derive->rows(e->self, &query);
    const size_t n = w->matrix.rows * mechd_engine_input_size(e);
    if (n > JACOBIAN_MOST) {
        mechd_fail(c, MECHP_LIMIT_REACHED, "a Jacobian of %zu numbers is too large", n);
        return;
    }
    if (!mechd_deriving_may(c->job.instance, &w->deriving)) {
        mechd_fail_quota(c, &w->deriving.excess);
        return;
    }
    w->matrix.size = n;
    w->matrix.values = mechd_doubles(c, n);
    if (w->matrix.values == NULL) {
        return;
    }
    w->stepping.admitted = true;
    const int outcome = mechd_deriving_begin(c->job.instance, &w->deriving, &query,
                                             w->matrix.values, &w->matrix.derived);
    if (outcome != 0) {
        mechd_deriving_fini(&w->deriving);
        mechd_fail_reason(c, outcome, w->matrix.derived.reason);
    }
}

/* A slice of it; its time counts as the step's. Done: over, or refused. */
static enum mechd_progress derive(struct mechd_call *c, struct step_work *w)
{
    const enum mechd_progress progress =
        mechd_deriving_slice(c->job.instance, &w->deriving, mechd_call_asks, c);
    if (progress != MECHD_DONE) {
        return progress;
    }
    w->stepping.worked = w->deriving.worked;
    c->why = w->deriving.why;
    if (c->why == MECHD_STOP_QUOTA) {
        mechd_fail_quota(c, &w->deriving.excess);
    } else if (w->deriving.outcome != 0) {
        mechd_fail_reason(c, w->deriving.outcome, w->matrix.derived.reason);
    } else if (!mech_sim_all_finite(w->matrix.values, w->matrix.size)) {
        mechd_fail(c, MECHP_NOT_FINITE, "/jacobian/matrix would be infinite or not a number");
    }
    return MECHD_DONE;
}

/* Everything before the first slice. False: refused, nothing has changed. */
static bool begin(struct mechd_call *c, struct step_work *w)
{
    const struct mechd_instance *i = c->job.instance;
    const struct mech_step_request *r = &w->stepping.request;
    const double now = mechd_engine_time(&i->engine);
    const double length = r->kind == MECH_STEP_SIZE    ? r->size
                          : r->kind == MECH_STEP_UNTIL ? r->until - w->expect_time
                                                       : i->step_size;
    const double h = length > 0. ? fmin(length, i->step_size) : i->step_size;
    const bool late =
        !isnan(w->expect_time) &&
        !mech_time_expected(now, w->expect_time, mechd_engine_step_count(&i->engine), h);
    // one that is sent again has reached its end: the answer says where time is
    if (r->kind == MECH_STEP_UNTIL && !(r->until > now) && !late) {
        mech_diag_add(&c->diag, "/until", "must be after the present time %.17g", now);
    }
    if (w->plain) {
        return !mechd_call_faulty(c) && c->code == MECHP_OK;
    }
    check_outputs(c, w->in.outputs.of);
    read_forces(c, w);
    take_log(c, w);
    take_trace(c, w);
    if (late && mech_diag_clean(&c->diag)) {
        mechd_fail(c, MECHP_TIME_MISMATCH, "the instance is at time %.17g, %.3g s %s %.17g", now,
                   fabs(now - w->expect_time), now > w->expect_time ? "after" : "before",
                   w->expect_time);
        return false;
    }
    const json_t *const inputs = w->in.inputs.of, *const derivatives = w->in.derivatives.of;
    if (inputs != NULL || derivatives != NULL) {
        mechd_read_inputs(c, inputs, derivatives, "/inputs", &w->inputs);
        w->stepping.request.inputs = w->inputs.changes;
        w->stepping.request.input_count = w->inputs.count;
    }
    const json_t *const signals = w->in.signals.of;
    if (json_object_size(signals) > 0) {
        mechd_read_signals(c, signals, &w->inputs, &w->signals);
        w->stepping.request.inputs = w->signals.changes;
        w->stepping.request.input_count = w->signals.count;
        w->stepping.signals = w->signals.count - w->inputs.count;
        if (wants(w, MECHP_WANT_JACOBIAN)) {
            mech_diag_add(&c->diag, "/inputSignals",
                          "the Jacobian needs inputs that are held over the step");
        }
    }
    if (wants(w, MECHP_WANT_JACOBIAN) && mech_diag_clean(&c->diag) && c->code == MECHP_OK) {
        begin_jacobian(c, w);
    }
    return !mechd_call_faulty(c) && c->code == MECHP_OK;
}

/* Values of the outputs asked for, or of all, at the end of the step or trial. */
struct reply_outputs {
    struct mechd_call *call;
    double *packed; /* all of them */
};

static void write_outputs(const void *of, struct mechp_text *text)
{
    const struct reply_outputs *const out = of;
    const struct mechd_engine *engine = &out->call->job.instance->engine;
    const struct step_work *w = out->call->work;
    const json_t *const names = w->plain ? NULL : w->in.outputs.of;
    if (names == NULL) {
        mechd_write_values(engine, MECH_OUTPUT_VARIABLE, out->packed, text);
        return;
    }
    mechp_text_object(text);
    for (size_t k = 0; k < json_array_size(names); k++) {
        const char *name = json_string_value(json_array_get(names, k));
        struct mech_variable v;
        const int32_t at = mechd_engine_variable_find(engine, MECH_OUTPUT_VARIABLE, name);
        mechd_engine_variable(engine, MECH_OUTPUT_VARIABLE, (size_t)at, &v);
        mechp_text_key(text, name);
        mechd_write_value(&v, out->packed + v.offset, text);
    }
    mechp_text_end(text);
}

/* Their derivatives by time, in place of the values. */
static void write_derivatives(const void *of, struct mechp_text *text)
{
    const struct reply_outputs *const out = of;
    const struct step_work *w = out->call->work;
    char reason[160] = "";
    const int outcome = mechd_engine_output_rates(&out->call->job.instance->engine,
                                                  w->stepping.request.trial, out->packed, reason);
    if (outcome == 0) {
        write_outputs(out, text);
    } else if (outcome < 0) {
        text->failed = true;
    } else {
        mechp_text_null(text);
    }
}

/* Kinetic and potential energy; infinite: none that can be written. NaN: not requested. */
static double energy_of(const struct mechd_instance *i, const struct step_work *w)
{
    if (!wants(w, MECHP_WANT_ENERGY) || !mechd_engine_knows_energy(&i->engine)) {
        return (double)NAN;
    }
    const double energy = mechd_engine_energy(&i->engine, w->stepping.request.trial);
    return isfinite(energy) ? energy : (double)INFINITY;
}

/* The reply of a step that succeeded. */
static void write_reply(struct mechd_call *c, struct step_work *w)
{
    struct mechd_instance *i = c->job.instance;
    const bool trial = w->stepping.request.trial;
    const struct mech_step_report *const report = &w->stepping.report;
    const struct mech_event_log *const log = w->log.at != NULL ? &w->log : NULL;
    // what has just been published needs no room of its own
    double *packed = NULL;
    if (trial || wants(w, MECHP_WANT_DERIVATIVES)) {
        packed = mechd_doubles(c, i->output_size);
        if (packed == NULL) {
            return;
        }
    }
    if (trial) {
        mechd_engine_trial_outputs(&i->engine, packed);
    }
    const double time = trial ? mechd_engine_trial_time(&i->engine) : mechd_engine_time(&i->engine);
    const struct reply_outputs rates = {c, packed},
                               outputs = {c, trial ? packed : i->published.values};
    const struct mechd_step_end end = {report, &w->log, time};
    const struct mechp_body_step_reply body = {
        .time = time,
        .step = mechd_engine_step_count(&i->engine) + (trial ? report->steps : 0),
        .outputs = {write_outputs, &outputs},
        .report = {mechd_write_step_report, report},
        .impulses = {report->taken > 0 && mechd_has_taken(i) ? mechd_write_taken : NULL, i},
        .trial = trial ? mechd_lives_trial(i) : MECHP_ABSENT,
        .ended = {w->stepping.request.early_return ? mechd_write_step_ended : NULL, &end},
        .events = {log != NULL ? mechd_write_step_events : NULL, log},
        .more_events =
            log != NULL && log->total > log->count ? log->total - log->count : MECHP_ABSENT,
        .energy = energy_of(i, w),
        .derivatives = {wants(w, MECHP_WANT_DERIVATIVES) && mechd_engine_knows_rates(&i->engine)
                            ? write_derivatives
                            : NULL,
                        &rates},
        .intermediate = {w->trace.trace.rows != NULL ? mechd_write_step_trace : NULL, &w->trace},
        .jacobian = {w->matrix.values != NULL ? mechd_write_step_jacobian : NULL, &w->matrix}};
    MECHP_WRITE(step_reply, &body, &c->text);
    free(packed);
}

static bool closes(void *call)
{
    return mechd_call_close(call);
}

static enum mechd_progress run_step(struct mechd_call *c)
{
    struct step_work *w = c->work;
    enum mechd_progress progress = MECHD_DONE;
    if (c->job.state == MECHD_JOB_FIRST && !begin(c, w)) {
        return MECHD_DONE;
    }
    w->stepping.asks = mechd_call_asks;
    w->stepping.of = c;
    w->stepping.closes = closes;
    if (mechd_deriving_going(&w->deriving)) {
        progress = derive(c, w);
        return progress != MECHD_DONE || mechd_call_faulty(c) || c->code != MECHP_OK ? progress
                                                                                     : MECHD_MORE;
    }
    progress = mechd_stepping_slice(c->job.instance, &w->stepping);
    if (progress != MECHD_DONE) {
        return progress;
    }
    if (w->stepping.outcome == 0) {
        if (!c->silent || w->stepping.request.trial) {
            write_reply(c, w);
        }
        return MECHD_DONE;
    }
    mechd_write_step_report(&w->stepping.report, &c->report);
    c->why = w->stepping.why;
    if (c->why == MECHD_STOP_QUOTA) {
        (void)mechd_fail_quota(c, &w->stepping.excess);
    } else {
        (void)mechd_fail_outcome(c, w->stepping.outcome);
    }
    // with what has become of an FMU that the stop has ended
    if (w->stepping.report.reason[0] != '\0') {
        mech_text_format(c->detail, sizeof c->detail, "%s", w->stepping.report.reason);
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_STEP = {
    .run = run_step, .prepare = prepare_step, .plain = read_plain};
