/* One point after the other: build, step in slices, write rows. */
#include "server/sweep/lanes.h"

#include "server/call/service.h"
#include "server/os/ticks.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdlib.h>

/* ns after which a lane lets others have the worker. */
static const uint64_t turn = MECHD_MS;

struct mechd_sweep_lane {
    struct mechd_task task; /* first */
    struct mechd_sweep *sweep;
    struct mechd_point point; /* in progress */
    uint32_t number;          /* of it */
    bool busy;                /* there is one */
};

struct mechd_sweep_lane *mechd_sweep_lanes_make(struct mechd_sweep *s, int count)
{
    struct mechd_sweep_lane *lanes = calloc((size_t)count, sizeof *lanes);
    for (int k = 0; lanes != NULL && k < count; k++) {
        lanes[k].sweep = s;
        lanes[k].point.sweep = s;
    }
    return lanes;
}

bool mechd_point_fail(struct mechd_point *p, enum mechp_code code, const char *reason)
{
    p->code = code;
    mech_text_format(p->reason, sizeof p->reason, "%s", reason);
    return false;
}

/* The next row of the point in progress, behind its number and values; NULL: all are used. */
static double *next_row(struct mechd_sweep_lane *l)
{
    struct mechd_sweep *s = l->sweep;
    const uint64_t used = s->row_counts[l->number];
    if (used == s->plan.capacity) {
        return NULL;
    }
    l->point.rows = ++s->row_counts[l->number];
    double *row = s->rows + (l->number * s->plan.capacity + used) * s->width;
    row[0] = l->number;
    for (size_t k = 0; k < s->plan.places; k++) {
        row[k + 1] = l->point.values[k];
    }
    return row + s->plan.places + 1;
}

/* Time and outputs of the present. */
static void record(struct mechd_sweep_lane *l)
{
    double *const row = next_row(l);
    if (row != NULL) {
        l->sweep->plan.ops->record(&l->point, row);
    }
}

/* No more of this point. */
static void drop_point(struct mechd_sweep_lane *l)
{
    if (l->busy) {
        l->sweep->plan.ops->destroy(&l->point);
    }
    l->busy = false;
}

/* The point is over, well or not. */
static void end_point(struct mechd_sweep_lane *l, bool good)
{
    struct mechd_sweep *s = l->sweep;
    drop_point(l);
    if (!good) {
        atomic_fetch_add(&s->failed, 1);
    }
    atomic_store(&s->over[l->number], true);
    atomic_fetch_add(&s->done, 1);
}

/* It has come to nothing: a row of NaN, in place of the last one if need be, and why. */
static void fail_point(struct mechd_sweep_lane *l)
{
    struct mechd_sweep *s = l->sweep;
    if (s->row_counts[l->number] == s->plan.capacity) {
        s->row_counts[l->number]--;
    }
    double *at = next_row(l);
    for (size_t k = s->plan.places + 1; k < s->width; k++) {
        *at++ = NAN;
    }
    pthread_mutex_lock(&s->m);
    if (s->error_count < MECHD_SWEEP_ERRORS) {
        struct mechd_sweep_error *e = &s->errors[s->error_count++];
        e->point = l->number;
        e->code = l->point.code;
        mech_text_format(e->reason, sizeof e->reason, "%s", l->point.reason);
    }
    pthread_mutex_unlock(&s->m);
    end_point(l, false);
}

/* Begin a point, which may fail at once. */
static void begin_point(struct mechd_sweep_lane *l, uint32_t number)
{
    const struct mechd_sweep_plan *const plan = &l->sweep->plan;
    l->number = number;
    l->busy = true;
    l->point.values = plan->values + number * plan->places;
    l->point.rows = 0;
    l->point.code = MECHP_OK;
    const bool good = plan->ops->build(&l->point);
    if (!good && l->point.code != MECHP_CANCELLED) {
        fail_point(l);
    } else if (good && plan->every > 0) {
        record(l);
    }
}

/* Some of the point in progress, which may end it. */
static void advance_point(struct mechd_sweep_lane *l, uint64_t until)
{
    const struct mechd_sweep_plan *const plan = &l->sweep->plan;
    switch (plan->ops->advance(&l->point, until)) {
    case MECHD_POINT_GOES_ON:
        break;
    case MECHD_POINT_ROW:
        record(l);
        break;
    case MECHD_POINT_ENDED:
        if (plan->every == 0) {
            record(l);
        }
        end_point(l, true);
        break;
    case MECHD_POINT_FAILED:
        // one that has been cancelled has neither an end nor a fault
        if (l->point.code != MECHP_CANCELLED) {
            fail_point(l);
        }
        break;
    }
}

/* Nothing more to do for this lane; the last one frees what the points were made of. */
static void leave(struct mechd_sweep_lane *l)
{
    struct mechd_sweep *s = l->sweep;
    drop_point(l);
    if (atomic_fetch_sub(&s->working, 1) == 1) {
        s->plan.ops->drop(s->plan.of);
        s->plan.of = NULL;
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
        if (mechd_sweep_ends(s) != MECHD_STOP_NONE) {
            return false;
        }
        if (l->busy) {
            advance_point(l, until);
        } else {
            // `taken` passes the end by one a lane at most
            const uint32_t next = atomic_fetch_add(&s->taken, 1);
            if (next >= s->plan.points) {
                return false;
            }
            begin_point(l, next);
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
