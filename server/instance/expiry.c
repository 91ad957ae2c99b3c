#include "server/instance/expiry.h"

#include "server/instance/host.h"
#include "server/instance/partners.h"
#include "server/instance/traits.h"
#include "server/os/log.h"

#include <stdlib.h>

struct walk {
    uint64_t now, next; /* ns; next: the earliest end to come, 0: none */
    size_t seen;
    struct found {
        struct found *next;
        struct mechd_instance *instance; /* a reference */
    } * found;                           /* of which something has ended */
};

static void note_next(struct walk *w, uint64_t due)
{
    if (due != 0 && (w->next == 0 || due < w->next)) {
        w->next = due;
    }
}

/* Under the shard's lock: short. */
static void look(void *context, struct mechd_instance *i)
{
    struct walk *const w = context;
    const uint64_t due = atomic_load(&i->leases.due);
    const uint64_t end = mechd_instance_ends(i);
    w->seen++;
    if ((due == 0 || due > w->now) && (end == 0 || end > w->now)) {
        note_next(w, due);
        note_next(w, end);
        return;
    }
    struct found *const x = malloc(sizeof *x);
    if (x == NULL) {
        note_next(w, w->now); // again when there is memory
        return;
    }
    mechd_instance_ref(i);
    *x = (struct found){.next = w->found, .instance = i};
    w->found = x;
}

static void tell_ended(void *context, const char *role, const char *name)
{
    const struct mechd_instance *const i = context;
    mechd_log(MECHD_INFO, "lease-ended", "instance=%s role=%s name=%s", i->id, role,
              name[0] != '\0' ? name : "-");
}

/* Partners whose leases are over go with what they have sent for later; as owner. */
static enum mechd_progress run_prune(struct mechd_job *job)
{
    mechd_partners_prune(job->instance);
    return MECHD_DONE;
}

static void finish_prune(struct mechd_job *job)
{
    mechd_instance_unref(job->instance);
    free(job);
}

/* When the queue is full, the next hello does it. */
static void prune(struct mechd_instance *i)
{
    struct mechd_job *const job = calloc(1, sizeof *job);
    if (job == NULL) {
        return;
    }
    *job = (struct mechd_job){.instance = i, .run = run_prune, .finish = finish_prune};
    mechd_instance_ref(i);
    if (mechd_instance_submit(i, job) != MECHD_QUEUED) {
        finish_prune(job);
    }
}

static void end_leases(struct mechd_instance *i)
{
    const int count = mechd_leases_expire(&i->leases, tell_ended, i);
    mechd_count(&i->host->counters.leases_ended, (uint64_t)count);
    if (count > 0) {
        prune(i);
    }
}

/* Deleted if it has not been used for its time to live; a running command and a coupling count as
 * use. */
static void end_instance(struct mechd_instance *i)
{
    pthread_mutex_lock(&i->m);
    const bool works = mechd_instance_held(i) || atomic_load(&i->running);
    pthread_mutex_unlock(&i->m);
    if (works || mechd_leases_coupled(&i->leases, NULL)) {
        mechd_instance_use(i);
    }
    const uint64_t end = mechd_instance_ends(i);
    const double ttl = mechd_instance_ttl(i);
    if (end != 0 && end <= mechd_now() && mechd_instance_delete(i, NULL)) {
        mechd_count(&i->host->counters.expired, 1);
        mechd_log(MECHD_INFO, "expired", "instance=%s ttl=%g", i->id, ttl);
    }
}

uint64_t mechd_expire(struct mechd_host *host, size_t *seen)
{
    struct walk w = {.now = mechd_now()};
    mechd_table_each(&host->table, look, &w);
    while (w.found != NULL) {
        struct found *const x = w.found;
        w.found = x->next;
        end_leases(x->instance);
        end_instance(x->instance);
        if (mechd_instance_lives(x->instance)) {
            note_next(&w, atomic_load(&x->instance->leases.due));
            note_next(&w, mechd_instance_ends(x->instance));
        }
        mechd_instance_unref(x->instance);
        free(x);
    }
    *seen = w.seen;
    return w.next;
}
