/* Jobs: work on an instance, one at a time, by the thread that currently owns it.
 *
 * Life of a job: mechd_instance_submit either runs it at once on the calling thread, or takes it
 * into the instance's queue, or refuses it. A queued job is run by the pool, in slices if it is
 * long; between two slices the readers in the queue are served. `finish` is called once, on the
 * thread that ran the last slice, with no lock held and after the instance has been released; the
 * job may be freed in it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mechd_instance;

/* MORE_ALONE: as MORE, but the state must not be read before the next slice. HELD: the job keeps
 * the instance, the thread that has the job is its owner and calls mechd_instance_release, perhaps
 * before the slice has returned; only for jobs of mechd_instance_capture. */
enum mechd_progress { MECHD_DONE, MECHD_MORE, MECHD_MORE_ALONE, MECHD_HELD };

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
    uint64_t cost;  /* ns expected; decides between the carrying thread and the pool */
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
