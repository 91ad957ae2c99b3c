/* Records of one instance's changes: when, and what they hold. */
#include "server/instance/durable.h"

#include "protocol/bind/bind.h"
#include "protocol/frame/frame.h"
#include "server/instance/command_bytes.h"
#include "server/instance/entry.h"
#include "server/instance/group.h"
#include "server/instance/host.h"
#include "server/instance/runs.h"
#include "server/instance/snapshots.h"
#include "server/instance/traits.h"
#include "server/os/ticks.h"
#include "server/store/store.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* bytes of a state above which step commands are written down instead */
    LARGE = 16384,
    /* of those, until a state follows; and what replaying them may take, ns */
    COMMANDS_MOST = 256,
    REPLAY_MOST = 2000000000,
    /* pending records without a waiting answer */
    OUTSTANDING_MOST = 64,
    /* receipts that wait for a checkpoint: of one instance, and bytes of those of all */
    HELD_MOST = 1024,
    HELD_BYTES = 32 << 20
};

/* --- records ---------------------------------------------------------------------------------- */

/* Labels as JSON, or NULL. */
static char *labels_text(struct mechd_instance *i)
{
    json_t *const labels = mechd_instance_labels(i);
    char *const text = labels != NULL ? json_dumps(labels, JSON_COMPACT) : NULL;
    mechd_instance_labels_unref(i, labels);
    return text;
}

/* Creation, change of the model, or state: everything that the record needs of the instance. */
static struct mechd_entry *state_record(struct mechd_instance *i, enum mechd_record_kind kind)
{
    const bool modelled = kind != MECHD_RECORD_STATE, created = kind == MECHD_RECORD_CREATE;
    const size_t most = mechd_engine_snapshot_size(&i->engine);
    char *const labels = created ? labels_text(i) : NULL;
    struct mechp_text model, durability;
    mechp_text_init(&model, NULL, 0);
    mechp_text_init(&durability, NULL, 0);
    if (modelled) {
        mechp_bind_write(mech_sim_document(i->sim), &model);
        mechd_durability_write(&i->durable.settings, &durability);
    }
    struct mechd_entry *x = NULL;
    if (!model.failed && !durability.failed) {
        x = mechd_entry_create(i, kind,
                               mechd_entry_text_room(i->id) + mechd_entry_text_room(labels) +
                                   durability.length + 1 + model.length + most);
    }
    if (x != NULL) {
        char *room = x->room;
        x->r.id = mechd_entry_append(&room, i->id, mechd_entry_text_room(i->id));
        x->r.labels = labels != NULL
                          ? mechd_entry_append(&room, labels, mechd_entry_text_room(labels))
                          : NULL;
        x->r.durability = mechd_entry_append(&room, durability.bytes, durability.length);
        mechd_entry_append(&room, "", 1);
        x->r.model = mechd_entry_append(&room, model.bytes, model.length);
        x->r.model_size = model.length;
        x->r.serial = i->serial;
        x->r.ttl = mechd_instance_ttl(i);
        x->r.token = i->account != NULL ? i->account->name : NULL;
        x->r.base = mechd_snapshots_stored(i, i->base);
        x->r.bytes = room;
        x->r.size = mechd_engine_snapshot_write(&i->engine, room);
    }
    free(labels);
    mechp_text_fini(&model);
    mechp_text_fini(&durability);
    return x;
}

static struct mechd_entry *command_record(struct mechd_instance *i)
{
    const struct mechd_durable *const d = &i->durable;
    struct mechd_entry *const x = mechd_entry_create(i, MECHD_RECORD_COMMAND, d->command_size);
    if (x != NULL) {
        char *room = x->room;
        x->r.bytes = mechd_entry_append(&room, d->command, d->command_size);
        x->r.size = d->command_size;
        x->r.number = d->number;
        x->r.base = mechd_snapshots_stored(i, i->base);
    }
    return x;
}

static void drop_command(struct mechd_durable *d)
{
    free(d->command);
    d->command = NULL;
}

/* All that has changed as a list of records: the state or a command, and what runs have recorded.
 * NULL: no memory. */
static struct mechd_entry *change_records(struct mechd_instance *i)
{
    const struct mechd_durable *const d = &i->durable;
    struct mechd_entry *first = NULL, *last = NULL;
    if (d->dirty) {
        struct mechd_entry *const x = d->command != NULL ? command_record(i)
                                      : d->remodelled    ? state_record(i, MECHD_RECORD_MODEL)
                                                         : state_record(i, MECHD_RECORD_STATE);
        if (x == NULL) {
            return NULL;
        }
        x->r.revision = atomic_load(&i->revision);
        x->r.sequence = i->published.sequence;
        mechd_entry_chain(&first, &last, x);
    }
    if (!mechd_run_entries(i, &first, &last)) {
        mechd_entry_destroy(first);
        return NULL;
    }
    return first;
}

/* What the disk has of it when the state alone is there: states are as large as they may be, so
 * that what counts is the same in the next process. */
static uint64_t stored_without_commands(const struct mechd_instance *i)
{
    return i->durable.model + mechd_engine_snapshot_size(&i->engine);
}

uint64_t mechd_durable_commands(const struct mechd_instance *i)
{
    const uint64_t alone = stored_without_commands(i);
    return i->durable.stored > alone ? i->durable.stored - alone : 0;
}

void mechd_durable_account(struct mechd_instance *i, uint64_t commands)
{
    struct mechd_durable *const d = &i->durable;
    const uint64_t now = stored_without_commands(i) + commands;
    if (now < d->stored) {
        mechd_instance_refund(i, MECHD_QUOTA_STORED, d->stored - now);
    } else {
        (void)mechd_instance_charge(i, MECHD_QUOTA_STORED, now - d->stored, NULL);
    }
    d->stored = now;
}

/* The record of a change counts: a command behind those before, a state in place of them. */
static void account_for(struct mechd_instance *i, const struct mechd_record *r)
{
    struct mechd_durable *const d = &i->durable;
    uint64_t commands = 0;
    if (r->kind == MECHD_RECORD_COMMAND) {
        commands = mechd_durable_commands(i) + r->size;
    } else if (r->kind == MECHD_RECORD_MODEL) {
        d->model = r->model_size;
    }
    mechd_durable_account(i, commands);
}

/* --- receipts that wait for a checkpoint ------------------------------------------------------ */

/* Another one would be too many. */
static bool is_full(const struct mechd_instance *i)
{
    return i->durable.held_count >= HELD_MOST || atomic_load(&i->host->receipt_bytes) >= HELD_BYTES;
}

/* Without memory a new process does not know it. */
static void hold_receipt(struct mechd_instance *i, const struct mechd_ticket *t)
{
    struct mechd_durable *const d = &i->durable;
    struct mechd_entry *const x =
        t != NULL && t->receipt != NULL ? mechd_entry_receipt(i, t->receipt) : NULL;
    if (x != NULL) {
        const size_t size = strlen(x->r.receipt.scope) + x->r.receipt.size;
        mechd_entry_chain(&d->held, &d->last_held, x);
        d->held_count++;
        d->held_bytes += size;
        atomic_fetch_add(&i->host->receipt_bytes, size);
    }
}

/* The list of them, which the caller owns. */
static struct mechd_entry *take_held(struct mechd_instance *i)
{
    struct mechd_durable *const d = &i->durable;
    struct mechd_entry *const held = d->held;
    atomic_fetch_sub(&i->host->receipt_bytes, d->held_bytes);
    d->held = d->last_held = NULL;
    d->held_count = d->held_bytes = 0;
    return held;
}

void mechd_durable_drop_held(struct mechd_instance *i)
{
    struct mechd_entry *const held = take_held(i);
    for (const struct mechd_record *r = held != NULL ? &held->r : NULL; r != NULL; r = r->next) {
        mechd_tell_undone(i->host, r->receipt.scope);
    }
    mechd_entry_destroy(held);
}

/* What has changed, as a list, with the receipts that wait for it. NULL: no memory, and what has
 * changed is lost. */
static struct mechd_entry *take_changes(struct mechd_instance *i)
{
    struct mechd_durable *const d = &i->durable;
    struct mechd_entry *const first = change_records(i);
    if (first != NULL && d->dirty) {
        account_for(i, &first->r);
    }
    if (d->dirty && d->command == NULL) {
        d->number = 0;
        d->replay_ns = 0;
    }
    drop_command(d);
    d->dirty = false;
    d->due = false;
    d->remodelled = false;
    d->sequence = i->published.sequence;
    d->recorded = mechd_now();
    if (first == NULL) {
        mechd_durable_lose(d, d->epoch);
    } else {
        mechd_entry_append_list(first, take_held(i));
    }
    return first;
}

/* Write down what has changed. False: no memory; it is as if the disk had refused. */
static bool post_change(struct mechd_instance *i, struct mechd_ticket *t)
{
    struct mechd_entry *const first = take_changes(i);
    if (first == NULL) {
        mechd_ticket_refuse(t, MECH_NO_MEMORY);
        return false;
    }
    mechd_entry_post(first, t);
    return true;
}

/* The same, and what cannot be written down is put back at once. */
static void record_change(struct mechd_instance *i, struct mechd_ticket *t)
{
    if (!post_change(i, t)) {
        i->calls->put_back(i, i->durable.group);
    }
}

/* --- groups ----------------------------------------------------------------------------------- */

void mechd_durable_join(struct mechd_instance *i, struct mechd_group *group)
{
    mechd_group_ref(group);
    mechd_group_unref(i->durable.group);
    i->durable.group = group;
}

/* Its group, which stores it; NULL: it has none any more. */
static struct mechd_group *group_of(struct mechd_instance *i)
{
    struct mechd_durable *const d = &i->durable;
    if (d->group != NULL && !mechd_group_lasts(d->group)) {
        mechd_group_unref(d->group);
        d->group = NULL;
    }
    return d->group;
}

bool mechd_durable_collect(struct mechd_instance *i, struct mechd_entry **first,
                           struct mechd_entry **last)
{
    struct mechd_durable *const d = &i->durable;
    struct mechd_entry *const list = d->dirty || d->due ? take_changes(i) : take_held(i);
    if (list == NULL) {
        return !d->dirty && !d->due && atomic_load(&d->failed) < d->epoch;
    }
    if (*first == NULL) {
        *first = list;
    } else {
        list->r.glued = true;
        (*last)->r.next = &list->r;
    }
    for (*last = list; (*last)->r.next != NULL;) {
        *last = (struct mechd_entry *)(*last)->r.next;
    }
    return true;
}

bool mechd_durable_hold(struct mechd_instance *i, const struct mechd_ticket *t)
{
    if (t->receipt != NULL && is_full(i)) {
        return false;
    }
    hold_receipt(i, t);
    return true;
}

/* A change of one of a group, outside the steps of that. */
static void sync_in_group(struct mechd_instance *i, struct mechd_group *group,
                          struct mechd_ticket *t)
{
    struct mechd_durable *const d = &i->durable;
    if (i->face_key != 0) {
        // rows go with the state to which they lead, which a command in progress still has
        hold_receipt(i, t);
        if (group->every_step && t != NULL && d->awaited == NULL) {
            mechd_ticket_take(t);
            d->awaited = t;
        }
        mechd_group_ask(group, 0);
        return;
    }
    if (group->every_step) {
        record_change(i, t);
        return;
    }
    const bool now = d->due || (t != NULL && t->receipt != NULL && is_full(i));
    hold_receipt(i, t);
    if (now || d->settings.seconds > 0.) {
        mechd_group_ask(group, now ? 0 : d->recorded + mechd_ns(d->settings.seconds));
    }
}

/* --- when ------------------------------------------------------------------------------------- */

void mechd_durable_command(struct mechd_instance *i, const struct mech_step_request *request,
                           uint64_t ns)
{
    struct mechd_durable *const d = &i->durable;
    if (d->key == 0 || d->settings.mode != MECHD_DURABLE_EVERY_STEP || d->dirty ||
        i->partners != NULL || d->number >= COMMANDS_MOST || d->replay_ns + ns > REPLAY_MOST ||
        mechd_engine_snapshot_size(&i->engine) < LARGE) {
        return;
    }
    d->command = mechd_command_bytes(&i->engine, request, &d->command_size);
    d->whole = d->command != NULL;
    d->number += d->whole;
    d->replay_ns += ns;
}

void mechd_durable_changed(struct mechd_instance *i)
{
    struct mechd_durable *const d = &i->durable;
    if (!d->whole) {
        drop_command(d);
    }
    d->whole = false;
    d->dirty = d->key != 0;
}

/* The clock's part of a checkpoint: a job that syncs. */
static enum mechd_progress run_timer(struct mechd_job *job)
{
    struct mechd_instance *const i = job->instance;
    struct mechd_group *const group = group_of(i);
    i->durable.armed = false;
    if (group != NULL) {
        // the group may be between two slices, and this one ahead of the others
        mechd_group_ask(group, 0);
    } else if (mechd_instance_lives(i)) {
        mechd_durable_sync(i, NULL);
    }
    return MECHD_DONE;
}

static void finish_timer(struct mechd_job *job)
{
    struct mechd_instance *const i = job->instance;
    atomic_store(&i->durable.queued, false);
    mechd_instance_unref(i);
}

/* A job that is not over yet is not queued again: a little later. */
static void fire(struct mechd_timer *timer)
{
    struct mechd_instance *const i =
        (struct mechd_instance *)((char *)timer - offsetof(struct mechd_instance, durable.timer));
    struct mechd_durable *const d = &i->durable;
    if (!atomic_exchange(&d->queued, true)) {
        // a long command keeps the state before it, which can be stored between its slices
        d->job = (struct mechd_job){.instance = i,
                                    .run = run_timer,
                                    .finish = finish_timer,
                                    .cost = MECHD_SHORT,
                                    .reader = true};
        if (mechd_instance_submit(i, &d->job) == MECHD_QUEUED) {
            return;
        }
        atomic_store(&d->queued, false);
    }
    if (!mechd_clock_arm(&i->host->clock, timer, mechd_now() + 5 * MECHD_MS)) {
        mechd_instance_unref(i);
    }
}

static void arm(struct mechd_instance *i, uint64_t due)
{
    struct mechd_durable *const d = &i->durable;
    d->timer.fire = fire;
    d->armed = true;
    mechd_instance_ref(i);
    if (!mechd_clock_arm(&i->host->clock, &d->timer, due)) {
        d->armed = false;
        mechd_instance_unref(i);
    }
}

void mechd_durable_sync(struct mechd_instance *i, struct mechd_ticket *t)
{
    struct mechd_durable *const d = &i->durable;
    const struct mechd_durable_settings *const s = &d->settings;
    if (!d->dirty && !d->due) {
        return;
    }
    struct mechd_group *const group = group_of(i);
    if (group != NULL) {
        sync_in_group(i, group, t);
        return;
    }
    // records without a waiting answer are postponed while the disk is behind
    const struct mechd_run *const run = atomic_load(&i->running) ? i->run : NULL;
    const bool behind = atomic_load(&d->outstanding) >= OUTSTANDING_MOST ||
                        (run != NULL && mechd_recording_crowded(&run->record));
    if (s->mode == MECHD_DURABLE_EVERY_STEP) {
        // a run that is faster than the disk: its end is recorded at the latest
        if (t != NULL || d->due || run == NULL || !behind) {
            record_change(i, t);
        }
        return;
    }
    if (t != NULL && t->receipt != NULL && is_full(i)) {
        record_change(i, t);
        return;
    }
    hold_receipt(i, t);
    const uint64_t forward = i->published.sequence - d->sequence;
    const double age = 1e-9 * (double)(mechd_now() - d->recorded);
    const bool due = (s->steps > 0 && forward >= s->steps) ||
                     (s->seconds > 0. && age >= s->seconds) ||
                     (run != NULL && mechd_recording_pressed(&run->record));
    if (d->due || (due && !behind)) {
        record_change(i, NULL);
    } else if (due && !d->armed) {
        // faster than the disk: again a little later
        arm(i, mechd_now() + 50 * MECHD_MS);
    } else if (s->seconds > 0. && !d->armed) {
        arm(i, d->recorded + mechd_ns(s->seconds));
    }
}

/* --- beginning and end ------------------------------------------------------------------------ */

int mechd_durable_init(struct mechd_instance *i, const struct mechd_durable_settings *settings)
{
    struct mechd_durable *const d = &i->durable;
    d->settings = *settings;
    d->epoch = 1;
    d->recorded = mechd_now();
    d->key = settings->mode != MECHD_DURABLE_NONE ? mechd_store_key(i->host->store) : 0;
    return 0;
}

int mechd_durable_begin(struct mechd_instance *i, struct mechd_ticket *t, struct mechd_excess *x)
{
    if (i->durable.key == 0) {
        return 0;
    }
    struct mechd_entry *const created = state_record(i, MECHD_RECORD_CREATE);
    if (created == NULL) {
        return MECH_NO_MEMORY;
    }
    i->durable.model = created->r.model_size;
    const uint64_t stored = stored_without_commands(i);
    if (!mechd_instance_charge(i, MECHD_QUOTA_STORED, stored, x)) {
        mechd_entry_destroy(created);
        return MECH_UNSUPPORTED;
    }
    i->durable.stored = stored;
    created->r.revision = atomic_load(&i->revision);
    mechd_entry_post(created, t);
    return 0;
}

int mechd_durable_end(struct mechd_instance *i, struct mechd_ticket *t)
{
    if (i->durable.key == 0) {
        return 0;
    }
    struct mechd_entry *const x = mechd_entry_create(i, MECHD_RECORD_DELETE, 0);
    if (x == NULL) {
        return MECH_NO_MEMORY;
    }
    mechd_entry_post(x, t);
    return 0;
}

int mechd_durable_describe(struct mechd_instance *i, struct mechd_traits *before,
                           struct mechd_ticket *t)
{
    const bool stored = i->durable.key != 0;
    char *const labels = stored ? labels_text(i) : NULL;
    struct mechd_entry *const x =
        stored ? mechd_entry_create(i, MECHD_RECORD_DESCRIBE, mechd_entry_text_room(labels)) : NULL;
    if (x != NULL) {
        char *room = x->room;
        if (labels != NULL) {
            x->r.labels = mechd_entry_append(&room, labels, mechd_entry_text_room(labels));
        }
        x->r.ttl = mechd_instance_ttl(i);
        x->labels = before->labels;
        x->ttl = before->ttl;
        mechd_entry_post(x, t);
    } else {
        mechd_instance_labels_unref(i, before->labels);
    }
    free(labels);
    return stored && x == NULL ? MECH_NO_MEMORY : 0;
}

void mechd_durable_fini(struct mechd_instance *i)
{
    drop_command(&i->durable);
    mechd_durable_drop_edits(&i->durable);
    mechd_group_unref(i->durable.group);
    mechd_entry_destroy(take_held(i));
}

int mechd_durable_flush(struct mechd_host *d)
{
    struct mechd_instance **items = NULL;
    size_t count = 0;
    bool more = false;
    int busy = 0;
    if (d->store == NULL ||
        mechd_table_list(&d->table, 0, MECHD_INSTANCES_MOST, &items, &count, &more) != 0) {
        return 0;
    }
    for (size_t k = 0; k < count; k++) {
        const bool stored = items[k]->durable.key != 0;
        const bool sealed = stored && mechd_instance_seal(items[k]);
        busy += stored && !sealed;
        if (sealed && (items[k]->durable.dirty || items[k]->durable.due)) {
            (void)post_change(items[k], NULL);
        }
        mechd_instance_unref(items[k]);
    }
    free(items);
    return busy;
}
