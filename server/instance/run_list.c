/* The runs that an instance keeps, newest first, and what others see of them. */
#include "protocol/wire/bodies.h"
#include "server/instance/host.h"
#include "server/instance/runs.h"
#include "server/os/ticks.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mechd_run_state_names[MECHD_RUN_STATES] = {
    [MECHD_RUN_RUNNING] = "running",         [MECHD_RUN_FINISHED] = "finished",
    [MECHD_RUN_STOPPED] = "stopped",         [MECHD_RUN_FAILED] = "failed",
    [MECHD_RUN_INTERRUPTED] = "interrupted",
};

/* --- the list --------------------------------------------------------------------------------- */

struct mechd_run *mechd_run_create(struct mechd_instance *i, uint64_t id,
                                   const struct mechd_run_settings *settings)
{
    struct mechd_run *const r = calloc(1, sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    atomic_init(&r->refs, 1);
    pthread_mutex_init(&r->p, NULL);
    r->job.instance = i;
    r->id = id;
    r->settings = *settings;
    r->record.every = settings->every;
    r->record.key = mechd_run_key(i);
    r->older = i->run;
    i->run = r;
    return r;
}

void mechd_run_unref(struct mechd_run *r)
{
    if (r != NULL && atomic_fetch_sub(&r->refs, 1) == 1) {
        mechd_recording_fini(&r->record);
        free(r->settings.chosen);
        pthread_mutex_destroy(&r->p);
        free(r);
    }
}

size_t mechd_run_bytes(const struct mechd_run *r)
{
    const bool whole = r->record.key == 0 && r->record.block != NULL;
    return r->record.dropped ? 0
           : whole           ? r->record.bytes
                             : (size_t)r->record.count * r->record.width * sizeof(double);
}

/* So many bytes of it are on the account from now on. */
static void account(struct mechd_run *r, size_t bytes)
{
    struct mechd_instance *const i = r->job.instance;
    const enum mechd_quota which = r->record.key != 0 ? MECHD_QUOTA_STORED : MECHD_QUOTA_MEMORY;
    if (bytes < r->charged) {
        mechd_instance_refund(i, which, r->charged - bytes);
    } else {
        (void)mechd_instance_charge(i, which, bytes - r->charged, NULL);
    }
    r->charged = bytes;
}

void mechd_run_account(struct mechd_run *r)
{
    account(r, mechd_run_bytes(r));
}

void mechd_runs_destroy(struct mechd_instance *i)
{
    while (i->run != NULL) {
        mechd_run_forget(i, i->run);
    }
}

void mechd_run_forget(struct mechd_instance *i, struct mechd_run *r)
{
    struct mechd_run **at = &i->run;
    while (*at != r) {
        at = &(*at)->older;
    }
    *at = r->older;
    account(r, 0);
    mechd_run_unref(r);
}

void mechd_run_cut(struct mechd_run *r, const struct mechd_run_reached *at, const char *reason)
{
    uint64_t periods = at != NULL ? at->periods : 0;
    uint64_t rows = at != NULL ? at->rows : 0;
    const double now = mechd_engine_time(&r->job.instance->engine);
    const double period = r->settings.period;
    struct mechd_recording *const x = &r->record;
    // a record can be made before the row of its window, and before the run counts it
    while (x->block != NULL && at != NULL && rows < x->count &&
           x->block->values[rows * x->width] <= now) {
        rows++;
    }
    while (at != NULL && periods < r->periods &&
           !mech_time_before(now, r->time + (double)(periods + 1) * period,
                             mech_time_scale(now, r->time, period))) {
        periods++;
    }
    if (rows >= x->count && periods >= r->periods) {
        return;
    }
    x->count = rows < x->count ? rows : x->count;
    r->periods = periods < r->periods ? periods : r->periods;
    r->state = MECHD_RUN_FAILED;
    mechd_run_account(r);
    mechd_run_show(r);
    pthread_mutex_lock(&r->p);
    r->shown.time = now;
    mech_text_format(r->shown.reason, sizeof r->shown.reason, "%s", reason);
    pthread_mutex_unlock(&r->p);
}

struct mechd_run *mechd_run_find(struct mechd_instance *i, const char *id)
{
    char name[32];
    for (struct mechd_run *r = i->run; r != NULL; r = r->older) {
        snprintf(name, sizeof name, "r-%" PRIu64, r->id);
        if (strcmp(name, id) == 0) {
            return r;
        }
    }
    return NULL;
}

/* --- what others see -------------------------------------------------------------------------- */

void mechd_run_show(struct mechd_run *r)
{
    struct mechd_run_shown *const s = &r->shown;
    const uint64_t now = r->now != 0 ? r->now : mechd_now();
    pthread_mutex_lock(&r->p);
    if (s->state == MECHD_RUN_RUNNING) {
        const struct mech_step_report *const report = &r->stepping.report;
        s->time = mechd_engine_time(&r->job.instance->engine);
        s->time += r->stepping.begun ? (double)report->steps * report->step_size : 0.;
        s->elapsed = now - r->start;
    }
    s->state = r->state;
    s->periods = r->periods;
    s->overruns = r->overruns;
    s->late = r->late;
    s->latest = r->latest;
    s->rows = r->record.count;
    s->kept = r->record.every > 0 && !r->record.dropped;
    s->change++;
    pthread_mutex_unlock(&r->p);
}

void mechd_run_warn(struct mechd_run *r, const char *text)
{
    pthread_mutex_lock(&r->p);
    const bool news = strcmp(r->shown.warning, text) != 0;
    mech_text_copy(r->shown.warning, sizeof r->shown.warning, text);
    pthread_mutex_unlock(&r->p);
    r->unsaved = r->unsaved || (news && r->record.key != 0);
}

void mechd_run_peek(struct mechd_run *r, struct mechd_run_shown *out)
{
    pthread_mutex_lock(&r->p);
    *out = r->shown;
    pthread_mutex_unlock(&r->p);
}

static void write_outputs(const void *of, struct mechp_text *w)
{
    const struct mechd_run *const r = of;
    const struct mechd_instance *const i = r->job.instance;
    mechp_text_array(w);
    for (size_t k = 0; k < i->channel_count; k++) {
        if (r->settings.chosen == NULL || r->settings.chosen[k]) {
            mechp_text_string(w, i->channels[k].name);
        }
    }
    mechp_text_end(w);
}

static void write_record(const void *of, struct mechp_text *w)
{
    const struct mechd_run *const r = of;
    const struct mechp_body_run_recorded body = {.every = r->settings.every,
                                                 .inputs = r->settings.inputs,
                                                 .hash = r->settings.hash,
                                                 .outputs = {write_outputs, r}};
    MECHP_WRITE(run_recorded, &body, w);
}

static void write_warning(const void *of, struct mechp_text *w)
{
    const struct mechd_run_shown *const s = of;
    const struct mechp_body_warning body = {.pointer = "/stepSize", .message = s->warning};
    mechp_text_array(w);
    MECHP_WRITE(warning, &body, w);
    mechp_text_end(w);
}

/* Where it is between its start and its end, and how long it will take from here: a free run as
 * before, a paced one by its pace. Without an end neither is a number. */
static void set_progress(const struct mechd_run *r, const struct mechd_run_shown *s,
                         struct mechp_body_run *out)
{
    const double length = r->settings.until - r->time;
    const double done = s->state == MECHD_RUN_FINISHED ? 1. : (s->time - r->time) / length;
    out->fraction = done;
    out->elapsed = 1e-9 * (double)s->elapsed;
    out->remaining = s->state != MECHD_RUN_RUNNING ? 0.
                     : r->settings.pace > 0. ? (r->settings.until - s->time) / r->settings.pace
                     : done > 0.             ? out->elapsed * (1. - done) / done
                                             : (double)NAN;
}

void mechd_run_write(struct mechd_run *r, struct mechp_text *w)
{
    char id[32];
    struct mechd_run_shown s;
    mechd_run_peek(r, &s);
    snprintf(id, sizeof id, "r-%" PRIu64, r->id);
    struct mechp_body_run body = {.id = id,
                                  .state = mechd_run_state_names[s.state],
                                  .pace = r->settings.pace,
                                  .period = r->settings.period,
                                  .start = r->time,
                                  .until = r->settings.until,
                                  .time = s.time,
                                  .periods = s.periods,
                                  .overruns = s.overruns,
                                  .record = {r->settings.every > 0 ? write_record : NULL, r},
                                  .recorded = s.kept ? s.rows : MECHP_ABSENT,
                                  .reason = s.reason[0] != '\0' ? s.reason : NULL,
                                  .warnings = {s.warning[0] != '\0' ? write_warning : NULL, &s}};
    set_progress(r, &s, &body);
    MECHP_WRITE(run, &body, w);
}
