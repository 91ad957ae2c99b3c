/* Records of one instance's changes, and what becomes of them. */
#include "server/instance/durable.h"

#include "protocol/bind/bind.h"
#include "protocol/frame/frame.h"
#include "server/daemon.h"
#include "server/instance/command_bytes.h"
#include "server/instance/instance.h"
#include "server/instance/snapshots.h"
#include "server/store/store.h"
#include "server/ticks.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* bytes of a state above which step commands are written down instead */
    LARGE = 16384,
    /* of those, until a state follows; and what replaying them may take, ns */
    COMMANDS_MOST = 256,
    REPLAY_MOST = 2000000000,
    /* records on their way for which nobody waits */
    OUTSTANDING_MOST = 64
};

/* --- tickets ---------------------------------------------------------------------------------- */

enum { NOT_TAKEN, ON_ITS_WAY, STORED, WAITED_FOR };

bool mechd_ticket_wait(struct mechd_ticket *t, void (*suspend)(void *context), void *context)
{
    // partner: settle, on the store's thread
    const int state = atomic_load(&t->state);
    if (state == NOT_TAKEN || (state == STORED && t->outcome == 0)) {
        return false;
    }
    if (suspend != NULL) {
        suspend(context);
    }
    if (atomic_exchange(&t->state, WAITED_FOR) == STORED) {
        t->answer(t);
    }
    return true;
}

static void settle(struct mechd_ticket *t, int outcome)
{
    t->outcome = outcome;
    if (atomic_exchange(&t->state, STORED) == WAITED_FOR) {
        t->answer(t);
    }
}

/* --- records ---------------------------------------------------------------------------------- */

struct record {
    struct mechd_record r; /* first */
    struct mechd_instance *instance;
    struct mechd_ticket *ticket; /* or NULL */
    uint64_t epoch;
    char room[]; /* texts and bytes */
};

static bool is_stale(const struct mechd_record *r)
{
    const struct record *const x = (const struct record *)r;
    return atomic_load(&x->instance->durable.failed) >= x->epoch && r->kind != MECHD_RECORD_DELETE;
}

static void has_failed(struct mechd_record *r)
{
    struct record *const x = (struct record *)r;
    if (r->kind == MECHD_RECORD_CREATE || r->kind == MECHD_RECORD_MODEL ||
        r->kind == MECHD_RECORD_STATE || r->kind == MECHD_RECORD_COMMAND) {
        atomic_store(&x->instance->durable.failed, x->epoch);
    }
}

/* An instance whose creation could not be stored is no instance. */
static void withdraw(struct mechd_instance *i)
{
    if (mechd_table_remove(&i->daemon->table, i)) {
        atomic_store(&i->deleted, true);
        mechd_instance_unref(i);
    }
}

static enum mechd_progress run_mend(struct mechd_job *job)
{
    struct mechd_durable *const d = &job->instance->durable;
    d->mended = atomic_load(&d->failed);
    (void)mechd_durable_repair(job->instance);
    return MECHD_DONE;
}

static void mend(struct mechd_instance *i);

static void finish_mend(struct mechd_job *job)
{
    struct mechd_instance *const i = job->instance;
    const uint64_t mended = i->durable.mended;
    atomic_store(&i->durable.mending, false);
    // a record that failed meanwhile found it mending
    if (atomic_load(&i->durable.failed) > mended) {
        mend(i);
    }
    mechd_instance_unref(i);
}

/* Have the instance put back at once, so that readers see what is stored. When its queue is full,
 * the next command does it. */
static void mend(struct mechd_instance *i)
{
    struct mechd_durable *const d = &i->durable;
    if (atomic_exchange(&d->mending, true)) {
        return;
    }
    d->mend = (struct mechd_job){.instance = i, .run = run_mend, .finish = finish_mend};
    d->mended = UINT64_MAX;
    mechd_instance_ref(i);
    if (mechd_instance_submit(i, &d->mend) != MECHD_QUEUED) {
        finish_mend(&d->mend);
    }
}

static void is_done(struct mechd_record *r)
{
    struct record *const x = (struct record *)r;
    if (r->outcome != 0 && r->kind == MECHD_RECORD_CREATE) {
        withdraw(x->instance);
    } else if (r->outcome != 0 && !atomic_load(&x->instance->deleted)) {
        mend(x->instance);
    }
    atomic_fetch_sub(&x->instance->durable.outstanding, 1);
    if (x->ticket != NULL) {
        settle(x->ticket, r->outcome);
    }
    mechd_instance_unref(x->instance);
    free(x);
}

/* A record with room behind it, of which *room is the beginning. NULL: no memory. */
static struct record *new_record(struct mechd_instance *i, enum mechd_record_kind kind, size_t room)
{
    struct record *const x = malloc(sizeof *x + room);
    if (x != NULL) {
        x->r = (struct mechd_record){.kind = kind,
                                     .key = i->durable.key,
                                     .stale = is_stale,
                                     .failed = has_failed,
                                     .done = is_done};
        x->instance = i;
        x->ticket = NULL;
        x->epoch = i->durable.epoch;
    }
    return x;
}

static size_t text_room(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

/* Append bytes to a record's room. */
static const void *append(char **room, const void *bytes, size_t size)
{
    char *const at = *room;
    if (size > 0) {
        memcpy(at, bytes, size);
    }
    *room += size;
    return at;
}

static void take_in(struct record *x)
{
    mechd_instance_ref(x->instance);
    atomic_fetch_add(&x->instance->durable.outstanding, 1);
}

/* The receipt that goes with a record. NULL: no memory. */
static struct record *receipt_record(struct mechd_instance *i, const struct mechd_stored_receipt *r)
{
    struct record *const x =
        new_record(i, MECHD_RECORD_RECEIPT, text_room(r->scope) + text_room(r->location) + r->size);
    if (x != NULL) {
        char *room = x->room;
        x->r.receipt = *r;
        x->r.receipt.scope = append(&room, r->scope, text_room(r->scope));
        x->r.receipt.location = append(&room, r->location, text_room(r->location));
        x->r.receipt.bytes = append(&room, r->bytes, r->size);
        x->r.glued = true;
    }
    return x;
}

/* A receipt for which there is no memory is one that a new process does not know. */
static void post(struct record *x, struct mechd_ticket *t)
{
    struct mechd_instance *const i = x->instance;
    struct record *const receipt =
        t != NULL && t->receipt != NULL ? receipt_record(i, t->receipt) : NULL;
    take_in(x);
    if (receipt != NULL) {
        take_in(receipt);
        x->r.next = &receipt->r;
    }
    x->ticket = t;
    if (t != NULL) {
        atomic_store(&t->state, ON_ITS_WAY);
    }
    mechd_store_post(i->daemon->store, &x->r);
}

/* Creation, change of the model, or state: everything that the record needs of the instance. */
static struct record *state_record(struct mechd_instance *i, enum mechd_record_kind kind)
{
    const bool modelled = kind != MECHD_RECORD_STATE, created = kind == MECHD_RECORD_CREATE;
    const size_t most = mechd_engine_snapshot_size(&i->engine);
    char *const labels = created && i->labels != NULL ? json_dumps(i->labels, JSON_COMPACT) : NULL;
    struct mechp_text model, durability;
    mechp_text_init(&model, NULL, 0);
    mechp_text_init(&durability, NULL, 0);
    if (modelled) {
        mechp_bind_write(mech_sim_document(i->sim), &model);
        mechd_durability_write(&i->durable.settings, &durability);
    }
    struct record *x = NULL;
    if (!model.failed && !durability.failed) {
        x = new_record(i, kind,
                       text_room(i->id) + text_room(labels) + durability.length + 1 + model.length +
                           most);
    }
    if (x != NULL) {
        char *room = x->room;
        x->r.id = append(&room, i->id, text_room(i->id));
        x->r.labels = labels != NULL ? append(&room, labels, text_room(labels)) : NULL;
        x->r.durability = append(&room, durability.bytes, durability.length);
        append(&room, "", 1);
        x->r.model = append(&room, model.bytes, model.length);
        x->r.model_size = model.length;
        x->r.serial = i->serial;
        x->r.bytes = room;
        x->r.size = mechd_engine_snapshot_write(&i->engine, room);
    }
    free(labels);
    mechp_text_fini(&model);
    mechp_text_fini(&durability);
    return x;
}

static struct record *command_record(struct mechd_instance *i)
{
    const struct mechd_durable *const d = &i->durable;
    struct record *const x = new_record(i, MECHD_RECORD_COMMAND, d->command_size);
    if (x != NULL) {
        char *room = x->room;
        x->r.bytes = append(&room, d->command, d->command_size);
        x->r.size = d->command_size;
        x->r.number = d->number;
    }
    return x;
}

static void drop_command(struct mechd_durable *d)
{
    free(d->command);
    d->command = NULL;
}

/* Write down what has changed. No memory: as if the disk had refused. */
static void record_change(struct mechd_instance *i, struct mechd_ticket *t)
{
    struct mechd_durable *const d = &i->durable;
    struct record *const x = d->command != NULL ? command_record(i)
                             : d->remodelled    ? state_record(i, MECHD_RECORD_MODEL)
                                                : state_record(i, MECHD_RECORD_STATE);
    if (d->command == NULL) {
        d->number = 0;
        d->replay_ns = 0;
    }
    drop_command(d);
    d->dirty = false;
    d->remodelled = false;
    d->sequence = i->published.sequence;
    d->recorded = mechd_now();
    if (x == NULL) {
        atomic_store(&d->failed, d->epoch);
        if (t != NULL) {
            atomic_store(&t->state, ON_ITS_WAY);
            settle(t, MECH_NO_MEMORY);
        }
        return;
    }
    x->r.revision = atomic_load(&i->revision);
    x->r.sequence = i->published.sequence;
    post(x, t);
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

void mechd_durable_remodelled(struct mechd_instance *i)
{
    i->durable.remodelled = true;
}

/* The clock's part of a checkpoint: a job that syncs. */
static enum mechd_progress run_timer(struct mechd_job *job)
{
    job->instance->durable.armed = false;
    if (!atomic_load(&job->instance->deleted)) {
        mechd_durable_sync(job->instance, NULL);
    }
    return MECHD_DONE;
}

static void finish_timer(struct mechd_job *job)
{
    mechd_instance_unref(job->instance);
}

static void fire(struct mechd_timer *timer)
{
    struct mechd_instance *const i =
        (struct mechd_instance *)((char *)timer - offsetof(struct mechd_instance, durable.timer));
    i->durable.job.cost = MECHD_SHORT;
    const enum mechd_submitted submitted = mechd_instance_submit(i, &i->durable.job);
    if (submitted == MECHD_RAN ||
        (submitted == MECHD_FULL &&
         !mechd_clock_arm(&i->daemon->clock, timer, mechd_now() + 5 * MECHD_MS))) {
        mechd_instance_unref(i);
    }
}

static void arm(struct mechd_instance *i, uint64_t due)
{
    struct mechd_durable *const d = &i->durable;
    d->timer.fire = fire;
    d->job = (struct mechd_job){.instance = i, .run = run_timer, .finish = finish_timer};
    d->armed = true;
    mechd_instance_ref(i);
    if (!mechd_clock_arm(&i->daemon->clock, &d->timer, due)) {
        d->armed = false;
        mechd_instance_unref(i);
    }
}

void mechd_durable_sync(struct mechd_instance *i, struct mechd_ticket *t)
{
    struct mechd_durable *const d = &i->durable;
    const struct mechd_durable_settings *const s = &d->settings;
    if (!d->dirty) {
        return;
    }
    if (s->mode == MECHD_DURABLE_EVERY_STEP) {
        // a run that is faster than the disk: its end is recorded at the latest
        if (t != NULL || !atomic_load(&i->running) ||
            atomic_load(&d->outstanding) < OUTSTANDING_MOST) {
            record_change(i, t);
        }
        return;
    }
    const uint64_t forward = i->published.sequence - d->sequence;
    const double age = 1e-9 * (double)(mechd_now() - d->recorded);
    const bool due =
        (s->steps > 0 && forward >= s->steps) || (s->seconds > 0. && age >= s->seconds);
    if (due && atomic_load(&d->outstanding) < OUTSTANDING_MOST) {
        record_change(i, NULL);
    } else if (due && !d->armed) {
        // faster than the disk: again a little later
        arm(i, mechd_now() + 50 * MECHD_MS);
    } else if (s->seconds > 0. && !d->armed) {
        arm(i, d->recorded + (uint64_t)(1e9 * s->seconds));
    }
}

/* --- beginning and end ------------------------------------------------------------------------ */

int mechd_durable_init(struct mechd_instance *i, const struct mechd_durable_settings *settings)
{
    struct mechd_durable *const d = &i->durable;
    d->settings = *settings;
    d->epoch = 1;
    d->recorded = mechd_now();
    d->key = settings->mode != MECHD_DURABLE_NONE ? mechd_store_key(i->daemon->store) : 0;
    return 0;
}

int mechd_durable_begin(struct mechd_instance *i, struct mechd_ticket *t)
{
    if (i->durable.key == 0) {
        return 0;
    }
    struct record *const x = state_record(i, MECHD_RECORD_CREATE);
    if (x == NULL) {
        return MECH_NO_MEMORY;
    }
    x->r.revision = atomic_load(&i->revision);
    post(x, t);
    return 0;
}

int mechd_durable_end(struct mechd_instance *i, struct mechd_ticket *t)
{
    if (i->durable.key == 0) {
        return 0;
    }
    struct record *const x = new_record(i, MECHD_RECORD_DELETE, 0);
    if (x == NULL) {
        return MECH_NO_MEMORY;
    }
    post(x, t);
    return 0;
}

void mechd_durable_fini(struct mechd_instance *i)
{
    drop_command(&i->durable);
}

void mechd_durable_flush(struct mechd *d)
{
    struct mechd_instance **items = NULL;
    size_t count = 0;
    bool more = false;
    if (d->store == NULL ||
        mechd_table_list(&d->table, 0, MECHD_INSTANCES_MOST, &items, &count, &more) != 0) {
        return;
    }
    for (size_t k = 0; k < count; k++) {
        if (items[k]->durable.dirty) {
            record_change(items[k], NULL);
        }
        mechd_instance_unref(items[k]);
    }
    free(items);
}

/* --- snapshots -------------------------------------------------------------------------------- */

int mechd_durable_snapshot(struct mechd_instance *i, uint64_t number, double time,
                           const void *bytes, size_t size, struct mechd_ticket *t)
{
    if (i->durable.key == 0) {
        return 0;
    }
    struct record *const x = new_record(i, MECHD_RECORD_SNAPSHOT, size);
    if (x == NULL) {
        return MECH_NO_MEMORY;
    }
    char *room = x->room;
    x->r.number = number;
    x->r.time = time;
    x->r.bytes = append(&room, bytes, size);
    x->r.size = size;
    post(x, t);
    return 0;
}

int mechd_durable_forget(struct mechd_instance *i, uint64_t number, struct mechd_ticket *t)
{
    if (i->durable.key == 0) {
        return 0;
    }
    struct record *const x = new_record(i, MECHD_RECORD_DELETE_SNAPSHOT, 0);
    if (x == NULL) {
        return MECH_NO_MEMORY;
    }
    x->r.number = number;
    post(x, t);
    return 0;
}
