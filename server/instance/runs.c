/* The chain of a run: tick (as owner) → finish → timer or the queue again → tick … */
#include "server/instance/runs.h"

#include "server/daemon.h"
#include "server/ticks.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* A free run gives others their turn about this often, ns. */
static const uint64_t turn = 1000000;

void mechd_run_unref(struct mechd_run *r)
{
    if (r != NULL && atomic_fetch_sub(&r->refs, 1) == 1) {
        free(r->rows);
        free(r);
    }
}

double mechd_run_rows(const struct mechd_instance *i, const struct mechd_run_settings *s)
{
    // the start, the end, and one for rounding
    const double periods = ceil((s->until - mechd_engine_time(&i->engine)) / s->period);
    return floor(periods / (double)s->every) + 3.;
}

/* Keep the present values. What has been undone meanwhile is recorded again. */
static void record(struct mechd_run *r)
{
    const struct mechd_instance *i = r->job.instance;
    const double now = mechd_engine_time(&i->engine);
    while (r->count > 0 && r->rows[(r->count - 1) * r->width] >= now) {
        r->count--;
    }
    if (r->count < r->capacity) {
        double *row = r->rows + r->count++ * r->width;
        row[0] = now;
        for (size_t k = 1; k < r->width; k++) {
            row[k] = i->published.values[k - 1];
        }
    }
}

static void end_run(struct mechd_run *r, enum mechd_run_state state)
{
    r->state = state;
    atomic_store(&r->active, false);
    if (r->job.instance->run == r) {
        atomic_store(&r->job.instance->running, false);
    }
}

/* Prepare the next period's command. Period k ends at start + (k + 1) × period, not a period after
 * the time that it is, so that rounding does not add up. False: the end has been reached. */
static bool next_period(struct mechd_run *r)
{
    const double now = mechd_engine_time(&r->job.instance->engine);
    const struct mechd_run_settings *s = &r->settings;
    const double slack = 1e-9 * s->period;
    double end = r->time + (double)(r->periods + 1) * s->period;
    if (now >= s->until - slack) {
        return false;
    }
    if (end >= s->until - slack) {
        end = s->until;
    }
    r->stepping = (struct mechd_stepping){.request = {.kind = MECH_STEP_UNTIL, .size = end}};
    return true;
}

/* When the next period begins; a schedule that has slipped by more than a period is moved. */
static void schedule(struct mechd_run *r)
{
    const double wall = 1e9 * r->settings.period / r->settings.pace;
    const uint64_t now = mechd_now();
    r->due = r->start + r->shift + (uint64_t)((double)r->periods * wall);
    if (now > r->due + (uint64_t)wall) {
        r->overruns++;
        mechd_count(&r->job.instance->daemon->metrics.overruns, 1);
        r->shift += now - r->due;
        r->due = now;
    }
}

/* One slice of a period; free runs go on to further periods until their turn is over. */
static enum mechd_progress step_on(struct mechd_job *job)
{
    struct mechd_run *r = (struct mechd_run *)job;
    struct mechd_instance *i = job->instance;
    const uint64_t start = mechd_now();
    do {
        if (r->state != MECHD_RUN_RUNNING) {
            return MECHD_DONE;
        }
        if (!r->stepping.begun) {
            if (atomic_load(&i->deleted) || atomic_load(&i->daemon->draining)) {
                end_run(r, MECHD_RUN_STOPPED);
                return MECHD_DONE;
            }
            if (!next_period(r)) {
                end_run(r, MECHD_RUN_FINISHED);
                return MECHD_DONE;
            }
        }
        const enum mechd_progress progress = mechd_stepping_slice(i, &r->stepping);
        if (progress != MECHD_DONE) {
            return progress;
        }
        r->stepping.begun = false;
        if (r->stepping.outcome != 0) {
            end_run(r,
                    r->stepping.outcome == MECH_CANCELLED ? MECHD_RUN_STOPPED : MECHD_RUN_FAILED);
            return MECHD_DONE;
        }
        r->periods++;
        const double now = mechd_engine_time(&i->engine);
        if (r->rows != NULL && (r->periods % r->settings.every == 0 || now >= r->settings.until)) {
            record(r);
        }
    } while (r->settings.pace == 0. && mechd_now() - start < turn);
    if (r->settings.pace > 0.) {
        schedule(r);
    }
    return MECHD_DONE;
}

/* The same; what it changed is stored when it is time. */
static enum mechd_progress tick(struct mechd_job *job)
{
    const struct mechd_run *r = (struct mechd_run *)job;
    if (!r->stepping.begun && mechd_durable_repair(job->instance) != 0) {
        return MECHD_DONE;
    }
    const enum mechd_progress progress = step_on(job);
    if (progress == MECHD_DONE) {
        mechd_durable_sync(job->instance, NULL);
    }
    return progress;
}

/* The chain is over: nobody will submit the job again. */
static void release(struct mechd_run *r)
{
    struct mechd_instance *i = r->job.instance;
    mechd_run_unref(r);
    mechd_instance_unref(i);
}

/* Queue the next tick; never on the clock's thread, nor nested in the tick before: always through
 * the pool. A full queue is tried again a little later. */
static void submit(struct mechd_run *r)
{
    struct mechd_clock *clock = &r->job.instance->daemon->clock;
    r->job.cost = MECHD_SHORT;
    if (mechd_instance_submit(r->job.instance, &r->job) == MECHD_FULL &&
        !mechd_clock_arm(clock, &r->timer, mechd_now() + 5 * MECHD_MS)) {
        release(r);
    }
}

static void fire(struct mechd_timer *timer)
{
    submit((struct mechd_run *)((char *)timer - offsetof(struct mechd_run, timer)));
}

/* After a tick, without ownership. */
static void finish(struct mechd_job *job)
{
    struct mechd_run *r = (struct mechd_run *)job;
    if (!atomic_load(&r->active)) {
        release(r);
    } else if (r->settings.pace == 0. ||
               !mechd_clock_arm(&job->instance->daemon->clock, &r->timer, r->due)) {
        submit(r);
    }
}

int mechd_run_start(struct mechd_instance *i, const struct mechd_run_settings *settings)
{
    struct mechd_run *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return MECH_NO_MEMORY;
    }
    if (settings->every > 0) {
        r->width = i->output_size + 1;
        r->capacity = (uint64_t)mechd_run_rows(i, settings);
        r->rows = malloc(r->capacity * r->width * sizeof *r->rows);
        if (r->rows == NULL) {
            free(r);
            return MECH_NO_MEMORY;
        }
    }
    atomic_init(&r->refs, 2);
    r->id = ++i->runs;
    r->settings = *settings;
    r->start = mechd_now();
    r->time = mechd_engine_time(&i->engine);
    r->timer.fire = fire;
    r->job.instance = i;
    r->job.run = tick;
    r->job.finish = finish;
    mechd_instance_ref(i);
    mechd_run_unref(i->run);
    i->run = r;
    if (r->rows != NULL) {
        record(r);
    }
    atomic_store(&r->active, true);
    atomic_store(&i->running, true);
    submit(r);
    return 0;
}

void mechd_run_stop(struct mechd_instance *i)
{
    struct mechd_run *r = i->run;
    if (r->state != MECHD_RUN_RUNNING) {
        return;
    }
    end_run(r, MECHD_RUN_STOPPED);
    if (r->stepping.begun) {
        mechd_stepping_abandon(i, &r->stepping);
        r->stepping.begun = false;
    }

    // a timer that is not armed has fired or is going to be armed: the next tick ends the chain
    if (mechd_clock_cancel(&i->daemon->clock, &r->timer)) {
        release(r);
    }
}

static const char *const state_names[] = {"running", "finished", "stopped", "failed"};

void mechd_run_write(const struct mechd_run *r, struct mechp_text *w)
{
    char id[32];
    snprintf(id, sizeof id, "r-%" PRIu64, r->id);
    mechp_text_object(w);
    mechp_text_key(w, "id");
    mechp_text_string(w, id);
    mechp_text_key(w, "state");
    mechp_text_string(w, state_names[r->state]);
    mechp_text_key(w, "pace");
    mechp_text_number(w, r->settings.pace);
    mechp_text_key(w, "period");
    mechp_text_number(w, r->settings.period);
    mechp_text_key(w, "until");
    mechp_text_number(w, r->settings.until);
    mechp_text_key(w, "periods");
    mechp_text_unsigned(w, r->periods);
    mechp_text_key(w, "overruns");
    mechp_text_unsigned(w, r->overruns);
    mechp_text_key(w, "time");
    mechp_text_number(w, r->job.instance->published.time);
    if (r->rows != NULL) {
        mechp_text_key(w, "recorded");
        mechp_text_unsigned(w, r->count);
    }
    if (r->state == MECHD_RUN_FAILED) {
        mechp_text_key(w, "reason");
        mechp_text_string(w, r->stepping.report.reason);
    }
    mechp_text_end(w);
}
