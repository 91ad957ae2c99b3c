/* Whether the answer of a call is still awaited: polled by long work (solver/base/interrupt.h). */
#include "server/call/call.h"
#include "server/call/service.h"
#include "server/os/ticks.h"

bool mechd_call_abandoned(const struct mechd_call *c)
{
    struct mechd_instance *const i = c->job.instance;
    if (mechd_stop_reason(c->gone) == MECHD_STOP_NONE) {
        return false;
    }
    if (c->lease == 0 || i == NULL) {
        return c->scope == NULL || !mechd_call_changes(c);
    }
    return !mechd_receipts_awaited(&c->service->receipts, c) &&
           mechd_leases_silent(&i->leases, c->lease, c->admitted);
}

enum mechd_stop_reason mechd_call_whole(const struct mechd_call *c)
{
    return mechd_stop_reason(c->whole);
}

enum mechd_stop_reason mechd_call_asks(const void *call)
{
    const struct mechd_call *const c = call;
    const enum mechd_stop_reason stopped = mechd_stop_reason(&c->stop);
    const enum mechd_stop_reason whole = mechd_call_whole(c);
    const enum mechd_stop_reason gone = mechd_stop_reason(c->gone);
    return stopped != MECHD_STOP_NONE                           ? stopped
           : whole != MECHD_STOP_NONE                           ? whole
           : gone != MECHD_STOP_NONE && mechd_call_abandoned(c) ? gone
                                                                : MECHD_STOP_NONE;
}

bool mechd_call_close(struct mechd_call *c)
{
    const bool closed =
        !c->job.stoppable || c->job.instance == NULL || mechd_stop_close(&c->job.instance->stop);
    if (closed && mechd_stop_close(&c->stop) && (c->closes == NULL || c->closes(c))) {
        return true;
    }
    c->why = MECHD_STOP_STOPPED;
    mechd_fail(c, MECHP_CANCELLED, "cancelled before it had an effect");
    return false;
}

bool mechd_call_close_early(struct mechd_call *c)
{
    const bool later = (mechd_call_row(c)->traits & MECHP_CLOSES) != 0;
    return later || !mechd_call_changes(c) || mechd_call_close(c);
}

bool mechd_call_ends(void *call)
{
    struct mechd_call *const c = call;
    if (c->why == MECHD_STOP_NONE) {
        c->why = mechd_call_asks(c);
    }
    if (c->why == MECHD_STOP_NONE) {
        c->why = mechd_stop_reason(&c->service->host.stop);
    }
    return c->why != MECHD_STOP_NONE;
}

void mechd_call_watch(struct mechd_call *c, struct mechd_effort *e)
{
    *e = (struct mechd_effort){.start = mechd_now(),
                               .kind = (mechd_call_row(c)->traits & MECHP_STOPPABLE) != 0
                                           ? MECHD_EFFORT_ANALYSIS
                                           : MECHD_EFFORT_READER,
                               .asks = mechd_call_asks,
                               .of = c};
    mechd_effort_begin(c->job.instance, e);
}

void mechd_call_unwatch(struct mechd_call *c, const struct mechd_effort *e)
{
    mechd_effort_end(c->job.instance);
    c->why = e->why;
}
