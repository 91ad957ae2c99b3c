/* POST and GET …/runs, GET and DELETE …/runs/{rid}. */
#include "server/operations/couplings.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/call/shapes.h"
#include "server/coupling/face.h"
#include "server/coupling/turn.h"
#include "server/instance/lives.h"
#include "server/instance/runs.h"
#include "solver/base/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shortest period of a paced run on the wall's clock, s: below it the clock's thread is the
 * limit. */
static const double wall_least = 1e-3;
/* Period when none is given, s: a picture's rate. */
static const double period_preset = 0.02;
/* Of a coupling, by the instance that it shows: one period is one window. */
static bool is_coupling(const struct mechd_call *c)
{
    return (mechd_call_row(c)->traits & MECHP_OF_COUPLING) != 0;
}

/* The end: a time, a number of periods, or none. */
static void read_end(struct mechd_call *c, const struct mechp_body_run_request *in,
                     struct mechd_run_settings *s)
{
    const double now = mechd_engine_time(&c->job.instance->engine);
    s->until = in->until;
    if (in->count > 0) {
        if (!isnan(s->until)) {
            mech_diag_add(&c->diag, "/count", "give until or count, not both");
        }
        s->until = now + (double)in->count * s->period;
    } else if (s->pace == 0. && isnan(s->until) && mech_diag_clean(&c->diag)) {
        mech_diag_add(&c->diag, "/until", "a run without a pace needs an end: until or count");
    }
    if (s->until <= now) {
        mech_diag_add(&c->diag, "/until", "must be after the present time %.17g", now);
    }
}

static void read_settings(struct mechd_call *c, const struct mechp_body_run_request *in,
                          struct mechd_run_settings *s)
{
    *s = (struct mechd_run_settings){.until = NAN};
    s->pace = isnan(in->pace) ? 0. : in->pace;
    s->period = !isnan(in->period) ? in->period
                : is_coupling(c)   ? c->job.instance->step_size
                                   : fmax(period_preset, c->job.instance->step_size);
    if (!(s->period > 0.)) {
        mech_diag_add(&c->diag, "/period", "must be greater than 0");
        return;
    }
    if (s->pace < 0. || s->pace > 1e6) {
        mech_diag_add(&c->diag, "/pace", "must be from 0 (as fast as possible) to 1e6");
    } else if (s->pace > 0. && s->period / s->pace < wall_least) {
        mech_diag_add(&c->diag, "/period",
                      "must be at least %g s of wall-clock time (period / pace)", wall_least);
    }
    read_end(c, in, s);
}

/* How often: every so many periods, or seconds of simulation that are whole periods. */
static void read_every(struct mechd_call *c, const struct mechp_body_run_record *in,
                       struct mechd_run_settings *s)
{
    const json_t *const every = in->every, *const seconds = in->seconds;
    const double seconds_of = json_number_value(seconds), periods = seconds_of / s->period;
    s->every = 1;
    if (every != NULL && seconds != NULL) {
        mech_diag_add(&c->diag, "/record/seconds", "give every or seconds, not both");
    } else if (every != NULL && !(json_integer_value(every) >= 1)) {
        mech_diag_add(&c->diag, "/record/every", "must be a whole number of periods, at least 1");
    } else if (seconds != NULL &&
               (!(periods > 0.5 && periods < 1e9) ||
                !mech_time_same(seconds_of, nearbyint(periods) * s->period, 0.))) {
        mech_diag_add(&c->diag, "/record/seconds", "must be a whole number of periods of %.17g s",
                      s->period);
    } else if (seconds != NULL) {
        s->every = (uint64_t)nearbyint(periods);
    } else if (every != NULL) {
        s->every = (uint64_t)json_integer_value(every);
    }
}

/* The names of outputs that are recorded; s->chosen is the caller's. */
static void read_outputs(struct mechd_call *c, const json_t *names, struct mechd_run_settings *s)
{
    const struct mechd_instance *i = c->job.instance;
    if (names == NULL) {
        return;
    }
    // what has none records none, as its runs say
    if (!json_is_array(names) || (json_array_size(names) == 0 && i->channel_count > 0)) {
        mech_diag_add(&c->diag, "/record/outputs", "must be names of outputs, at least one");
        return;
    }
    s->chosen = calloc(i->channel_count + 1, sizeof *s->chosen);
    if (s->chosen == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for a run");
        return;
    }
    for (size_t n = 0; n < json_array_size(names); n++) {
        const char *const name = json_string_value(json_array_get(names, n));
        char path[48];
        size_t k = 0;
        while (name != NULL && k < i->channel_count && strcmp(i->channels[k].name, name) != 0) {
            k++;
        }
        snprintf(path, sizeof path, "/record/outputs/%zu", n);
        if (name == NULL || k == i->channel_count) {
            mechd_engine_lacks(&i->engine, MECH_OUTPUT_VARIABLE, name, path, &c->diag);
        } else if (s->chosen[k]) {
            mech_diag_add(&c->diag, path, "%.64s is listed twice", name);
        } else {
            s->chosen[k] = true;
        }
    }
}

/* {"record": {"every" or "seconds", "outputs"}}: bounded before anything is taken. */
static void read_record(struct mechd_call *c, const json_t *record, struct mechd_run_settings *s)
{
    const struct mechd_instance *i = c->job.instance;
    const struct mechp_json_in part = {record, "/record", &c->diag};
    struct mechp_body_run_record in;
    if (record == NULL || !(s->period > 0.)) {
        return;
    }
    mechp_shape_only(record, "/record", &mechp_body_run_record, &c->diag);
    MECHP_READ_IN(run_record, &part, &in);
    read_every(c, &in, s);
    s->hash = in.hash;
    s->inputs = in.inputs;
    uint64_t hash = 0;
    if (s->hash && !mechd_instance_hash(i, &hash)) {
        mech_diag_add(&c->diag, "/record/hash",
                      is_coupling(c) ? "an external program takes part, whose state is not known"
                                     : "the instance has no model, so that its state is not known");
    }
    read_outputs(c, in.outputs, s);
    if (isnan(s->until) && mech_diag_clean(&c->diag)) {
        mech_diag_add(&c->diag, "/record", "a run that is recorded needs an end: until or count");
    }
    if (!mech_diag_clean(&c->diag)) {
        return;
    }
    const bool stored = mechd_run_key(i) != 0;
    const size_t most = stored ? mechd_rows_disk : mechd_rows_memory;
    const size_t row = mechd_recording_width(i, s) * sizeof(double);
    const double bytes = mechd_run_rows(i, s) * (double)row;
    if (!(bytes <= (double)most)) {
        mech_diag_add(&c->diag, "/record",
                      "%.3g bytes of rows (%zu each); at most %zu are retained %s for an instance",
                      bytes, row, most, stored ? "on the disk" : "in memory");
    }
}

static enum mechd_progress start(struct mechd_call *c, struct mechd_run_settings *s)
{
    struct mechd_instance *i = c->job.instance;
    struct mechd_excess excess;
    const int outcome = mechd_run_start(i, s, &excess);
    if (outcome == MECH_UNSUPPORTED && excess.which != MECHD_QUOTAS) {
        free(s->chosen);
        return mechd_fail_quota(c, &excess);
    }
    if (outcome == MECH_UNSUPPORTED) {
        free(s->chosen);
        return mechd_fail(c, MECHP_LIMIT_REACHED,
                          "the recorded rows of all instances may take at most %zu bytes of memory",
                          mechd_rows_daemon);
    }
    if (outcome == MECH_CANCELLED) {
        char why[MECHD_LIVES_UNRECORDED];
        free(s->chosen);
        return mechd_fail(c, MECHP_STORAGE_FAILED, "%s", mechd_lives_unrecorded(i, why));
    }
    if (outcome != 0) {
        free(s->chosen);
        return mechd_fail_outcome(c, outcome);
    }
    if (is_coupling(c)) {
        struct mechd_coupling *const g = mechd_face_coupling(i);
        if (g != NULL) {
            mechd_turn_warn(g, i->run);
        }
        mechd_coupling_unref(g);
    }
    c->status = 202;
    snprintf(c->location, sizeof c->location, "/v1/%s/%s/runs/r-%" PRIu64,
             is_coupling(c) ? "couplings" : "instances", i->id, i->run->id);
    mechd_run_write(i->run, &c->text);
    return MECHD_DONE;
}

static enum mechd_progress run_start(struct mechd_call *c)
{
    struct mechd_run_settings settings;
    struct mechp_body_run_request in;
    MECHP_READ(run_request, c->body, &c->diag, &in);
    read_settings(c, &in, &settings);
    read_record(c, in.record.of, &settings);
    if (mechd_call_faulty(c) || c->code != MECHP_OK) {
        free(settings.chosen);
        return MECHD_DONE;
    }
    return start(c, &settings);
}

const struct mechd_operation mechd_operation_START_RUN = {.run = run_start};
/* As the owner of all participants, whose states the first row may need. */
static void start_once(struct mechd_coupling_command *k)
{
    (void)run_start(k->call);
    if (k->call->code != MECHP_OK) {
        mechd_coupling_refuse(k, k->call->code, k->call->detail);
    }
}

/* In the order of the coupling's other commands. */
static enum mechd_submitted spread_start(struct mechd_call *c)
{
    return mechd_couplings_once(c, true, start_once);
}

const struct mechd_operation mechd_operation_START_COUPLING_RUN = {.spread = spread_start};

static void write_items(const void *of, struct mechp_text *w)
{
    const struct mechd_instance *const i = of;
    mechp_text_array(w);
    for (struct mechd_run *r = i->run; r != NULL; r = r->older) {
        mechd_run_write(r, w);
    }
    mechp_text_end(w);
}

static enum mechd_progress run_list(struct mechd_call *c)
{
    const struct mechp_body_run_list body = {{write_items, c->job.instance}};
    MECHP_WRITE(run_list, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_RUNS = {.run = run_list};
const struct mechd_operation mechd_operation_COUPLING_RUNS = {.run = run_list};

static enum mechd_progress run_get(struct mechd_call *c)
{
    struct mechd_run *const r = mechd_call_run(c);
    if (r != NULL) {
        mechd_run_write(r, &c->text);
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_RUN = {.run = run_get};
const struct mechd_operation mechd_operation_COUPLING_RUN = {.run = run_get};

/* The run is returned at once: a long step of it would keep the request waiting. */
static int prepare_stop(struct mechd_call *c)
{
    struct mechd_instance *const i = c->job.instance;
    char id[32];
    snprintf(id, sizeof id, "r-%" PRIu64, atomic_load(&i->run_number));
    c->job.hurries = atomic_load(&i->running) && strcmp(id, mechd_call_value(c, "rid")) == 0;
    return 0;
}

static enum mechd_progress run_stop(struct mechd_call *c)
{
    struct mechd_instance *const i = c->job.instance;
    struct mechd_run *const r = mechd_call_run(c);
    const bool stops = r != NULL && r == i->run && r->state == MECHD_RUN_RUNNING;
    if (stops) {
        mechd_run_stop(i, MECHD_RUN_STOPPED, "");
    }
    if (r != NULL) {
        mechd_run_write(r, &c->text);
    }
    // while another command runs, no other code stores it
    if (stops) {
        mechd_durable_sync(i, mechd_call_ticket(c));
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_STOP_RUN = {.run = run_stop, .prepare = prepare_stop};
const struct mechd_operation mechd_operation_STOP_COUPLING_RUN = {.run = run_stop,
                                                                  .prepare = prepare_stop};
