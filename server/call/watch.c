/* Whether the answer of a call is still awaited: polled by long work (solver/base/interrupt.h). */
#include "server/call/call.h"
#include "server/call/service.h"
#include "server/os/ticks.h"

bool mechd_call_unwanted(const void *call)
{
    return mechd_call_cancelled(call);
}

bool mechd_call_ends(void *call)
{
    const struct mechd_call *const c = call;
    return atomic_load(&c->service->host.cancel) || mechd_call_cancelled(c);
}

void mechd_call_watch(struct mechd_call *c, struct mechd_effort *e)
{
    *e = (struct mechd_effort){.start = mechd_now(),
                               .kind = (mechd_call_row(c)->traits & MECHP_STOPPABLE) != 0
                                           ? MECHD_EFFORT_ANALYSIS
                                           : MECHD_EFFORT_READER,
                               .unwanted = mechd_call_unwanted,
                               .of = c};
    mechd_effort_begin(c->job.instance, e);
}
