/* Snapshots: taken and restored in memory, or given out as bytes with the model. */
#include "server/instance/snapshots.h"

#include "protocol/frame/frame.h"
#include "protocol/wire/bodies.h"
#include "server/call/shapes.h"
#include "server/instance/container.h"
#include "server/instance/lives.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ID_ROOM = 32 };

/* The id of that number; NULL for 0. */
static const char *id_of(uint64_t number, char room[ID_ROOM])
{
    snprintf(room, ID_ROOM, "s-%" PRIu64, number);
    return number > 0 ? room : NULL;
}

static void write_snapshot(const struct mechd_instance *i, const struct mechd_snapshot *s,
                           struct mechp_text *w)
{
    char id[ID_ROOM], parent[ID_ROOM];
    const struct mechp_body_snapshot body = {
        .id = id_of(s->id, id),
        .parent = id_of(mechd_snapshots_present(i, s->parent), parent),
        .time = s->time,
        .bytes = s->size};
    MECHP_WRITE(snapshot, &body, w);
}

static enum mechd_progress run_take(struct mechd_call *c)
{
    struct mechd_snapshot *s = NULL;
    struct mechd_excess excess;
    if (!mechd_engine_keeps_state(&c->job.instance->engine)) {
        return mechd_fail(c, MECHP_INVALID_REQUEST, "the FMU of instance %s cannot save its state",
                          c->job.instance->id);
    }
    const int outcome = mechd_snapshots_take(c->job.instance, &excess, &s);
    if (outcome == MECH_UNSUPPORTED && excess.which != MECHD_QUOTAS) {
        return mechd_fail_quota(c, &excess);
    }
    if (outcome == MECH_UNSUPPORTED) {
        return mechd_fail(c, MECHP_LIMIT_REACHED,
                          "at most %d snapshots and %zu bytes of an instance", MECHD_SNAPSHOTS_MOST,
                          mechd_snapshots_bytes);
    }
    if (outcome == MECH_CANCELLED) {
        char why[MECHD_LIVES_UNRECORDED];
        return mechd_fail(c, MECHP_STORAGE_FAILED, "%s",
                          mechd_lives_unrecorded(c->job.instance, why));
    }
    if (outcome != 0) {
        return mechd_fail_outcome(c, outcome);
    }
    c->status = 201;
    snprintf(c->location, sizeof c->location, "/v1/instances/%s/snapshots/s-%" PRIu64,
             c->job.instance->id, s->id);
    write_snapshot(c->job.instance, s, &c->text);
    const int stored = mechd_durable_snapshot(c->job.instance, s, mechd_call_ticket(c));
    if (stored != 0) {
        mechd_snapshots_delete(c->job.instance, s);
        c->status = 0;
        c->location[0] = '\0';
        return mechd_fail_outcome(c, stored);
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_TAKE_SNAPSHOT = {.run = run_take};

static void write_items(const void *of, struct mechp_text *w)
{
    const struct mechd_instance *const i = of;
    const struct mechd_snapshots *const all = i->snapshots;
    mechp_text_array(w);
    for (int k = 0; all != NULL && k < all->count; k++) {
        if (mechd_snapshots_present(i, all->at[k].id) == all->at[k].id) {
            write_snapshot(i, &all->at[k], w);
        }
    }
    mechp_text_end(w);
}

static enum mechd_progress run_list(struct mechd_call *c)
{
    const struct mechd_instance *const i = c->job.instance;
    char current[ID_ROOM];
    const struct mechp_body_snapshot_list body = {
        .items = {write_items, i}, .current = id_of(mechd_snapshots_present(i, i->base), current)};
    MECHP_WRITE(snapshot_list, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SNAPSHOTS = {.run = run_list};

/* The snapshot of the path, or NULL: refused. */
static struct mechd_snapshot *find(struct mechd_call *c)
{
    const char *id = mechd_call_value(c, "sid");
    struct mechd_snapshot *s = mechd_snapshots_find(c->job.instance, id);
    if (s == NULL) {
        char before[MECHD_LIVES_WORDS];
        mechd_fail(c, MECHP_NOT_FOUND, "there is no snapshot %.64s%s", id,
                   mechd_lives_tell(c->job.instance, MECHD_COUNTED_PART, id, before));
    }
    return s;
}

static enum mechd_progress run_delete(struct mechd_call *c)
{
    struct mechd_snapshot *s = find(c);
    if (s != NULL) {
        c->status = 204;
        const int stored = mechd_durable_forget(c->job.instance, s, mechd_call_ticket(c));
        if (stored != 0) {
            c->status = 0;
            return mechd_fail_outcome(c, stored);
        }
        mechd_snapshots_delete(c->job.instance, s);
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DELETE_SNAPSHOT = {.run = run_delete};

static enum mechd_progress run_bytes(struct mechd_call *c)
{
    const struct mechd_snapshot *s = find(c);
    if (s == NULL) {
        return MECHD_DONE;
    }
    if (!mech_sim_snapshot_has_fields(c->job.instance->sim, s->bytes)) {
        return mechd_fail(c, MECHP_SNAPSHOT_MISMATCH,
                          "fields of the model have been changed since s-%" PRIu64
                          " was taken, so that the model of the snapshot no longer exists",
                          s->id);
    }
    size_t size = 0;
    char *bytes = mechd_container_of_state(c->job.instance, s->bytes, s->size, &size);
    if (bytes == NULL) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the snapshot");
    }
    mechp_text_plain(&c->text, bytes, size);
    free(bytes);
    c->content_type = MECHD_CONTAINER_TYPE;
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SNAPSHOT = {.run = run_bytes};

static enum mechd_progress run_restore(struct mechd_call *c)
{
    const struct mechd_snapshot *s = find(c);
    bool reproducible = true;
    if (s == NULL) {
        return MECHD_DONE;
    }
    const int outcome = mechd_snapshots_restore(c->job.instance, s, &reproducible);
    if (outcome != 0) {
        const char *const why = mechd_engine_refusal(&c->job.instance->engine);
        return outcome == MECH_NOT_FINITE
                   ? mechd_fail(c, MECHP_NOT_FINITE,
                                "with the fields that were changed after the snapshot: %s", why)
               : outcome == MECH_ENGINE_FAILED ? mechd_fail(c, MECHP_FMU_FAILED, "%s", why)
                                               : mechd_fail_outcome(c, outcome);
    }
    mechd_instance_changed(c->job.instance, MECHP_REWOUND);
    mechd_write_instance(c->job.instance, false, &reproducible, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_RESTORE = {.run = run_restore};
