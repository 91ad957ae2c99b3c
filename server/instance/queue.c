/* Ownership and queue of one instance.
 *
 * `owned` means that some thread is the owner, or that the instance is in the pool and will be. A
 * carrying thread becomes the owner only of an idle instance; when it leaves and jobs have come
 * meanwhile, the pool takes over. The head of the queue is the job in progress. `working` is set
 * while a thread is on it or a command has left its state open: what else waits in the pool can be
 * sealed, and is left alone from then on.
 */
#include "server/instance/host.h"
#include "server/instance/traits.h"
#include "solver/base/err.h"

#include <stddef.h>

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
        while (job->run(job) != MECHD_DONE) {
        }
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
    i->head_begun = false;
    i->working = false;
    settle_stop(i, job);
    note_queued(i, -1);
    const bool more = i->head != NULL;
    mechd_instance_use(i);
    if (!more) {
        i->tail = NULL;
        i->owned = false;
    }
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
    const bool sealed = i->sealed;
    i->head_begun = true;
    i->working = !sealed;
    pthread_mutex_unlock(&i->m);
    if (sealed) {
        return;
    }

    // not done: readers first, then back to the end of the pool's queue, behind other instances
    const enum mechd_progress progress = job->run(job);
    if (progress == MECHD_HELD) {
        return;
    }
    if (progress != MECHD_DONE) {
        serve_readers(i, progress == MECHD_MORE_ALONE);
        pthread_mutex_lock(&i->m);
        i->working = progress == MECHD_MORE_ALONE;
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
    if (job->wait != NULL) {
        job->wait(job);
    }
    append(i, job);
    if (!i->owned) {
        i->owned = true;
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
    i->working = progress == MECHD_MORE_ALONE;
    if (progress != MECHD_DONE) {
        // longer than expected: it continues in the pool, before all jobs that arrived meanwhile
        if (job->wait != NULL) {
            job->wait(job);
        }
        job->next = i->head;
        i->head = job;
        i->head_begun = true;
        if (i->tail == NULL) {
            i->tail = job;
        }
        note_queued(i, 1);
    }
    if (progress == MECHD_DONE) {
        settle_stop(i, job);
    }
    const bool more = i->head != NULL;
    if (more) {
        i->task.run = run_from_pool;
        mechd_instance_ref(i);
        hand_to_pool(i);
    } else {
        i->owned = false;
    }
    pthread_mutex_unlock(&i->m);
    return progress != MECHD_DONE ? MECHD_QUEUED : MECHD_RAN;
}

enum mechd_submitted mechd_instance_submit(struct mechd_instance *i, struct mechd_job *job)
{
    pthread_mutex_lock(&i->m);
    if (!i->owned && job->cost < MECHD_SHORT) {
        i->owned = true;
        i->working = true;
        i->direct = job;
        pthread_mutex_unlock(&i->m);
        return leave(i, job, job->run(job));
    }
    if (i->queued - (i->head_begun ? 1 : 0) >= MECHD_QUEUE_MOST) {
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
    pthread_mutex_lock(&i->m);
    if (!i->owned && !i->sealed) {
        append(i, job);
        i->owned = true;
        i->working = true;
        i->head_begun = true;
        i->task.run = run_from_pool;
        mechd_instance_ref(i);
        submitted = MECHD_RAN;
    } else if (i->queued - (i->head_begun ? 1 : 0) >= MECHD_QUEUE_MOST) {
        submitted = MECHD_FULL;
    } else {
        enqueue(i, job);
    }
    pthread_mutex_unlock(&i->m);
    return submitted;
}

void mechd_instance_release(struct mechd_instance *i, struct mechd_job *job)
{
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
    const bool stops = (i->direct != NULL && i->direct->stoppable) || has_stoppable(i);
    if (stops) {
        // partner: the slices of that job, until its end takes it back
        (void)mechd_stop_raise(&i->stop, MECHD_STOP_STOPPED);
    }
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
    const bool free = !i->working;
    if (free) {
        i->owned = true;
        i->sealed = true;
    }
    pthread_mutex_unlock(&i->m);
    return free;
}
