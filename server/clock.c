/* A sorted list and a condition with a deadline; a few hundred timers at most. */
#include "server/clock.h"

#include "server/ticks.h"
#include "solver/base/err.h"

/* Longest sleep, so that nothing ever waits without a deadline. */
static const uint64_t nap = 1000000000u;

static void *tick(void *context)
{
    struct mechd_clock *c = context;
    pthread_mutex_lock(&c->m);
    while (!c->stop || c->head != NULL) {
        const uint64_t now = mechd_now();
        struct mechd_timer *timer = c->head;

        // fire the first one if its time has come; at the end, whatever is left
        if (timer != NULL && (c->stop || timer->due <= now)) {
            c->head = timer->next;
            timer->armed = false;
            pthread_mutex_unlock(&c->m);
            timer->fire(timer);
            pthread_mutex_lock(&c->m);
            continue;
        }

        // sleep until the next one
        const uint64_t until = timer != NULL && timer->due < now + nap ? timer->due : now + nap;
        const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
                                   .tv_nsec = (long)(until % 1000000000u)};
        pthread_cond_timedwait(&c->c, &c->m, &t);
    }
    pthread_mutex_unlock(&c->m);
    return NULL;
}

int mechd_clock_init(struct mechd_clock *c)
{
    *c = (struct mechd_clock){.stop = false};
    pthread_mutex_init(&c->m, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&c->c, &attributes);
    pthread_condattr_destroy(&attributes);
    c->running = pthread_create(&c->thread, NULL, tick, c) == 0;
    return c->running ? 0 : MECH_INTERNAL;
}

bool mechd_clock_arm(struct mechd_clock *c, struct mechd_timer *timer, uint64_t due)
{
    pthread_mutex_lock(&c->m);
    const bool take = !c->stop;
    if (take) {
        struct mechd_timer **at = &c->head;
        while (*at != NULL && (*at)->due <= due) {
            at = &(*at)->next;
        }
        timer->due = due;
        timer->armed = true;
        timer->next = *at;
        *at = timer;
        if (c->head == timer) {
            pthread_cond_signal(&c->c);
        }
    }
    pthread_mutex_unlock(&c->m);
    return take;
}

bool mechd_clock_cancel(struct mechd_clock *c, struct mechd_timer *timer)
{
    pthread_mutex_lock(&c->m);
    const bool armed = timer->armed;
    if (armed) {
        struct mechd_timer **at = &c->head;
        while (*at != timer) {
            at = &(*at)->next;
        }
        *at = timer->next;
        timer->armed = false;
    }
    pthread_mutex_unlock(&c->m);
    return armed;
}

void mechd_clock_stop(struct mechd_clock *c)
{
    if (!c->running) {
        return;
    }
    pthread_mutex_lock(&c->m);
    c->stop = true;
    pthread_cond_signal(&c->c);
    pthread_mutex_unlock(&c->m);
    pthread_join(c->thread, NULL);
    c->running = false;
}

void mechd_clock_fini(struct mechd_clock *c)
{
    mechd_clock_stop(c);
    pthread_cond_destroy(&c->c);
    pthread_mutex_destroy(&c->m);
}
