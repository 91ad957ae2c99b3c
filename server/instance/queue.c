/* Ownership and queue of one instance.
 *
 * Who has it is one state, enum mechd_hold, which `hold` below changes, and where a job is in its
 * life another, enum mechd_job_state, which `enter` changes. A carrying thread becomes
 * the owner only of an idle instance; when it leaves and jobs have come meanwhile, the pool takes
 * over. The head of the queue is the job in progress, once it has begun. What waits in the pool and
 * is not open can be sealed, and is left alone from then on.
 */
#include "server/instance/host.h"
#include "server/instance/traits.h"
#include "solver/base/err.h"

#include <assert.h>
#include <stddef.h>

/* From which states each state can be reached: bits 1 << enum mechd_hold. */
#define FROM(state) (1u << MECHD_HOLD_##state)
static const unsigned reached_from[] = {
    [MECHD_HOLD_IDLE] = FROM(CARRIED) | FROM(RUN) | FROM(CAPTURED),
    [MECHD_HOLD_CARRIED] = FROM(IDLE),
    [MECHD_HOLD_QUEUED] = FROM(IDLE) | FROM(CARRIED) | FROM(RUN) | FROM(CAPTURED),
    [MECHD_HOLD_RUN] = FROM(QUEUED) | FROM(PAUSED) | FROM(OPEN),
    [MECHD_HOLD_PAUSED] = FROM(CARRIED) | FROM(RUN),
    [MECHD_HOLD_OPEN] = FROM(CARRIED) | FROM(RUN),
    [MECHD_HOLD_CAPTURED] = FROM(IDLE) | FROM(QUEUED),
    [MECHD_HOLD_SEALED] = FROM(IDLE) | FROM(QUEUED) | FROM(PAUSED) | FROM(SEALED)};

/* The one change of who has it; the instance is locked. */
static void hold(struct mechd_instance *i, enum mechd_hold by)
{
    assert((reached_from[by] & 1u << i->hold) != 0);
    i->hold = by;
}

/* The same of a job: bits 1 << enum mechd_job_state. */
#define AFTER(state) (1u << MECHD_JOB_##state)
static const unsigned job_reached_from[] = {
    [MECHD_JOB_QUEUED] = AFTER(NEW) | AFTER(OVER),
    [MECHD_JOB_FIRST] = AFTER(NEW) | AFTER(QUEUED) | AFTER(OVER),
    [MECHD_JOB_BETWEEN] = AFTER(FIRST) | AFTER(LATER),
    [MECHD_JOB_LATER] = AFTER(BETWEEN),
    [MECHD_JOB_HELD] = AFTER(NEW) | AFTER(QUEUED) | AFTER(OVER),
    [MECHD_JOB_OVER] = AFTER(FIRST) | AFTER(LATER) | AFTER(HELD)};

/* The one change of where a job is. */
static void enter(struct mechd_job *job, enum mechd_job_state state)
{
    const bool may = (job_reached_from[state] & 1u << job->state) != 0;
    assert(may);
    (void)may;
    job->state = state;
}

enum mechd_progress mechd_job_slice(struct mechd_job *job)
{
    const bool later = job->state == MECHD_JOB_BETWEEN;
    enter(job, later ? MECHD_JOB_LATER : job->captures ? MECHD_JOB_HELD : MECHD_JOB_FIRST);
    const enum mechd_progress progress = job->run(job);
    // one that is held may have been released by now, and be gone
    if (progress != MECHD_HELD) {
        enter(job, progress == MECHD_DONE ? MECHD_JOB_OVER : MECHD_JOB_BETWEEN);
    }
    return progress;
}

/* True if the head is in progress, and waits for no other thread; the instance is locked. */
static bool has_begun(const struct mechd_instance *i)
{
    return (1u << i->hold & (FROM(RUN) | FROM(PAUSED) | FROM(OPEN) | FROM(CAPTURED))) != 0;
}

/* True if no other job may wait; the instance is locked. */
static bool is_full(const struct mechd_instance *i)
{
    return i->queued - (has_begun(i) ? 1 : 0) >= MECHD_QUEUE_MOST;
}

/* Give the instance to the pool; a reference stays with the task until the queue is empty. */
static void hand_to_pool(struct mechd_instance *i)
{
    mechd_pool_push(&i->host->pool, &i->task);
}

/* A job has come to (1) or gone from (-1) the queue; the instance is locked. */
static void note_queued(struct mechd_instance *i, int by)
{
    i->queued += by;
    atomic_fetch_add_explicit(&i->host->counters.queued, by, memory_order_relaxed);
}

/* Append a job; the instance is locked. */
static void append(struct mechd_instance *i, struct mechd_job *job)
{
    job->next = NULL;
    if (i->tail != NULL) {
        i->tail->next = job;
    } else {
        i->head = job;
    }
    i->tail = job;
    note_queued(i, 1);
}

/* Take out the first reader behind the head, of all or of those who look at no state; the instance
 * is locked. */
static struct mechd_job *take_reader(struct mechd_instance *i, bool stateless)
{
    for (struct mechd_job *before = i->head; before != NULL; before = before->next) {
        struct mechd_job *job = before->next;
        if (job == NULL || !(stateless ? job->stateless : job->reader)) {
            continue;
        }
        before->next = job->next;
        if (i->tail == job) {
            i->tail = before;
        }
        note_queued(i, -1);
        return job;
    }
    return NULL;
}

/* A job is over: nothing yields to it any more. */
static void settle_hurry(struct mechd_instance *i, struct mechd_job *job)
{
    if (job->hurried) {
        job->hurried = false;
        mechd_stop_release(&i->yield);
    }
}

/* Serve the readers in the queue, all or only those that read no state. */
static void serve_readers(struct mechd_instance *i, bool stateless)
{
    for (int turns = 0; turns < MECHD_QUEUE_MOST; turns++) {
        pthread_mutex_lock(&i->m);
        struct mechd_job *job = take_reader(i, stateless);
        pthread_mutex_unlock(&i->m);
        if (job == NULL) {
            return;
        }
        while (mechd_job_slice(job) != MECHD_DONE) {
        }
        settle_hurry(i, job);
        job->finish(job);
    }
}

/* A job is over: the request to stop it does not apply to the next one. Jobs that can be stopped
 * end in the order of the queue, so that the first of them is always the one that was meant; the
 * instance is locked. */
static void settle_stop(struct mechd_instance *i, const struct mechd_job *job)
{
    if (job->stoppable) {
        mechd_stop_lower(&i->stop);
    }
}

/* The job at the head is over: the instance is free, or the next one's. True: the caller drops the
 * reference of the queue. */
static bool leave_head(struct mechd_instance *i, struct mechd_job *job)
{
    pthread_mutex_lock(&i->m);
    i->head = job->next;
    settle_hurry(i, job);
    settle_stop(i, job);
    note_queued(i, -1);
    const bool more = i->head != NULL;
    mechd_instance_use(i);
    if (!more) {
        i->tail = NULL;
    }
    hold(i, more ? MECHD_HOLD_QUEUED : MECHD_HOLD_IDLE);
    pthread_mutex_unlock(&i->m);
    if (more) {
        hand_to_pool(i);
    }
    return !more;
}

/* One slice of the job at the head, on a thread of the pool. */
static void run_from_pool(struct mechd_task *task)
{
    struct mechd_instance *i =
        (struct mechd_instance *)((char *)task - offsetof(struct mechd_instance, task));
    pthread_mutex_lock(&i->m);
    struct mechd_job *job = i->head;
    const bool sealed = i->hold == MECHD_HOLD_SEALED;
    if (!sealed) {
        hold(i, job->captures ? MECHD_HOLD_CAPTURED : MECHD_HOLD_RUN);
    }
    pthread_mutex_unlock(&i->m);
    if (sealed) {
        return;
    }

    // not done: readers first, then back to the end of the pool's queue, behind other instances
    const enum mechd_progress progress = mechd_job_slice(job);
    if (progress == MECHD_HELD) {
        return;
    }
    if (progress != MECHD_DONE) {
        serve_readers(i, progress == MECHD_MORE_ALONE);
        pthread_mutex_lock(&i->m);
        hold(i, progress == MECHD_MORE_ALONE ? MECHD_HOLD_OPEN : MECHD_HOLD_PAUSED);
        pthread_mutex_unlock(&i->m);
        hand_to_pool(i);
        return;
    }

    // done: the instance is free before the answer is on its way
    const bool last = leave_head(i, job);
    job->finish(job);
    if (last) {
        mechd_instance_unref(i);
    }
}

/* Queue a job; the instance is locked and not owned by the caller. */
static void enqueue(struct mechd_instance *i, struct mechd_job *job)
{
    enter(job, MECHD_JOB_QUEUED);
    if (job->wait != NULL) {
        job->wait(job);
    }
    append(i, job);
    if (job->hurries) {
        job->hurried = true;
        mechd_stop_hold(&i->yield);
    }
    if (i->hold == MECHD_HOLD_IDLE) {
        hold(i, MECHD_HOLD_QUEUED);
        i->task.run = run_from_pool;
        mechd_instance_ref(i);
        hand_to_pool(i);
    }
}

/* The caller is the owner and its job has had its first slice. */
static enum mechd_submitted leave(struct mechd_instance *i, struct mechd_job *job,
                                  enum mechd_progress progress)
{
    pthread_mutex_lock(&i->m);
    i->direct = NULL;
    if (progress != MECHD_DONE) {
        // longer than expected: it continues in the pool, before all jobs that arrived meanwhile
        if (job->wait != NULL) {
            job->wait(job);
        }
        job->next = i->head;
        i->head = job;
        if (i->tail == NULL) {
            i->tail = job;
        }
        note_queued(i, 1);
    }
    if (progress == MECHD_DONE) {
        settle_stop(i, job);
    }
    const bool more = i->head != NULL;
    hold(i, progress == MECHD_MORE_ALONE ? MECHD_HOLD_OPEN
            : progress == MECHD_MORE     ? MECHD_HOLD_PAUSED
            : more                       ? MECHD_HOLD_QUEUED
                                         : MECHD_HOLD_IDLE);
    if (more) {
        i->task.run = run_from_pool;
        mechd_instance_ref(i);
        hand_to_pool(i);
    }
    pthread_mutex_unlock(&i->m);
    return progress != MECHD_DONE ? MECHD_QUEUED : MECHD_RAN;
}

enum mechd_submitted mechd_instance_submit(struct mechd_instance *i, struct mechd_job *job)
{
    pthread_mutex_lock(&i->m);
    if (i->hold == MECHD_HOLD_IDLE && job->cost < MECHD_SHORT) {
        hold(i, MECHD_HOLD_CARRIED);
        i->direct = job;
        pthread_mutex_unlock(&i->m);
        return leave(i, job, mechd_job_slice(job));
    }
    if (is_full(i)) {
        pthread_mutex_unlock(&i->m);
        return MECHD_FULL;
    }
    enqueue(i, job);
    pthread_mutex_unlock(&i->m);
    return MECHD_QUEUED;
}

enum mechd_submitted mechd_instance_capture(struct mechd_instance *i, struct mechd_job *job)
{
    enum mechd_submitted submitted = MECHD_QUEUED;
    job->captures = true;
    pthread_mutex_lock(&i->m);
    if (i->hold == MECHD_HOLD_IDLE) {
        append(i, job);
        enter(job, MECHD_JOB_HELD);
        hold(i, MECHD_HOLD_CAPTURED);
        i->task.run = run_from_pool;
        mechd_instance_ref(i);
        submitted = MECHD_RAN;
    } else if (is_full(i)) {
        submitted = MECHD_FULL;
    } else {
        enqueue(i, job);
    }
    pthread_mutex_unlock(&i->m);
    return submitted;
}

void mechd_instance_release(struct mechd_instance *i, struct mechd_job *job)
{
    enter(job, MECHD_JOB_OVER);
    if (leave_head(i, job)) {
        mechd_instance_unref(i);
    }
}

void mechd_instance_serve(struct mechd_instance *i, bool stateless)
{
    serve_readers(i, stateless);
}

/* Is one in the queue? The instance is locked. */
static bool has_stoppable(const struct mechd_instance *i)
{
    const struct mechd_job *job = i->head;
    while (job != NULL && !job->stoppable) {
        job = job->next;
    }
    return job != NULL;
}

bool mechd_instance_stop(struct mechd_instance *i)
{
    pthread_mutex_lock(&i->m);
    const bool any = (i->direct != NULL && i->direct->stoppable) || has_stoppable(i);
    if (any) {
        // partner: the slices of that job, until its end takes it back
        (void)mechd_stop_raise(&i->stop, MECHD_STOP_STOPPED);
    }
    const bool stops = any && !mechd_stop_closed(&i->stop);
    pthread_mutex_unlock(&i->m);
    return stops;
}

bool mechd_instance_busy(struct mechd_instance *i)
{
    pthread_mutex_lock(&i->m);
    const bool busy = has_stoppable(i);
    pthread_mutex_unlock(&i->m);
    return busy;
}

bool mechd_instance_seal(struct mechd_instance *i)
{
    pthread_mutex_lock(&i->m);
    const bool free = (reached_from[MECHD_HOLD_SEALED] & 1u << i->hold) != 0;
    if (free) {
        hold(i, MECHD_HOLD_SEALED);
    }
    pthread_mutex_unlock(&i->m);
    return free;
}
