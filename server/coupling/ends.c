/* Why a command of a coupling must end, or one trial of it, and its refusal for that. */
#include "server/call/service.h"
#include "server/coupling/share.h"
#include "server/instance/effort.h"
#include "server/instance/runs.h"
#include "server/os/ticks.h"

enum mechd_stop_reason mechd_coupling_ended(const struct mechd_coupling *g)
{
    return mechd_stop_reason(&g->ended);
}

/* The run has been stopped: the window in progress is undone. */
static bool run_stopped(const struct mechd_coupling_command *k)
{
    return k->run != NULL && k->run->state != MECHD_RUN_RUNNING;
}

/* The reason, asked for in this order: a quota, which *x describes, and the shutdown have codes of
 * their own. */
static enum mechd_stop_reason ends_why(const struct mechd_coupling_command *k,
                                       struct mechd_excess *x)
{
    const struct mechd_coupling *const g = k->coupling;
    if (g->asks != NULL) {
        return g->asks(g->asks_of);
    }
    enum mechd_stop_reason why = mechd_coupling_ended(g);
    if (why == MECHD_STOP_NONE) {
        why = run_stopped(k) ? MECHD_STOP_STOPPED : mechd_call_asks(k->call);
    }
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_instance *const i = g->parts[n].instance;
        why = why != MECHD_STOP_NONE ? why : mechd_effort_asked(i);
        if (k->run == NULL && mechd_effort_over(i, k->worked, x)) {
            return MECHD_STOP_QUOTA;
        }
    }
    const enum mechd_stop_reason unclocked = mechd_stop_reason(&k->stop);
    return unclocked != MECHD_STOP_NONE          ? unclocked
           : mechd_host_stops(&g->service->host) ? MECHD_STOP_SHUTDOWN
                                                 : why;
}

enum mechp_code mechd_coupling_ends_by(const struct mechd_coupling_command *k,
                                       struct mechd_excess *x)
{
    switch (ends_why(k, x)) {
    case MECHD_STOP_NONE:
        return MECHP_OK;
    case MECHD_STOP_QUOTA:
        return MECHP_QUOTA_EXCEEDED;
    case MECHD_STOP_SHUTDOWN:
        return k->coupling->asks == NULL ? MECHP_DRAINING : MECHP_CANCELLED;
    default:
        return MECHP_CANCELLED;
    }
}

enum mechp_code mechd_coupling_ends(struct mechd_coupling_command *k)
{
    return mechd_coupling_ends_by(k, k->call != NULL ? &k->call->excess : NULL);
}

/* It ends for that. */
void mechd_coupling_refuse_end(struct mechd_coupling_command *k, enum mechp_code code)
{
    char detail[sizeof k->detail];
    mechd_coupling_refuse(k, code,
                          code == MECHP_QUOTA_EXCEEDED
                              ? mechd_excess_tell(&k->call->excess, detail, sizeof detail)
                          : k->begun ? "ended; the window in progress was undone"
                                     : "ended before it had an effect");
}

bool mechd_coupling_asked(const struct mechd_coupling_command *k)
{
    return k->run == NULL && k->kind != MECHD_COUPLING_KEEP;
}

bool mechd_coupling_close(struct mechd_coupling_command *k)
{
    bool closed = true;
    if (!mechd_coupling_asked(k) || k->code != MECHP_OK) {
        return true;
    }
    // an end is for good, whatever is asked of its instances
    for (int32_t n = 0; n < k->coupling->count && k->kind != MECHD_COUPLING_END; n++) {
        closed = mechd_stop_close(&k->coupling->parts[n].instance->stop) && closed;
    }
    closed = closed && mechd_stop_close(&k->call->stop);
    if (!closed) {
        mechd_coupling_refuse_end(k, MECHP_CANCELLED);
    }
    return closed;
}

/* --- of one trial ----------------------------------------------------------------------------- */

/* What all threads have worked for the command is more than the account of p allows. */
static bool over_quota(const struct mechd_part *p, const struct mechd_coupling_command *k)
{
    const struct mechd_account *const a = p->instance->account;
    const uint64_t most =
        a != NULL && k->run == NULL ? atomic_load(&a->most[MECHD_QUOTA_STEP_CPU]) : UINT64_MAX;
    if (most == UINT64_MAX) {
        return false;
    }
    const uint64_t now = mechd_now();
    uint64_t worked = atomic_load(&k->worked);
    for (int32_t n = 0; n < k->coupling->count; n++) {
        const uint64_t since = atomic_load(&k->coupling->parts[n].since);
        worked += since != 0 && since < now ? now - since : 0;
    }
    return worked > most;
}

bool mechd_share_overdue(const struct mechd_part *p)
{
    const struct mechd_share *const s = p->coupling->share;
    return s != NULL && atomic_load(&s->patience) != 0 && mechd_share_is_overdue(s, mechd_now());
}

enum mechd_stop_reason mechd_share_asks(const void *part)
{
    const struct mechd_part *const p = part;
    const struct mechd_coupling *const g = p->coupling;
    if (g->asks != NULL) {
        return g->asks(g->asks_of);
    }
    const struct mechd_coupling_command *const k = g->head;
    const enum mechd_stop_reason call = mechd_call_asks(k->call);
    // a quota of what all threads have worked is the command's, which looks at it between slices
    const bool yields =
        atomic_load(&g->share->failed) < p->place || over_quota(p, k) || mechd_share_overdue(p);
    const enum mechd_stop_reason deleted = mechd_coupling_ended(g);
    return call != MECHD_STOP_NONE      ? call
           : deleted != MECHD_STOP_NONE ? deleted
           : yields                     ? MECHD_STOP_YIELD
                                        : MECHD_STOP_NONE;
}
