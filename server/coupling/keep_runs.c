/* Runs of a coupling in the store: those of its face, whose records go with those of the state. */
#include "server/coupling/keep.h"
#include "server/instance/entry.h"
#include "server/instance/runs.h"
#include "solver/base/err.h"

bool mechd_keep_collect_runs(struct mechd_coupling *g, struct mechd_entry **first,
                             struct mechd_entry **last)
{
    struct mechd_instance *const face = g->face;
    if (face->face_key == 0) {
        return true;
    }
    for (struct mechd_run *r = face->run; r != NULL; r = r->older) {
        if (r->unsaved) {
            mechd_run_show(r); // within a turn others do not see its periods yet
            face->durable.due = true;
        }
    }
    return mechd_durable_collect(face, first, last);
}

void mechd_keep_await_runs(struct mechd_coupling *g, struct mechd_entry *first)
{
    struct mechd_instance *const face = g->face;
    struct mechd_ticket *const t = face->durable.awaited;
    face->durable.awaited = NULL;
    for (struct mechd_entry *x = first; t != NULL && x != NULL;
         x = (struct mechd_entry *)x->r.next) {
        if (x->instance == face && x->r.kind == MECHD_RECORD_RUN) {
            x->ticket = t;
            return;
        }
    }
    if (t != NULL) {
        mechd_ticket_settle(t, MECH_NO_MEMORY);
    }
}

int mechd_keep_load_runs(struct mechd_coupling *g)
{
    return mechd_runs_load(g->face);
}

bool mechd_keep_runs_lost(const struct mechd_coupling *g)
{
    const struct mechd_durable *const d = &g->face->durable;
    return g->face->face_key != 0 && atomic_load(&d->failed) >= d->epoch;
}

void mechd_keep_undo_runs(struct mechd_coupling *g)
{
    struct mechd_instance *const face = g->face;
    struct mechd_durable *const d = &face->durable;
    mechd_durable_lose(d, d->epoch);
    mechd_run_stop(face, MECHD_RUN_FAILED, "its windows could not be stored");
    mechd_durable_drop_held(face);
    mechd_runs_undo(face);
    d->epoch = atomic_load(&d->failed) + 1;
}
