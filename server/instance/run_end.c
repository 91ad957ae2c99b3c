/* The end of a run, by itself or because it is stopped. */
#include "server/instance/host.h"
#include "server/instance/runs.h"
#include "solver/base/text.h"

/* Why an FMU that cannot be put back has ended with the period that a stop has undone; "": there
 * is none, or nothing was undone. */
static const char *lost_by(const struct mechd_run *r)
{
    return r->stepping.outcome == MECH_CANCELLED &&
                   !mechd_engine_keeps_state(&r->job.instance->engine)
               ? r->stepping.report.reason
               : "";
}

void mechd_run_end(struct mechd_run *r, enum mechd_run_state state, const char *reason)
{
    struct mechd_instance *const i = r->job.instance;
    const bool stopped = state == MECHD_RUN_STOPPED && reason[0] == '\0';
    r->state = state;
    pthread_mutex_lock(&r->p);
    mech_text_format(r->shown.reason, sizeof r->shown.reason, "%s", stopped ? lost_by(r) : reason);
    pthread_mutex_unlock(&r->p);
    atomic_store(&r->active, false);
    if (i->run == r) {
        atomic_store(&i->running, false);
    }
    mechd_instance_refund(i, MECHD_QUOTA_RUNS, 1);
    mechd_run_account(r);
    r->unsaved = true;
    i->durable.due = mechd_run_key(i) != 0;
    mechd_run_show(r);
}

void mechd_run_release(struct mechd_run *r)
{
    struct mechd_instance *i = r->job.instance;
    mechd_run_unref(r);
    mechd_instance_unref(i);
}

void mechd_run_stop(struct mechd_instance *i, enum mechd_run_state state, const char *reason)
{
    struct mechd_run *r = i->run;
    if (r == NULL || r->state != MECHD_RUN_RUNNING) {
        return;
    }
    if (r->stepping.begun) {
        mechd_stepping_cancel(i, &r->stepping, MECHD_STOP_STOPPED);
        r->stepping.begun = false;
    }
    mechd_run_end(r, state, reason);

    // a timer that is not armed has fired or is going to be armed: the next tick ends the chain
    if (mechd_clock_cancel(&i->host->pace, &r->timer)) {
        mechd_run_release(r);
    }
}
