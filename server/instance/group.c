#include "server/instance/group.h"

#include "server/instance/entry.h"

#include <stdlib.h>

struct mechd_group *mechd_group_create(bool every_step, void (*due)(void *of, uint64_t at),
                                       void *of)
{
    struct mechd_group *const g = calloc(1, sizeof *g);
    if (g != NULL) {
        atomic_init(&g->refs, 1);
        pthread_mutex_init(&g->m, NULL);
        g->every_step = every_step;
        g->due = due;
        g->of = of;
    }
    return g;
}

void mechd_group_ref(struct mechd_group *g)
{
    atomic_fetch_add(&g->refs, 1);
}

void mechd_group_unref(struct mechd_group *g)
{
    if (g != NULL && atomic_fetch_sub(&g->refs, 1) == 1) {
        pthread_mutex_destroy(&g->m);
        free(g);
    }
}

void mechd_group_ask(struct mechd_group *g, uint64_t at)
{
    pthread_mutex_lock(&g->m);
    if (g->of != NULL) {
        g->due(g->of, at);
    }
    pthread_mutex_unlock(&g->m);
}

void mechd_group_lose(struct mechd_group *g, struct mechd_ticket *t, int outcome)
{
    pthread_mutex_lock(&g->m);
    const bool lasts = g->of != NULL;
    if (lasts) {
        t->outcome = outcome;
        t->next = g->lost;
        g->lost = t;
        g->due(g->of, 0);
    }
    pthread_mutex_unlock(&g->m);
    if (!lasts) {
        mechd_ticket_settle(t, outcome);
    }
}

struct mechd_ticket *mechd_group_take_lost(struct mechd_group *g)
{
    pthread_mutex_lock(&g->m);
    struct mechd_ticket *const lost = g->lost;
    g->lost = NULL;
    pthread_mutex_unlock(&g->m);
    return lost;
}

void mechd_group_answer(struct mechd_ticket *lost)
{
    while (lost != NULL) {
        struct mechd_ticket *const t = lost;
        lost = t->next;
        mechd_ticket_settle(t, t->outcome);
    }
}

void mechd_group_end(struct mechd_group *g)
{
    pthread_mutex_lock(&g->m);
    g->of = NULL;
    pthread_mutex_unlock(&g->m);
    mechd_group_answer(mechd_group_take_lost(g));
}

bool mechd_group_lasts(struct mechd_group *g)
{
    pthread_mutex_lock(&g->m);
    const bool lasts = g->of != NULL;
    pthread_mutex_unlock(&g->m);
    return lasts;
}
