/* Records on their way to the store, and what becomes of them. */
#include "server/instance/entry.h"

#include "server/instance/group.h"
#include "server/instance/host.h"
#include "server/instance/runs.h"
#include "server/instance/snapshots.h"
#include "server/instance/traits.h"

#include <stdlib.h>
#include <string.h>

void mechd_durable_lose(struct mechd_durable *d, uint64_t epoch)
{
    uint64_t failed = atomic_load(&d->failed);
    while (failed < epoch && !atomic_compare_exchange_weak(&d->failed, &failed, epoch)) {
    }
}

/* Rows of a run are on the disk, or will not be. */
static void settle_rows(struct mechd_entry *x)
{
    mechd_recording_stored(&x->run->record, x->r.first, x->r.size, x->r.outcome == 0);
}

static bool is_stale(const struct mechd_record *r)
{
    const struct mechd_entry *const x = (const struct mechd_entry *)r;
    return atomic_load(&x->instance->durable.failed) >= x->epoch &&
           r->kind != MECHD_RECORD_DELETE && r->kind != MECHD_RECORD_DESCRIBE;
}

static void has_failed(struct mechd_record *r)
{
    struct mechd_entry *const x = (struct mechd_entry *)r;
    if (r->kind == MECHD_RECORD_CREATE || r->kind == MECHD_RECORD_MODEL ||
        r->kind == MECHD_RECORD_STATE || r->kind == MECHD_RECORD_COMMAND ||
        r->kind == MECHD_RECORD_RUN || r->kind == MECHD_RECORD_RESULTS) {
        mechd_durable_lose(&x->instance->durable, x->epoch);
    }
}

static void is_done(struct mechd_record *r)
{
    struct mechd_entry *const x = (struct mechd_entry *)r;
    struct mechd_instance *const i = x->instance;
    if (x->run != NULL) {
        settle_rows(x);
    }
    if (r->outcome == 0 && r->kind == MECHD_RECORD_MODEL) {
        atomic_store(&i->durable.modelled, r->revision);
    }
    if (r->outcome != 0 && r->kind == MECHD_RECORD_RECEIPT) {
        mechd_tell_undone(i->host, r->receipt.scope);
    }
    if (r->outcome != 0 && r->kind == MECHD_RECORD_DESCRIBE) {
        mechd_instance_labels_unref(i, mechd_instance_set_labels(i, x->labels));
        x->labels = NULL;
        mechd_instance_set_ttl(i, x->ttl);
        mechd_instance_described(i);
    } else if (r->kind == MECHD_RECORD_DELETE) {
        mechd_instance_deleted(i, r->outcome == 0 || x->ticket == NULL);
    } else if (r->outcome != 0) {
        if (r->kind == MECHD_RECORD_SNAPSHOT) {
            mechd_snapshots_fail(i, r->number);
        }
        if (r->kind == MECHD_RECORD_CREATE) {
            mechd_instance_withdraw(i);
        } else {
            i->calls->put_back(i, x->group);
        }
    }
    if (!r->glued) {
        atomic_fetch_sub(&i->durable.outstanding, 1);
    }
    if (x->ticket != NULL && r->outcome != 0 && x->group != NULL) {
        mechd_group_lose(x->group, x->ticket, r->outcome);
    } else if (x->ticket != NULL) {
        mechd_ticket_settle(x->ticket, r->outcome);
    }
    mechd_run_unref(x->run);
    mechd_group_unref(x->group);
    mechd_instance_labels_unref(i, x->labels);
    mechd_instance_unref(i);
    free(x);
}

struct mechd_entry *mechd_entry_create(struct mechd_instance *i, enum mechd_record_kind kind,
                                       size_t room)
{
    struct mechd_entry *const x = malloc(sizeof *x + room);
    if (x != NULL) {
        x->r = (struct mechd_record){.kind = kind,
                                     .key = mechd_run_key(i),
                                     .stale = is_stale,
                                     .failed = has_failed,
                                     .done = is_done};
        x->instance = i;
        x->ticket = NULL;
        x->run = NULL;
        x->labels = NULL;
        x->epoch = i->durable.epoch;
        // what a group stores together is made by the owner
        const bool together = kind == MECHD_RECORD_STATE || kind == MECHD_RECORD_MODEL ||
                              kind == MECHD_RECORD_COMMAND || kind == MECHD_RECORD_RUN ||
                              kind == MECHD_RECORD_RESULTS ||
                              kind == MECHD_RECORD_COUPLING_SNAPSHOT;
        x->group = together ? i->durable.group : NULL;
        if (x->group != NULL) {
            mechd_group_ref(x->group);
        }
    }
    return x;
}

size_t mechd_entry_text_room(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

const void *mechd_entry_append(char **room, const void *bytes, size_t size)
{
    char *const at = *room;
    if (size > 0) {
        memcpy(at, bytes, size);
    }
    *room += size;
    return at;
}

void mechd_entry_take_in(struct mechd_entry *first)
{
    for (struct mechd_entry *x = first; x != NULL; x = (struct mechd_entry *)x->r.next) {
        mechd_instance_ref(x->instance);
        if (!x->r.glued) {
            atomic_fetch_add(&x->instance->durable.outstanding, 1);
        }
    }
}

void mechd_entry_chain(struct mechd_entry **first, struct mechd_entry **last, struct mechd_entry *x)
{
    if (*first == NULL) {
        *first = x;
    } else {
        x->r.glued = true;
        (*last)->r.next = &x->r;
    }
    *last = x;
}

void mechd_entry_destroy(struct mechd_entry *first)
{
    for (struct mechd_entry *x = first; x != NULL;) {
        struct mechd_entry *const next = (struct mechd_entry *)x->r.next;
        x->r.outcome = MECH_CANCELLED;
        if (x->run != NULL) {
            settle_rows(x);
        }
        mechd_run_unref(x->run);
        mechd_group_unref(x->group);
        free(x);
        x = next;
    }
}

struct mechd_entry *mechd_entry_receipt(struct mechd_instance *i,
                                        const struct mechd_stored_receipt *r)
{
    struct mechd_entry *const x =
        mechd_entry_create(i, MECHD_RECORD_RECEIPT,
                           mechd_entry_text_room(r->scope) + mechd_entry_text_room(r->location) +
                               mechd_entry_text_room(r->etag) + r->size);
    if (x != NULL) {
        char *room = x->room;
        x->r.receipt = *r;
        x->r.receipt.scope = mechd_entry_append(&room, r->scope, mechd_entry_text_room(r->scope));
        x->r.receipt.location =
            mechd_entry_append(&room, r->location, mechd_entry_text_room(r->location));
        x->r.receipt.etag = mechd_entry_append(&room, r->etag, mechd_entry_text_room(r->etag));
        x->r.receipt.bytes = mechd_entry_append(&room, r->bytes, r->size);
    }
    return x;
}

void mechd_entry_append_list(struct mechd_entry *first, struct mechd_entry *more)
{
    struct mechd_entry *last = first;
    while (last->r.next != NULL) {
        last = (struct mechd_entry *)last->r.next;
    }
    if (more != NULL) {
        more->r.glued = true;
        last->r.next = &more->r;
    }
}

/* A receipt for which there is no memory is one that a new process does not know. */
void mechd_entry_post(struct mechd_entry *first, struct mechd_ticket *t)
{
    struct mechd_store *const store = first->instance->host->store;
    struct mechd_entry *const receipt =
        t != NULL && t->receipt != NULL ? mechd_entry_receipt(first->instance, t->receipt) : NULL;
    mechd_entry_append_list(first, receipt);
    mechd_entry_take_in(first);
    first->ticket = t;
    if (t != NULL) {
        mechd_ticket_take(t);
    }
    mechd_store_post(store, &first->r);
}
