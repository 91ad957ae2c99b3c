/* One point after the other: build, step in slices, write rows. */
#include "server/sweep/lanes.h"

#include "protocol/bind/bind.h"
#include "server/call/service.h"
#include "server/os/ticks.h"
#include "solver/base/times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ns after which a lane lets others have the worker. */
static const uint64_t turn = MECHD_MS;

struct mechd_sweep_lane {
    struct mechd_task task; /* first */
    struct mechd_sweep *sweep;
    struct mech_sim *sim; /* of the point in progress; NULL: none */
    uint32_t point;
    bool stepping; /* a command is in progress */
    struct mech_step_report report;
    double step_ns; /* measured */
};

struct mechd_sweep_lane *mechd_sweep_lanes_make(struct mechd_sweep *s, int count)
{
    struct mechd_sweep_lane *lanes = calloc((size_t)count, sizeof *lanes);
    for (int k = 0; lanes != NULL && k < count; k++) {
        lanes[k].sweep = s;
    }
    return lanes;
}

/* The next row of the point in progress; NULL: all are used. */
static double *next_row(struct mechd_sweep_lane *l)
{
    struct mechd_sweep *s = l->sweep;
    const uint64_t used = s->row_counts[l->point];
    if (used == s->plan.capacity) {
        return NULL;
    }
    s->row_counts[l->point]++;
    double *row = s->rows + (l->point * s->plan.capacity + used) * s->width;
    row[0] = l->point;
    for (size_t k = 0; k < s->plan.places; k++) {
        row[k + 1] = s->plan.values[l->point * s->plan.places + k];
    }
    return row + s->plan.places + 1;
}

/* Time and outputs of the present. */
static void record(struct mechd_sweep_lane *l)
{
    const struct mechd_sweep_plan *p = &l->sweep->plan;
    double *at = next_row(l);
    if (at != NULL) {
        *at++ = mech_sim_time(l->sim);
        for (size_t k = 0; k < p->output_count; k++) {
            mech_sim_get_output(l->sim, p->outputs[k].index, at);
            at += p->outputs[k].size;
        }
    }
}

/* The point is over, well or not. */
static void end_point(struct mechd_sweep_lane *l, bool good)
{
    struct mechd_sweep *s = l->sweep;
    mech_sim_destroy(l->sim);
    l->sim = NULL;
    l->stepping = false;
    if (!good) {
        atomic_fetch_add(&s->failed, 1);
    }
    atomic_store(&s->over[l->point], true);
    atomic_fetch_add(&s->done, 1);
}

/* It has come to nothing: a row of NaN, in place of the last one if need be, and why. */
static void fail_point(struct mechd_sweep_lane *l, int outcome, const char *reason)
{
    struct mechd_sweep *s = l->sweep;
    if (s->row_counts[l->point] == s->plan.capacity) {
        s->row_counts[l->point]--;
    }
    double *at = next_row(l);
    for (size_t k = s->plan.places + 1; k < s->width; k++) {
        *at++ = NAN;
    }
    pthread_mutex_lock(&s->m);
    if (s->error_count < MECHD_SWEEP_ERRORS) {
        struct mechd_sweep_error *e = &s->errors[s->error_count++];
        e->point = l->point;
        e->code = outcome == MECH_INVALID ? MECHP_INVALID_MODEL : mechp_code_of_outcome(outcome);
        snprintf(e->reason, sizeof e->reason, "%s", reason);
    }
    pthread_mutex_unlock(&s->m);
    end_point(l, false);
}

/* True if the simulation has the outputs and the step that the rows are made for. */
static bool fits(const struct mechd_sweep_plan *p, const struct mech_sim *sim)
{
    bool good = p->every == 0 || p->counted || mech_sim_step_size(sim) == p->h;
    for (size_t k = 0; good && k < p->output_count; k++) {
        const struct mechd_sweep_output *o = &p->outputs[k];
        struct mech_variable v;
        good = o->index < (int32_t)mech_sim_variable_count(sim, MECH_OUTPUT_VARIABLE);
        if (good) {
            mech_sim_variable(sim, MECH_OUTPUT_VARIABLE, (size_t)o->index, &v);
            good = v.size == o->size;
        }
    }
    return good;
}

/* The sweep has been cancelled, or the daemon shuts down: within a long step, too. */
static bool ends(void *lane)
{
    const struct mechd_sweep *const s = ((const struct mechd_sweep_lane *)lane)->sweep;
    return atomic_load(&s->cancel) || atomic_load(&s->service->host.draining);
}

/* The model with the point's values. False: it has failed. */
static bool build_point(struct mechd_sweep_lane *l)
{
    const struct mechd_sweep_plan *p = &l->sweep->plan;
    struct mech_document *document = NULL;
    struct mech_diag diag;
    char reason[192];
    mech_diag_init(&diag);
    int outcome = mechp_bind_read(p->model, "", &diag, &document);
    for (size_t k = 0; outcome == 0 && k < p->places; k++) {
        document->parameters.at[p->index[k]].value = p->values[l->point * p->places + k];
    }
    if (outcome == 0) {
        outcome = mech_sim_create(document, &diag, &l->sim);
    }
    if (outcome != 0) {
        mech_document_destroy(document);
    } else {
        mech_sim_set_interrupt(l->sim, ends, l);
    }
    const bool told = diag.count > 0;
    snprintf(reason, sizeof reason, "%.60s%s%.128s", told ? diag.entries[0].path : "",
             told ? ": " : "", told ? diag.entries[0].text : mech_err_text(outcome));
    mech_diag_fini(&diag);
    if (outcome == 0 && !fits(p, l->sim)) {
        outcome = MECH_INVALID;
        snprintf(reason, sizeof reason, "these values change the outputs or the recorded step");
    }
    if (outcome != 0) {
        fail_point(l, outcome, reason);
    }
    return outcome == 0;
}

/* The next command of the point. False: it is at its end. */
static bool next_command(const struct mechd_sweep_lane *l, struct mech_step_request *r)
{
    const struct mechd_sweep_plan *p = &l->sweep->plan;
    const uint64_t steps = mech_sim_step_count(l->sim);
    *r = (struct mech_step_request){.kind = p->counted ? MECH_STEP_COUNT : MECH_STEP_UNTIL};
    if (p->counted) {
        const uint64_t rest = p->count - steps;
        r->count = p->every > 0 && p->every < rest ? p->every : rest;
        return rest > 0;
    }
    // row k is at start + k × every × h: rounding does not add up
    const double k = (double)l->sweep->row_counts[l->point];
    const double at = p->start + k * (double)p->every * p->h;
    r->size = p->every > 0 && mech_time_before(at, p->until, p->h) ? at : p->until;
    return mech_sim_time(l->sim) < p->until;
}

/* Begin a point. False: it has failed at once. */
static bool begin_point(struct mechd_sweep_lane *l)
{
    if (!build_point(l)) {
        return false;
    }
    l->step_ns = l->step_ns > 0. ? l->step_ns : 1e5;
    if (l->sweep->plan.every > 0) {
        record(l);
    }
    return true;
}

/* Some steps of the point in progress, which may end it. */
static void step_point(struct mechd_sweep_lane *l)
{
    struct mech_step_request request;
    int outcome = 0;
    bool done = false;
    if (!l->stepping) {
        if (!next_command(l, &request)) {
            if (l->sweep->plan.every == 0) {
                record(l);
            }
            end_point(l, true);
            return;
        }
        outcome = mech_sim_step_begin(l->sim, &request, &l->report);
        l->stepping = outcome == 0;
    }
    if (outcome == 0) {
        const uint64_t before = l->report.steps, from = mechd_now();
        const uint64_t most = 1 + (uint64_t)((double)turn / l->step_ns);
        outcome = mech_sim_step_advance(l->sim, most, &done);
        const uint64_t steps = l->report.steps - before;
        if (steps > 0) {
            l->step_ns = 0.5 * l->step_ns + 0.5 * (double)(mechd_now() - from) / (double)steps + 1.;
        }
        mechd_count(&mechd_tally(&l->sweep->service->host.counters)->steps, steps);
    }
    if (outcome == MECH_CANCELLED) {
        l->stepping = false; // the point has neither an end nor a fault
    } else if (outcome != 0) {
        fail_point(l, outcome,
                   l->report.reason[0] != '\0' ? l->report.reason : mech_err_text(outcome));
    } else if (done) {
        mech_sim_step_finish(l->sim);
        l->stepping = false;
        if (l->sweep->plan.every > 0) {
            record(l);
        }
    }
}

/* Nothing more to do for this lane; the last one lets the model go. */
static void leave(struct mechd_sweep_lane *l)
{
    struct mechd_sweep *s = l->sweep;
    mech_sim_destroy(l->sim);
    l->sim = NULL;
    if (atomic_fetch_sub(&s->working, 1) == 1) {
        json_decref(s->plan.model);
        s->plan.model = NULL;
        mechd_memory_freed(&s->service->host.memory);
        mechd_sweep_give(s, MECHD_QUOTA_RUNS, UINT64_MAX);
        mechd_sweep_give(s, MECHD_QUOTA_INSTANCES, UINT64_MAX);
        mechd_sweep_give(s, MECHD_QUOTA_COORDINATES, UINT64_MAX);
        mechd_sweep_give(s, MECHD_QUOTA_MEMORY, (uint64_t)s->lane_count * s->plan.memory);
        mechd_sweep_keep_end(s);
    }
    mechd_sweep_unref(s);
}

/* Some work for this turn, at `now`, until the turn is over. False: there is no more for it. */
static bool work(struct mechd_sweep_lane *l, uint64_t *now)
{
    struct mechd_sweep *s = l->sweep;
    const uint64_t until = *now + turn;
    do {
        if (atomic_load(&s->cancel)) {
            return false;
        }
        if (atomic_load(&s->service->host.draining)) {
            atomic_store(&s->interrupted, true);
            return false;
        }
        if (l->sim == NULL) {
            // `taken` passes the end by one a lane at most
            const uint32_t next = atomic_fetch_add(&s->taken, 1);
            if (next >= s->plan.points) {
                return false;
            }
            l->point = next;
            (void)begin_point(l);
        } else {
            step_point(l);
        }
        *now = mechd_now();
    } while (*now < until);
    return true;
}

static void run_lane(struct mechd_task *task)
{
    struct mechd_sweep_lane *l = (struct mechd_sweep_lane *)(void *)task;
    struct mechd_sweep *s = l->sweep;
    const uint64_t from = mechd_now();
    uint64_t now = from;
    const bool more = work(l, &now);
    mechd_account_work(s->account, now - from);
    if (more) {
        mechd_pool_push(&s->service->host.pool, &l->task);
    } else {
        leave(l);
    }
}

void mechd_sweep_lanes_start(struct mechd_sweep *s)
{
    const int count = s->lane_count;
    for (int k = 0; k < count; k++) {
        s->lanes[k].task.run = run_lane;
        mechd_pool_push(&s->service->host.pool, &s->lanes[k].task);
    }
}
