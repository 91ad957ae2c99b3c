/* Snapshots of a coupling in the store: one goes there with the state at its end of the command
 * that has taken it; one is deleted there first, then here. */
#include "server/call/service.h"
#include "server/coupling/keep.h"
#include "server/coupling/saved.h"
#include "server/instance/entry.h"
#include "server/os/log.h"
#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>

bool mechd_keep_has_snapshots(const struct mechd_coupling *g)
{
    return g->keep.mode != MECHD_DURABLE_NONE;
}

/* --- to the store ----------------------------------------------------------------------------- */

/* The first one behind this number that is not on its way; its states are freed by the owner of all
 * alone. False: there is none. */
static bool next_new(struct mechd_coupling *g, uint64_t after, struct mechd_coupling_snapshot *out)
{
    bool found = false;
    pthread_mutex_lock(&g->m);
    for (int k = 0; k < g->snapshot_count && !found; k++) {
        found = g->snapshots[k].is_new && g->snapshots[k].id > after;
        *out = g->snapshots[k];
    }
    pthread_mutex_unlock(&g->m);
    return found;
}

bool mechd_keep_has_new_snapshots(struct mechd_coupling *g)
{
    struct mechd_coupling_snapshot s;
    return next_new(g, 0, &s);
}

static struct mechd_entry *entry_of(const struct mechd_coupling *g,
                                    const struct mechd_coupling_snapshot *s)
{
    const size_t size = mechd_saved_bytes_size(s->saved);
    struct mechd_instance *const payer = g->parts[g->keep.payer].instance;
    struct mechd_entry *const x = mechd_entry_create(payer, MECHD_RECORD_COUPLING_SNAPSHOT, size);
    if (x != NULL) {
        mechd_saved_bytes_write(s->saved, g, x->room);
        x->r.coupling = g->id;
        x->r.number = s->id;
        x->r.time = s->saved->time;
        x->r.bytes = x->room;
        x->r.size = size;
    }
    return x;
}

bool mechd_keep_collect_snapshots(struct mechd_coupling *g, struct mechd_entry **first,
                                  struct mechd_entry **last)
{
    struct mechd_coupling_snapshot s;
    for (uint64_t after = 0; next_new(g, after, &s); after = s.id) {
        struct mechd_entry *const x = entry_of(g, &s);
        if (x == NULL) {
            return false;
        }
        mechd_entry_chain(first, last, x);
    }
    return true;
}

void mechd_keep_show_snapshots(struct mechd_coupling *g)
{
    pthread_mutex_lock(&g->m);
    for (int k = 0; k < g->snapshot_count; k++) {
        g->snapshots[k].is_new = false;
    }
    pthread_mutex_unlock(&g->m);
}

/* --- deletion --------------------------------------------------------------------------------- */

/* A deletion, and behind it the receipt of its request. */
struct note {
    struct mechd_record r;           /* first */
    struct mechd_coupling *coupling; /* a reference */
    struct mechd_ticket *ticket;     /* or NULL */
    char room[];
};

static void is_done(struct mechd_record *r)
{
    struct note *const x = (struct note *)r;
    if (r->kind == MECHD_RECORD_DELETE_COUPLING_SNAPSHOT && r->outcome == 0) {
        (void)mechd_coupling_snapshot_drop(x->coupling, r->number);
    }
    if (r->kind == MECHD_RECORD_RECEIPT && r->outcome != 0) {
        mechd_tell_undone(&x->coupling->service->host, r->receipt.scope);
    }
    if (x->ticket != NULL) {
        mechd_ticket_settle(x->ticket, r->outcome);
    }
    mechd_coupling_unref(x->coupling);
    free(x);
}

static struct note *note_of(struct mechd_coupling *g, enum mechd_record_kind kind, size_t room)
{
    struct note *const x = malloc(sizeof *x + room);
    if (x != NULL) {
        x->r = (struct mechd_record){.kind = kind, .coupling = g->id, .done = is_done};
        x->coupling = g;
        x->ticket = NULL;
        mechd_coupling_ref(g);
    }
    return x;
}

/* NULL: no memory, and a new process does not know the request. */
static struct note *receipt_of(struct mechd_coupling *g, const struct mechd_stored_receipt *r)
{
    const size_t scope = strlen(r->scope) + 1, location = strlen(r->location) + 1;
    const size_t etag = strlen(r->etag) + 1;
    struct note *const x =
        note_of(g, MECHD_RECORD_RECEIPT, scope + location + etag + (size_t)r->size);
    if (x != NULL) {
        char *room = x->room;
        x->r.glued = true;
        x->r.receipt = *r;
        x->r.receipt.scope = mechd_entry_append(&room, r->scope, scope);
        x->r.receipt.location = mechd_entry_append(&room, r->location, location);
        x->r.receipt.etag = mechd_entry_append(&room, r->etag, etag);
        x->r.receipt.bytes = mechd_entry_append(&room, r->bytes, r->size);
    }
    return x;
}

void mechd_keep_forget_snapshot(struct mechd_coupling *g, uint64_t id, struct mechd_ticket *t)
{
    struct note *const x = note_of(g, MECHD_RECORD_DELETE_COUPLING_SNAPSHOT, 0);
    if (x == NULL) {
        mechd_ticket_refuse(t, MECH_NO_MEMORY);
        return;
    }
    struct note *const receipt = t != NULL && t->receipt != NULL ? receipt_of(g, t->receipt) : NULL;
    x->r.number = id;
    x->r.next = receipt != NULL ? &receipt->r : NULL;
    x->ticket = t;
    if (t != NULL) {
        mechd_ticket_take(t);
    }
    mechd_store_post(g->service->host.store, &x->r);
}

/* --- from the store --------------------------------------------------------------------------- */

/* One that does not fit is left out, and remains in the store: the coupling itself is sound. */
static int take(void *context, const struct mechd_stored_bytes *b)
{
    struct mechd_coupling *const g = context;
    struct mechd_saved *saved = NULL;
    char reason[160];
    const int outcome = mechd_saved_bytes_read(g, b->bytes, b->size, &saved, reason);
    if (outcome < 0) {
        return outcome;
    }
    const bool good = outcome == 0 && mechd_coupling_snapshot_put(g, b->number, saved);
    if (!good) {
        mechd_log(MECHD_WARNING, "snapshot-left-out",
                  "coupling=c-%llu snapshot=s-%llu reason=\"%s\"", (unsigned long long)g->id,
                  (unsigned long long)b->number,
                  outcome == 0 ? "there are too many snapshots" : reason);
    }
    return 0;
}

int mechd_keep_load_snapshots(struct mechd_coupling *g, uint64_t number)
{
    return mechd_store_coupling_snapshots(g->service->host.store, number, take, g);
}
