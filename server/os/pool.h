/* The step pool: threads that run tasks in the order in which they were pushed.
 *
 * Long commands and the building of models go here; a short command runs on the thread that carries
 * its request and never takes this lock. shared, locked by its own mutex.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/* Embedded in whatever is to be run; pushed at most once until it has begun to run. */
struct mechd_task {
    struct mechd_task *next;
    void (*run)(struct mechd_task *task);
};

struct mechd_pool {
    pthread_mutex_t m;
    pthread_cond_t c;
    struct mechd_task *head, *tail;
    bool stop;
    int waiting;        /* tasks in the queue */
    int count;          /* threads */
    int ended;          /* of them, after the stop */
    pthread_t *threads; /* [count] */
};

/* Negative: no memory or no threads. */
int mechd_pool_init(struct mechd_pool *p, int count);
void mechd_pool_push(struct mechd_pool *p, struct mechd_task *task);
int mechd_pool_waiting(struct mechd_pool *p);
/* Threads no longer wait for work: each ends when there is none. True: all have; call again until
 * then. */
bool mechd_pool_stop(struct mechd_pool *p);
/* Run what is queued to its end, then join the threads. Tasks pushed meanwhile are run too. */
void mechd_pool_fini(struct mechd_pool *p);
