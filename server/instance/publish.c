/* A change or a step of an instance becomes what others see. */
#include "protocol/frame/frame.h"
#include "server/instance/host.h"
#include "server/instance/partners.h"
#include "server/instance/trials.h"

/* Publish the committed state under a new revision. */
static void publish(struct mechd_instance *i, uint16_t flags, uint64_t steps_forward)
{
    i->trial = 0;
    if (i->kept != NULL) {
        mechd_trials_drop_all(i);
    }
    pthread_mutex_lock(&i->p);
    i->published.revision = atomic_fetch_add(&i->revision, 1) + 1;
    i->published.sequence += steps_forward;
    i->published.time = mechd_engine_time(&i->engine);
    i->published.steps = mechd_engine_step_count(&i->engine);
    i->published.flags = flags;
    const bool wanted = (atomic_load(&i->watched) & MECHD_WATCH_HASH) != 0 && steps_forward > 0;
    i->published.hashed = wanted && mechd_instance_hash(i, &i->published.hash);
    mechd_engine_get_outputs(&i->engine, i->published.values);
    pthread_mutex_unlock(&i->p);
    mechd_durable_changed(i);
}

void mechd_instance_changed(struct mechd_instance *i, uint16_t flags)
{
    i->next_flags = (uint16_t)(i->next_flags | flags);
    if ((flags & MECHP_REWOUND) != 0) {
        mechd_partners_rewind(i);
    }
    publish(i, flags, 0);
}

void mechd_instance_stepped(struct mechd_instance *i, uint16_t flags)
{
    flags = (uint16_t)(flags | i->next_flags);
    i->next_flags = 0;
    publish(i, flags, 1);
    mechd_tell_stepped(i, &i->published);
}
