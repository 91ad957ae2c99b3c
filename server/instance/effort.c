/* Why long iterations end. */
#include "server/instance/effort.h"

#include "server/instance/host.h"
#include "server/os/ticks.h"

/* What a carrying thread gives to one stretch of a command at most, ns. */
static const uint64_t patience_ns = 2 * MECHD_MS;

void mechd_effort_begin(struct mechd_instance *i, struct mechd_effort *e)
{
    i->effort = e;
}

void mechd_effort_end(struct mechd_instance *i)
{
    i->effort = NULL;
}

bool mechd_effort_drained(const struct mechd_instance *i)
{
    return atomic_load(&i->host->cancel) && !mechd_instance_stops(i);
}

bool mechd_effort_ends(void *instance)
{
    const struct mechd_instance *const i = instance;
    struct mechd_effort *const e = i->effort;
    if (e == NULL) {
        return false;
    }
    const bool stops = e->kind == MECHD_EFFORT_RUN      ? atomic_load(&i->run_ends) > 0
                       : e->kind == MECHD_EFFORT_READER ? false
                                                        : atomic_load(&i->stop);
    if (stops || atomic_load(&i->cancel) || atomic_load(&i->host->cancel) ||
        (e->unwanted != NULL && e->unwanted(e->of))) {
        return true;
    }
    const uint64_t spent = mechd_now() - e->start;
    // a step apart cannot be left and begun again at no cost
    e->retreat = e->direct && !i->engine.ops->apart && spent > patience_ns;
    return e->retreat || (e->kind == MECHD_EFFORT_STEP && i->account != NULL &&
                          e->worked + spent > atomic_load(&i->account->most[MECHD_QUOTA_STEP_CPU]));
}
