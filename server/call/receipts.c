/* A hash table of answers with a list by age. */
#include "server/call/receipts.h"

#include "server/call/call.h"
#include "server/call/service.h"
#include "server/store/store.h"
#include "solver/base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BITS = 12, COUNT_MOST = 100000, BYTES_MOST = 64 << 20, KEPT_SECONDS = 24 * 3600 };

struct mechd_receipt {
    struct mechd_receipt *chain, *younger, *older;
    struct mechd_receipt *kin, **kin_at; /* others on its instance; what leads here, or NULL */
    uint64_t hash;                       /* of the scope */
    char *scope;
    uint64_t body;
    int64_t created; /* s since 1970 */
    bool settled;
    bool undone;                /* while it is not settled: not to be kept */
    struct mechd_call *first;   /* while it is not settled */
    struct mechd_call *waiting; /* by next_waiting */
    int status;
    const char *content_type; /* of our own texts, or NULL */
    char location[128], etag[48];
    char *bytes;
    size_t size;
};

static int64_t now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec;
}

static size_t weight(const struct mechd_receipt *e)
{
    return sizeof *e + strlen(e->scope) + e->size;
}

static struct mechd_receipt **chain_of(struct mechd_receipts *r, uint64_t hash)
{
    return &r->at[hash & (((uint64_t)1 << r->bits) - 1)];
}

static void free_receipt(struct mechd_receipt *e)
{
    if (e != NULL) {
        free(e->scope);
        free(e->bytes);
        free(e);
    }
}

/* Among those of its instance. */
static void join_kin(struct mechd_receipt *e, struct mechd_instance *i)
{
    e->kin = i->receipts;
    e->kin_at = &i->receipts;
    if (e->kin != NULL) {
        e->kin->kin_at = &e->kin;
    }
    i->receipts = e;
}

static void leave_kin(struct mechd_receipt *e)
{
    if (e->kin_at != NULL) {
        *e->kin_at = e->kin;
    }
    if (e->kin != NULL) {
        e->kin->kin_at = e->kin_at;
    }
}

int mechd_receipts_init(struct mechd_receipts *r)
{
    *r = (struct mechd_receipts){.bits = BITS};
    pthread_mutex_init(&r->m, NULL);
    r->at = calloc((size_t)1 << r->bits, sizeof(struct mechd_receipt *));
    return r->at != NULL ? 0 : MECH_NO_MEMORY;
}

void mechd_receipts_fini(struct mechd_receipts *r)
{
    while (r->oldest != NULL) {
        struct mechd_receipt *const e = r->oldest;
        r->oldest = e->younger;
        leave_kin(e);
        free_receipt(e);
    }
    free(r->at);
    r->at = NULL;
    pthread_mutex_destroy(&r->m);
}

static struct mechd_receipt *find(struct mechd_receipts *r, const char *scope, uint64_t hash)
{
    struct mechd_receipt *e = *chain_of(r, hash);
    while (e != NULL && (e->hash != hash || strcmp(e->scope, scope) != 0)) {
        e = e->chain;
    }
    return e;
}

static void unchain(struct mechd_receipts *r, struct mechd_receipt *e)
{
    struct mechd_receipt **at = chain_of(r, e->hash);
    while (*at != e) {
        at = &(*at)->chain;
    }
    *at = e->chain;
}

/* Out of the table; the receipts are locked. */
static void drop(struct mechd_receipts *r, struct mechd_receipt *e)
{
    if (e->older != NULL) {
        e->older->younger = e->younger;
    } else {
        r->oldest = e->younger;
    }
    if (e->younger != NULL) {
        e->younger->older = e->older;
    } else {
        r->newest = e->older;
    }
    r->count--;
    r->bytes -= weight(e);
    unchain(r, e);
    leave_kin(e);
    free_receipt(e);
}

/* Drop what is too old, and the oldest beyond the bounds; claims in progress stop it. */
static void prune(struct mechd_receipts *r, int64_t now)
{
    while (r->oldest != NULL && r->oldest->settled &&
           (r->oldest->created + KEPT_SECONDS < now || r->count > COUNT_MOST ||
            r->bytes > BYTES_MOST)) {
        drop(r, r->oldest);
    }
}

/* A new one at the young end. NULL: no memory. */
static struct mechd_receipt *add(struct mechd_receipts *r, const char *scope, uint64_t hash)
{
    struct mechd_receipt *const e = calloc(1, sizeof *e);
    if (e == NULL || (e->scope = strdup(scope)) == NULL) {
        free(e);
        return NULL;
    }
    struct mechd_receipt **const chain = chain_of(r, hash);
    e->hash = hash;
    e->chain = *chain;
    *chain = e;
    if (r->newest != NULL) {
        r->newest->younger = e;
    } else {
        r->oldest = e;
    }
    e->older = r->newest;
    r->newest = e;
    r->count++;
    r->bytes += weight(e);
    return e;
}

/* The kept answer into another call. */
static void copy_answer(const struct mechd_receipt *e, struct mechd_call *c)
{
    c->code = MECHP_OK;
    c->status = e->status;
    c->content_type = e->content_type;
    memcpy(c->location, e->location, sizeof c->location);
    memcpy(c->etag, e->etag, sizeof c->etag);
    mechp_text_plain(&c->text, e->bytes, e->size);
    if (c->text.failed) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the answer");
    }
}

uint64_t mechd_receipts_hash(const struct mechd_call *c, const void *body, size_t size)
{
    uint64_t hash = mech_hash(body, size, 0);
    // those of the row come first, in its order
    for (int k = 0; k < MECHP_QUERIES; k++) {
        if (c->query[k] != NULL) {
            hash = mech_hash(&k, sizeof k, hash);
            hash = mech_hash(c->query[k], strlen(c->query[k]), hash);
        }
    }
    return hash;
}

enum mechd_claim mechd_receipts_claim(struct mechd_receipts *r, struct mechd_call *c,
                                      void (*suspend)(void *context))
{
    const uint64_t hash = mech_hash(c->scope, strlen(c->scope), 0);
    const int64_t now = now_seconds();
    enum mechd_claim claim = MECHD_CLAIM_FIRST;
    pthread_mutex_lock(&r->m);
    prune(r, now);
    struct mechd_receipt *e = find(r, c->scope, hash);
    if (e != NULL && e->body != c->body_hash) {
        claim = MECHD_CLAIM_REFUSED;
        mechd_fail(c, MECHP_KEY_REUSED,
                   "the idempotency key was used before with another body or query");
    } else if (e != NULL && e->settled) {
        claim = MECHD_CLAIM_KEPT;
        copy_answer(e, c);
    } else if (e != NULL) {
        // under the lock, so that the answer cannot come before
        claim = MECHD_CLAIM_WAIT;
        suspend(c);
        c->next_waiting = e->waiting;
        e->waiting = c;
    } else if ((e = add(r, c->scope, hash)) == NULL) {
        claim = MECHD_CLAIM_REFUSED;
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the idempotency key");
    } else {
        e->body = c->body_hash;
        e->created = now;
        e->first = c;
        c->receipt = e;
    }
    pthread_mutex_unlock(&r->m);
    return claim;
}

/* The answer of the call into its receipt. False: it is not one to keep. */
static bool keep(struct mechd_receipts *r, struct mechd_receipt *e, const struct mechd_call *c)
{
    e->bytes = c->code == MECHP_OK ? malloc(c->text.length + 1) : NULL;
    if (e->bytes == NULL) {
        return false;
    }
    if (c->text.length > 0) {
        memcpy(e->bytes, c->text.bytes, c->text.length);
    }
    e->size = c->text.length;
    r->bytes += e->size;
    e->status = c->status;
    e->content_type = c->content_type;
    memcpy(e->location, c->location, sizeof e->location);
    memcpy(e->etag, c->etag, sizeof e->etag);
    e->settled = true;
    return true;
}

/* The problem of a refused call into another one. */
static void copy_problem(const struct mechd_call *c, struct mechd_call *w)
{
    mechd_fail(w, c->code != MECHP_OK ? c->code : MECHP_OUT_OF_MEMORY, "%s", c->detail);
    for (size_t k = 0; k < c->diag.count; k++) {
        mech_diag_add(&w->diag, c->diag.entries[k].path, "%s", c->diag.entries[k].text);
    }
    w->diag.total = c->diag.total;
    w->excess = c->excess;
    if (c->report.length > 0 && !c->report.failed) {
        mechp_text_plain(&w->report, c->report.bytes, c->report.length);
    }
}

/* With which the receipt goes, or NULL. */
static struct mechd_instance *instance_of(const struct mechd_call *c)
{
    const bool on_instance = mechp_route_queues(c->match.route);
    return c->kin != NULL ? c->kin : on_instance ? c->job.instance : NULL;
}

bool mechd_receipts_awaited(struct mechd_receipts *r, const struct mechd_call *c)
{
    if (c->receipt == NULL) {
        return false;
    }
    pthread_mutex_lock(&r->m);
    const bool awaited = c->receipt->waiting != NULL;
    pthread_mutex_unlock(&r->m);
    return awaited;
}

/* The call whose effect `c` waits for: the first one under its key, or itself. The receipts are
 * locked. */
static struct mechd_call *awaited_by(struct mechd_receipts *r, struct mechd_call *c)
{
    const struct mechd_receipt *const e =
        c->scope != NULL ? find(r, c->scope, mech_hash(c->scope, strlen(c->scope), 0)) : NULL;
    const struct mechd_call *w = e != NULL ? e->waiting : NULL;
    while (w != NULL && w != c) {
        w = w->next_waiting;
    }
    return w != NULL && e->first != NULL ? e->first : c;
}

bool mechd_receipts_withdraw(struct mechd_receipts *r, struct mechd_call *c)
{
    pthread_mutex_lock(&r->m);
    struct mechd_stop *const stop = &awaited_by(r, c)->stop;
    (void)mechd_stop_raise(stop, MECHD_STOP_STOPPED);
    const bool stops = !mechd_stop_closed(stop);
    pthread_mutex_unlock(&r->m);
    return stops;
}

void mechd_receipts_settle(struct mechd_receipts *r, struct mechd_call *c)
{
    struct mechd_receipt *const e = c->receipt;
    if (e == NULL) {
        return;
    }
    c->receipt = NULL;
    pthread_mutex_lock(&r->m);
    struct mechd_call *waiting = e->waiting;
    e->waiting = NULL;
    e->first = NULL;
    const bool kept = keep(r, e, c);
    for (struct mechd_call *w = waiting; w != NULL; w = w->next_waiting) {
        (void)mechd_stop_close(&w->stop);
        if (kept) {
            copy_answer(e, w);
        } else {
            copy_problem(c, w);
        }
    }
    struct mechd_instance *const i = instance_of(c);
    if (!kept || e->undone || (i != NULL && i->forgotten)) {
        drop(r, e);
    } else if (i != NULL) {
        join_kin(e, i);
    }
    pthread_mutex_unlock(&r->m);
    while (waiting != NULL) {
        struct mechd_call *const next = waiting->next_waiting;
        waiting->answer(waiting);
        waiting = next;
    }
}

static void undo(void *receipts, const char *scope)
{
    struct mechd_receipts *const r = receipts;
    pthread_mutex_lock(&r->m);
    struct mechd_receipt *const e = find(r, scope, mech_hash(scope, strlen(scope), 0));
    if (e != NULL && e->settled) {
        drop(r, e);
    } else if (e != NULL) {
        e->undone = true;
    }
    pthread_mutex_unlock(&r->m);
}

static void forget(void *receipts, struct mechd_instance *i)
{
    struct mechd_receipts *const r = receipts;
    pthread_mutex_lock(&r->m);
    i->forgotten = true;
    while (i->receipts != NULL) {
        drop(r, i->receipts);
    }
    pthread_mutex_unlock(&r->m);
}

struct mechd_observer mechd_receipts_observer(struct mechd_receipts *r)
{
    return (struct mechd_observer){.undone = undo, .gone = forget, .of = r};
}

/* --- from the store --------------------------------------------------------------------------- */

static int take_stored(void *context, const struct mechd_stored_receipt *stored)
{
    struct mechd_service *const d = context;
    struct mechd_receipts *const r = &d->receipts;
    if (stored->created + KEPT_SECONDS < now_seconds()) {
        return 0;
    }
    struct mechd_receipt *const e =
        add(r, stored->scope, mech_hash(stored->scope, strlen(stored->scope), 0));
    if (e == NULL || (e->bytes = malloc(stored->size + 1)) == NULL) {
        return MECH_NO_MEMORY;
    }
    if (stored->size > 0) {
        memcpy(e->bytes, stored->bytes, stored->size);
    }
    e->size = stored->size;
    r->bytes += e->size;
    e->body = stored->body;
    e->created = stored->created;
    e->status = stored->status;
    strncpy(e->location, stored->location, sizeof e->location - 1);
    strncpy(e->etag, stored->etag, sizeof e->etag - 1);
    e->settled = true;
    struct mechd_instance *const i =
        stored->id != NULL ? mechd_table_find(&d->host.table, stored->id) : NULL;
    if (i != NULL) {
        join_kin(e, i);
        mechd_instance_unref(i);
    }
    return 0;
}

int mechd_receipts_load(struct mechd_service *d)
{
    if (d->host.store == NULL) {
        return 0;
    }
    return mechd_store_receipts(d->host.store, now_seconds() - KEPT_SECONDS, take_stored, d);
}
