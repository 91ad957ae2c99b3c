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

/* The reasons that do not depend on the time it takes. A period is interrupted by the shutdown, not
 * stopped, whatever else there is. */
static enum mechd_stop_reason lasting(const struct mechd_instance *i, const struct mechd_effort *e)
{
    const enum mechd_stop_reason stopped = mechd_stop_reason(&i->stop);
    const enum mechd_stop_reason deleted = mechd_stop_reason(&i->ended);
    const enum mechd_stop_reason shutdown = mechd_stop_reason(&i->host->stop);
    if (e->kind == MECHD_EFFORT_RUN) {
        return shutdown != MECHD_STOP_NONE ? shutdown : deleted;
    }
    if (e->kind != MECHD_EFFORT_READER && stopped != MECHD_STOP_NONE) {
        return stopped;
    }
    if (deleted != MECHD_STOP_NONE) {
        return deleted;
    }
    const enum mechd_stop_reason gone = e->asks != NULL ? e->asks(e->of) : MECHD_STOP_NONE;
    return gone != MECHD_STOP_NONE ? gone : shutdown;
}

/* True if the time of its account is used up, `spent` ns after its begin. */
static bool is_over(const struct mechd_instance *i, const struct mechd_effort *e, uint64_t spent)
{
    return e->kind == MECHD_EFFORT_STEP && i->account != NULL &&
           e->worked + spent > atomic_load(&i->account->most[MECHD_QUOTA_STEP_CPU]);
}

enum mechd_stop_reason mechd_effort_before(const struct mechd_instance *i,
                                           const struct mechd_effort *e)
{
    const enum mechd_stop_reason why = lasting(i, e);
    return why == MECHD_STOP_NONE && is_over(i, e, 0) ? MECHD_STOP_QUOTA : why;
}

bool mechd_effort_ends(void *instance)
{
    const struct mechd_instance *const i = instance;
    struct mechd_effort *const e = i->effort;
    if (e == NULL) {
        return false;
    }
    if (e->why == MECHD_STOP_NONE) {
        e->why = lasting(i, e);
    }
    if (e->why == MECHD_STOP_NONE && e->kind == MECHD_EFFORT_RUN) {
        e->why = mechd_stop_held_reason(&i->yield, MECHD_STOP_YIELD);
    }
    if (e->why == MECHD_STOP_NONE) {
        const uint64_t spent = mechd_now() - e->start;
        // a step apart cannot be left and begun again at no cost
        const bool leaves = e->direct && !i->engine.ops->apart && spent > patience_ns;
        e->why = leaves                 ? MECHD_STOP_RETREAT
                 : is_over(i, e, spent) ? MECHD_STOP_QUOTA
                                        : MECHD_STOP_NONE;
    }
    return e->why != MECHD_STOP_NONE;
}

bool mechd_effort_urgent(void *instance)
{
    const struct mechd_instance *const i = instance;
    return mechd_stop_reason(&i->ended) != MECHD_STOP_NONE ||
           mechd_stop_reason(&i->host->stop) != MECHD_STOP_NONE;
}

enum mechd_stop_reason mechd_effort_asked(const struct mechd_instance *i)
{
    const enum mechd_stop_reason stopped = mechd_stop_reason(&i->stop);
    return stopped != MECHD_STOP_NONE ? stopped : mechd_stop_reason(&i->ended);
}

bool mechd_effort_over(const struct mechd_instance *i, uint64_t worked, struct mechd_excess *x)
{
    if (!is_over(i, &(const struct mechd_effort){.worked = worked, .kind = MECHD_EFFORT_STEP}, 0)) {
        return false;
    }
    mechd_effort_exceeds(i, worked, x);
    return true;
}

void mechd_effort_exceeds(const struct mechd_instance *i, uint64_t worked, struct mechd_excess *x)
{
    *x = (struct mechd_excess){.which = MECHD_QUOTA_STEP_CPU,
                               .used = worked,
                               .limit = atomic_load(&i->account->most[MECHD_QUOTA_STEP_CPU])};
    atomic_fetch_add(&i->account->refused, 1);
}
