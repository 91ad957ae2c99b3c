/* POST …/runs, GET and DELETE …/runs/{rid}, GET …/runs/{rid}/results. */
#include "server/instance/runs.h"

#include "protocol/wire/json.h"
#include "server/routes/rows.h"
#include "server/routes/shapes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const run_keys[] = {"pace", "period", "until", "record", NULL};

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

/* {"record": {"every": n}}: bounded before anything is taken. */
static void read_record(struct mechd_call *c, struct mechd_run_settings *s)
{
    static const char *const keys[] = {"every", NULL};
    const struct mechd_instance *i = c->job.instance;
    const json_t *record = NULL;
    if (!mechp_json_object(c->body, "record", &c->diag, &record)) {
        return;
    }
    mechp_json_only(record, "/record", keys, &c->diag);
    const json_t *every = json_object_get(record, "every");
    const json_int_t n = every == NULL ? 1 : json_integer_value(every);
    if (n < 1) {
        mech_diag_add(&c->diag, "/record/every", "must be a whole number of periods, from 1");
    } else if (isnan(s->until)) {
        mech_diag_add(&c->diag, "/record", "a run that is recorded needs an end: until");
    } else if (mech_diag_clean(&c->diag)) {
        s->every = (uint64_t)n;
        const double bytes =
            mechd_run_rows(i, s) * (double)(i->output_size + 1) * (double)sizeof(double);
        if (!(bytes <= (double)mechd_run_rows_bytes)) {
            mech_diag_add(&c->diag, "/record", "%.3g bytes of rows; at most %zu are kept", bytes,
                          mechd_run_rows_bytes);
        }
    }
}

static enum mechd_progress run_start(struct mechd_call *c)
{
    struct mechd_instance *i = c->job.instance;
    struct mechd_run_settings settings;
    read_settings(c, &settings);
    read_record(c, &settings);
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

/* A time of the query, or `preset`. */
static double read_time(struct mechd_call *c, const char *name, double preset)
{
    const char *text = mechd_call_query(c, name);
    char path[16];
    char *end = NULL;
    const double value = text != NULL ? strtod(text, &end) : preset;
    if (text != NULL && (end == text || *end != '\0' || !isfinite(value))) {
        snprintf(path, sizeof path, "/%s", name);
        mech_diag_add(&c->diag, path, "expected a time in s");
    }
    return value;
}

/* First row at or after this time; with `beyond`, after it. */
static uint64_t find_row(const struct mechd_run *r, double time, bool beyond)
{
    uint64_t low = 0;
    uint64_t high = r->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const double t = r->rows[middle * r->width];
        if (t < time || (beyond && t == time)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static enum mechd_progress run_results(struct mechd_call *c)
{
    const struct mechd_instance *i = c->job.instance;
    const int form = mechd_form(c, mechd_forms_of_rows);
    if (form < 0 || !is_known(c)) {
        return MECHD_DONE;
    }
    const struct mechd_run *run = i->run;
    const double from = read_time(c, "from", -INFINITY);
    const double to = read_time(c, "to", INFINITY);
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    if (run->rows == NULL) {
        return mechd_fail(c, MECHP_NOT_FOUND, "the run was started without record");
    }
    struct mechd_column *columns = mechd_rows_columns(i);
    if (columns == NULL) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the columns");
    }
    struct mechd_rows r = {.form = (enum mechd_form)form,
                           .text = &c->text,
                           .columns = columns,
                           .count = i->channel_count + 1};
    const uint64_t first = find_row(run, from, false);
    const uint64_t end = find_row(run, to, true);
    if (mechd_form_begin(c, r.form)) {
        mechd_rows_begin(&r, end > first ? end - first : 0);
        for (uint64_t k = first; k < end; k++) {
            mechd_rows_add(&r, run->rows + k * run->width);
        }
        mechd_rows_end(&r);
    }
    free(columns);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_RESULTS = {
    .run = run_results,
    .flags = MECHD_ON_INSTANCE | MECHD_READS | MECHD_IN_POOL,
    .query = {"format", "from", "to"},
};
