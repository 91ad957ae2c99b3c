/* One queue, one condition, `count` threads. */
#include "server/os/pool.h"

#include "server/os/thread.h"
#include "solver/base/err.h"

#include <signal.h>
#include <stdlib.h>

static void *work(void *context)
{
    struct mechd_pool *p = context;
    mechd_thread_name("mechd-pool");
    pthread_mutex_lock(&p->m);
    for (;;) {
        // sleep until there is work, or an end with nothing left to do
        while (p->head == NULL && !p->stop) {
            pthread_cond_wait(&p->c, &p->m);
        }
        struct mechd_task *task = p->head;
        if (task == NULL) {
            break;
        }
        p->head = task->next;
        if (p->head == NULL) {
            p->tail = NULL;
        }
        p->waiting--;
        pthread_mutex_unlock(&p->m);
        task->run(task);
        pthread_mutex_lock(&p->m);
    }
    p->ended++;
    pthread_mutex_unlock(&p->m);
    return NULL;
}

int mechd_pool_init(struct mechd_pool *p, int count)
{
    *p = (struct mechd_pool){.stop = false};
    pthread_mutex_init(&p->m, NULL);
    pthread_cond_init(&p->c, NULL);
    p->threads = calloc((size_t)count, sizeof *p->threads);
    if (p->threads == NULL) {
        return MECH_NO_MEMORY;
    }
    for (; p->count < count; p->count++) {
        if (pthread_create(&p->threads[p->count], NULL, work, p) != 0) {
            return MECH_INTERNAL;
        }
    }
    return 0;
}

void mechd_pool_push(struct mechd_pool *p, struct mechd_task *task)
{
    task->next = NULL;
    pthread_mutex_lock(&p->m);
    if (p->tail != NULL) {
        p->tail->next = task;
    } else {
        p->head = task;
    }
    p->tail = task;
    p->waiting++;
    pthread_cond_signal(&p->c);
    pthread_mutex_unlock(&p->m);
}

int mechd_pool_waiting(struct mechd_pool *p)
{
    pthread_mutex_lock(&p->m);
    const int waiting = p->waiting;
    pthread_mutex_unlock(&p->m);
    return waiting;
}

bool mechd_pool_stop(struct mechd_pool *p)
{
    pthread_mutex_lock(&p->m);
    p->stop = true;
    pthread_cond_broadcast(&p->c);
    const bool ended = p->ended == p->count;
    pthread_mutex_unlock(&p->m);
    return ended;
}

void mechd_pool_fini(struct mechd_pool *p)
{
    if (p->threads == NULL) {
        return;
    }
    (void)mechd_pool_stop(p);
    for (int i = 0; i < p->count; i++) {
        pthread_join(p->threads[i], NULL);
    }
    free(p->threads);
    p->threads = NULL;
    pthread_cond_destroy(&p->c);
    pthread_mutex_destroy(&p->m);
}
