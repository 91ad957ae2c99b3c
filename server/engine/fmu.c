/* The operations of the engine, about the committed point and the process (fmu_instance.h). */
#include "server/engine/fmu_engine.h"
#include "server/engine/fmu_follow.h"
#include "server/engine/fmu_jacobian.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct mechd_engine_ops mechd_engine_fmu;

/* --- properties ------------------------------------------------------------------------------- */

static const char *title(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->package->description.name;
}

static int32_t size_of(const void *self)
{
    (void)self;
    return 0; // it has no coordinates that are known
}

static double step_size(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->h;
}

static double start_time(const void *self)
{
    return mechd_fmu_session_start(&((const struct mechd_fmu_instance *)self)->session);
}

static size_t variable_count(const void *self, enum mech_causality causality)
{
    const struct mechd_fmu_instance *const f = self;
    return (int)causality < (int)MECHD_FMU_CAUSALITIES ? f->channels.count[causality] : 0;
}

static void variable(const void *self, enum mech_causality causality, size_t index,
                     struct mech_variable *out)
{
    *out = ((const struct mechd_fmu_instance *)self)->channels.at[causality][index].v;
}

static int32_t variable_find(const void *self, enum mech_causality causality, const char *name)
{
    return mechd_fmu_channels_find(&((const struct mechd_fmu_instance *)self)->channels, causality,
                                   name);
}

static double time_of(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->now.time;
}

static uint64_t step_count(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->now.steps;
}

static size_t output_size(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->channels.size[MECH_OUTPUT_VARIABLE];
}

static size_t input_size(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->channels.size[MECH_INPUT];
}

static void get_outputs(const void *self, double *values)
{
    const struct mechd_fmu_instance *const f = self;
    memcpy(values, f->now.outputs, output_size(f) * sizeof *values);
}

static const char *refusal(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->refusal;
}

static bool keeps_state(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->saves;
}

/* --- values ----------------------------------------------------------------------------------- */

static void get_input(const void *self, int32_t index, double *values)
{
    const struct mechd_fmu_instance *const f = self;
    const struct mech_variable *const v = &f->channels.at[MECH_INPUT][index].v;
    const size_t n = f->channels.size[MECH_INPUT];
    for (int32_t j = 0; j < v->size; j++) {
        const double *const u = f->now.inputs + v->offset + j;
        const double tau = f->now.time - u[MECHD_FMU_SINCE * n];
        values[j] = u[MECHD_FMU_VALUE * n] + tau * u[MECHD_FMU_RATE * n] +
                    0.5 * tau * tau * u[MECHD_FMU_SECOND * n];
    }
}

static int set_inputs(void *self, const struct mech_input_change *inputs, size_t count,
                      struct mech_diag *diag)
{
    struct mechd_fmu_instance *const f = self;
    MECH_TRY(mechd_fmu_put_inputs(f, inputs, count, &f->now, diag));
    mechd_fmu_drop_trial(f);
    return 0;
}

static double get_parameter(const void *self, int32_t index)
{
    return ((const struct mechd_fmu_instance *)self)->now.parameters[index];
}

static int set_parameters(void *self, size_t count, const int32_t *index, const double *values,
                          struct mech_diag *diag)
{
    struct mechd_fmu_instance *const f = self;
    bool good = true;
    for (size_t k = 0; k < count; k++) {
        const struct mechd_fmu_channel *const c = &f->channels.at[MECH_PARAMETER][index[k]];
        struct mech_path path = {.length = 0};
        (void)mech_path_push(&path, "parameters");
        (void)mech_path_push(&path, c->v.name);
        if (!c->v.tunable && values[k] != f->now.parameters[index[k]]) {
            mech_diag_add(diag, path.text, "%.64s is fixed: it is set by `start` at creation",
                          c->v.name);
            good = false;
        } else {
            good = mechd_fmu_channel_takes(c, values[k], path.text, diag) && good;
        }
    }
    if (!good) {
        return MECH_INVALID;
    }
    for (size_t k = 0; k < count; k++) {
        f->now.parameters[index[k]] = values[k];
    }
    mechd_fmu_drop_trial(f);
    return 0;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Number and size of the steps of a command. False: the reason is the report's. */
static bool plan(struct mechd_fmu_instance *f, const struct mech_step_request *r)
{
    const bool varies = (f->package->description.can & MECHD_FMU_VARIABLE_STEP) != 0;
    struct mech_step_plan p;
    if (mech_step_plan(r, start_time(f), (struct mech_moment){f->now.time, 0.}, f->h, 0., &p) !=
        0) {
        mech_text_format(f->report->reason, sizeof f->report->reason,
                         "a step must be greater than 0, and at most 1e12 of %g s", f->h);
        return false;
    }
    if (!varies && !mech_time_same(p.h, f->h, f->h) && fabs(p.h - f->h) > 1e-9 * f->h) {
        mech_text_format(f->report->reason, sizeof f->report->reason,
                         "this FMU steps only by multiples of %.17g s", f->h);
        return false;
    }
    f->size = p.h;
    f->goal = p.end.time;
    f->count = p.count;
    return true;
}

/* What is read within steps: it has intermediate update. 0, MECH_NO_MEMORY or MECH_INVALID. */
static int begin_trace(struct mechd_fmu_instance *f, struct mech_trace *trace)
{
    const struct mechd_engine e = {&mechd_engine_fmu, f};
    f->trace = trace;
    if (trace == NULL) {
        return 0;
    }
    free(f->traced);
    f->traced = calloc(trace->output_count + 1, sizeof *f->traced);
    if (f->traced == NULL) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < trace->output_count; k++) {
        const int32_t at = trace->outputs[k];
        const struct mechd_fmu_channel *const c = &f->channels.at[MECH_OUTPUT_VARIABLE][at];
        if (!mechd_engine_fmu_traces(&e, at)) {
            mech_text_format(f->report->reason, sizeof f->report->reason,
                             "output %.100s of the FMU has no intermediate update", c->v.name);
            return MECH_INVALID;
        }
        f->traced[k] = (struct mechd_fmu_traced){
            .reference = c->of->reference, .type = c->of->type, .elements = (size_t)c->v.size};
    }
    return 0;
}

static int begin(void *self, const struct mech_step_request *r, struct mech_step_report *report)
{
    struct mechd_fmu_instance *const f = self;
    struct mech_diag diag;
    f->report = report;
    f->refusal[0] = 0;
    *report = (struct mech_step_report){
        .linear = "", .vi = "", .step_size = f->h, .beyond = -1, .failed_time = f->now.time};
    mechd_fmu_drop_trial(f);
    f->trial = r->trial;
    f->events = r->events;
    f->early = r->early_return;
    f->from = f->now.time;
    f->done = 0;
    if (f->now.over) {
        mech_text_format(report->reason, sizeof report->reason,
                         "the FMU has asked to end the simulation at t = %.17g s", f->now.time);
        return MECH_ENGINE_FAILED;
    }
    if (r->force_count > 0 || !plan(f, r)) {
        return MECH_INVALID;
    }
    MECH_TRY(begin_trace(f, r->trace));
    const char *const blind =
        r->events != NULL ? mechd_fmu_session_blind(&f->session, r->early_return) : NULL;
    if (blind != NULL || (r->early_return && r->events == NULL)) {
        mech_text_copy(report->reason, sizeof report->reason,
                       blind != NULL ? blind : "an early return needs the events of the step");
        return MECH_INVALID;
    }
    if (r->trial && !f->saves) {
        mech_text_format(report->reason, sizeof report->reason,
                         "this FMU cannot save its state, so that it takes no trial steps");
        return MECH_INVALID;
    }
    mechd_fmu_point_copy(&f->now, &f->end);
    mech_diag_init(&diag);
    const int rc = mechd_fmu_put_inputs(f, r->inputs, r->input_count, &f->end, &diag);
    if (rc != 0 && diag.count > 0) {
        mech_text_copy(report->reason, sizeof report->reason, diag.entries[0].text);
    }
    mech_diag_fini(&diag);
    MECH_TRY(rc);
    mechd_fmu_follow_begin(f, r->inputs, r->input_count);
    const size_t inputs = f->channels.size[MECH_INPUT];
    if (r->moments != NULL) {
        memset(r->moments, 0, (MECH_FLOW_ORDER + 1) * inputs * sizeof *r->moments);
    }
    report->step_size = f->size;
    return 0;
}

/* The command has come to nothing. */
static int fail(struct mechd_fmu_instance *f, int rc)
{
    mech_text_copy(f->report->reason, sizeof f->report->reason, f->refusal);
    f->report->failed_time = f->end.time;
    return rc;
}

/* The command ends with a step that has had an event, at its end or before. */
static void end_early(struct mechd_fmu_instance *f, const struct mechd_fmu_span *last, double time)
{
    const double end = last->time + last->size;
    const bool before = mech_time_before(time, end, mechd_fmu_scale(last, last->size));
    f->end.time = before ? time : f->end.time;
    if (before || f->done < f->count) {
        f->report->ended = MECH_ENDED_AT_EVENT;
        f->count = f->done;
    }
}

static int one_step(struct mechd_fmu_instance *f)
{
    const struct mech_moment from = {f->from, 0.};
    const double t = f->end.time;
    const struct mechd_fmu_span span = {.time = t,
                                        .size = f->size,
                                        .start = start_time(f),
                                        .early = f->early,
                                        .events = f->events,
                                        .trace = f->trace};
    struct mechd_fmu_reached reached;
    // where a value is refused others may have been set, or an event is not over
    f->place = f->saves ? MECHD_FMU_MOVED : f->place;
    mechd_fmu_follow_hold(f, t);
    MECH_TRY(mechd_fmu_send(f, &f->end, t));
    MECH_TRY(mechd_fmu_follow_send(f, t, f->size));
    if (f->trace != NULL) {
        MECH_TRY(mechd_fmu_session_trace(&f->session, f->traced, f->trace->output_count,
                                         f->trace->room - f->trace->count));
    }
    f->place = MECHD_FMU_MOVED;
    MECH_TRY(mechd_fmu_session_step(&f->session, &span, &reached));
    f->end.over = reached.terminate;
    if (f->end.over && f->done + 1 < f->count) {
        mech_text_format(f->session.reason, sizeof f->session.reason,
                         "the FMU asks to end the simulation at t = %.17g s", t + f->size);
        return MECHD_HOSTED_REFUSED;
    }
    f->done++;
    f->end.steps++;
    f->end.time =
        f->done == f->count ? f->goal : mech_moment_after(from, (double)f->done, f->size).time;
    if (f->early && reached.event) {
        end_early(f, &span, reached.time);
    }
    if (f->done == f->count) {
        mechd_fmu_follow_hold(f, f->end.time);
    }
    return 0;
}

static int advance(void *self, uint64_t most, bool *done)
{
    struct mechd_fmu_instance *const f = self;
    *done = false;
    if (f->done == 0) {
        const int rc = mechd_fmu_settle(f);
        if (rc != 0) {
            return fail(f, rc);
        }
    }
    int rc = 0;
    for (uint64_t k = 0; rc == 0 && k < most && f->done < f->count; k++) {
        rc = one_step(f);
        f->report->steps += rc == 0;
    }
    if (rc == 0 && f->done == f->count) {
        rc = mechd_fmu_receive(f, &f->end);
        *done = rc == 0;
    }
    return rc == 0 ? 0 : fail(f, mechd_fmu_lost(f, rc));
}

/* The end becomes the committed point, where the process is. */
static void commit_end(struct mechd_fmu_instance *f)
{
    const struct mechd_fmu_point before = f->now;
    f->now = f->end;
    f->end = before;
    f->place = MECHD_FMU_AT_POINT;
}

static void finish(void *self)
{
    struct mechd_fmu_instance *const f = self;
    if (f->trial) {
        f->place = MECHD_FMU_AT_TRIAL;
    } else {
        commit_end(f);
    }
}

/* Between two slices, or behind the last one: an FMU that cannot be put back ends. */
static void abandon(void *self)
{
    struct mechd_fmu_instance *const f = self;
    if (f->place == MECHD_FMU_MOVED && !f->saves) {
        mechd_fmu_end(f, "a command was stopped before its end, and the FMU cannot restore its "
                         "state");
        mech_text_copy(f->report->reason, sizeof f->report->reason, f->ended);
    }
}

static void set_interrupt(void *self, bool (*wanted)(void *context), bool (*urgent)(void *context),
                          void *context)
{
    struct mechd_fmu_instance *const f = self;
    f->session.wanted = wanted;
    f->session.urgent = urgent;
    f->session.context = context;
}

static bool readable(const void *self)
{
    (void)self;
    return true;
}

static bool has_trial(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->place == MECHD_FMU_AT_TRIAL;
}

static int commit(void *self)
{
    struct mechd_fmu_instance *const f = self;
    if (f->place != MECHD_FMU_AT_TRIAL) {
        return MECH_NOT_FOUND;
    }
    commit_end(f);
    return 0;
}

static double trial_time(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->end.time;
}

static void trial_outputs(const void *self, double *values)
{
    const struct mechd_fmu_instance *const f = self;
    memcpy(values, f->end.outputs, output_size(f) * sizeof *values);
}

/* Those that the FMU had at the end of the last step: inputs that are set since then act from the
 * next one on. */
static const char *blind(const void *self, bool early)
{
    return mechd_fmu_session_blind(&((const struct mechd_fmu_instance *)self)->session, early);
}

static const char *unrated(const void *self)
{
    return ((const struct mechd_fmu_instance *)self)->package->description.derivative_order > 0
               ? NULL
               : "the FMU has no derivatives of outputs (maxOutputDerivativeOrder)";
}

static int output_rates(void *self, bool trial, double *rates, char reason[160])
{
    const struct mechd_fmu_instance *const f = self;
    const struct mechd_fmu_point *const p = trial ? &f->end : &f->now;
    const char *const never = unrated(self);
    for (size_t k = 0; k < output_size(f); k++) {
        if (!isfinite(p->rates[k])) {
            mech_text_copy(reason, 160,
                           never != NULL ? never
                           : p->steps == 0
                               ? "an FMU has no derivatives of outputs before a step"
                               : "the FMU has no derivatives of its outputs at this time");
            return MECH_UNSUPPORTED;
        }
    }
    memcpy(rates, p->rates, output_size(f) * sizeof *rates);
    return 0;
}

/* --- states ----------------------------------------------------------------------------------- */

static size_t snapshot_size(const void *self)
{
    const struct mechd_fmu_instance *const f = self;
    return mechd_fmu_point_size(&f->now, f->state_most);
}

static size_t snapshot_write(const void *self, void *bytes)
{
    const struct mechd_fmu_instance *const f = self;
    return mechd_fmu_point_write(&f->now, f->package->hash, bytes);
}

static size_t trial_write(const void *self, void *bytes)
{
    const struct mechd_fmu_instance *const f = self;
    return mechd_fmu_point_write(&f->end, f->package->hash, bytes);
}

/* Into `end` first: the committed point stays until the process is there. */
static int snapshot_read(void *self, const void *bytes, size_t size, bool *reproducible)
{
    struct mechd_fmu_instance *const f = self;
    if (reproducible != NULL) {
        *reproducible = true;
    }
    mechd_fmu_drop_trial(f);
    if (!f->saves) {
        return MECH_MISMATCH;
    }
    MECH_TRY(mechd_fmu_point_read(&f->end, f->package->hash, bytes, size));
    f->place = f->session.hosted != NULL ? MECHD_FMU_MOVED : f->place;
    const int rc = f->session.hosted != NULL
                       ? mechd_fmu_session_restore(&f->session, f->end.state, f->end.state_size)
                       : mechd_fmu_begin_at(f, &f->session, &f->end);
    if (rc != 0) {
        return mechd_fmu_lost(f, rc);
    }
    mechd_fmu_holds(f, f->end.held);
    commit_end(f);
    return 0;
}

/* A second process, which replaces the first one when it is ready. */
static int reset(void *self)
{
    struct mechd_fmu_instance *const f = self;
    struct mechd_fmu_session fresh = f->session;
    fresh.hosted = NULL;
    const struct mechd_fmu_point *const first = &f->first;
    int rc = mechd_fmu_begin_at(f, &fresh, first);
    if (rc != 0) {
        mech_text_copy(f->refusal, sizeof f->refusal, fresh.reason);
        return rc < 0 ? rc : fresh.stopped ? MECH_CANCELLED : MECH_ENGINE_FAILED;
    }
    mechd_fmu_session_end(&f->session);
    f->session = fresh;
    // nothing of the old process holds any more, and if its outputs cannot be had the new one is
    // not where the instance is: the next use brings it there
    f->place = MECHD_FMU_MOVED;
    mechd_fmu_point_copy(first, &f->end);
    // what it was begun with
    mechd_fmu_point_inputs(first, &f->channels, first->time, f->sent);
    memcpy(f->sent_parameters, first->parameters,
           f->channels.size[MECH_PARAMETER] * sizeof *f->sent_parameters);
    memset(f->rated, 0, f->channels.count[MECH_INPUT] * sizeof *f->rated);
    f->sent_known = true;
    rc = mechd_fmu_receive(f, &f->end);
    if (rc != 0) {
        return mechd_fmu_lost(f, rc);
    }
    commit_end(f);
    return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    struct mechd_fmu_instance *const f = self;
    mechd_fmu_session_end(&f->session);
    mechd_fmu_leave_place(f);
    mechd_fmu_point_fini(&f->first);
    mechd_fmu_point_fini(&f->now);
    mechd_fmu_point_fini(&f->end);
    free(f->given);
    free(f->traced);
    mechd_fmu_follow_fini(f);
    mechd_fmu_channels_fini(&f->channels);
    mechd_fmu_package_unref(f->package);
    free(f);
}

const struct mechd_engine_ops mechd_engine_fmu = {
    .name = "fmu",
    .doc = "an FMU for co-simulation, stepped in a process of its own",
    .apart = true,
    .destroy = destroy,
    .reset = reset,
    .refusal = refusal,
    .title = title,
    .size = size_of,
    .step_size = step_size,
    .start_time = start_time,
    .variable_count = variable_count,
    .variable = variable,
    .variable_find = variable_find,
    .time = time_of,
    .step_count = step_count,
    .output_size = output_size,
    .input_size = input_size,
    .get_outputs = get_outputs,
    .get_input = get_input,
    .set_inputs = set_inputs,
    .get_parameter = get_parameter,
    .set_parameters = set_parameters,
    .step_begin = begin,
    .step_advance = advance,
    .set_interrupt = set_interrupt,
    .step_finish = finish,
    .step_abandon = abandon,
    .readable = readable,
    .has_trial = has_trial,
    .commit = commit,
    .trial_time = trial_time,
    .trial_outputs = trial_outputs,
    .keeps_state = keeps_state,
    .snapshot_size = snapshot_size,
    .snapshot_write = snapshot_write,
    .snapshot_read = snapshot_read,
    .trial_write = trial_write,
    .output_rates = output_rates,
    .blind = blind,
    .unrated = unrated,
    .derive = &mechd_fmu_derive,
};
