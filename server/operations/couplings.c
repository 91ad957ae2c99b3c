/* Couplings: made, listed, stepped, reset, ended. */
#include "server/operations/couplings.h"
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_coupling.h"

#include "protocol/wire/json.h"
#include "protocol/wire/wants.h"
#include "server/call/query.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/coupling/keep.h"
#include "server/engine/fmu_engine.h"
#include "server/operations/ssp.h"
#include "solver/base/err.h"
#include "solver/base/times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t windows_most = 1000000000000;

/* The coupling of the path, a reference. NULL: refused. */
static struct mechd_coupling *find(struct mechd_call *c)
{
    const char *const id = mechd_call_value(c, "cid");
    struct mechd_coupling *const g = mechd_coupling_find(c->service->couplings, id);
    if (g == NULL) {
        mechd_fail(c, MECHP_NOT_FOUND, "there is no coupling %.64s", id);
    }
    return g;
}

/* --- commands --------------------------------------------------------------------------------- */

static void free_command(struct mechd_call *c)
{
    free(c->work);
}

/* A command of a coupling, whose reference is taken over; NULL: refused. */
static struct mechd_coupling_command *make(struct mechd_call *c, struct mechd_coupling *g,
                                           enum mechd_coupling_kind kind)
{
    struct mechd_coupling_command *const k = calloc(1, sizeof *k);
    if (k == NULL) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
        return NULL;
    }
    k->coupling = g;
    k->call = c;
    k->kind = kind;
    k->until = k->expect = (double)NAN;
    c->work = k;
    c->work_free = free_command;
    return k;
}

static enum mechd_submitted submit(struct mechd_coupling *g, struct mechd_coupling_command *k,
                                   struct mechd_call *c)
{
    const bool taken = k != NULL && mechd_coupling_submit(k);
    mechd_coupling_unref(g);
    if (k != NULL && !taken) {
        mechd_fail(c, MECHP_QUEUE_FULL, "%d commands wait for this coupling", MECHD_COUPLING_QUEUE);
    }
    return taken ? MECHD_QUEUED : MECHD_RAN;
}

static enum mechd_submitted spread_couple(struct mechd_call *c)
{
    if (c->bytes != NULL) {
        return mechd_ssp_couple(c);
    }
    if (!mechd_couplings_override(c, c->body)) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
        return MECHD_RAN;
    }
    struct mechd_coupling *const g = mechd_coupling_open(c, false);
    return g != NULL ? submit(g, make(c, g, MECHD_COUPLING_START), c) : MECHD_RAN;
}

const struct mechd_operation mechd_operation_COUPLE = {.spread = spread_couple};

/* size, until or count: exactly one. */
static void read_windows(struct mechd_call *c, const struct mechp_body_coupling_step_request *in,
                         const struct mechd_coupling *g, struct mechd_coupling_command *k)
{
    struct mech_step_request r = {.kind = MECH_STEP_SIZE};
    mechd_set_extent(c, (struct mechd_extent){in->size, in->until, in->count}, &r);
    k->size = g->step_size;
    k->windows = r.count;
    if (!mech_diag_clean(&c->diag)) {
        return;
    }
    if (r.kind == MECH_STEP_UNTIL) {
        k->until = r.until;
    } else if (r.kind == MECH_STEP_SIZE) {
        const double windows =
            mech_time_steps((struct mech_time_part){.to = r.size}, g->step_size, 0., &k->size);
        k->windows = windows < (double)windows_most ? (uint64_t)windows : (uint64_t)windows_most;
    }
}

/* want: what the reply has besides. */
static void read_want(struct mechd_call *c, const json_t *want, const struct mechd_coupling *g,
                      struct mechd_coupling_command *k)
{
    for (size_t n = 0; n < json_array_size(want); n++) {
        char path[MECHP_WANT_PATH];
        const int one = mechp_want_read(want, n, MECHP_WANTED_COUPLING, path, &c->diag);
        if (one < 0) {
            continue;
        }
        k->interface = k->interface || one == MECHP_WANT_INTERFACE;
        k->energy = k->energy || one == MECHP_WANT_ENERGY;
        for (int32_t p = 0; p < g->count; p++) {
            if (g->parts[p].instance->sim == NULL) {
                mech_diag_add(&c->diag, path, "%.20s of participant %.64s is not known",
                              mechp_want_name(one, MECHP_WANTED_COUPLING), g->parts[p].name);
            }
        }
    }
}

static enum mechd_submitted spread_step(struct mechd_call *c)
{
    struct mechd_coupling *const g = find(c);
    struct mechd_coupling_command *const k = g != NULL ? make(c, g, MECHD_COUPLING_STEP) : NULL;
    if (k != NULL) {
        struct mechp_body_coupling_step_request in;
        MECHP_READ(coupling_step_request, c->body, &c->diag, &in);
        read_windows(c, &in, g, k);
        read_want(c, in.want.of, g, k);
        k->expect = in.expect_time;
        k->kind = in.commit == NULL || *in.commit ? MECHD_COUPLING_STEP : MECHD_COUPLING_TRIAL;
    }
    if (k == NULL || mechd_call_faulty(c)) {
        mechd_coupling_unref(g);
        return MECHD_RAN;
    }
    return submit(g, k, c);
}

const struct mechd_operation mechd_operation_STEP_COUPLING = {.spread = spread_step};

static enum mechd_submitted spread_commit(struct mechd_call *c)
{
    struct mechp_body_coupling_commit_request in;
    MECHP_READ(coupling_commit_request, c->body, &c->diag, &in);
    if (in.trial < 1) {
        mech_diag_add(&c->diag, "/trial", "the trial's number is needed");
    }
    struct mechd_coupling *const g = find(c);
    if (g == NULL || mechd_call_faulty(c)) {
        mechd_coupling_unref(g);
        return MECHD_RAN;
    }
    struct mechd_coupling_command *const k = make(c, g, MECHD_COUPLING_ONCE);
    if (k != NULL) {
        k->once = mechd_trial_commit;
        k->alone = true;
        k->trial = (uint64_t)in.trial;
    }
    return submit(g, k, c);
}

const struct mechd_operation mechd_operation_COMMIT_COUPLING = {.spread = spread_commit};

static enum mechd_submitted spread_reset(struct mechd_call *c)
{
    struct mechd_coupling *const g = find(c);
    return g != NULL ? submit(g, make(c, g, MECHD_COUPLING_RESET), c) : MECHD_RAN;
}

const struct mechd_operation mechd_operation_RESET_COUPLING = {.spread = spread_reset};

/* --- snapshots -------------------------------------------------------------------------------- */

enum mechd_submitted mechd_couplings_once(struct mechd_call *c, bool alone,
                                          void (*once)(struct mechd_coupling_command *k))
{
    struct mechd_coupling *const g = find(c);
    struct mechd_coupling_command *const k = g != NULL ? make(c, g, MECHD_COUPLING_ONCE) : NULL;
    if (k != NULL) {
        k->once = once;
        k->alone = alone;
        k->slow = mechd_call_row(c)->cost == MECHP_COST_UNKNOWN;
    }
    return g != NULL ? submit(g, k, c) : MECHD_RAN;
}

static enum mechd_submitted spread_take(struct mechd_call *c)
{
    return mechd_couplings_once(c, false, mechd_coupling_snapshot_take);
}

const struct mechd_operation mechd_operation_TAKE_COUPLING_SNAPSHOT = {.spread = spread_take};

static enum mechd_submitted spread_restore(struct mechd_call *c)
{
    return mechd_couplings_once(c, true, mechd_coupling_snapshot_restore);
}

const struct mechd_operation mechd_operation_RESTORE_COUPLING = {.spread = spread_restore};

static enum mechd_progress run_snapshots(struct mechd_call *c)
{
    struct mechd_coupling *const g = find(c);
    if (g != NULL) {
        mechd_coupling_snapshots_write(g, &c->text);
    }
    mechd_coupling_unref(g);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_COUPLING_SNAPSHOTS = {.run = run_snapshots};

/* There is none of the path's id. */
static void refuse_snapshot(struct mechd_call *c, struct mechd_coupling *g)
{
    char detail[200];
    mechd_coupling_snapshot_missing(g, mechd_call_value(c, "sid"), detail);
    mechd_fail(c, MECHP_NOT_FOUND, "%s", detail);
}

static enum mechd_progress run_snapshot(struct mechd_call *c)
{
    struct mechd_coupling *const g = find(c);
    if (g != NULL && !mechd_coupling_snapshot_write(g, mechd_call_value(c, "sid"), &c->text)) {
        refuse_snapshot(c, g);
    }
    mechd_coupling_unref(g);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_COUPLING_SNAPSHOT = {.run = run_snapshot};

static enum mechd_progress run_forget(struct mechd_call *c)
{
    struct mechd_coupling *const g = find(c);
    c->status = 204;
    struct mechd_ticket *const t =
        g != NULL && mechd_keep_has_snapshots(g) ? mechd_call_ticket(c) : NULL;
    if (g != NULL && !mechd_coupling_snapshot_delete(g, mechd_call_value(c, "sid"), t)) {
        refuse_snapshot(c, g);
    }
    mechd_coupling_unref(g);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DELETE_COUPLING_SNAPSHOT = {.run = run_forget};

/* --- stability -------------------------------------------------------------------------------- */

static enum mechd_submitted spread_stability(struct mechd_call *c)
{
    struct mechd_coupling *const g = find(c);
    struct mechp_query_stability asked;
    MECHD_ASK(stability, c, &asked);
    if (g == NULL || mechd_call_faulty(c)) {
        mechd_coupling_unref(g);
        return MECHD_RAN;
    }
    struct mechd_coupling_command *const k = make(c, g, MECHD_COUPLING_ONCE);
    if (k != NULL) {
        k->once = mechd_coupling_stability;
        k->slow = true;
        k->size = isnan(asked.size) ? g->step_size : asked.size;
    }
    return submit(g, k, c);
}

const struct mechd_operation mechd_operation_COUPLING_STABILITY = {.spread = spread_stability};

/* --- as a package ----------------------------------------------------------------------------- */

/* Uploaded FMUs go only to tokens that may upload FMUs. False: refused. */
static bool may_have_fmus(struct mechd_call *c, const struct mechd_coupling *g)
{
    for (int32_t n = 0; n < g->count && c->who.scope < MECHP_SCOPE_FMU; n++) {
        if (mechd_engine_package(&g->parts[n].instance->engine) != NULL) {
            mechd_fail(c, MECHP_FORBIDDEN,
                       "participant %.64s is a hosted FMU: this needs the scope %s; %s has %s",
                       g->parts[n].name, mechp_scope_names[MECHP_SCOPE_FMU], c->who.name,
                       mechp_scope_names[c->who.scope]);
            return false;
        }
    }
    return true;
}

static enum mechd_submitted spread_ssp(struct mechd_call *c)
{
    struct mechd_coupling *const g = find(c);
    const bool allowed = g != NULL && may_have_fmus(c, g);
    struct mechd_coupling_command *const k = allowed ? make(c, g, MECHD_COUPLING_ONCE) : NULL;
    if (k != NULL) {
        k->once = mechd_ssp_write;
        k->slow = true;
    }
    return g != NULL ? submit(g, k, c) : MECHD_RAN;
}

const struct mechd_operation mechd_operation_COUPLING_SSP = {.spread = spread_ssp};

/* --- the rest --------------------------------------------------------------------------------- */

/* All couplings. */
struct list {
    struct mechd_coupling **at; /* [count] */
    size_t count;
};

static void write_items(const void *of, struct mechp_text *w)
{
    const struct list *const list = of;
    mechp_text_array(w);
    for (size_t k = 0; k < list->count; k++) {
        mechd_coupling_write(list->at[k], false, w);
    }
    mechp_text_end(w);
}

static enum mechd_progress run_list(struct mechd_call *c)
{
    struct list list = {NULL, 0};
    if (mechd_coupling_list(c->service->couplings, &list.at, &list.count) != 0) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the list");
    }
    const struct mechp_body_coupling_list body = {{write_items, &list}};
    MECHP_WRITE(coupling_list, &body, &c->text);
    for (size_t k = 0; k < list.count; k++) {
        mechd_coupling_unref(list.at[k]);
    }
    free(list.at);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_COUPLINGS = {.run = run_list};

static enum mechd_progress run_get(struct mechd_call *c)
{
    struct mechd_coupling *const g = find(c);
    if (g != NULL) {
        mechd_coupling_write(g, true, &c->text);
    }
    mechd_coupling_unref(g);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_GET_COUPLING = {.run = run_get};

/* One that is stored, or whose instances are, is gone once that is on the disk. */
static enum mechd_submitted spread_delete(struct mechd_call *c)
{
    struct mechd_coupling *const g = find(c);
    const bool stored = g != NULL && g->keep.group != NULL;
    struct mechd_coupling_command *const k = stored ? make(c, g, MECHD_COUPLING_END) : NULL;
    c->status = 204;
    (void)mechd_stop_close(&c->stop); // it has just begun
    const bool gone = g != NULL && (stored ? k != NULL && !mechd_coupling_end(g)
                                           : !mechd_coupling_remove(c->service->couplings, g));
    if (gone) {
        mechd_fail(c, MECHP_NOT_FOUND, "there is no coupling %.64s", mechd_call_value(c, "cid"));
    }
    if (k != NULL && !gone) {
        return submit(g, k, c);
    }
    mechd_coupling_unref(g);
    return MECHD_RAN;
}

const struct mechd_operation mechd_operation_DELETE_COUPLING = {.spread = spread_delete};
