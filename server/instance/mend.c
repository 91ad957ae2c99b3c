/* An instance of which a record could not be stored is put back to what is stored. */
#include "server/instance/durable.h"

#include "server/instance/group.h"
#include "server/instance/host.h"

static enum mechd_progress run_mend(struct mechd_job *job)
{
    struct mechd_durable *const d = &job->instance->durable;
    d->mended = atomic_load(&d->failed);
    (void)mechd_durable_repair(job->instance);
    return MECHD_DONE;
}

/* The same for an instance whose group has ended; what that has left is stored. */
static enum mechd_progress run_part(struct mechd_job *job)
{
    (void)run_mend(job);
    mechd_durable_sync(job->instance, NULL);
    return MECHD_DONE;
}

static void mend(struct mechd_instance *i, enum mechd_progress (*run)(struct mechd_job *job),
                 uint64_t cost);

static void finish_mend(struct mechd_job *job)
{
    struct mechd_instance *const i = job->instance;
    const uint64_t mended = i->durable.mended;
    atomic_store(&i->durable.mending, false);
    // a record that failed meanwhile found it mending; with a full queue the next command looks
    const bool unstored = mended != UINT64_MAX && atomic_load(&i->durable.unstored);
    if (atomic_load(&i->durable.failed) > mended || unstored) {
        mend(i, run_mend, 0);
    }
    mechd_instance_unref(i);
}

/* Have the instance put back at once, so that readers see what is stored. When its queue is full,
 * the next command does it. */
static void mend(struct mechd_instance *i, enum mechd_progress (*run)(struct mechd_job *job),
                 uint64_t cost)
{
    struct mechd_durable *const d = &i->durable;
    if (atomic_exchange(&d->mending, true)) {
        return;
    }
    d->mend = (struct mechd_job){.instance = i, .run = run, .finish = finish_mend, .cost = cost};
    d->mended = UINT64_MAX;
    mechd_instance_ref(i);
    if (mechd_instance_submit(i, &d->mend) != MECHD_QUEUED) {
        finish_mend(&d->mend);
    }
}

void mechd_durable_put_back(struct mechd_instance *i, struct mechd_group *group)
{
    if (group != NULL && mechd_group_lasts(group)) {
        mechd_group_ask(group, 0);
    } else if (mechd_instance_lives(i)) {
        mend(i, run_mend, 0);
    }
}

void mechd_durable_part(struct mechd_instance *i)
{
    if (i->durable.key != 0 && mechd_instance_lives(i)) {
        // in the pool: the store's own thread posts nothing
        mend(i, run_part, MECHD_SHORT);
    }
}
