/* Slices of derivatives: internal steps one by one, until a millisecond is over. */
#include "server/instance/deriving.h"

#include "server/instance/effort.h"
#include "server/instance/host.h"
#include "server/instance/stepping.h"
#include "server/os/ticks.h"

bool mechd_deriving_may(struct mechd_instance *i, struct mechd_deriving *s)
{
    s->over = i->account != NULL && !mechd_account_may_work(i->account, &s->excess);
    s->outcome = s->over ? MECH_CANCELLED : 0;
    return !s->over;
}

/* Abandoned by its client, by deletion of the instance, by shutdown, or by its quota. */
static bool is_cancelled(struct mechd_instance *i, struct mechd_deriving *s, bool unwanted)
{
    s->over = mechd_stepping_over(i, s->worked, &s->excess);
    return s->over || unwanted || mechd_instance_stops(i) || atomic_load(&i->host->cancel);
}

enum mechd_progress mechd_deriving_slice(struct mechd_instance *i, struct mechd_deriving *s,
                                         bool (*unwanted)(const void *of), const void *of)
{
    const uint64_t start = mechd_now();
    struct mechd_effort effort = {.start = start,
                                  .worked = s->worked,
                                  .direct = s->direct || i->direct != NULL,
                                  .unwanted = unwanted,
                                  .of = of};
    uint64_t now = start;
    bool done = false;
    if (is_cancelled(i, s, unwanted(of))) {
        s->outcome = MECH_CANCELLED;
    }
    mechd_effort_begin(i, &effort);
    while (s->outcome == 0 && !done && now - start < MECHD_MS) {
        s->outcome = mech_sim_derivation_advance(s->work, 1, &done);
        now = mechd_now();
    }
    mechd_effort_end(i);
    s->worked += now - start;
    if (i->account != NULL) {
        mechd_account_work(i->account, now - start);
    }
    if (s->outcome == MECH_CANCELLED && effort.retreat) {
        s->outcome = 0;
        s->retreated = true;
        mechd_deriving_fini(s);
        return MECHD_MORE;
    }
    s->over |= s->outcome == MECH_CANCELLED && mechd_stepping_over(i, s->worked, &s->excess);
    if (s->outcome == 0 && !done) {
        return mechd_engine_readable(&i->engine) ? MECHD_MORE : MECHD_MORE_ALONE;
    }
    mechd_deriving_fini(s);
    return MECHD_DONE;
}

void mechd_deriving_fini(struct mechd_deriving *s)
{
    mech_sim_derivation_end(s->work);
    s->work = NULL;
}
