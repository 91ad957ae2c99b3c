/* A sweep is made and begins. */
#include "server/sweep/lanes.h"

#include "server/call/service.h"
#include "server/instance/ticket.h"

#include <stdlib.h>
#include <string.h>

static bool take(struct mechd_sweep *s, enum mechd_quota which, uint64_t amount,
                 struct mechd_excess *x)
{
    const bool taken = mechd_account_take(s->account, which, amount, x);
    s->held[which] += taken ? amount : 0;
    return taken;
}

/* A point in progress for each of so many lanes. */
static bool take_lanes(struct mechd_sweep *s, int lanes, struct mechd_excess *x)
{
    const uint64_t n = (uint64_t)lanes;
    const uint64_t rows = s->held[MECHD_QUOTA_MEMORY];
    const struct mechd_sweep_plan *const p = &s->plan;
    if (take(s, MECHD_QUOTA_INSTANCES, n * p->instances, x) &&
        take(s, MECHD_QUOTA_COORDINATES, n * p->coordinates, x) &&
        take(s, MECHD_QUOTA_MEMORY, n * p->memory, x)) {
        return true;
    }
    mechd_sweep_give(s, MECHD_QUOTA_INSTANCES, UINT64_MAX);
    mechd_sweep_give(s, MECHD_QUOTA_COORDINATES, UINT64_MAX);
    mechd_sweep_give(s, MECHD_QUOTA_MEMORY, s->held[MECHD_QUOTA_MEMORY] - rows);
    return false;
}

/* All that it will hold; as many lanes as there is room for. False: *x says why not. */
static bool charge(struct mechd_sweep *s, struct mechd_excess *x)
{
    const uint64_t stored = s->service->host.store != NULL ? s->bytes : 0;
    if (!mechd_account_may_work(s->account, x) || !take(s, MECHD_QUOTA_RUNS, 1, x) ||
        !take(s, MECHD_QUOTA_MEMORY, s->bytes, x) || !take(s, MECHD_QUOTA_STORED, stored, x)) {
        return false;
    }
    while (!take_lanes(s, s->lane_count, x)) {
        if (s->lane_count == 1) {
            return false;
        }
        s->lane_count--;
    }
    return true;
}

/* Room for everything; without the plan. NULL: no memory. */
static struct mechd_sweep *make(struct mechd_service *d, struct mechd_account *account,
                                const char *name, const struct mechd_sweep_plan *plan)
{
    struct mechd_sweep *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    pthread_mutex_init(&s->m, NULL);
    s->service = d;
    s->account = account;
    s->stored = d->host.store != NULL;
    atomic_init(&s->refs, 1);
    s->name = strdup(name);
    s->bytes = (size_t)mechd_sweep_bytes(plan);
    atomic_fetch_add(&d->sweeps->bytes, s->bytes); // unref gives it back
    s->lane_count =
        (uint32_t)d->host.pool.count < plan->points ? d->host.pool.count : (int)plan->points;
    s->rows = calloc((size_t)plan->points * (size_t)plan->capacity,
                     mechd_sweep_width(plan) * sizeof *s->rows);
    s->row_counts = calloc(plan->points, sizeof *s->row_counts);
    s->over = calloc(plan->points, sizeof *s->over);
    s->lanes = mechd_sweep_lanes_make(s, s->lane_count);
    if (s->name == NULL || s->rows == NULL || s->row_counts == NULL || s->over == NULL ||
        s->lanes == NULL) {
        mechd_sweep_unref(s);
        return NULL;
    }
    return s;
}

/* Into the table, if there is room. */
static bool enter(struct mechd_sweeps *t, struct mechd_sweep *s)
{
    pthread_mutex_lock(&t->m);
    const bool fits = t->count < MECHD_SWEEPS_MOST && atomic_load(&t->bytes) <= MECHD_SWEEPS_BYTES;
    if (fits) {
        s->id = ++t->serial;
        s->next = t->newest;
        t->newest = s;
        t->count++;
        atomic_fetch_add(&s->refs, 1);
    }
    pthread_mutex_unlock(&t->m);
    return fits;
}

int mechd_sweep_create(struct mechd_service *d, struct mechd_account *account, const char *name,
                       struct mechd_sweep_plan *plan, struct mechd_excess *x,
                       struct mechd_sweep **out)
{
    struct mechd_sweep *s = make(d, account, name, plan);
    *x = (struct mechd_excess){.which = MECHD_QUOTAS};
    if (s == NULL) {
        return MECH_NO_MEMORY;
    }
    s->plan = *plan;
    int outcome = mechd_sweep_columns(s);
    if (outcome == 0 && (!charge(s, x) || !enter(d->sweeps, s))) {
        outcome = MECH_UNSUPPORTED;
    }
    if (outcome != 0) {
        s->plan = (struct mechd_sweep_plan){.ops = NULL};
        mechd_sweep_unref(s);
        return outcome;
    }
    *plan = (struct mechd_sweep_plan){.ops = NULL};
    *out = s;
    return 0;
}

/* Under the lock. */
static bool is_in(const struct mechd_sweeps *t, const struct mechd_sweep *s)
{
    const struct mechd_sweep *at = t->newest;
    while (at != NULL && at != s) {
        at = at->next;
    }
    return at != NULL;
}

void mechd_sweep_begin(struct mechd_sweep *s, struct mechd_ticket *t)
{
    atomic_init(&s->working, s->lane_count);
    atomic_fetch_add(&s->refs, s->lane_count);
    // a removal happens before or after that: records are posted in the same order
    struct mechd_sweeps *const all = s->service->sweeps;
    pthread_mutex_lock(&all->m);
    const int outcome = is_in(all, s) ? mechd_sweep_keep(s, t) : 0;
    pthread_mutex_unlock(&all->m);
    if (outcome != 0) {
        (void)mechd_sweep_remove(all, s);
        mechd_ticket_refuse(t, outcome);
    }
    mechd_sweep_lanes_start(s);
}
