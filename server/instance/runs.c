/* The chain of a run: tick (as owner) → finish → timer or the queue again → tick …
 *
 * A turn steps all periods that are due, of a free run as many as fit it. A period of a paced run
 * that is expected to be short is computed by the lane whose timer is due, as a short command is by
 * the thread that carries it: no other thread is met, no memory taken, and the clock is read when
 * it begins and when it ends. A longer one goes through the pool. */
#include "server/instance/runs.h"

#include "server/instance/host.h"
#include "server/instance/lives.h"
#include "server/os/ticks.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <math.h>
#include <stddef.h>

/* A run gives others their turn about this often, ns. */
static const uint64_t turn = 1000000;

/* How far behind its schedule a paced run may be before the schedule is moved, ns: the periods due
 * in this time are stepped in few turns, which costs a fraction of a turn for each, since what a
 * step needs is in the cache from the second one on. */
static const uint64_t backlog = 100 * (uint64_t)MECHD_MS;

/* A run that cannot go on until the disk has taken rows looks again after this long, ns. */
static const uint64_t pause = 2 * MECHD_MS;

/* A paced run looks at least this often whether it has been given up, ns. */
static const uint64_t longest = 500 * (uint64_t)MECHD_MS;

double mechd_run_rows(const struct mechd_instance *i, const struct mechd_run_settings *s)
{
    // the start, the end, and one for rounding
    const double periods = ceil((s->until - mechd_engine_time(&i->engine)) / s->period);
    return floor(periods / (double)s->every) + 3.;
}

/* Prepare the next period's command. Period k ends at start + (k + 1) × period, not a period after
 * the time that it is, so that rounding does not add up. False: the end has been reached. */
static bool next_period(struct mechd_run *r)
{
    const double now = mechd_engine_time(&r->job.instance->engine);
    const struct mechd_run_settings *s = &r->settings;
    double end = r->time + (double)(r->periods + 1) * s->period;
    const bool ends = !isnan(s->until);
    const double scale = mechd_engine_scale(&r->job.instance->engine, now, s->period);
    if (ends && !mech_time_before(now, s->until, scale)) {
        return false;
    }
    if (ends && !mech_time_before(end, s->until, scale)) {
        end = s->until;
    }
    mechd_stepping_init(&r->stepping);
    r->stepping.paid = true;
    r->stepping.request.kind = MECH_STEP_UNTIL;
    r->stepping.request.until = end;
    return true;
}

/* When the next period begins; a schedule that has slipped by more than the backlog, or a longer
 * period, is moved so that this much remains: whole periods would take more from the runs that come
 * last after each standstill. */
static void schedule(struct mechd_run *r)
{
    const double wall = r->settings.period / r->settings.pace; /* s */
    const uint64_t most = r->wall > backlog ? r->wall : backlog;
    r->due = r->start + r->shift + mechd_ns((double)r->periods * wall);
    if (r->now > r->due + most) {
        const uint64_t excess = r->now - r->due - most;
        r->shift += excess;
        r->due += excess;
    }
}

/* How late this period of a paced run begins, once: one that is undone begins again. */
static void note_lateness(struct mechd_run *r)
{
    const uint64_t late = r->now > r->due ? r->now - r->due : 0;
    if (r->settings.pace == 0. || r->periods == r->noted) {
        return;
    }
    r->noted = r->periods;
    r->latest = late > r->latest ? late : r->latest;
    if (late > r->wall / 2) {
        struct mechd_tally *const m = mechd_tally(&r->job.instance->host->counters);
        const bool overran = late > r->wall;
        r->late++;
        mechd_count(&m->late, 1);
        r->overruns += overran;
        mechd_count(&m->overruns, overran);
    }
}

/* Its instance has been deleted, or the process ends. */
static void give_up(struct mechd_run *r)
{
    const bool ends = mechd_host_drains(r->job.instance->host);
    mechd_run_end(r, ends ? MECHD_RUN_INTERRUPTED : MECHD_RUN_STOPPED,
                  ends ? "the server was shut down" : "");
}

bool mechd_run_next(struct mechd_run *r)
{
    const struct mechd_instance *const i = r->job.instance;
    if (r->state != MECHD_RUN_RUNNING) {
        return false;
    }
    if (!mechd_instance_lives(i) || mechd_host_drains(i->host)) {
        give_up(r);
        return false;
    }
    r->waits = mechd_recording_full(&r->record);
    if (r->waits) {
        return false;
    }
    if (!next_period(r)) {
        mechd_run_end(r, MECHD_RUN_FINISHED, "");
        return false;
    }
    note_lateness(r);
    return true;
}

bool mechd_run_done(struct mechd_run *r, uint64_t turn_start)
{
    const struct mechd_instance *const i = r->job.instance;
    r->periods++;
    r->unsaved = r->record.key != 0;
    const double now = mechd_engine_time(&i->engine);
    if (r->record.every > 0 && (r->periods % r->record.every == 0 || now >= r->settings.until)) {
        mechd_recording_add(&r->record, i);
    }
    if (r->settings.pace > 0.) {
        schedule(r);
    }
    // another period is due: it belongs to the turn that began then, unless that is over; a thread
    // that carries has a short one
    const bool is_due = r->settings.pace == 0. || r->due <= r->now;
    const uint64_t slice = mechd_instance_carried(i) ? MECHD_SHORT : turn;
    return is_due && r->now - turn_start < slice && !mechd_recording_pressed(&r->record);
}

/* One slice of a period, or all periods that are due until the turn is over; others have theirs
 * behind a period that took more than a slice. */
static enum mechd_progress step_on(struct mechd_job *job)
{
    struct mechd_run *r = (struct mechd_run *)job;
    struct mechd_instance *i = job->instance;
    const uint64_t start = r->stepping.begun ? 0 : r->now;
    do {
        if (r->state != MECHD_RUN_RUNNING || (!r->stepping.begun && !mechd_run_next(r))) {
            return MECHD_DONE;
        }
        r->stepping.now = r->now;
        const enum mechd_progress progress = mechd_stepping_slice(i, &r->stepping);
        r->now = r->stepping.now;
        if (progress != MECHD_DONE) {
            return progress;
        }
        r->stepping.begun = false;
        if (r->stepping.outcome == MECH_CANCELLED) {
            // a request to end the run, to which it yields, may still be refused
            if (r->stepping.why != MECHD_STOP_YIELD) {
                give_up(r);
            }
            return MECHD_DONE;
        }
        if (r->stepping.outcome != 0 && !mechd_instance_lives(i)) {
            give_up(r);
            return MECHD_DONE;
        }
        if (r->stepping.outcome != 0) {
            mechd_run_end(r, MECHD_RUN_FAILED, r->stepping.report.reason);
            return MECHD_DONE;
        }
    } while (mechd_run_done(r, start));
    return MECHD_DONE;
}

/* The same; its changes are stored when due, and its progress is published at once. */
static enum mechd_progress tick(struct mechd_job *job)
{
    struct mechd_run *r = (struct mechd_run *)job;
    r->now = mechd_now();
    if (!r->stepping.begun && mechd_durable_repair(job->instance) != 0) {
        return MECHD_DONE;
    }
    const enum mechd_progress progress = step_on(job);
    mechd_run_show(r);
    if (progress == MECHD_DONE) {
        mechd_durable_sync(job->instance, NULL);
    }
    return progress;
}

/* Queue the next tick; never nested in the tick before: always through the pool. A full queue is
 * tried again a little later. */
static void submit(struct mechd_run *r)
{
    struct mechd_instance *const i = r->job.instance;
    r->job.cost = MECHD_SHORT;
    const enum mechd_submitted submitted =
        i->turns != NULL ? i->turns(r) : mechd_instance_submit(i, &r->job);
    if (submitted == MECHD_FULL &&
        !mechd_clock_arm(&i->host->pace, &r->timer, mechd_now() + 5 * MECHD_MS)) {
        mechd_run_release(r);
    }
}

/* When the chain looks again: a slow pace does not keep what has been deleted for long. A run that
 * is late waits behind those that wait already, however late it is. */
static uint64_t look_again(const struct mechd_run *r, uint64_t now)
{
    const uint64_t most = now + longest;
    const uint64_t due = r->waits ? now + pause : r->due > now ? r->due : now;
    return due < most ? due : most;
}

static void finish(struct mechd_job *job);

/* The next period, at once if it is short and the instance is idle. */
static void go(struct mechd_run *r)
{
    const double cost = r->steps * (double)atomic_load(&r->job.instance->step_ns);
    const bool is_short = r->wall > 0 && cost < MECHD_SHORT && r->job.instance->turns == NULL;
    if (!is_short) {
        submit(r);
        return;
    }
    r->job.cost = (uint64_t)cost;
    const enum mechd_submitted done = mechd_instance_submit(r->job.instance, &r->job);
    if (done == MECHD_RAN) {
        finish(&r->job);
    } else if (done == MECHD_FULL) {
        submit(r);
    }
}

static void fire(struct mechd_timer *timer)
{
    struct mechd_run *const r =
        (struct mechd_run *)((char *)timer - offsetof(struct mechd_run, timer));
    struct mechd_instance *const i = r->job.instance;
    // only a timer that was not armed for the whole time can be early
    const bool early = !r->waits && timer->due < r->due && atomic_load(&r->active) &&
                       mechd_instance_lives(i) && !mechd_host_drains(i->host);
    if (!early || !mechd_clock_arm(&i->host->pace, &r->timer, look_again(r, mechd_now()))) {
        go(r);
    }
}

void mechd_run_turned(struct mechd_run *r)
{
    if (!atomic_load(&r->active)) {
        mechd_run_release(r);
    } else if ((r->settings.pace == 0. && !r->waits) ||
               !mechd_clock_arm(&r->job.instance->host->pace, &r->timer,
                                look_again(r, r->now != 0 ? r->now : mechd_now()))) {
        submit(r);
    }
}

/* After a tick, without ownership. */
static void finish(struct mechd_job *job)
{
    mechd_run_turned((struct mechd_run *)job);
}

/* Where the rows of this instance's runs count. */
static enum mechd_quota quota_of_rows(const struct mechd_instance *i)
{
    return mechd_run_key(i) != 0 ? MECHD_QUOTA_STORED : MECHD_QUOTA_MEMORY;
}

/* A run and so many bytes of rows on the account. False: *x says why not. */
static bool charge(struct mechd_instance *i, size_t bytes, struct mechd_excess *x)
{
    if (i->account != NULL && !mechd_account_may_work(i->account, x)) {
        return false;
    }
    if (!mechd_instance_charge(i, MECHD_QUOTA_RUNS, 1, x)) {
        return false;
    }
    if (!mechd_instance_charge(i, quota_of_rows(i), bytes, x)) {
        mechd_instance_refund(i, MECHD_QUOTA_RUNS, 1);
        return false;
    }
    return true;
}

/* Make room for a new run with this many bytes of rows: the oldest runs are deleted. */
static void make_room(struct mechd_instance *i, size_t bytes)
{
    const size_t most = mechd_run_key(i) != 0 ? mechd_rows_disk : mechd_rows_memory;
    size_t sum = bytes;
    int count = 1;
    struct mechd_run *r = i->run;
    for (; r != NULL && count < MECHD_RUNS_MOST && mechd_run_bytes(r) <= most - sum; r = r->older) {
        mechd_recording_trim(&r->record, false);
        sum += mechd_run_bytes(r);
        count++;
    }
    // r and all before it go
    while (r != NULL) {
        struct mechd_run *const older = r->older;
        (void)mechd_run_unstore(i, r, false, NULL);
        mechd_run_forget(i, r);
        r = older;
    }
}

/* A run in the list, with room for what it records; *out. 0, or as mechd_run_start. */
static int prepare(struct mechd_instance *i, const struct mechd_run_settings *settings,
                   size_t bytes, struct mechd_run **out)
{
    const uint64_t number = mechd_lives_next(i, MECHD_COUNTED_PART, i->runs);
    if (number == 0) {
        return MECH_CANCELLED;
    }
    make_room(i, bytes);
    struct mechd_run *const before = i->run;
    struct mechd_run *const r = mechd_run_create(i, number, settings);
    int outcome = r != NULL ? 0 : MECH_NO_MEMORY;
    if (outcome == 0 && settings->every > 0) {
        outcome = mechd_recording_begin(&r->record, i, settings, mechd_run_rows(i, settings));
    }
    if (outcome != 0 && r != NULL) {
        i->run = before;
        r->settings.chosen = NULL;
        mechd_run_unref(r);
    }
    *out = r;
    return outcome;
}

int mechd_run_start(struct mechd_instance *i, const struct mechd_run_settings *settings,
                    struct mechd_excess *x)
{
    const size_t row = mechd_recording_width(i, settings) * sizeof(double);
    const size_t bytes = settings->every > 0 ? (size_t)mechd_run_rows(i, settings) * row : 0;
    struct mechd_run *r = NULL;
    *x = (struct mechd_excess){.which = MECHD_QUOTAS};
    if (!charge(i, bytes, x)) {
        return MECH_UNSUPPORTED;
    }
    const int outcome = prepare(i, settings, bytes, &r);
    if (outcome != 0) {
        mechd_instance_refund(i, MECHD_QUOTA_RUNS, 1);
        mechd_instance_refund(i, quota_of_rows(i), bytes);
        return outcome;
    }
    r->charged = bytes;
    i->runs = r->id;
    r->start = mechd_now();
    r->time = mechd_engine_time(&i->engine);
    r->due = r->start;
    double size = 0.;
    r->steps = i->step_size > 0. ? mech_time_steps((struct mech_time_part){.to = settings->period},
                                                   i->step_size, 0., &size)
                                 : 1.;
    r->wall = settings->pace > 0. ? mechd_ns(settings->period / settings->pace) : 0;
    r->shift = r->wall > 0 ? mechd_clock_phase(&i->host->pace, r->wall) : 0;
    r->timer.fire = fire;
    r->job.run = tick;
    r->job.finish = finish;
    mechd_recording_add(&r->record, i);
    r->unsaved = r->record.key != 0;
    i->durable.due = r->unsaved;
    mechd_run_show(r);
    atomic_fetch_add(&r->refs, 1);
    mechd_instance_ref(i);
    atomic_store(&r->active, true);
    atomic_store(&i->run_number, r->id);
    atomic_store(&i->running, true);
    submit(r);
    return 0;
}
