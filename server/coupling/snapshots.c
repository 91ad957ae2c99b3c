/* Snapshots of a coupling: its state and those of all its instances, in memory, and where the
 * coupling is stored also in the store (keep_snapshots.c). */
#include "server/coupling/face.h"
#include "server/coupling/keep.h"
#include "server/coupling/saved.h"

#include "protocol/frame/frame.h"
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_coupling.h"
#include "server/instance/group.h"
#include "server/instance/host.h"
#include "server/instance/lives.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By the text of its id; the coupling is locked. NULL: there is none, or it is not on its way to
 * the store. */
static struct mechd_coupling_snapshot *find(struct mechd_coupling *g, const char *id)
{
    char known[32];
    for (int k = 0; k < g->snapshot_count; k++) {
        snprintf(known, sizeof known, "s-%" PRIu64, g->snapshots[k].id);
        if (strcmp(known, id) == 0 && !g->snapshots[k].is_new) {
            return &g->snapshots[k];
        }
    }
    return NULL;
}

void mechd_coupling_snapshot_missing(struct mechd_coupling *g, const char *id, char detail[200])
{
    char before[MECHD_LIVES_WORDS];
    mech_text_format(detail, 200, "there is no snapshot %.64s%s", id,
                     mechd_lives_tell(g->face, MECHD_COUNTED_PART, id, before));
}

static void write(const struct mechd_coupling_snapshot *s, struct mechp_text *w)
{
    char id[32];
    snprintf(id, sizeof id, "s-%" PRIu64, s->id);
    const struct mechp_body_coupling_snapshot body = {
        .id = id, .time = s->saved->time, .window = s->saved->windows, .bytes = s->saved->size};
    MECHP_WRITE(coupling_snapshot, &body, w);
}

/* Whether a snapshot is answered behind the changes before it, which may still be on their way to
 * the disk: where each of them is stored, and where it is stored itself. */
static bool is_recorded(const struct mechd_coupling *g)
{
    return (g->keep.group != NULL && g->keep.group->every_step) || mechd_keep_has_snapshots(g);
}

/* Into the list. 0; MECH_UNSUPPORTED: it is full; MECH_CANCELLED: its number cannot be recorded. */
static int add(struct mechd_coupling *g, struct mechd_saved *saved, uint64_t *id,
               struct mechp_text *w)
{
    pthread_mutex_lock(&g->m);
    const bool has_room = mechd_coupling_snapshot_fits(g, saved->size);
    *id = has_room ? mechd_lives_next(g->face, MECHD_COUNTED_PART, g->snapshot_last) : 0;
    if (*id > 0) {
        g->snapshot_last = *id;
        g->snapshots[g->snapshot_count] =
            (struct mechd_coupling_snapshot){.id = *id,
                                             .record = is_recorded(g) ? g->keep.posted + 1 : 0,
                                             .is_new = mechd_keep_has_snapshots(g),
                                             .saved = saved};
        write(&g->snapshots[g->snapshot_count++], w);
    }
    pthread_mutex_unlock(&g->m);
    return !has_room ? MECH_UNSUPPORTED : *id == 0 ? MECH_CANCELLED : 0;
}

void mechd_coupling_snapshot_take(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    struct mechd_saved *saved = NULL;
    uint64_t id = 0;
    char detail[sizeof k->detail];
    int outcome = 0;
    if (mechd_saved_take(g, &saved) != 0) {
        mechd_coupling_refuse(k, MECHP_OUT_OF_MEMORY, "no memory for the snapshot");
        return;
    }
    saved->stored = mechd_keep_has_snapshots(g);
    if (!mechd_saved_charge(saved, g, MECHD_SNAPSHOT_ONE, &k->call->excess)) {
        mechd_saved_free(saved, g, MECHD_SNAPSHOT_ONE);
        mechd_coupling_refuse(k, MECHP_QUOTA_EXCEEDED,
                              mechd_excess_tell(&k->call->excess, detail, sizeof detail));
    } else if ((outcome = add(g, saved, &id, &k->call->text)) == MECH_CANCELLED) {
        char why[MECHD_LIVES_UNRECORDED];
        mechd_saved_free(saved, g, MECHD_SNAPSHOT_ONE);
        mechd_coupling_refuse(k, MECHP_STORAGE_FAILED, mechd_lives_unrecorded(g->face, why));
    } else if (outcome != 0) {
        mechd_saved_free(saved, g, MECHD_SNAPSHOT_ONE);
        mech_text_format(detail, sizeof detail, "at most %d snapshots and %zu bytes of a coupling",
                         MECHD_COUPLING_SNAPSHOTS, mechd_coupling_snapshots_bytes);
        mechd_coupling_refuse(k, MECHP_LIMIT_REACHED, detail);
    } else {
        snprintf(k->call->location, sizeof k->call->location,
                 "/v1/couplings/%s/snapshots/s-%" PRIu64, g->face->id, id);
        k->call->status = 201;
        g->keep.dirty = g->keep.dirty || is_recorded(g);
    }
}

/* The coupling is locked. */
static void write_items(const void *of, struct mechp_text *w)
{
    const struct mechd_coupling *const g = of;
    mechp_text_array(w);
    for (int k = 0; k < g->snapshot_count; k++) {
        if (!g->snapshots[k].is_new) {
            write(&g->snapshots[k], w);
        }
    }
    mechp_text_end(w);
}

void mechd_coupling_snapshots_write(struct mechd_coupling *g, struct mechp_text *w)
{
    const struct mechp_body_coupling_snapshot_list body = {{write_items, g}};
    pthread_mutex_lock(&g->m);
    MECHP_WRITE(coupling_snapshot_list, &body, w);
    pthread_mutex_unlock(&g->m);
}

bool mechd_coupling_snapshot_write(struct mechd_coupling *g, const char *id, struct mechp_text *w)
{
    pthread_mutex_lock(&g->m);
    const struct mechd_coupling_snapshot *const s = find(g, id);
    if (s != NULL) {
        write(s, w);
    }
    pthread_mutex_unlock(&g->m);
    return s != NULL;
}

bool mechd_coupling_snapshot_delete(struct mechd_coupling *g, const char *id,
                                    struct mechd_ticket *t)
{
    pthread_mutex_lock(&g->m);
    const struct mechd_coupling_snapshot *const s = find(g, id);
    const uint64_t number = s != NULL ? s->id : 0;
    pthread_mutex_unlock(&g->m);
    if (number == 0) {
        return false;
    }
    if (mechd_keep_has_snapshots(g)) {
        mechd_keep_forget_snapshot(g, number, t);
        return true;
    }
    return mechd_coupling_snapshot_drop(g, number);
}

/* Go back to it, all or none. */
static void restore(struct mechd_coupling_command *k, const struct mechd_saved *saved)
{
    struct mechd_coupling *const g = k->coupling;
    struct mechp_text *const w = &k->call->text;
    bool reproducible = true;
    int32_t part = -1;
    const int outcome = mechd_saved_return(saved, g, &part, &reproducible);
    if (outcome != 0) {
        char detail[sizeof k->detail];
        mech_text_format(detail, sizeof detail, "participant %.64s: %s",
                         g->parts[part < 0 ? 0 : part].name, mech_err_text(outcome));
        mechd_coupling_refuse(k, mechp_code_of_outcome(outcome), detail);
        return;
    }
    mechd_saved_descend(saved, g);
    mechd_trial_drop(g);
    for (int32_t n = 0; n < g->count; n++) {
        mechd_instance_changed(g->parts[n].instance, MECHP_REWOUND);
    }
    mechd_face_changed(g, MECHP_REWOUND);
    const struct mechp_body_coupling_restored body = {.time = mechd_coupling_time(g),
                                                      .window = mech_couple_windows(g->couple),
                                                      .outputs = {mechd_coupling_write_outputs, g},
                                                      .reproducible = reproducible};
    MECHP_WRITE(coupling_restored, &body, w);
}

void mechd_coupling_snapshot_restore(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    const char *const id = mechd_call_value(k->call, "sid");
    pthread_mutex_lock(&g->m);
    const struct mechd_coupling_snapshot *const s = find(g, id);
    struct mechd_saved *const saved = s != NULL ? s->saved : NULL;
    if (saved != NULL) {
        saved->uses++;
    }
    pthread_mutex_unlock(&g->m);
    if (saved == NULL) {
        char detail[200];
        mechd_coupling_snapshot_missing(g, id, detail);
        mechd_coupling_refuse(k, MECHP_NOT_FOUND, detail);
        return;
    }
    if (mechd_coupling_keep(k)) {
        restore(k, saved);
    }
    pthread_mutex_lock(&g->m);
    const bool last = --saved->uses < 0; // it has been deleted meanwhile
    pthread_mutex_unlock(&g->m);
    mechd_saved_free(last ? saved : NULL, g, MECHD_SNAPSHOT_ONE);
}
