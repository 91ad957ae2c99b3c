/* Communication steps (solver/README.md): N equal internal steps on a copy of the state,
 * which is committed by swapping. A failure leaves the committed state unchanged. */
#include "solver/base/err.h"
#include "solver/base/subnormal.h"
#include "solver/base/text.h"
#include "solver/base/times.h"
#include "solver/sim/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int mech_sim_plan(const struct mech_sim *s, const struct mech_step_request *r,
                  struct mech_step_plan *out)
{
    const struct mech_moment now = {s->now.at->time, s->now.at->rest};

    MECH_TRY(mech_step_plan(r, s->document->solver.start_time, now, s->document->solver.step_size,
                            s->now.at->last_step, out));
    return isnormal(out->h) ? 0 : MECH_INVALID; // within steps a subnormal number is 0
}

/* Why a request cannot be taken, or NULL. */
static const char *refuse(const struct mech_sim *s, const struct mech_step_request *r,
                          struct mech_command *c)
{
    const char *reason = NULL;

    if (s->command.running) {
        return "a step is in progress";
    }
    if (r->early_return && !r->events) {
        return "an early return needs the events of the step";
    }
    for (size_t i = 0; i < r->force_count; i++) {
        const int32_t marker = r->forces[i].marker;

        if (marker < 0 || (size_t)marker >= s->document->markers.n) {
            return "there is no such marker";
        }
        for (int k = 0; k < 6; k++) {
            if (!isfinite(r->forces[i].values[k])) {
                return "a force is not finite";
            }
        }
    }
    if (mech_sim_check_inputs(s, r->inputs, r->input_count, true, &reason)) {
        return reason;
    }
    if (mech_sim_plan(s, r, &c->plan)) {
        return "the step's size must be at least 2.3e-308 s, finite, and at most 1e12 steps";
    }
    c->kind = r->kind;
    c->done = 0;
    return NULL;
}

static int refused(struct mech_step_report *report, int code, const char *reason)
{
    mech_text_format(report->reason, sizeof report->reason, "%s", reason);
    report->outcome = code;
    return code;
}

/* The model for parameters that came with the command. */
static int take_parameters(struct mech_sim *s, struct mech_command *c,
                           struct mech_step_report *report)
{
    const size_t n = mech_sim_output_size(s) + 1;
    struct mech_diag diag;

    if (c->trial && !s->trial_outputs) {
        s->trial_outputs = calloc(n, sizeof *s->trial_outputs);
        if (!s->trial_outputs) {
            return refused(report, MECH_NO_MEMORY, mech_err_text(MECH_NO_MEMORY));
        }
    }
    mech_diag_init(&diag);
    const struct mech_taking how = {s->next.parameter, false};
    const int code = mech_sim_change_model(s, &s->next, &how, &diag);
    c->rebuilt = code == 0;
    report->taken = c->rebuilt && mech_sim_took(s);
    report->impacts = (uint64_t)report->taken;
    if (code) {
        refused(report, code, diag.count ? diag.entries[0].text : mech_err_text(code));
        (void)mech_sim_model_back(s);
    }
    mech_diag_fini(&diag);
    s->next.signals = code ? NULL : s->next.signals;
    return code;
}

/* The working state: the committed one with the command's inputs. */
static int prepare(struct mech_sim *s, const struct mech_step_request *r, struct mech_command *c,
                   struct mech_step_report *report)
{
    if (s->astray) {
        (void)mech_sim_model_back(s);
    }
    if (s->astray) {
        return refused(report, MECH_NO_MEMORY, mech_err_text(MECH_NO_MEMORY));
    }
    s->has_trial = false;
    s->shows = s->shows == MECH_SHOWS_NEXT ? MECH_SHOWS_NONE : s->shows;
    /* where the command starts from is set by its begin, or by its last step */
    mech_state_copy_unstarted(&s->now, &s->next);
    s->next.extra = s->next.wrench = NULL;
    s->next.signals = NULL;
    if (r->input_count == 0) {
        return 0;
    }
    const int code = mech_sim_signals_begin(s, r->inputs, r->input_count);
    if (code) {
        return refused(report, code, mech_err_text(code));
    }
    mech_sim_put_inputs(s, r->inputs, r->input_count, &s->next);
    return mech_sim_same_parameters(s, &s->now, &s->next) ? 0 : take_parameters(s, c, report);
}

/* A command that has been prepared does not begin. */
static int give_up_begin(struct mech_sim *s, const struct mech_command *c,
                         struct mech_step_report *report, int code)
{
    s->next.signals = NULL;
    if (c->rebuilt) {
        (void)mech_sim_model_back(s);
    }
    return refused(report, code, mech_err_text(code));
}

int mech_sim_step_begin(struct mech_sim *s, const struct mech_step_request *r,
                        struct mech_step_report *report)
{
    struct mech_command *const c = &s->command;
    struct mech_command fresh = {.trial = r->trial,
                                 .forced = r->force_count > 0,
                                 .early = r->early_return,
                                 .report = report,
                                 .moments = r->moments,
                                 .log = r->events};
    const size_t n = (size_t)s->sizes.v + 1;

    *report = (struct mech_step_report){.linear = "", .vi = ""};
    const char *const reason = refuse(s, r, &fresh);
    if (reason) {
        return refused(report, MECH_INVALID, reason);
    }
    MECH_TRY(prepare(s, r, &fresh, report));
    const int code = r->events ? mech_sim_events_begin(s) : 0;
    if (code) {
        return give_up_begin(s, &fresh, report, code);
    }
    *c = fresh;
    c->running = true;
    report->step_size = c->plan.h;
    report->differenced = s->differenced;
    if (c->forced) {
        memset(s->extra, 0, n * sizeof *s->extra);
        memset(s->wrench, 0, 6 * s->document->markers.n * sizeof *s->wrench);
        for (size_t i = 0; i < r->force_count; i++) {
            const int32_t marker = r->forces[i].marker;

            if (mech_model_marker_moves(s->model, marker)) {
                for (int k = 0; k < 6; k++) {
                    s->wrench[6 * marker + k] += r->forces[i].values[k];
                }
            } else {
                mech_model_marker_force(s->model, marker, r->forces[i].values, s->extra);
            }
        }
        s->next.extra = s->extra;
        s->next.wrench = s->wrench;
        s->next.at->changed |= MECH_CHANGED_RATES;
    }
    if (c->kind != MECH_STEP_COUNT) {
        memcpy(s->next.q_start, s->now.q, (size_t)s->sizes.q * sizeof *s->now.q);
        memcpy(s->next.v_start, s->now.v, n * sizeof *s->now.v);
    }
    return 0;
}

/* Which coordinate or state it was, for people. */
static void blame_state(const struct mech_sim *s, struct mech_step_result *result)
{
    char path[MECH_DIAG_PATH];

    for (int32_t i = 0; i < s->sizes.v; i++) {
        const double rates = s->next.v[i] + s->next.vdot[i] + s->next.a[i];

        if (!isfinite(rates) || (i < s->sizes.q && !isfinite(s->next.q[i]))) {
            mech_model_owner(s->model, i, path, sizeof path);
            mech_text_format(result->reason, sizeof result->reason,
                             "coordinate %d, of %.64s, became infinite or not a number", (int)i,
                             path);
            return;
        }
    }
    for (int32_t i = 0; i < s->sizes.x; i++) {
        if (!isfinite(s->next.x[i])) {
            mech_model_first_order_owner(s->model, i, path, sizeof path);
            mech_text_format(result->reason, sizeof result->reason,
                             "first-order state %d, of %.64s, became infinite or not a number",
                             (int)i, path);
            return;
        }
    }
    /* more coordinates than velocities: those of a rotation */
    mech_text_format(result->reason, sizeof result->reason,
                     "a rotation became infinite or not a number");
}

/* The command is over without effect. */
static int fail(struct mech_sim *s, int code, const struct mech_step_result *result)
{
    struct mech_step_report *const report = s->command.report;

    report->outcome = code;
    report->failed_time = s->next.at->time;
    report->residual = isfinite(result->residual) ? result->residual : 0.;
    report->impact_gain = isfinite(report->impact_gain) ? report->impact_gain : 0.;
    report->iterations += (uint64_t)result->iterations;
    report->vi_iterations += (uint64_t)result->vi_iterations;
    report->substeps += (uint64_t)result->substeps;
    report->refused += (uint64_t)result->refused;
    report->impacts += (uint64_t)result->impacts;
    mech_sim_tell_failure(s, code, result, report);
    mech_sim_step_abandon(s);
    return code;
}

/* v̇ for the inputs and forces that act from here on */
static int restart(struct mech_sim *s, struct mech_step_result *result)
{
    const int code = s->type->start(s->stepper, &s->next, result);

    if (code == 0) {
        s->next.at->changed = 0;
    }
    return code;
}

static int one_step(struct mech_sim *s, struct mech_step_result *result)
{
    struct mech_command *const c = &s->command;
    const bool last = c->done + 1 == c->plan.count;
    struct mech_moment end = {s->next.at->time, s->next.at->rest};

    if (last) {
        end = c->plan.end;
    } else {
        mech_moment_add(&end, c->plan.h);
    }
    if (last && c->kind == MECH_STEP_COUNT) {
        memcpy(s->next.q_start, s->next.q, (size_t)s->sizes.q * sizeof *s->next.q);
        memcpy(s->next.v_start, s->next.v, (size_t)s->sizes.v * sizeof *s->next.v);
    }
    MECH_TRY(s->type->step(s->stepper, &s->next, c->plan.h, end.time, result));
    if (!mech_sim_all_finite(s->next.v, (size_t)s->sizes.v) ||
        !mech_sim_all_finite(s->next.q, (size_t)s->sizes.q) ||
        !mech_sim_all_finite(s->next.x, (size_t)s->sizes.x) ||
        /* what the next step would show at once, but a reader before it */
        (last && !(mech_sim_all_finite(s->next.vdot, (size_t)s->sizes.v) &&
                   mech_sim_all_finite(s->next.a, (size_t)s->sizes.v)))) {
        blame_state(s, result);
        return MECH_NOT_FINITE;
    }
    s->next.at->time = end.time;
    s->next.at->rest = end.rest;
    mech_model_keep(s->model, &s->next);
    s->next.at->last_step = c->plan.h;
    s->next.at->steps++;
    c->done++;
    return 0;
}

/* The events of the internal step that is over: with an early return the command ends here. */
static int look_for_events(struct mech_sim *s, uint64_t before, struct mech_step_result *result)
{
    struct mech_command *const c = &s->command;
    const int code = mech_sim_events_look(s);

    if (code > 0) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the placement of a body is not finite");
    }
    MECH_TRY(code);
    if (c->log->total == before || !c->early || c->done == c->plan.count) {
        return 0;
    }
    c->plan.count = c->done;
    c->report->ended = MECH_ENDED_AT_EVENT;
    if (c->kind == MECH_STEP_COUNT) {
        const struct mech_state *const start = mech_sim_events_before(s);

        memcpy(s->next.q_start, start->q, (size_t)s->sizes.q * sizeof *start->q);
        memcpy(s->next.v_start, start->v, (size_t)s->sizes.v * sizeof *start->v);
    }
    return 0;
}

/* With subnormal numbers as zero. */
static int advance(struct mech_sim *s, uint64_t most)
{
    struct mech_command *const c = &s->command;
    struct mech_step_report *const report = c->report;
    struct mech_event_log *const log = c->log;

    for (uint64_t i = 0; i < most && c->done < c->plan.count; i++) {
        struct mech_step_result result;
        uint64_t logged = 0;

        result.iterations = result.vi_iterations = result.contacts = 0;
        result.substeps = result.refused = result.impacts = 0;
        result.residual = result.impact_gain = 0.;
        result.reason[0] = '\0';
        result.log = log;
        int code = s->next.at->changed ? restart(s, &result) : 0;
        if (log && code == 0) {
            logged = log->total;
            mech_sim_events_step(s);
        }
        code = code ? code : one_step(s, &result);
        if (mech_sim_interrupted(s)) {
            result.reason[0] = '\0';
            code = code < 0 ? code : MECH_CANCELLED;
        }
        code = code || !log ? code : look_for_events(s, logged, &result);
        if (code) {
            return fail(s, code, &result);
        }
        report->iterations += (uint64_t)result.iterations;
        report->vi_iterations += (uint64_t)result.vi_iterations;
        report->substeps += (uint64_t)result.substeps;
        report->refused += (uint64_t)result.refused;
        report->impacts += (uint64_t)result.impacts;
        report->contacts = result.contacts;
        report->impact_gain += result.impact_gain;
        report->residual = fmax(report->residual, result.residual);
    }
    report->steps = c->done;
    return 0;
}

/* One internal step more: ∫ τ^r w dt by the trapezoidal rule, w at its start in the last part. */
static void add_moments(const struct mech_sim *s, double from, double to)
{
    const size_t n = (size_t)s->sizes.input;
    double *const sum = s->command.moments, *const w = sum + (MECH_FLOW_ORDER + 1) * n;
    double before = 0.5 * (to - from), after = before;

    for (size_t r = 0; r <= MECH_FLOW_ORDER; r++) {
        for (size_t i = 0; i < n; i++) {
            sum[r * n + i] += before * w[i];
        }
        before *= from;
    }
    mech_model_input_flows(s->model, &s->next, w);
    for (size_t r = 0; r <= MECH_FLOW_ORDER; r++) {
        for (size_t i = 0; i < n; i++) {
            sum[r * n + i] += after * w[i];
        }
        after *= to;
    }
}

/* As advance, with the flows of inputs. */
static int advance_measured(struct mech_sim *s, uint64_t most)
{
    struct mech_command *const c = &s->command;
    const size_t n = (size_t)s->sizes.input;

    if (c->done == 0) {
        memset(c->moments, 0, MECH_FLOW_MOMENTS * n * sizeof *c->moments);
        mech_model_input_flows(s->model, &s->next, c->moments + (MECH_FLOW_ORDER + 1) * n);
    }
    for (uint64_t i = 0; i < most && c->done < c->plan.count; i++) {
        const double from = s->next.at->time - c->plan.start.time;

        MECH_TRY(advance(s, 1));
        add_moments(s, from, s->next.at->time - c->plan.start.time);
    }
    return 0;
}

/* What the command has led to, which its report and the next reader show. */
static int show_end(struct mech_sim *s)
{
    struct mech_step_report *const report = s->command.report;
    struct mech_step_result result = {.residual = report->residual};
    struct mech_unshown why;
    int code = 0;

    s->next.extra = s->next.wrench = NULL;
    mech_sim_signals_end(s);
    mech_sim_drift(s, &s->next, &report->drift);
    if (!isfinite(report->drift.position) || !isfinite(report->drift.velocity) ||
        !isfinite(report->impact_gain)) {
        mech_text_format(why.what, sizeof why.what, "the error of joints and impacts");
        code = MECH_NOT_FINITE;
    }
    code = code ? code : mech_sim_state_fits(s, &s->next, MECH_SHOWS_NEXT, &why);
    if (code) {
        mech_text_format(result.reason, sizeof result.reason, "%s became infinite or not a number",
                         why.what);
        return fail(s, code, &result);
    }
    return 0;
}

int mech_sim_step_advance(struct mech_sim *s, uint64_t most, bool *done)
{
    struct mech_command *const c = &s->command;

    *done = false;
    if (!c->running) {
        return MECH_INVALID;
    }
    const unsigned long mode = mech_subnormal_off();
    int code = c->moments ? advance_measured(s, most) : advance(s, most);

    mech_subnormal_restore(mode);
    if (code == 0 && c->done == c->plan.count) {
        code = show_end(s);
    }
    mech_sim_watch(s); // its interruption ends with it
    *done = code == 0 && c->done == c->plan.count;
    return code;
}

static void swap_states(struct mech_sim *s)
{
    const struct mech_state now = s->now;

    s->now = s->next;
    s->next = now;
    s->shows = s->shows == MECH_SHOWS_NEXT ? MECH_SHOWS_NOW : MECH_SHOWS_NONE;
}

void mech_sim_step_finish(struct mech_sim *s)
{
    struct mech_command *const c = &s->command;

    if (!c->running) {
        return;
    }
    c->running = false;
    if (c->forced) {
        s->next.at->changed |= MECH_CHANGED_RATES; /* the forces of this command are gone */
    }
    c->report->linear = s->type->linear ? s->type->linear(s->stepper) : "";
    c->report->vi = s->type->vi ? s->type->vi(s->stepper) : "";
    const uint64_t pieces =
        c->report->substeps > c->report->steps ? c->report->substeps : c->report->steps;
    const double size = pieces > 0 ? c->plan.h * (double)c->report->steps / (double)pieces : 0.;

    c->report->beyond = mech_model_beyond(s->model, &s->next, size, &c->report->beyond_of,
                                          &c->report->beyond_reason);
    if (!c->trial) {
        swap_states(s);
        return;
    }
    s->has_trial = true;
    if (c->rebuilt) {
        c->rebuilt = false;
        mech_sim_trial_outputs(s, s->trial_outputs);
        s->trial_energy = mech_sim_trial_energy(s);
        c->rebuilt = true;
        (void)mech_sim_model_back(s);
    }
}

void mech_sim_step_abandon(struct mech_sim *s)
{
    const bool rebuilt = s->command.running && s->command.rebuilt;

    s->command.running = false;
    s->next.extra = s->next.wrench = NULL;
    s->next.signals = NULL;
    if (rebuilt) {
        (void)mech_sim_model_back(s);
    }
}

bool mech_sim_readable(const struct mech_sim *s)
{
    return !(s->command.running && s->command.rebuilt) && !s->beside;
}

bool mech_sim_stepping(const struct mech_sim *s)
{
    return s->command.running;
}

int mech_sim_step(struct mech_sim *s, const struct mech_step_request *r,
                  struct mech_step_report *report)
{
    bool done = false;

    MECH_TRY(mech_sim_step_begin(s, r, report));
    while (!done) {
        MECH_TRY(mech_sim_step_advance(s, UINT64_MAX, &done));
    }
    mech_sim_step_finish(s);
    return 0;
}

/* --- trials ----------------------------------------------------------------------------------- */

bool mech_sim_has_trial(const struct mech_sim *s)
{
    return s->has_trial;
}

int mech_sim_commit(struct mech_sim *s)
{
    if (!s->has_trial) {
        return MECH_NOT_FOUND;
    }
    if (s->command.rebuilt) {
        struct mech_diag diag;

        mech_diag_init(&diag);
        const int code = mech_sim_model_of(s, &s->next, &diag);
        mech_diag_fini(&diag);
        if (code) {
            (void)mech_sim_model_back(s);
            MECH_FOLD(code);
        }
        s->astray = false;
    }
    swap_states(s);
    s->has_trial = false;
    return 0;
}

void mech_sim_discard_trial(struct mech_sim *s)
{
    s->has_trial = false;
}

double mech_sim_trial_time(const struct mech_sim *s)
{
    return s->next.at->time;
}
