#include "server/coupling/keep.h"

#include "protocol/frame/frame.h"
#include "server/call/service.h"
#include "server/coupling/face.h"
#include "server/coupling/kept.h"
#include "server/instance/entry.h"
#include "server/instance/group.h"
#include "server/instance/runs.h"
#include "server/instance/snapshots.h"
#include "server/os/log.h"
#include "server/os/ticks.h"
#include "server/store/store.h"
#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OUTSTANDING_MOST = 64 /* records of one coupling without a waiting answer */
};

/* While the disk is behind, ns. */
static const uint64_t pause = 50 * MECHD_MS;

/* A command of no client. */
struct mechd_errand {
    struct mechd_coupling_command k; /* first */
    struct mechd_call call;
};

/* --- commands of no client -------------------------------------------------------------------- */

static void arm(struct mechd_coupling *g, uint64_t at);

static void wait_for_none(struct mechd_job *job)
{
    (void)job;
}

/* Others may ask again. */
static void take_asked(struct mechd_coupling_command *k)
{
    if (k->kind == MECHD_COUPLING_KEEP) {
        pthread_mutex_lock(&k->coupling->m);
        k->coupling->keep.asked = false;
        pthread_mutex_unlock(&k->coupling->m);
    }
}

/* Have all of it stored, or put back. The errand has been allocated with the group: what must be
 * undone because there is no memory waits for none. Another one only where that is not over yet.
 * Any thread. */
static void ask(struct mechd_coupling *g)
{
    struct mechd_errand *e = NULL;
    pthread_mutex_lock(&g->m);
    const bool asked = g->keep.asked;
    g->keep.asked = true;
    if (!asked) {
        e = g->keep.spare;
        g->keep.spare = NULL;
    }
    pthread_mutex_unlock(&g->m);
    if (asked) {
        return;
    }
    e = e != NULL ? e : calloc(1, sizeof *e);
    if (e == NULL) {
        pthread_mutex_lock(&g->m);
        g->keep.asked = false;
        pthread_mutex_unlock(&g->m);
        arm(g, mechd_now() + pause);
        return;
    }
    mechd_call_init(&e->call, g->service, MECHD_DOOR_HTTP);
    e->call.job.wait = wait_for_none;
    e->k.coupling = g;
    e->k.call = &e->call;
    e->k.kind = MECHD_COUPLING_KEEP;
    e->k.slow = true;
    (void)g->calls->submit(&e->k);
}

static void fire(struct mechd_timer *timer)
{
    struct mechd_coupling *const g =
        (struct mechd_coupling *)((char *)timer - offsetof(struct mechd_coupling, keep.timer));
    pthread_mutex_lock(&g->m);
    g->keep.armed = false;
    pthread_mutex_unlock(&g->m);
    atomic_store(&g->keep.wanted, true);
    if (mechd_group_lasts(g->keep.group)) {
        ask(g);
    }
    mechd_coupling_unref(g);
}

/* Ask at this time, unless that is to come already. Any thread. */
static void arm(struct mechd_coupling *g, uint64_t at)
{
    struct mechd_keeping *const s = &g->keep;
    pthread_mutex_lock(&g->m);
    if (!s->armed) {
        s->timer.fire = fire;
        mechd_coupling_ref(g);
        s->armed = mechd_clock_arm(&g->service->host.clock, &s->timer, at);
        if (!s->armed) {
            atomic_fetch_sub(&g->refs, 1); // the clock has stopped: the caller has another one
        }
    }
    pthread_mutex_unlock(&g->m);
}

/* Of its group: one of the instances has changed alone, or a record could not be stored. */
static void due(void *coupling, uint64_t at)
{
    struct mechd_coupling *const g = coupling;
    if (at > mechd_now()) {
        arm(g, at);
    } else {
        ask(g);
    }
}

void mechd_keep_over(struct mechd_coupling_command *k)
{
    struct mechd_errand *e = (struct mechd_errand *)k;
    struct mechd_coupling *const g = k->coupling;
    mechd_call_fini(&e->call);
    *e = (struct mechd_errand){.call = {.service = NULL}};
    pthread_mutex_lock(&g->m);
    if (g->keep.spare == NULL) {
        g->keep.spare = e;
        e = NULL;
    }
    pthread_mutex_unlock(&g->m);
    free(e);
}

/* --- what is stored --------------------------------------------------------------------------- */

/* Its mode and its checkpoints, by its participants. True: one of them stores every step. */
static bool settle_mode(struct mechd_coupling *g)
{
    struct mechd_keeping *const s = &g->keep;
    bool all = true, every = false;
    s->payer = -1;
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_durable_settings *const d = &g->parts[n].instance->durable.settings;
        if (!mechd_keep_has(&g->parts[n])) {
            all = all && g->parts[n].outside != NULL;
            continue;
        }
        s->payer = s->payer < 0 ? n : s->payer;
        every = every || d->mode == MECHD_DURABLE_EVERY_STEP;
        s->steps = d->steps > 0 && (s->steps == 0 || d->steps < s->steps) ? d->steps : s->steps;
        s->seconds = d->seconds > 0. && (s->seconds == 0. || d->seconds < s->seconds) ? d->seconds
                                                                                      : s->seconds;
    }
    s->mode = !all || s->payer < 0 ? MECHD_DURABLE_NONE
              : every              ? MECHD_DURABLE_EVERY_STEP
                                   : MECHD_DURABLE_CHECKPOINT;
    return every;
}

/* To the account of the payer. False: refused. */
static bool charge(struct mechd_coupling_command *k, enum mechd_quota which, uint64_t size)
{
    const struct mechd_keeping *const s = &k->coupling->keep;
    const bool good = mechd_instance_charge(k->coupling->parts[s->payer].instance, which, size,
                                            s->loading ? NULL : &k->call->excess);
    if (!good) {
        char detail[sizeof k->detail];
        mechd_coupling_refuse(k, MECHP_QUOTA_EXCEEDED,
                              mechd_excess_tell(&k->call->excess, detail, sizeof detail));
    }
    return good;
}

bool mechd_keep_join(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    struct mechd_keeping *const s = &g->keep;
    const bool every = settle_mode(g);
    if (s->payer < 0) {
        return true;
    }
    s->group = mechd_group_create(every, due, g);
    s->spare = calloc(1, sizeof(struct mechd_errand));
    if (s->group == NULL || s->spare == NULL || mechd_kept_take(g, &s->kept) != 0 ||
        mechd_kept_watch(g) != 0) {
        mechd_coupling_refuse(k, MECHP_OUT_OF_MEMORY, "no memory to store the coupling");
        return false;
    }
    s->epoch = 1;
    s->recorded = mechd_now();
    if (s->mode != MECHD_DURABLE_NONE) {
        const uint64_t size = g->document_size + mechd_keep_size(g);
        s->charged = charge(k, MECHD_QUOTA_STORED, size) ? size : 0;
    } else {
        const uint64_t size = mechd_kept_size(g);
        s->retained = charge(k, MECHD_QUOTA_MEMORY, size) ? size : 0;
    }
    if (k->code != MECHP_OK) {
        return false;
    }
    for (int32_t n = 0; n < g->count; n++) {
        if (mechd_keep_has(&g->parts[n])) {
            mechd_durable_join(g->parts[n].instance, s->group);
        }
    }
    s->making = !s->loading;
    return true;
}

void mechd_keep_number(struct mechd_coupling *g, uint64_t number)
{
    if (g->keep.mode != MECHD_DURABLE_NONE) {
        g->face->face_key = -(int64_t)number;
        g->face->durable.epoch = 1;
        mechd_durable_join(g->face, g->keep.group);
    }
}

void mechd_keep_close(struct mechd_coupling *g)
{
    struct mechd_keeping *const s = &g->keep;
    if (s->group == NULL) {
        return;
    }
    const bool lasted = mechd_group_lasts(s->group);
    mechd_group_end(s->group);
    pthread_mutex_lock(&g->m);
    const bool armed = s->armed && mechd_clock_cancel(&g->service->host.clock, &s->timer);
    s->armed = s->armed && !armed;
    pthread_mutex_unlock(&g->m);
    if (armed) {
        mechd_coupling_unref(g); // the timer's: the caller has another one
    }
    for (int32_t n = 0; n < g->count && lasted; n++) {
        if (mechd_keep_has(&g->parts[n])) {
            mechd_durable_part(g->parts[n].instance);
        }
    }
}

void mechd_keep_fini(struct mechd_coupling *g)
{
    struct mechd_keeping *const s = &g->keep;
    if (s->charged > 0) {
        mechd_instance_refund(g->parts[s->payer].instance, MECHD_QUOTA_STORED, s->charged);
    }
    if (s->retained > 0) {
        mechd_instance_refund(g->parts[s->payer].instance, MECHD_QUOTA_MEMORY, s->retained);
    }
    if (s->group != NULL) {
        mechd_group_end(s->group);
        mechd_group_unref(s->group);
        mechd_keep_await_runs(g, NULL);
    }
    free(s->spare);
    mechd_kept_free(&s->kept);
    mechd_kept_unwatch(g);
}

/* --- when ------------------------------------------------------------------------------------- */

/* It is stored with its instances, and has not been deleted. */
static bool lasts(const struct mechd_coupling *g)
{
    return g->keep.group != NULL && mechd_group_lasts(g->keep.group);
}

static bool is_dirty(const struct mechd_coupling *g)
{
    bool dirty = g->keep.dirty || g->face->durable.due;
    for (int32_t n = 0; n < g->count && !dirty; n++) {
        const struct mechd_durable *const d = &g->parts[n].instance->durable;
        dirty = mechd_keep_has(&g->parts[n]) && (d->dirty || d->due);
    }
    return dirty;
}

/* By the number of windows, asked for, or because of a run: it begins or ends, or has many rows. */
static bool is_due(const struct mechd_coupling *g)
{
    const struct mechd_keeping *const s = &g->keep;
    const struct mechd_run *const r = atomic_load(&g->face->running) ? g->face->run : NULL;
    return atomic_load(&s->wanted) || g->face->durable.due ||
           (r != NULL && mechd_recording_pressed(&r->record)) ||
           (s->steps > 0 && g->face->published.sequence - s->since >= s->steps);
}

bool mechd_keep_behind(const struct mechd_coupling *g)
{
    return atomic_load(&g->keep.outstanding) >= OUTSTANDING_MOST;
}

/* The next checkpoint by the clock. */
static void arm_next(struct mechd_coupling *g)
{
    if (g->keep.seconds > 0.) {
        arm(g, g->keep.recorded + mechd_ns(g->keep.seconds));
    }
}

void mechd_keep_begin(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    if (lasts(g) && !g->keep.group->every_step && k->kind == MECHD_COUPLING_STEP) {
        arm_next(g);
    }
}

void mechd_keep_window(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    if (g->keep.group != NULL && atomic_load(&g->keep.failed) >= g->keep.epoch) {
        // what follows on it will be undone
        mechd_coupling_refuse(k, MECHP_STORAGE_FAILED,
                              "a change before this one could not be stored");
        return;
    }
    if (g->keep.group == NULL || g->keep.group->every_step || k->kind != MECHD_COUPLING_STEP ||
        !is_due(g) || mechd_keep_behind(g) || !lasts(g)) {
        return;
    }
    if (is_dirty(g)) {
        mechd_keep_post(g, MECHD_RECORD_COUPLING_STATE, NULL);
    }
    arm_next(g);
}

/* A command, or a change of one of its instances, that waits for a checkpoint. */
static void checkpoint(struct mechd_coupling_command *k, struct mechd_ticket *t)
{
    struct mechd_coupling *const g = k->coupling;
    const bool held = t == NULL || mechd_durable_hold(g->parts[g->keep.payer].instance, t);
    const uint64_t age = mechd_now() - g->keep.recorded;
    const bool due_now = k->kind == MECHD_COUPLING_KEEP || is_due(g) ||
                         (g->keep.seconds > 0. && age >= mechd_ns(g->keep.seconds));
    if (!held) {
        mechd_keep_post(g, MECHD_RECORD_COUPLING_STATE, t);
    } else if (due_now && mechd_keep_behind(g)) {
        arm(g, mechd_now() + pause);
    } else if (due_now) {
        mechd_keep_post(g, MECHD_RECORD_COUPLING_STATE, NULL);
    } else {
        arm_next(g);
    }
}

static void store_due(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    const bool client = k->run == NULL && k->kind != MECHD_COUPLING_KEEP;
    struct mechd_ticket *const t = client ? mechd_call_ticket(k->call) : NULL;
    const bool stored = g->keep.mode != MECHD_DURABLE_NONE;
    if (t != NULL && !stored) {
        t->receipt = NULL; // the next process has no coupling to which it belongs
    }
    if (k->kind == MECHD_COUPLING_KEEP) {
        atomic_store(&g->keep.wanted, false);
    }
    if (!lasts(g)) {
        return; // behind the command that has deleted it
    }
    // with checkpoints a coupling that is not stored is there before anything of it is on the disk
    g->keep.making = g->keep.making && (stored || g->keep.group->every_step);
    // what it has done can be on its way to the disk already: its receipt goes after it
    const bool owed =
        t != NULL && t->receipt != NULL && k->kind == MECHD_COUPLING_STEP && k->done > 0;
    if (k->kind == MECHD_COUPLING_START && (stored || k->call->code != MECHP_OK)) {
        if (k->call->code == MECHP_OK) {
            mechd_keep_number(g, g->id);
            mechd_keep_post(g, MECHD_RECORD_COUPLING, t);
        }
    } else if (k->kind == MECHD_COUPLING_END) {
        if (k->code == MECHP_OK) {
            mechd_keep_post(g, MECHD_RECORD_DELETE_COUPLING, t);
        } else {
            mechd_stop_lower(&g->ended);
        }
    } else if (is_dirty(g) && !g->keep.group->every_step && !mechd_keep_has_new_snapshots(g)) {
        checkpoint(k, t);
    } else if (is_dirty(g) || owed) {
        mechd_keep_post(g, MECHD_RECORD_COUPLING_STATE, t);
    }
    g->keep.making = false;
}

void mechd_keep_command(struct mechd_coupling_command *k)
{
    store_due(k);
    mechd_kept_command_ends(k->coupling);
}

void mechd_keep_refused(struct mechd_coupling_command *k)
{
    take_asked(k);
    if (k->kind == MECHD_COUPLING_KEEP) {
        atomic_store(&k->coupling->keep.wanted, false);
        // their answers wait for no queue that is full; what they lost is undone later
        mechd_group_answer(mechd_group_take_lost(k->coupling->keep.group));
        arm(k->coupling, mechd_now() + pause);
    } else if (k->kind == MECHD_COUPLING_END) {
        mechd_stop_lower(&k->coupling->ended);
    }
}

/* --- undo ------------------------------------------------------------------------------------- */

static int read_state(void *context, const struct mechd_stored_bytes *b)
{
    char reason[160];
    return mechd_keep_read(context, b->bytes, b->size, reason);
}

int mechd_keep_repair(struct mechd_coupling *g)
{
    struct mechd_keeping *const s = &g->keep;
    if (!lasts(g)) {
        return 0; // its instances are their own again
    }
    bool lost = atomic_load(&s->failed) >= s->epoch;
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_durable *const d = &g->parts[n].instance->durable;
        if (mechd_keep_has(&g->parts[n])) {
            mechd_snapshots_lose(g->parts[n].instance);
        }
        lost = lost || (mechd_keep_has(&g->parts[n]) && atomic_load(&d->failed) >= d->epoch);
    }
    if (!lost && !mechd_keep_runs_lost(g)) {
        return 0;
    }
    mechd_keep_lose(s, s->epoch);
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_durable *const d = &g->parts[n].instance->durable;
        if (mechd_keep_has(&g->parts[n])) {
            mechd_durable_lose(d, d->epoch);
            MECH_TRY(mechd_durable_repair(g->parts[n].instance));
        }
    }
    if (s->mode != MECHD_DURABLE_NONE &&
        mechd_store_coupling_state(g->service->host.store, g->id, read_state, g) != 0) {
        return MECH_INTERNAL;
    }
    if (mechd_kept_return(g) != 0) {
        return MECH_INTERNAL;
    }
    mechd_trial_drop(g);
    mechd_coupling_snapshots_lose(g);
    mechd_face_changed(g, MECHP_REWOUND);
    if (s->mode != MECHD_DURABLE_NONE) {
        mechd_keep_undo_runs(g);
    } else {
        mechd_kept_cut_runs(g);
    }
    mechd_last_lost(g);
    s->dirty = false;
    s->epoch = atomic_load(&s->failed) + 1;
    mechd_log(MECHD_WARNING, "undone", "coupling=c-%llu time=%.17g", (unsigned long long)g->id,
              mechd_coupling_time(g));
    return 0;
}

int mechd_keep_mend(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    struct mechd_group *const group = g->keep.group;
    mechd_kept_command_begins(g);
    // what is lost from now on asks again: this command may have looked already
    take_asked(k);
    struct mechd_ticket *const lost = group != NULL ? mechd_group_take_lost(group) : NULL;
    const int outcome = mechd_keep_repair(g);
    if (lost != NULL) {
        mechd_coupling_note_time(g);
        mechd_group_answer(lost);
    }
    return outcome;
}

/* --- shutdown --------------------------------------------------------------------------------- */

static int flush(struct mechd_coupling *g)
{
    bool all = true;
    bool sealed[MECHD_COUPLING_PARTS] = {false};
    int lost = 0;
    for (int32_t n = 0; n < g->count; n++) {
        sealed[n] = mechd_keep_has(&g->parts[n]) && mechd_instance_seal(g->parts[n].instance);
        all = all && (sealed[n] || !mechd_keep_has(&g->parts[n]));
    }
    if (all && is_dirty(g)) {
        mechd_keep_post(g, MECHD_RECORD_COUPLING_STATE, NULL);
    }
    for (int32_t n = 0; n < g->count && !all; n++) {
        struct mechd_durable *const d = &g->parts[n].instance->durable;
        if (sealed[n] && (d->dirty || d->due)) {
            // alone it would be ahead of those that cannot be stored
            d->dirty = d->due = false;
            lost++;
        }
    }
    mechd_group_end(g->keep.group);
    return lost;
}

int mechd_couplings_flush(struct mechd_couplings *t)
{
    struct mechd_coupling **all = NULL;
    size_t count = 0;
    int lost = 0;
    if (mechd_coupling_list(t, &all, &count) != 0) {
        return 0;
    }
    for (size_t k = 0; k < count; k++) {
        lost += all[k]->keep.group != NULL ? flush(all[k]) : 0;
        mechd_coupling_unref(all[k]);
    }
    free(all);
    return lost;
}
