/* Slices of a step command. The time of a step is a running mean of what was measured (weight 1/4 for
 * the newest), and sizes the slices to about a millisecond. */
#include "server/instance/stepping.h"

#include "server/daemon.h"
#include "server/instance/partners.h"
#include "server/ticks.h"

#include <math.h>

static const double slice_ns = 1e6;

/* Internal steps of a command, as a number that cannot overflow. */
static double steps_of(struct mechd_instance *i, const struct mech_step_request *r)
{
    if (r->kind == MECH_STEP_COUNT) {
        return (double)r->count;
    }
    double size = r->size;
    if (r->kind == MECH_STEP_UNTIL) {
        struct mechd_published now;
        mechd_instance_peek(i, &now, NULL);
        size -= now.time;
    }
    return i->step_size > 0. ? fmax(1., ceil(size / i->step_size)) : 1.;
}

uint64_t mechd_stepping_cost(struct mechd_instance *i, const struct mech_step_request *r)
{
    const double cost = steps_of(i, r) * (double)atomic_load(&i->step_ns);
    return cost < 1e18 ? (uint64_t)cost : UINT64_MAX;
}

/* Take a measurement into the mean. */
static void measure(struct mechd_instance *i, uint64_t ns, uint64_t steps)
{
    if (steps > 0) {
        const uint64_t mean = atomic_load(&i->step_ns);
        atomic_store(&i->step_ns, (3 * mean + ns / steps) / 4 + 1);
    }
}

/* Internal steps that fit a slice. */
static uint64_t slice_steps(const struct mechd_instance *i)
{
    return 1 + (uint64_t)(slice_ns / (double)atomic_load(&i->step_ns));
}

enum mechd_progress mechd_stepping_slice(struct mechd_instance *i, struct mechd_stepping *s)
{
    // the beginning of a command, which may refuse it
    if (!s->begun) {
        mechd_partners_due(i);
        s->outcome = mech_sim_step_begin(i->sim, &s->request, &s->report);
        if (s->outcome != 0) {
            s->report.outcome = s->outcome;
            return MECHD_DONE;
        }
        s->begun = true;
    }
    if (atomic_load(&i->cancel) || atomic_load(&i->daemon->cancel)) {
        mechd_stepping_abandon(i, s);
        return MECHD_DONE;
    }

    // about a millisecond
    const uint64_t start = mechd_now();
    const uint64_t before = s->report.steps;
    bool done = false;
    s->outcome = mech_sim_step_advance(i->sim, slice_steps(i), &done);
    const uint64_t steps = s->report.steps - before;
    measure(i, mechd_now() - start, steps);
    struct mechd_metrics *m = &i->daemon->metrics;
    mechd_count(&m->steps, steps);
    if (s->outcome != 0) {
        s->report.outcome = s->outcome;
        mechd_count(&m->failed_steps, 1);
        return MECHD_DONE;
    }
    if (!done) {
        return MECHD_MORE;
    }

    // the end: committed and published, or kept as the trial
    mech_sim_step_finish(i->sim);
    mechd_count(&m->commands, 1);
    mechd_count(&m->iterations, s->report.iterations);
    mechd_count(&m->vi_iterations, s->report.vi_iterations);
    mechd_count(&m->contacts, s->report.contacts > 0 ? (uint64_t)s->report.contacts : 0);
    if (!s->request.trial) {
        mechd_instance_stepped(i, 0);
    }
    return MECHD_DONE;
}

void mechd_stepping_abandon(struct mechd_instance *i, struct mechd_stepping *s)
{
    mech_sim_step_abandon(i->sim);
    s->outcome = MECH_CANCELLED;
    s->report.outcome = MECH_CANCELLED;
}
