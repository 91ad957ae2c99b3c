/* Slices of a step command. The time of a step is a running mean of what was measured (weight 1/4
 * for the newest), and sizes the slices to about a millisecond.
 *
 * A force that is stamped with a time within the command acts from the first substep that starts at
 * or after its stamp. The command is then run in parts that meet at those substeps; the state
 * between them is not read, and a failure in a later part undoes the earlier ones. */
#include "server/instance/stepping.h"

#include "server/instance/effort.h"
#include "server/instance/host.h"
#include "server/instance/partners.h"
#include "server/os/ticks.h"
#include "solver/base/diag.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const double slice_ns = 1e6;
/* steps in one measurement that make it reliable in spite of a pause */
enum { DILUTED = 16 };

/* Internal steps of a command, as a number that cannot overflow. */
static double steps_of(struct mechd_instance *i, const struct mech_step_request *r)
{
    struct mech_moment start = {0., 0.};
    struct mech_step_plan plan;
    if (r->kind == MECH_STEP_UNTIL) {
        struct mechd_published now;
        mechd_instance_peek(i, &now, NULL);
        start.time = now.time;
    }
    const bool steps =
        i->step_size > 0. && mech_step_plan(r, start.time, start, i->step_size, 0., &plan) == 0;
    return steps ? (double)plan.count : 1.;
}

uint64_t mechd_stepping_cost(struct mechd_instance *i, const struct mech_step_request *r)
{
    const double cost = steps_of(i, r) * (double)atomic_load(&i->step_ns);
    return cost < 1e18 ? (uint64_t)cost : UINT64_MAX;
}

/* Take a measurement into the mean. A thread that lost its core for a while measures thousands of
 * times what a step takes: one measurement counts eight times the mean at most, so that it does not
 * send the next ten commands to the pool. What has really become slower is known after a few. */
void mechd_stepping_measure(struct mechd_instance *i, uint64_t ns, uint64_t steps)
{
    if (steps > 0) {
        const uint64_t mean = atomic_load(&i->step_ns);
        const uint64_t each = ns / steps;
        const uint64_t most = steps < DILUTED ? 8 * mean : UINT64_MAX;
        const uint64_t now = (3 * mean + (each < most ? each : most)) / 4 + 1;
        // what waits for another process goes to the pool, however short it is
        const uint64_t least = i->engine.ops->apart ? MECHD_SHORT : 0;
        atomic_store(&i->step_ns, now > least ? now : least);
    }
}

/* Internal steps that fit a slice. */
static uint64_t slice_steps(const struct mechd_instance *i)
{
    return 1 + (uint64_t)(slice_ns / (double)atomic_load(&i->step_ns));
}

void mechd_stepping_init(struct mechd_stepping *s)
{
    memset(s, 0, offsetof(struct mechd_stepping, report));
    s->report.outcome = 0;
    s->report.reason[0] = '\0';
}

/* The part of the command up to the first substep at which a force becomes due. */
static void next_part(struct mechd_instance *i, struct mechd_stepping *s)
{
    const double stamp = mechd_partners_next(i);
    s->part = s->request;
    s->part.kind = MECH_STEP_UNTIL;
    if (mechd_engine_step_count(&i->engine) != s->first) {
        // the command's inputs hold since its first part; those over time continue
        const size_t held = s->request.input_count - s->signals;
        s->part.inputs = s->signals > 0 ? s->request.inputs + held : NULL;
        s->part.input_count = s->signals;
    }
    const struct mech_moment start = s->plan.start;
    const double h = s->plan.h, end = s->plan.end.time;
    s->part.until = end;
    if (stamp > start.time && stamp < end) {
        double size;
        const double n =
            mech_time_steps((struct mech_time_part){start.time, start.time, stamp}, h, 0., &size);
        const double at = mech_moment_after(start, n, h).time;
        if (at > mechd_engine_time(&i->engine) + 0.5 * h && at < end - 0.5 * h) {
            s->part.until = at;
        }
    }
}

/* Begin the command, in parts if forces wait for a time within it. 0 or an outcome. */
static int begin(struct mechd_instance *i, struct mechd_stepping *s)
{
    mechd_partners_due(i);
    mechd_partners_used(i, true);
    if (s->request.events != NULL) {
        mech_event_log_cut(s->request.events, 0); // it may begin again
    }
    if (s->request.trace != NULL) {
        s->request.trace->count = 0;
        s->request.trace->total = 0;
    }
    s->first = mechd_engine_step_count(&i->engine);
    const double stamp = mechd_partners_next(i);
    // a request that makes no steps is refused by the engine
    const bool parts = !s->request.trial && isfinite(stamp) &&
                       mechd_engine_plan(&i->engine, &s->request, &s->plan) == 0 &&
                       stamp < s->plan.end.time - 0.5 * s->plan.h;
    if (!parts) {
        return mechd_engine_step_begin(&i->engine, &s->request, &s->report);
    }

    // the parts before the last one are committed on the way: keep what they would have to undo
    if (!mechd_engine_keeps_state(&i->engine)) {
        mech_text_format(
            s->report.reason, sizeof s->report.reason,
            "a force acts within the step, which an FMU that cannot save its state cannot undo");
        return MECH_INVALID;
    }
    s->before = malloc(mechd_engine_snapshot_size(&i->engine));
    if (s->before == NULL) {
        return MECH_NO_MEMORY;
    }
    s->before_size = mechd_engine_snapshot_write(&i->engine, s->before);
    s->whole = (struct mech_step_report){.linear = "", .vi = ""};
    next_part(i, s);
    return mechd_engine_step_begin(&i->engine, &s->part, &s->report);
}

/* Add a finished part to the whole. */
static void add_report(struct mech_step_report *sum, const struct mech_step_report *part)
{
    const struct mech_step_report before = *sum;
    *sum = *part;
    sum->steps += before.steps;
    sum->iterations += before.iterations;
    sum->vi_iterations += before.vi_iterations;
    sum->substeps += before.substeps;
    sum->impacts += before.impacts;
    sum->taken += before.taken;
    sum->refused += before.refused;
    sum->impact_gain += before.impact_gain;
    sum->residual = fmax(part->residual, before.residual);
}

/* Put the state back to the beginning of a command in parts. */
static void undo_parts(struct mechd_instance *i, struct mechd_stepping *s)
{
    bool reproducible = true;
    if (s->before != NULL) {
        add_report(&s->whole, &s->report);
        s->report = s->whole;
        mechd_engine_snapshot_read(&i->engine, s->before, s->before_size, &reproducible);
        mechd_partners_used(i, false);
        free(s->before);
        s->before = NULL;
    }
}

/* True if the part in progress is the last one. */
static bool ends_command(const struct mechd_stepping *s)
{
    return s->before == NULL || s->part.until >= s->plan.end.time ||
           s->report.ended == MECH_ENDED_AT_EVENT;
}

/* A part is over: go on with the next one, if there is one. True: the command is over. */
static bool finish_part(struct mechd_instance *i, struct mechd_stepping *s)
{
    const bool last = ends_command(s);
    mechd_engine_step_finish(&i->engine);
    if (s->before == NULL) {
        return true;
    }
    add_report(&s->whole, &s->report);
    s->report = s->whole;
    if (last) {
        mechd_partners_used(i, true);
        free(s->before);
        s->before = NULL;
        return true;
    }
    mechd_partners_due(i);
    next_part(i, s);
    s->outcome = mechd_engine_step_begin(&i->engine, &s->part, &s->report);
    return s->outcome != 0;
}

/* The quota, and what the engine has said of the stop, or "": an FMU may have ended by it. */
static void tell_quota(struct mechd_stepping *s, const char *engine)
{
    char quota[sizeof s->report.reason];
    char ended[sizeof s->report.reason];
    mech_text_copy(ended, sizeof ended, engine);
    (void)mechd_excess_tell(&s->excess, quota, sizeof quota);
    mech_text_format(s->report.reason, sizeof s->report.reason, "%.60s%s%.96s", quota,
                     ended[0] != '\0' ? "; " : "", ended);
}

/* A command that has come to nothing. */
static enum mechd_progress give_up(struct mechd_instance *i, struct mechd_stepping *s)
{
    undo_parts(i, s);
    s->report.outcome = s->outcome;
    if (s->why == MECHD_STOP_QUOTA) {
        tell_quota(s, "");
    }
    mechd_count(&i->host->counters.failed_steps, 1);
    return MECHD_DONE;
}

/* Advance by what fits a slice, and measure it; *now goes from its start to its end. CANCELLED:
 * interrupted, for the reason in e->why. */
static int advance(struct mechd_instance *i, struct mechd_stepping *s, struct mechd_effort *e,
                   uint64_t *now, bool *done)
{
    const uint64_t start = *now;
    const uint64_t before = s->report.steps;
    e->start = start;
    e->worked = s->worked;
    mechd_effort_begin(i, e);
    const int outcome = mechd_engine_step_advance(&i->engine, slice_steps(i), done);
    mechd_effort_end(i);
    const uint64_t steps = s->report.steps - before;
    *now = mechd_now();
    mechd_stepping_measure(i, *now - start, steps);
    s->worked += *now - start;
    if (i->account != NULL) {
        mechd_account_work(i->account, *now - start);
    }
    mechd_count(&mechd_tally(&i->host->counters)->steps, steps);
    return outcome;
}

void mechd_stepping_cancel(struct mechd_instance *i, struct mechd_stepping *s,
                           enum mechd_stop_reason why)
{
    mechd_engine_step_abandon(&i->engine);
    undo_parts(i, s);
    s->why = why;
    s->outcome = MECH_CANCELLED;
    s->report.outcome = MECH_CANCELLED;
    if (why == MECHD_STOP_QUOTA) {
        mechd_effort_exceeds(i, s->worked, &s->excess);
        tell_quota(s, s->report.reason);
    }
}

/* The solver was interrupted within `spent` ns, and has left the state as it was: the command
 * starts again in the pool, or is over. */
static enum mechd_progress interrupted(struct mechd_instance *i, struct mechd_stepping *s,
                                       uint64_t spent, enum mechd_stop_reason why)
{
    if (why != MECHD_STOP_RETREAT) {
        mechd_stepping_cancel(i, s, why);
        return MECHD_DONE;
    }
    undo_parts(i, s);
    mechd_stepping_measure(i, spent, 1);
    s->before_size = 0;
    s->begun = false;
    s->admitted = true;
    s->outcome = 0;
    return MECHD_MORE;
}

enum mechd_progress mechd_stepping_slice(struct mechd_instance *i, struct mechd_stepping *s)
{
    // the beginning of a command, which may refuse it
    if (!s->begun) {
        const bool admitted = s->paid || s->admitted || i->account == NULL ||
                              mechd_account_may_work(i->account, &s->excess);
        s->why = admitted ? MECHD_STOP_NONE : MECHD_STOP_QUOTA;
        s->outcome = admitted ? begin(i, s) : MECH_CANCELLED;
        if (s->outcome != 0) {
            return give_up(i, s);
        }
        s->begun = true;
    }
    struct mechd_effort effort = {.worked = s->worked,
                                  .kind = s->paid ? MECHD_EFFORT_RUN : MECHD_EFFORT_STEP,
                                  .direct = mechd_instance_carried(i),
                                  .asks = s->asks,
                                  .of = s->of};
    const enum mechd_stop_reason why = mechd_effort_before(i, &effort);
    if (why != MECHD_STOP_NONE) {
        mechd_stepping_cancel(i, s, why);
        return MECHD_DONE;
    }

    // about a millisecond, over the ends of parts
    const uint64_t start = s->now != 0 ? s->now : mechd_now();
    uint64_t now = start;
    s->now = 0;
    for (bool over = false; !over;) {
        bool done = false;
        s->outcome = advance(i, s, &effort, &now, &done);
        if (s->outcome == 0 && done && ends_command(s) && s->closes != NULL && !s->closes(s->of)) {
            mechd_stepping_cancel(i, s, MECHD_STOP_STOPPED);
            return MECHD_DONE;
        }
        over = s->outcome == 0 && done && finish_part(i, s);
        if (s->outcome == MECH_CANCELLED) {
            return interrupted(i, s, now - start, effort.why);
        }
        if (s->outcome != 0) {
            return give_up(i, s);
        }
        if (!over && (!done || now - start > (uint64_t)slice_ns)) {
            return s->before != NULL || !mechd_engine_readable(&i->engine) ? MECHD_MORE_ALONE
                                                                           : MECHD_MORE;
        }
    }

    // the end: published, or kept as the trial
    s->now = now;
    struct mechd_tally *const m = mechd_tally(&i->host->counters);
    mechd_count(&m->commands, 1);
    mechd_count(&m->iterations, s->report.iterations);
    mechd_count(&m->vi_iterations, s->report.vi_iterations);
    mechd_count(&m->contacts, s->report.contacts > 0 ? (uint64_t)s->report.contacts : 0);
    if (!s->request.trial) {
        // in parts it also took forces that are not in the request; an early return has not gone to
        // the end that the request says; signals are not in the record of a command
        if (s->before_size == 0 && s->report.ended == MECH_ENDED_AS_REQUESTED && s->signals == 0) {
            mechd_durable_command(i, &s->request, s->report.steps * atomic_load(&i->step_ns));
        }
        mechd_instance_stepped(i, mechd_stepping_eventful(s) ? MECHP_EVENT : 0);
    }
    return MECHD_DONE;
}

bool mechd_stepping_eventful(const struct mechd_stepping *s)
{
    return s->report.impacts > 0 || (s->request.events != NULL && s->request.events->total > 0);
}
