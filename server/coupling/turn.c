/* Turns of runs. */
#include "server/coupling/turn.h"

#include "server/call/service.h"
#include "server/coupling/face.h"
#include "server/coupling/keep.h"
#include "server/instance/runs.h"
#include "server/os/ticks.h"

#include <math.h>
#include <stdlib.h>

/* A turn, and the call that its command needs: of no client. */
struct turn {
    struct mechd_coupling_command k; /* first */
    struct mechd_call call;
    uint64_t start; /* ns, 0: no period has begun */
    bool more;      /* a period is over, and another one belongs to this turn */
};

static void wait_for_none(struct mechd_job *job)
{
    (void)job;
}

enum mechd_submitted mechd_turn_submit(struct mechd_run *r)
{
    struct mechd_coupling *const g = mechd_face_coupling(r->job.instance);
    if (g == NULL) {
        // the coupling is over, and so is the run: its job sees that
        return mechd_instance_submit(r->job.instance, &r->job);
    }
    struct turn *const t = calloc(1, sizeof *t);
    bool taken = false;
    if (t != NULL) {
        mechd_call_init(&t->call, g->service, MECHD_DOOR_HTTP);
        t->call.job.wait = wait_for_none;
        t->k.coupling = g;
        t->k.call = &t->call;
        t->k.kind = MECHD_COUPLING_STEP;
        t->k.run = r;
        t->k.slow = true;
        t->k.size = g->step_size;
        t->k.until = (double)NAN; // no window before the run has named its end
        taken = g->calls->submit(&t->k);
    }
    if (t != NULL && !taken) {
        mechd_call_fini(&t->call);
        free(t);
    }
    mechd_coupling_unref(g);
    return taken ? MECHD_QUEUED : MECHD_FULL;
}

void mechd_turn_warn(const struct mechd_coupling *g, struct mechd_run *r)
{
    char text[MECHD_COUPLING_WARNING];
    // a period and the run end with a window that is as long as what is left; until may be NAN
    const double size = fmin(fmin(g->step_size, r->settings.period), r->settings.until - r->time);
    if (mechd_coupling_warns(g, size, text)) {
        mechd_run_warn(r, text);
    }
}

bool mechd_turn_next(struct mechd_coupling_command *k)
{
    struct turn *const t = (struct turn *)k;
    struct mechd_run *const r = k->run;
    r->now = mechd_now();
    if ((t->start != 0 && !t->more) || !mechd_run_next(r)) {
        return false;
    }
    t->more = false;
    if (t->start == 0) {
        // a stability report may have come since the last turn
        mechd_turn_warn(k->coupling, r);
        t->start = r->now;
    }
    k->until = r->stepping.request.until;
    return true;
}

void mechd_turn_window(struct mechd_coupling_command *k)
{
    struct turn *const t = (struct turn *)k;
    k->run->now = mechd_now();
    t->more = mechd_run_done(k->run, t->start);
}

bool mechd_turn_disturbed(const struct mechd_coupling_command *k)
{
    return k->run == NULL && atomic_load(&k->coupling->face->running) &&
           (k->kind != MECHD_COUPLING_ONCE || k->alone);
}

void mechd_turn_settle(struct mechd_coupling_command *k)
{
    struct mechd_instance *const face = k->coupling->face;
    const struct mechd_host *const h = face->host;
    // what fails behind a deletion is no failure: leases are released, programs get a bye; a
    // deletion that is only wished for fails nothing, and may come to nothing
    const bool over = !mechd_instance_lives(face);
    const bool deleted = over || mechd_coupling_ended(k->coupling) != MECHD_STOP_NONE;
    k->run->now = mechd_now();
    mechd_last_note(k);
    if (k->code == MECHP_DRAINING || (k->code != MECHP_OK && mechd_host_drains(h))) {
        mechd_run_stop(face, MECHD_RUN_INTERRUPTED, "the server was shut down");
    } else if (k->code == MECHP_CANCELLED || (k->code != MECHP_OK && over)) {
        mechd_run_stop(face, MECHD_RUN_STOPPED, deleted ? "" : k->detail);
    } else if (k->code != MECHP_OK) {
        mechd_run_stop(face, MECHD_RUN_FAILED, k->detail);
    }
    mechd_run_show(k->run);
}

void mechd_turn_over(struct mechd_coupling_command *k, bool held)
{
    struct turn *const t = (struct turn *)k;
    struct mechd_run *const r = k->run;
    // too many wait for a participant, or the disk is behind: a little later
    r->waits = !held || mechd_keep_behind(k->coupling);
    mechd_call_fini(&t->call);
    free(t);
    mechd_run_turned(r);
}
