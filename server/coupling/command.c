/* Commands of couplings: capture all, work in slices, give all free.
 *
 * Only the thread that has captured the last instance, or that the pool gives the command's task,
 * touches it: from capture to capture it goes along with the ownership. */
#include "server/coupling/coupling.h"

#include "protocol/frame/frame.h"
#include "server/call/service.h"
#include "server/instance/durable.h"
#include "server/instance/stepping.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"
#include "solver/base/times.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* What one slice takes about; and on the thread that carries the request, ns. */
static const uint64_t slice = MECHD_MS;
static const uint64_t direct = 200000;

static void start_next(struct mechd_coupling_command *k);

static struct mechd_part *part_at(const struct mechd_coupling_command *k, int n)
{
    return &k->coupling->parts[k->coupling->order[n]];
}

static void refuse(struct mechd_coupling_command *k, enum mechp_code code, const char *detail)
{
    if (k->code == MECHP_OK) {
        k->code = code;
        snprintf(k->detail, sizeof k->detail, "%.190s", detail);
    }
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Give free what has been captured: what has changed goes to the disk when it is time. */
static void release_all(struct mechd_coupling_command *k)
{
    while (k->captured > 0) {
        struct mechd_part *const p = part_at(k, --k->captured);
        free(p->before);
        p->before = NULL;
        p->captured = false;
        mechd_durable_sync(p->instance, NULL);
        mechd_instance_release(p->instance, &p->job);
    }
}

/* The command is over, with all instances held: answer, and let the next one begin. */
static void end(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    k->state = MECHD_COUPLING_OVER;
    pthread_mutex_lock(&g->m);
    g->time = g->couple != NULL ? mech_couple_time(g->couple) : 0.;
    g->windows = g->couple != NULL ? mech_couple_windows(g->couple) : 0;
    g->started = g->started || (k->kind != MECHD_COUPLING_STEP && k->code == MECHP_OK);
    pthread_mutex_unlock(&g->m);
    for (int32_t n = 0; n < g->count && g->hold > 0 && k->captured == g->count; n++) {
        mechd_part_hold(&g->parts[n]);
    }
    mechd_coupling_answer(k);
    release_all(k);
    pthread_mutex_lock(&g->m);
    g->head = k->next;
    g->tail = g->head != NULL ? g->tail : NULL;
    g->queued--;
    struct mechd_coupling_command *const next = g->head;
    pthread_mutex_unlock(&g->m);
    struct mechd_call *const call = k->call;
    if (next != NULL) {
        start_next(next);
    }
    mechd_call_over(call);
    mechd_coupling_unref(g);
}

/* --- work ------------------------------------------------------------------------------------- */

enum mechp_code mechd_coupling_ends(struct mechd_coupling_command *k)
{
    bool ends = mechd_call_ends(k->call) || atomic_load(&k->coupling->deleted);
    for (int32_t n = 0; n < k->coupling->count; n++) {
        struct mechd_instance *const i = k->coupling->parts[n].instance;
        ends = ends || mechd_instance_stops(i);
        if (i->account != NULL && mechd_stepping_over(i, k->worked, &k->call->excess)) {
            return MECHP_QUOTA_EXCEEDED;
        }
    }
    return !ends                                             ? MECHP_OK
           : atomic_load(&k->coupling->service->host.cancel) ? MECHP_DRAINING
                                                             : MECHP_CANCELLED;
}

/* It ends for that. */
static void refuse_end(struct mechd_coupling_command *k, enum mechp_code code)
{
    char detail[sizeof k->detail];
    refuse(k, code,
           code == MECHP_QUOTA_EXCEEDED ? mechd_excess_tell(&k->call->excess, detail, sizeof detail)
                                        : "ended; the window in progress was undone");
}

/* A window, or the start, is over. */
static void take_report(struct mechd_coupling_command *k)
{
    const struct mechd_coupling *const g = k->coupling;
    const struct mech_couple_report *const r = mech_couple_report(g->couple);
    char detail[sizeof k->detail];
    k->window = false;
    k->iterations += (uint64_t)r->iterations;
    k->evaluations += (uint64_t)r->evaluations;
    k->refused += (uint64_t)r->refused;
    k->residual = fmax(k->residual, r->residual);
    if (r->outcome == 0) {
        k->done++;
        return;
    }
    if (r->outcome == MECH_CANCELLED) {
        const enum mechp_code why = mechd_coupling_ends(k);
        refuse_end(k, why != MECHP_OK ? why : MECHP_CANCELLED);
        return;
    }
    snprintf(detail, sizeof detail, "%s%.63s%s%.110s", r->participant >= 0 ? "participant " : "",
             r->participant >= 0 ? g->parts[r->participant].name : "",
             r->participant >= 0 ? ": " : "",
             r->reason[0] != '\0' ? r->reason : mech_err_text(r->outcome));
    refuse(k,
           r->outcome == MECH_NOT_CONVERGED && r->participant < 0
               ? MECHP_COUPLING_NOT_CONVERGED
               : mechp_code_of_outcome(r->outcome),
           detail);
}

/* The next window begins, unless all are done. False: the command is over. */
static bool begin_window(struct mechd_coupling_command *k)
{
    struct mech_couple *const c = k->coupling->couple;
    int code = 0;
    if (k->code != MECHP_OK || (k->kind != MECHD_COUPLING_STEP && k->done > 0)) {
        return false;
    }
    if (k->kind != MECHD_COUPLING_STEP) {
        code = mech_couple_start(c, mechd_engine_time(&k->coupling->parts[0].instance->engine));
    } else {
        const double now = mech_couple_time(c);
        const bool last =
            isnan(k->until) ? k->done >= k->windows : !mech_time_before(now, k->until, k->size);
        if (last) {
            return false;
        }
        // the last one ends where it was asked to
        const bool cut = mech_time_before(k->until, now + k->size, k->size);
        code = mech_couple_begin(c, cut ? k->until - now : k->size);
    }
    if (code != 0) {
        // after a commit that found no memory
        refuse(k, MECHP_INVALID_REQUEST, "the coupling has to be reset");
        return false;
    }
    k->window = true;
    k->batch.count = k->at = 0;
    return true;
}

/* One task, or the batch after it. */
static void work_on(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    if (k->at < k->batch.count) {
        struct mech_couple_task *const task = &k->batch.tasks[k->at];
        if (mechd_part_perform(&g->parts[task->participant], k, task) == MECHD_TASK_DONE) {
            k->at++;
        }
        return;
    }
    k->at = 0;
    if (mech_couple_next(g->couple, &k->batch) != 0) {
        k->batch.count = 0;
        refuse(k, MECHP_INTERNAL, "the coupling cannot continue");
        k->window = false;
    } else if (k->batch.count == 0) {
        take_report(k);
    }
}

/* About so many ns of it. True: all is done. */
static bool work(struct mechd_coupling_command *k, uint64_t most)
{
    const uint64_t start = mechd_now();
    do {
        if (!k->window) {
            const enum mechp_code ends = mechd_coupling_ends(k);
            if (ends != MECHP_OK) {
                refuse_end(k, ends);
            }
            if (!begin_window(k)) {
                return true;
            }
        }
        work_on(k);
    } while (mechd_now() - start < most);
    return false;
}

/* What a failed start or reset has left goes back. */
static void undo_start(struct mechd_coupling_command *k)
{
    for (int32_t n = 0; n < k->coupling->count && k->code != MECHP_OK; n++) {
        mechd_part_go_back(&k->coupling->parts[n]);
    }
}

/* A slice on the present thread, and on to the pool if there is more. */
static void slice_on(struct mechd_coupling_command *k, uint64_t most)
{
    struct mechd_coupling *const g = k->coupling;
    if (work(k, most)) {
        undo_start(k);
        end(k);
        return;
    }
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_instance *const i = g->parts[n].instance;
        mechd_instance_serve(i, !mechd_engine_readable(&i->engine));
    }
    mechd_pool_push(&g->service->host.pool, &k->task);
}

static void run_task(struct mechd_task *task)
{
    slice_on((struct mechd_coupling_command *)((char *)task -
                                               offsetof(struct mechd_coupling_command, task)),
             slice);
}

/* All are held: may it begin? */
static bool check(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    const double t = mechd_engine_time(&g->parts[0].instance->engine);
    char detail[sizeof k->detail];
    const enum mechp_code ends = mechd_coupling_ends(k);
    if (ends != MECHP_OK) {
        refuse_end(k, ends);
    }
    for (int32_t n = 0; n < g->count && k->code == MECHP_OK; n++) {
        struct mechd_instance *const i = g->parts[n].instance;
        const double other = mechd_engine_time(&i->engine);
        if (atomic_load(&i->deleted)) {
            snprintf(detail, sizeof detail, "participant %s: instance %s has been deleted",
                     g->parts[n].name, i->id);
            refuse(k, MECHP_NOT_FOUND, detail);
        } else if (!mechd_leases_lasts(&i->leases, g->parts[n].lease)) {
            snprintf(detail, sizeof detail,
                     "participant %s: the coupling's lease of instance %s has been revoked",
                     g->parts[n].name, i->id);
            refuse(k, MECHP_FOREIGN_LEASE, detail);
        } else if (k->kind != MECHD_COUPLING_RESET && !mech_time_same(other, t, g->step_size)) {
            snprintf(detail, sizeof detail, "%s is at %.17g s, %s at %.17g s", g->parts[0].name, t,
                     g->parts[n].name, other);
            refuse(k, MECHP_TIME_MISMATCH, detail);
        } else if (mechd_durable_repair(i) != 0) {
            refuse(k, MECHP_STORAGE_FAILED, "a change before this one could not be stored");
        } else if (i->account != NULL && !mechd_account_may_work(i->account, &k->call->excess)) {
            refuse(k, MECHP_QUOTA_EXCEEDED,
                   mechd_excess_tell(&k->call->excess, detail, sizeof detail));
        }
    }
    return k->code == MECHP_OK;
}

static void reset_part(struct mechd_coupling_command *k, struct mechd_part *p)
{
    const int outcome = mechd_engine_reset(&p->instance->engine);
    if (outcome == MECH_MISMATCH) {
        refuse(k, mechp_code_of_outcome(MECH_INVALID),
               "the initial positions of a participant miss a joint that acts now");
    } else if (outcome != 0) {
        refuse(k, mechp_code_of_outcome(outcome), "a participant cannot be reset");
    } else {
        p->instance->base = 0;
        mechd_instance_changed(p->instance, MECHP_REWOUND);
    }
}

/* As the owner of all. */
static void begin(struct mechd_coupling_command *k, uint64_t most)
{
    struct mechd_coupling *const g = k->coupling;
    k->state = MECHD_COUPLING_WORKING;
    const bool may = check(k);
    if (may && k->kind == MECHD_COUPLING_START && !mechd_coupling_connect(g, k->call)) {
        refuse(k, k->call->code, "");
    }
    for (int32_t n = 0; n < g->count && k->code == MECHP_OK && k->kind != MECHD_COUPLING_STEP;
         n++) {
        struct mechd_part *const p = &g->parts[n];
        if (mechd_part_keep(p) != 0) {
            refuse(k, MECHP_OUT_OF_MEMORY, "no memory for the states to go back to");
        } else if (k->kind == MECHD_COUPLING_RESET) {
            reset_part(k, p);
        }
    }
    if (k->code != MECHP_OK) {
        undo_start(k);
        end(k);
        return;
    }
    slice_on(k, most);
}

/* --- capture ---------------------------------------------------------------------------------- */

static void capture_rest(struct mechd_coupling_command *k, uint64_t most);

/* An instance is ours, on a thread of the pool. */
static enum mechd_progress captured(struct mechd_job *job)
{
    struct mechd_part *const p =
        (struct mechd_part *)((char *)job - offsetof(struct mechd_part, job));
    struct mechd_coupling_command *const k = p->coupling->head;
    p->captured = true;
    k->captured++;
    capture_rest(k, slice);
    return MECHD_HELD;
}

/* From the next instance on; the last thing that a thread does with the command. */
static void capture_rest(struct mechd_coupling_command *k, uint64_t most)
{
    struct mechd_coupling *const g = k->coupling;
    while (k->captured < g->count) {
        struct mechd_part *const p = part_at(k, k->captured);
        p->job = (struct mechd_job){
            .instance = p->instance, .run = captured, .cost = MECHD_SHORT, .stoppable = true};
        const enum mechd_submitted submitted = mechd_instance_capture(p->instance, &p->job);
        if (submitted == MECHD_QUEUED) {
            return;
        }
        if (submitted == MECHD_FULL) {
            char detail[sizeof k->detail];
            snprintf(detail, sizeof detail, "too many commands wait for instance %s",
                     p->instance->id);
            refuse(k, MECHP_LIMIT_REACHED, detail);
            end(k);
            return;
        }
        p->captured = true;
        k->captured++;
    }
    begin(k, most);
}

static void start_on_pool(struct mechd_task *task)
{
    struct mechd_coupling_command *const k =
        (struct mechd_coupling_command *)((char *)task -
                                          offsetof(struct mechd_coupling_command, task));
    k->task.run = run_task;
    capture_rest(k, slice);
}

/* The command at the head begins in the pool: never nested in the end of the one before. */
static void start_next(struct mechd_coupling_command *k)
{
    k->state = MECHD_COUPLING_CAPTURING;
    k->task.run = start_on_pool;
    mechd_pool_push(&k->coupling->service->host.pool, &k->task);
}

bool mechd_coupling_submit(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    pthread_mutex_lock(&g->m);
    const bool fits = g->queued < MECHD_COUPLING_QUEUE;
    const bool first = fits && g->head == NULL;
    if (fits) {
        k->call->job.wait(&k->call->job);
        k->next = NULL;
        if (g->tail != NULL) {
            g->tail->next = k;
        } else {
            g->head = k;
        }
        g->tail = k;
        g->queued++;
        mechd_coupling_ref(g);
    }
    pthread_mutex_unlock(&g->m);
    if (first) {
        k->state = MECHD_COUPLING_CAPTURING;
        k->task.run = run_task;
        capture_rest(k, direct);
    }
    return fits;
}
