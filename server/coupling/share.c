/* Rounds: which thread takes which trial, and which one continues. */
#include "server/coupling/share.h"

#include "server/call/service.h"
#include "server/coupling/outside.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"

#include <stdlib.h>

/* Work that is worth another thread, ns: it wakes up in 10 to 60 µs, and the command goes on in
 * the one that ends last. */
static const uint64_t worth = 100000;
/* How long a round lasts about, ns; on a thread that carries a request. */
static const uint64_t lasts = MECHD_MS, lasts_direct = 200000;

/* --- life ------------------------------------------------------------------------------------- */

static void run_helper(struct mechd_task *task);

bool mechd_share_init(struct mechd_coupling *g)
{
    const int threads = g->service->host.pool.count;
    const int count = threads < g->count - 1 ? threads : g->count - 1;
    struct mechd_share *const s = calloc(1, sizeof *s);
    struct mechd_helper *const helpers = calloc((size_t)(count > 0 ? count : 1), sizeof *helpers);
    if (s == NULL || helpers == NULL) {
        free(s);
        free(helpers);
        return false;
    }
    pthread_mutex_init(&s->m, NULL);
    atomic_init(&s->failed, INT32_MAX);
    s->helpers = helpers;
    s->helper_count = count > 0 ? count : 0;
    for (int h = 0; h < s->helper_count; h++) {
        helpers[h] = (struct mechd_helper){.task.run = run_helper, .coupling = g};
    }
    g->share = s;
    return true;
}

void mechd_share_fini(struct mechd_coupling *g)
{
    struct mechd_share *const s = g->share;
    if (s != NULL) {
        pthread_mutex_destroy(&s->m);
        free(s->helpers);
        free(s);
    }
    g->share = NULL;
}

/* --- what there is to share ------------------------------------------------------------------- */

/* The part of a trial that is not done, of an instance; or NULL. */
static struct mechd_part *open_part(const struct mechd_coupling_command *k, int32_t n)
{
    const struct mech_couple_task *const task = &k->batch.tasks[n];
    struct mechd_part *const p = &k->coupling->parts[task->participant];
    return task->action == MECH_COUPLE_TRIAL && p->outside == NULL && p->turn != MECHD_PART_READY
               ? p
               : NULL;
}

/* What its trial still takes, by the last one of its kind, ns; one that was never seen is long. */
static uint64_t expected(const struct mechd_part *p, const struct mech_couple_task *task)
{
    const uint64_t last = p->took[task->want_jacobian];
    return last > p->spent ? last - p->spent : p->spent > 0 ? p->spent : worth;
}

/* How many more threads the rest of the batch is worth. */
static void estimate(struct mechd_coupling_command *k)
{
    const struct mechd_share *const s = k->coupling->share;
    // this thread is one of the pool's, or carries the request
    const int others = k->coupling->service->host.pool.count - (k->direct ? 0 : 1);
    const int room = others < s->helper_count ? others : s->helper_count;
    uint64_t sum = 0, longest = 0, count = 0;
    k->helpers = 0;
    for (int32_t n = k->at; n < k->batch.count && room > 0; n++) {
        const struct mechd_part *const p = open_part(k, n);
        if (p != NULL) {
            const uint64_t ns = expected(p, &k->batch.tasks[n]);
            sum += ns;
            longest = ns > longest ? ns : longest;
            count++;
        }
    }
    // this thread has the longest one
    const uint64_t gain = (sum - longest) / worth;
    if (count > 1 && gain > 0) {
        const uint64_t most = gain < count - 1 ? gain : count - 1;
        k->helpers = most < (uint64_t)room ? (int)most : room;
    }
}

void mechd_share_begin(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    atomic_store_explicit(&g->share->failed, INT32_MAX, memory_order_relaxed);
    atomic_store(&g->share->patience, 0);
    for (int32_t n = 0; n < k->batch.count; n++) {
        struct mechd_part *const p = &g->parts[k->batch.tasks[n].participant];
        p->place = n;
        p->turn = MECHD_PART_OPEN;
        if (k->batch.tasks[n].action == MECH_COUPLE_TRIAL) {
            // a trial that a client could have committed is gone, whichever thread begins first
            p->instance->trial = 0;
        }
    }
    estimate(k);
}

/* --- a round ---------------------------------------------------------------------------------- */

/* The place in the batch of a trial that the caller may have, or −1. Locked. */
static int32_t claim(const struct mechd_share *s)
{
    const struct mechd_coupling_command *const k = s->command;
    const uint64_t now = mechd_now();
    if ((s->fresh == 0 && now >= s->until) || mechd_share_is_overdue(s, now)) {
        return -1;
    }
    int32_t again = -1;
    for (int32_t n = k->at; n < k->batch.count && n <= atomic_load(&s->failed); n++) {
        const struct mechd_part *const p = open_part(k, n);
        if (p == NULL || p->turn == MECHD_PART_TAKEN) {
            continue;
        }
        if (p->round != s->round) {
            return n;
        }
        again = again < 0 ? n : again;
    }
    // what has had its slice goes on while another is within its first one
    return s->fresh > 0 ? again : -1;
}

/* A slice of it. Locked; not while it works. */
static void perform(struct mechd_share *s, int32_t n, bool direct)
{
    struct mechd_coupling_command *const k = s->command;
    struct mech_couple_task *const task = &k->batch.tasks[n];
    struct mechd_part *const p = &k->coupling->parts[task->participant];
    const int first = p->round != s->round ? 1 : 0;
    p->round = s->round;
    p->turn = MECHD_PART_TAKEN;
    p->direct = direct;
    s->fresh += first;
    pthread_mutex_unlock(&s->m);
    const bool done = mechd_part_perform(p, k, task) == MECHD_TASK_DONE;
    pthread_mutex_lock(&s->m);
    s->fresh -= first;
    p->turn = done ? MECHD_PART_READY : MECHD_PART_OPEN;
    p->direct = false;
    if (done && task->code != 0 && n < atomic_load(&s->failed)) {
        atomic_store(&s->failed, n);
    }
}

/* Others than its own helpers wait for the pool. Locked. */
static bool others_wait(const struct mechd_share *s, struct mechd_pool *pool)
{
    return mechd_pool_waiting(pool) > s->queued;
}

/* Leave it. True: as the last thread, which continues with the command. Locked. */
static bool leave(struct mechd_share *s)
{
    const bool last = --s->working == 0;
    s->command = last ? NULL : s->command;
    return last;
}

static void run_helper(struct mechd_task *task)
{
    struct mechd_helper *const h = (struct mechd_helper *)task;
    struct mechd_coupling *const g = h->coupling;
    struct mechd_share *const s = g->share;
    struct mechd_pool *const pool = &g->service->host.pool;
    pthread_mutex_lock(&s->m);
    h->queued = false;
    s->queued--;
    struct mechd_coupling_command *const k = s->command;
    int32_t n = k != NULL ? claim(s) : -1;
    bool last = false, again = false;
    if (n >= 0) {
        s->working++;
        mechd_count(&g->service->host.counters.coupling_shared, 1);
        while (n >= 0 && !again) {
            perform(s, n, false);
            n = claim(s);
            // it goes on behind them, unless it has been asked to already
            again = n >= 0 && s->working > 1 && others_wait(s, pool);
        }
        last = leave(s);
    }
    again = again && !h->queued;
    h->queued = h->queued || again;
    s->queued += again ? 1 : 0;
    pthread_mutex_unlock(&s->m);
    if (again) {
        mechd_pool_push(pool, &h->task); // with its reference
    }
    if (last) {
        estimate(k);
        g->calls->slice_over(k);
    }
    if (!again) {
        mechd_coupling_unref(g);
    }
}

/* Ask so many threads of the pool. Locked. */
static void call(struct mechd_share *s, struct mechd_coupling *g, int count)
{
    for (int h = 0; h < s->helper_count && count > 0; h++, count--) {
        if (!s->helpers[h].queued) {
            s->helpers[h].queued = true;
            s->queued++;
            mechd_coupling_ref(g);
            mechd_pool_push(&g->service->host.pool, &s->helpers[h].task);
        }
    }
}

enum shared {
    SHARED_NOT,  /* there is nothing to work at */
    SHARED_OVER, /* the round is over, on this thread */
    SHARED_AWAY  /* another thread continues */
};

/* A round with so many others; without any, a slice of one trial. */
static enum shared play(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    struct mechd_share *const s = g->share;
    struct mechd_pool *const pool = &g->service->host.pool;
    struct mechd_outside *const awaited = g->parts[k->batch.tasks[k->at].participant].outside;
    const bool direct = k->direct, alone = k->helpers == 0;
    atomic_store(&s->patience, awaited != NULL ? mechd_outside_due(awaited) : 0);
    mechd_coupling_ref(g); // of this thread: the last one may end the command, and all
    pthread_mutex_lock(&s->m);
    s->command = k;
    s->round++;
    s->working = 1;
    s->until = mechd_now() + (direct ? lasts_direct : lasts);
    int32_t n = claim(s);
    const bool some = n >= 0;
    call(s, g, some ? k->helpers : 0);
    while (n >= 0) {
        perform(s, n, direct);
        n = alone ? -1 : claim(s);
        // this thread is needed elsewhere: one of the pool takes its place, behind others
        const bool yields = direct ? mechd_now() >= s->until : others_wait(s, pool);
        if (n >= 0 && s->working > 1 && yields) {
            call(s, g, 1);
            n = -1;
        }
    }
    const bool last = leave(s);
    pthread_mutex_unlock(&s->m);
    if (last && some) {
        estimate(k);
    }
    mechd_coupling_unref(g);
    return !last ? SHARED_AWAY : some ? SHARED_OVER : SHARED_NOT;
}

/* --- the task in turn ------------------------------------------------------------------------- */

/* The rest of the batch is not used: trials in progress are abandoned. */
static void drop_rest(struct mechd_coupling_command *k)
{
    for (int32_t n = 0; n < k->coupling->count; n++) {
        struct mechd_part *const p = &k->coupling->parts[n];
        if (p->turn != MECHD_PART_IDLE) {
            mechd_part_drop(p);
            p->turn = MECHD_PART_IDLE;
        }
    }
}

/* It is done: the next one's turn. */
static void task_over(struct mechd_coupling_command *k, struct mechd_part *p,
                      const struct mech_couple_task *task)
{
    // the window fails: a trial that cannot be taken back does not begin any more
    const bool fails = task->code != 0 &&
                       (task->action == MECH_COUPLE_TRIAL || task->action == MECH_COUPLE_OUTPUTS);
    p->turn = MECHD_PART_IDLE;
    // patience is with the program that is awaited alone
    atomic_store(&k->coupling->share->patience, 0);
    k->at = fails ? k->batch.count : k->at + 1;
    if (fails) {
        mechd_outsides_drop(k);
        drop_rest(k);
    }
}

bool mechd_share_perform(struct mechd_coupling_command *k)
{
    struct mech_couple_task *const task = &k->batch.tasks[k->at];
    struct mechd_part *const p = &k->coupling->parts[task->participant];
    if (p->turn == MECHD_PART_READY) {
        task_over(k, p, task);
        return true;
    }
    if (p->outside == NULL && k->helpers > 0) {
        return play(k) != SHARED_AWAY;
    }
    p->direct = k->direct;
    if (mechd_part_perform(p, k, task) == MECHD_TASK_DONE) {
        task_over(k, p, task);
        return true;
    }
    if (p->outside == NULL) {
        estimate(k);
        return true;
    }
    // instances behind it work first: perhaps it answers meanwhile
    k->sleeps = false;
    const enum shared shared = play(k);
    if (shared == SHARED_AWAY) {
        return false;
    }
    k->sleeps = shared == SHARED_NOT;
    return true;
}

/* --- ends ------------------------------------------------------------------------------------- */

void mechd_share_end_early(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    const struct mechd_part *const p =
        k->at < k->batch.count ? &g->parts[k->batch.tasks[k->at].participant] : NULL;
    // a question to a program ends by itself (outside.h)
    const bool busy = p != NULL && (p->stepping || p->deriving.work != NULL || p->outside != NULL);
    if (!k->window || busy || mechd_coupling_ends(k) == MECHP_OK ||
        mech_couple_abandon(g->couple, MECH_CANCELLED, "") != 0) {
        return;
    }
    k->at = k->batch.count = 0;
    mechd_outsides_drop(k);
    drop_rest(k);
    for (int32_t n = 0; n < g->count; n++) {
        g->parts[n].has_jacobian = false;
    }
}
