/* Jobs: work on an instance, one at a time, by the thread that currently owns it.
 *
 * mechd_instance_submit either runs a job at once on the calling thread, or takes it into the
 * instance's queue, or refuses it. A queued job is run by the pool, in slices if it is long; the
 * readers in the queue are served between them. `finish` is called once, on the thread that ran
 * the last slice, with no lock held and after the instance has been released; the job may be freed
 * in it. Where a job is in its life is one state, which queue.c changes and checks;
 * server/README.md has the table.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mechd_instance;

/* MORE_ALONE: as MORE, but the state must not be read before the next slice. HELD: the job keeps
 * the instance, the thread that has the job is its owner and calls mechd_instance_release, perhaps
 * before the slice has returned; only for jobs of mechd_instance_capture. */
enum mechd_progress { MECHD_DONE, MECHD_MORE, MECHD_MORE_ALONE, MECHD_HELD };

/* Zeroed: NEW. */
enum mechd_job_state {
    MECHD_JOB_NEW,     /* not submitted yet, or refused because the queue was full */
    MECHD_JOB_QUEUED,  /* in the queue of its instance */
    MECHD_JOB_FIRST,   /* its first slice runs */
    MECHD_JOB_BETWEEN, /* between two slices: still before all others of its instance */
    MECHD_JOB_LATER,   /* another slice runs */
    MECHD_JOB_HELD,    /* it captures, and has the instance until mechd_instance_release */
    MECHD_JOB_OVER     /* `finish` follows, or submit returns RAN; it may be submitted again */
};

struct mechd_job {
    struct mechd_job *next;
    struct mechd_instance *instance; /* a reference, taken by the creator of the job */
    /* One slice, as owner of the instance. Not DONE: call again. */
    enum mechd_progress (*run)(struct mechd_job *job);
    /* After the last slice, or after a refusal in the queue. Not called by a submit that returned
     * MECHD_RAN or MECHD_FULL. */
    void (*finish)(struct mechd_job *job);
    /* Just before the job is queued, under the instance's lock: the carrier prepares to wait. May
     * be NULL. */
    void (*wait)(struct mechd_job *job);
    uint64_t cost; /* ns expected; decides between the carrying thread and the pool */
    /* changed by mechd_job_slice and the queue; owner: the instance's, and before it is queued the
     * thread that submits it */
    enum mechd_job_state state;
    bool reader;    /* only reads: may run between two slices of another job */
    bool stateless; /* of those: also while the other job has left the state open */
    bool captures;  /* it is one of mechd_instance_capture, which sets this */
    bool stoppable; /* its slices check mechd_instance.stop: a step or a derivative */
    bool hurries;   /* once it is in the queue, and until it is over, a run yields to it
                       (mechd_instance.yield); to one that is refused it does not */
    bool hurried;   /* it does: the queue's */
};

enum mechd_submitted {
    MECHD_RAN,    /* done, on this thread; finish will not be called */
    MECHD_QUEUED, /* finish will be called, perhaps before submit returns */
    MECHD_FULL    /* 64 jobs are waiting already: refused */
};

/* Most jobs that wait for one instance; longest job that the carrying thread runs itself. */
enum { MECHD_QUEUE_MOST = 64, MECHD_SHORT = 200000 /* ns */ };

/* One slice: the one place where jobs are run; in a first slice job->state is FIRST. By the queue,
 * and by calls without an instance. */
enum mechd_progress mechd_job_slice(struct mechd_job *job);
