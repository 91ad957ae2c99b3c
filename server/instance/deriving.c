/* Slices of derivatives: internal steps one by one, until a millisecond is over. */
#include "server/instance/deriving.h"

#include "server/instance/effort.h"
#include "server/instance/host.h"
#include "server/instance/stepping.h"
#include "server/os/ticks.h"

bool mechd_deriving_may(struct mechd_instance *i, struct mechd_deriving *s)
{
    const bool may = i->account == NULL || mechd_account_may_work(i->account, &s->excess);
    s->why = may ? MECHD_STOP_NONE : MECHD_STOP_QUOTA;
    s->outcome = may ? 0 : MECH_CANCELLED;
    return may;
}

int mechd_deriving_begin(const struct mechd_instance *i, struct mechd_deriving *s,
                         const struct mech_jacobian_query *query, double *out,
                         struct mech_derived *derived)
{
    s->by = i->engine.ops->derive;
    return s->by->begin(i->engine.self, query, out, derived, &s->work);
}

void mechd_deriving_take(const struct mechd_instance *i, struct mechd_deriving *s,
                         struct mech_derivation *work)
{
    s->by = i->engine.ops->derive;
    s->work = work;
}

/* It is over for that reason. */
static enum mechd_progress cancel(const struct mechd_instance *i, struct mechd_deriving *s,
                                  enum mechd_stop_reason why)
{
    s->why = why;
    s->outcome = MECH_CANCELLED;
    if (why == MECHD_STOP_QUOTA) {
        mechd_effort_exceeds(i, s->worked, &s->excess);
    }
    mechd_deriving_fini(s);
    return MECHD_DONE;
}

enum mechd_progress mechd_deriving_slice(struct mechd_instance *i, struct mechd_deriving *s,
                                         enum mechd_stop_reason (*asks)(const void *of),
                                         const void *of)
{
    const uint64_t start = mechd_now();
    struct mechd_effort effort = {.start = start,
                                  .worked = s->worked,
                                  .direct = s->direct || mechd_instance_carried(i),
                                  .asks = asks,
                                  .of = of};
    uint64_t now = start;
    bool done = false;
    const enum mechd_stop_reason why = mechd_effort_before(i, &effort);
    if (why != MECHD_STOP_NONE) {
        return cancel(i, s, why);
    }
    mechd_effort_begin(i, &effort);
    while (s->outcome == 0 && !done && now - start < MECHD_MS) {
        s->outcome = s->by->advance(s->work, &done);
        now = mechd_now();
    }
    mechd_effort_end(i);
    s->worked += now - start;
    if (i->account != NULL) {
        mechd_account_work(i->account, now - start);
    }
    if (s->outcome == MECH_CANCELLED && effort.why == MECHD_STOP_RETREAT) {
        s->outcome = 0;
        mechd_deriving_fini(s);
        return MECHD_MORE;
    }
    if (s->outcome == MECH_CANCELLED) {
        return cancel(i, s, effort.why);
    }
    if (s->outcome == 0 && !done) {
        return mechd_engine_readable(&i->engine) ? MECHD_MORE : MECHD_MORE_ALONE;
    }
    mechd_deriving_fini(s);
    return MECHD_DONE;
}

void mechd_deriving_fini(struct mechd_deriving *s)
{
    if (s->work != NULL) {
        s->by->end(s->work);
    }
    s->work = NULL;
}
