/* POST …/runs, GET and DELETE …/runs/{rid}. */
#include "server/instance/runs.h"

#include "protocol/wire/json.h"
#include "server/routes/shapes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const run_keys[] = {"pace", "period", "until", NULL};

/* Shortest period of a paced run on the wall's clock, s: below it the clock's thread is the
 * limit. */
static const double wall_least = 1e-3;
/* Period when none is given, s: a picture's rate. */
static const double period_preset = 0.02;

static void read_settings(struct mechd_call *c, struct mechd_run_settings *s)
{
    const struct mechd_instance *i = c->job.instance;
    *s = (struct mechd_run_settings){.until = NAN};
    s->period = fmax(period_preset, i->step_size);
    mechp_json_number(c->body, "pace", &c->diag, &s->pace);
    mechp_json_number(c->body, "period", &c->diag, &s->period);
    mechp_json_number(c->body, "until", &c->diag, &s->until);
    if (!(s->period > 0.)) {
        mech_diag_add(&c->diag, "/period", "must be greater than 0");
    }
    if (s->pace < 0. || s->pace > 1e6) {
        mech_diag_add(&c->diag, "/pace", "must be from 0 (free of the clock) to 1e6");
    } else if (s->pace > 0. && s->period / s->pace < wall_least) {
        mech_diag_add(&c->diag, "/period", "must be at least %g s of the clock (period / pace)",
                      wall_least);
    } else if (s->pace == 0. && isnan(s->until)) {
        mech_diag_add(&c->diag, "/until", "a run without a pace needs an end");
    }
    if (s->until <= mechd_engine_time(&i->engine)) {
        mech_diag_add(&c->diag, "/until", "must be after the present time %.17g",
                      mechd_engine_time(&i->engine));
    }
}

static enum mechd_progress run_start(struct mechd_call *c)
{
    struct mechd_instance *i = c->job.instance;
    struct mechd_run_settings settings;
    read_settings(c, &settings);
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    const int outcome = mechd_run_start(i, &settings);
    if (outcome != 0) {
        return mechd_fail_outcome(c, outcome);
    }
    c->status = 202;
    snprintf(c->location, sizeof c->location, "/v1/instances/%s/runs/r-%" PRIu64, i->id,
             i->run->id);
    mechd_run_write(i->run, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_RUNS = {
    .run = run_start,
    .flags = MECHD_ON_INSTANCE,
    .keys = run_keys,
};

/* True if the path's run is the instance's last one; otherwise refused. */
static bool is_known(struct mechd_call *c)
{
    const struct mechd_instance *i = c->job.instance;
    const char *rid = mechd_call_value(c, "rid");
    char id[32] = "";
    if (i->run != NULL) {
        snprintf(id, sizeof id, "r-%" PRIu64, i->run->id);
    }
    if (*id == '\0' || strcmp(id, rid) != 0) {
        mechd_fail(c, MECHP_NOT_FOUND, "there is no run %.64s; the last one is kept", rid);
        return false;
    }
    return true;
}

static enum mechd_progress run_get(struct mechd_call *c)
{
    if (is_known(c)) {
        mechd_run_write(c->job.instance->run, &c->text);
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_RUN = {
    .run = run_get,
    .flags = MECHD_ON_INSTANCE | MECHD_READS,
};

static enum mechd_progress run_stop(struct mechd_call *c)
{
    if (is_known(c)) {
        mechd_run_stop(c->job.instance);
        mechd_run_write(c->job.instance->run, &c->text);
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_STOP_RUN = {
    .run = run_stop,
    .flags = MECHD_ON_INSTANCE | MECHD_WHILE_RUN,
};
