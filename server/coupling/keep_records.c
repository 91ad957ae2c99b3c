/* Records of a coupling and of its instances, and what becomes of them. */
#include "server/call/service.h"
#include "server/coupling/keep.h"
#include "server/coupling/kept.h"
#include "server/instance/entry.h"
#include "server/instance/group.h"
#include "server/instance/host.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>

/* A record of a coupling, in front of those of its instances. */
struct note {
    struct mechd_record r;           /* first */
    struct mechd_coupling *coupling; /* a reference */
    struct mechd_ticket *ticket;     /* or NULL */
    struct mechd_kept kept;          /* what is not in it */
    bool makes;                      /* without it there is no coupling */
    uint64_t epoch;
    uint64_t number;  /* of the record */
    uint64_t *epochs; /* [count + 1] of the instances and of the face */
    char room[];
};

void mechd_keep_lose(struct mechd_keeping *s, uint64_t epoch)
{
    uint64_t failed = atomic_load(&s->failed);
    while (failed < epoch && !atomic_compare_exchange_weak(&s->failed, &failed, epoch)) {
    }
}

/* All that belongs to the record is lost: the coupling first, so that it puts all back together. */
static void lose_all(const struct note *x)
{
    struct mechd_coupling *const g = x->coupling;
    mechd_keep_lose(&g->keep, x->epoch);
    for (int32_t n = 0; n < g->count; n++) {
        if (mechd_keep_has(&g->parts[n])) {
            mechd_durable_lose(&g->parts[n].instance->durable, x->epochs[n]);
        }
    }
    if (g->face->face_key != 0) {
        mechd_durable_lose(&g->face->durable, x->epochs[g->count]);
    }
}

/* The same of what has become no record; instances whose coupling goes are put back alone. */
static void lose_now(struct mechd_coupling *g)
{
    mechd_keep_lose(&g->keep, g->keep.epoch);
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_durable *const d = &g->parts[n].instance->durable;
        if (mechd_keep_has(&g->parts[n])) {
            mechd_durable_lose(d, d->epoch);
        }
    }
    if (g->face->face_key != 0) {
        mechd_durable_lose(&g->face->durable, g->face->durable.epoch);
    }
}

/* It follows on a change that could not be stored, of the coupling or of one instance. */
static bool is_stale(const struct mechd_record *r)
{
    const struct note *const x = (const struct note *)r;
    const struct mechd_coupling *const g = x->coupling;
    bool stale =
        atomic_load(&g->keep.failed) >= x->epoch ||
        (g->face->face_key != 0 && atomic_load(&g->face->durable.failed) >= x->epochs[g->count]);
    for (int32_t n = 0; n < g->count && !stale; n++) {
        stale = mechd_keep_has(&g->parts[n]) &&
                atomic_load(&g->parts[n].instance->durable.failed) >= x->epochs[n];
    }
    if (stale) {
        lose_all(x);
    }
    return stale;
}

static void has_failed(struct mechd_record *r)
{
    lose_all((const struct note *)r);
}

/* Before a later one can fail: what is undone then is known. */
static void is_stored(struct mechd_record *r)
{
    struct note *const x = (struct note *)r;
    atomic_store(&x->coupling->keep.stored, x->number);
    mechd_kept_replace(x->coupling, &x->kept);
}

static void free_note(struct note *x)
{
    mechd_kept_free(&x->kept);
    mechd_coupling_unref(x->coupling);
    free(x);
}

static void is_done(struct mechd_record *r)
{
    struct note *const x = (struct note *)r;
    struct mechd_coupling *const g = x->coupling;
    atomic_fetch_sub(&g->keep.outstanding, 1);
    const bool good = r->outcome == 0;
    if (good ? r->kind == MECHD_RECORD_DELETE_COUPLING : x->makes) {
        (void)g->calls->remove(g->service->couplings, g);
    } else if (!good) {
        if (r->kind == MECHD_RECORD_DELETE_COUPLING) {
            mechd_stop_lower(&g->ended);
        }
        mechd_group_ask(g->keep.group, 0);
    }
    // the command in progress undoes its window by itself
    const bool now = good || x->ticket == &g->keep.ticket;
    if (x->ticket != NULL && now) {
        mechd_ticket_settle(x->ticket, r->outcome);
    } else if (x->ticket != NULL) {
        mechd_group_lose(g->keep.group, x->ticket, r->outcome);
    }
    free_note(x);
}

/* A record of its state. NULL: no memory. */
static struct note *note_of(struct mechd_coupling *g, enum mechd_record_kind kind)
{
    const struct mechd_keeping *const s = &g->keep;
    const bool made = kind == MECHD_RECORD_COUPLING;
    const bool whole = s->mode != MECHD_DURABLE_NONE && kind != MECHD_RECORD_DELETE_COUPLING;
    const size_t epochs = ((size_t)g->count + 1) * sizeof(uint64_t);
    const size_t size = whole ? mechd_keep_size(g) : 0;
    const size_t text = made ? g->document_size : 0;
    struct note *const x = malloc(sizeof *x + epochs + size + text);
    struct mechd_kept kept;
    if (x == NULL || mechd_kept_take(g, &kept) != 0) {
        free(x);
        return NULL;
    }
    char *room = x->room;
    *x = (struct note){.coupling = g,
                       .kept = kept,
                       .makes = s->making,
                       .epoch = s->epoch,
                       .epochs = (uint64_t *)(void *)room};
    x->r = (struct mechd_record){.kind = kind,
                                 .number = g->id,
                                 .token = g->face->account->name,
                                 .revision = atomic_load(&g->face->revision),
                                 .sequence = g->face->published.sequence,
                                 .stale = is_stale,
                                 .stored = is_stored,
                                 .failed = has_failed,
                                 .done = is_done};
    for (int32_t n = 0; n < g->count; n++) {
        x->epochs[n] = g->parts[n].instance->durable.epoch;
    }
    x->epochs[g->count] = g->face->durable.epoch;
    room += epochs;
    x->r.bytes = room;
    x->r.size = size;
    if (whole) {
        mechd_keep_write(g, room);
    }
    room += size;
    x->r.model = room;
    x->r.model_size = text;
    if (made) {
        memcpy(room, g->document, text);
    }
    mechd_coupling_ref(g);
    return x;
}

/* Its instances' changes, its runs and its snapshots as a list; false: no memory. */
static bool collect(struct mechd_coupling *g, struct mechd_entry **first, struct mechd_entry **last)
{
    bool good = true;
    for (int32_t n = 0; n < g->count; n++) {
        if (mechd_keep_has(&g->parts[n])) {
            good = mechd_durable_collect(g->parts[n].instance, first, last) && good;
        }
    }
    return mechd_keep_collect_runs(g, first, last) &&
           mechd_keep_collect_snapshots(g, first, last) && good;
}

void mechd_keep_post(struct mechd_coupling *g, enum mechd_record_kind kind, struct mechd_ticket *t)
{
    struct mechd_keeping *const s = &g->keep;
    struct mechd_instance *const payer = g->parts[s->payer].instance;
    struct mechd_entry *first = NULL, *last = NULL;
    struct note *const x = note_of(g, kind);
    const bool good = collect(g, &first, &last) && x != NULL;
    s->dirty = false;
    s->posted++;
    s->since = g->face->published.sequence;
    s->recorded = mechd_now();
    atomic_store(&s->wanted, false);
    if (!good) {
        for (const struct mechd_record *r = first != NULL ? &first->r : NULL; r != NULL;
             r = r->next) {
            if (r->kind == MECHD_RECORD_RECEIPT) {
                mechd_tell_undone(payer->host, r->receipt.scope);
            }
        }
        mechd_entry_destroy(first);
        mechd_keep_await_runs(g, NULL);
        lose_now(g);
        if (x != NULL) {
            free_note(x);
        }
        mechd_ticket_refuse(t, MECH_NO_MEMORY);
        if (s->making) {
            (void)g->calls->remove(g->service->couplings, g);
        } else if (kind == MECHD_RECORD_DELETE_COUPLING) {
            mechd_stop_lower(&g->ended);
        }
        mechd_group_ask(s->group, 0);
        return;
    }
    struct mechd_entry *const receipt =
        t != NULL && t->receipt != NULL ? mechd_entry_receipt(payer, t->receipt) : NULL;
    if (receipt != NULL) {
        mechd_entry_chain(&first, &last, receipt);
    }
    mechd_keep_await_runs(g, first);
    if (first != NULL) {
        first->r.glued = true;
        x->r.next = &first->r;
        mechd_entry_take_in(first);
    }
    x->ticket = t;
    x->number = x->kept.number = s->posted;
    if (t != NULL) {
        mechd_ticket_take(t);
    }
    atomic_fetch_add(&s->outstanding, 1);
    mechd_store_post(g->service->host.store, &x->r);
    mechd_keep_show_snapshots(g);
}
