/* The store's queue and thread. While one transaction waits for the disk the next records gather;
 * they go together then. A transaction that fails is tried again record by record, so that one bad
 * record does not take others with it. */
#include "server/store/store.h"

#include "server/os/log.h"
#include "server/os/thread.h"
#include "server/os/ticks.h"
#include "server/store/database.h"
#include "server/store/numbers.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* records and bytes of one transaction: what a disk takes in some ten milliseconds */
enum { BATCH_RECORDS = 4096, BATCH_BYTES = 16 << 20 };

/* how long a fault lasts before the disk is tried */
enum { PROBE_NS = 1000000000 };

struct mechd_store {
    pthread_mutex_t m; /* of what follows */
    pthread_cond_t c;
    struct mechd_record *head, *tail;
    bool stop, running;
    char fault[256];
    struct mechd_store_counts counts;
    _Atomic int64_t key; /* the last one given */
    pthread_t thread;
    struct mechd_database writer; /* the thread's; the opener's before it runs */
    pthread_mutex_t r;            /* of reader */
    struct mechd_database reader;
    void *claim; /* on the place */
    struct mechd_numbers_given numbers;
};

struct mechd_numbers_given *mechd_store_numbers(struct mechd_store *s)
{
    return &s->numbers;
}

int64_t mechd_store_key(struct mechd_store *s)
{
    return atomic_fetch_add(&s->key, 1) + 1;
}

void mechd_store_post(struct mechd_store *s, struct mechd_record *r)
{
    struct mechd_record *last = r;
    uint64_t count = 1;
    for (; last->next != NULL; last = last->next) {
        count++;
    }
    pthread_mutex_lock(&s->m);
    if (s->tail != NULL) {
        s->tail->next = r;
    } else {
        s->head = r;
    }
    s->tail = last;
    s->counts.waiting += count;
    s->counts.posted += count;
    pthread_cond_signal(&s->c);
    pthread_mutex_unlock(&s->m);
}

/* Take what one transaction shall hold; the mutex is held. */
static struct mechd_record *take_batch(struct mechd_store *s)
{
    struct mechd_record *const first = s->head;
    struct mechd_record *last = first;
    size_t bytes = first->size + first->model_size;
    uint64_t count = 1;
    while (last->next != NULL &&
           (last->next->glued || (count < BATCH_RECORDS && bytes < BATCH_BYTES))) {
        last = last->next;
        bytes += last->size + last->model_size;
        count++;
    }
    s->head = last->next;
    if (s->head == NULL) {
        s->tail = NULL;
    }
    s->counts.waiting -= count;
    last->next = NULL;
    return first;
}

/* Note why something failed, and say so when it is news. */
static void note_failure(struct mechd_store *s)
{
    const char *const text = s->writer.ops->fault(s->writer.self);
    pthread_mutex_lock(&s->m);
    const bool news = strcmp(s->fault, text) != 0;
    mech_text_format(s->fault, sizeof s->fault, "%s", text);
    pthread_mutex_unlock(&s->m);
    if (news) {
        mechd_log(MECHD_ERROR, "storage", "reason=\"%s\"", text);
    }
}

/* Apply records until `end` in one transaction. True: they are on disk. */
static bool commit(struct mechd_store *s, struct mechd_record *first,
                   const struct mechd_record *end)
{
    const struct mechd_database *const w = &s->writer;
    bool good = w->ops->begin(w->self);
    for (struct mechd_record *r = first, *before = NULL; good && r != end; r = r->next) {
        r->outcome = r->glued && before != NULL        ? before->outcome
                     : r->stale != NULL && r->stale(r) ? MECH_CANCELLED
                                                       : 0;
        before = r;
        good = r->outcome != 0 || w->ops->apply(w->self, r);
    }
    good = good && w->ops->commit(w->self);
    if (!good) {
        note_failure(s);
        w->ops->undo(w->self);
    }
    for (struct mechd_record *r = first; good && r != end; r = r->next) {
        if (r->outcome == 0 && r->stored != NULL) {
            r->stored(r);
        }
    }
    return good;
}

static void commit_one_by_one(struct mechd_store *s, struct mechd_record *first)
{
    for (struct mechd_record *r = first, *end = NULL; r != NULL; r = end) {
        for (end = r->next; end != NULL && end->glued;) {
            end = end->next;
        }
        const bool good = commit(s, r, end);
        for (struct mechd_record *k = r; !good && k != end; k = k->next) {
            k->outcome = MECH_INTERNAL;
            // what comes behind may depend on this one: it must know first
            if (k->failed != NULL) {
                k->failed(k);
            }
        }
    }
}

/* Outcomes are counted before the callbacks, which may read the counts. */
static void tell(struct mechd_store *s, struct mechd_record *first)
{
    uint64_t records = 0, failures = 0;
    for (const struct mechd_record *r = first; r != NULL; r = r->next) {
        records++;
        failures += r->outcome == MECH_INTERNAL;
    }
    pthread_mutex_lock(&s->m);
    s->counts.records += records;
    s->counts.commits++;
    s->counts.failures += failures;
    if (failures == 0) {
        s->fault[0] = '\0';
    }
    pthread_mutex_unlock(&s->m);
    while (first != NULL) {
        struct mechd_record *const next = first->next;
        first->done(first);
        first = next;
    }
}

/* Nothing comes while the last record has failed: find out whether the disk takes records again, so
 * that a client that waits for readiness need not send work first. */
static void probe(struct mechd_store *s)
{
    if (!s->writer.ops->probe(s->writer.self)) {
        note_failure(s);
        return;
    }
    pthread_mutex_lock(&s->m);
    s->fault[0] = '\0';
    pthread_mutex_unlock(&s->m);
    mechd_log(MECHD_INFO, "storage", "fault=none");
}

/* Sleep until there are records, the end, or a fault is a second old: true. */
static bool wait_for_records(struct mechd_store *s)
{
    const uint64_t until = mechd_now() + PROBE_NS;
    const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
                               .tv_nsec = (long)(until % 1000000000u)};
    while (s->head == NULL && !s->stop) {
        if (s->fault[0] == '\0') {
            pthread_cond_wait(&s->c, &s->m);
        } else if (pthread_cond_timedwait(&s->c, &s->m, &t) == ETIMEDOUT) {
            return s->head == NULL && !s->stop;
        }
    }
    return false;
}

static void *write_records(void *context)
{
    struct mechd_store *const s = context;
    mechd_thread_name("mechd-store");
    for (;;) {
        pthread_mutex_lock(&s->m);
        const bool late = wait_for_records(s);
        struct mechd_record *const first = s->head != NULL ? take_batch(s) : NULL;
        pthread_mutex_unlock(&s->m);
        if (late) {
            probe(s);
            continue;
        }
        if (first == NULL) {
            return NULL;
        }
        if (!commit(s, first, NULL)) {
            commit_one_by_one(s, first);
        }
        tell(s, first);
    }
}

void mechd_store_fault(struct mechd_store *s, char *out, size_t size)
{
    pthread_mutex_lock(&s->m);
    snprintf(out, size, "%s", s->fault);
    pthread_mutex_unlock(&s->m);
}

struct mechd_store_counts mechd_store_counts(struct mechd_store *s)
{
    pthread_mutex_lock(&s->m);
    const struct mechd_store_counts counts = s->counts;
    pthread_mutex_unlock(&s->m);
    return counts;
}

/* --- opening and closing ---------------------------------------------------------------------- */

static int start_thread(struct mechd_store *s)
{
    int64_t key = 0;
    if (!s->writer.ops->last_key(s->writer.self, &key)) {
        return MECH_INTERNAL;
    }
    atomic_init(&s->key, key);
    mechd_numbers_read(&s->numbers, &s->writer);
    s->running = pthread_create(&s->thread, NULL, write_records, s) == 0;
    return s->running ? 0 : MECH_INTERNAL;
}

int mechd_store_open(const char *place, char *fault, size_t size, struct mechd_store **out)
{
    const struct mechd_database_ops *const ops = mechd_database_of(place);
    struct mechd_store *const s = calloc(1, sizeof *s);
    mech_text_format(fault, size, "no memory or no threads for storage");
    if (s == NULL) {
        return MECH_NO_MEMORY;
    }
    s->writer.ops = s->reader.ops = ops;
    pthread_mutex_init(&s->m, NULL);
    pthread_mutex_init(&s->r, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->c, &attributes);
    pthread_condattr_destroy(&attributes);
    int outcome = ops->claim(place, fault, size, &s->claim);
    outcome = outcome != 0 ? outcome : ops->open(place, fault, size, &s->writer.self);
    outcome = outcome != 0 ? outcome : ops->open(place, fault, size, &s->reader.self);
    outcome = outcome != 0 ? outcome : start_thread(s);
    if (outcome != 0) {
        mechd_store_close(s);
        return outcome;
    }
    *out = s;
    return 0;
}

void mechd_store_close(struct mechd_store *s)
{
    if (s == NULL) {
        return;
    }
    pthread_mutex_lock(&s->m);
    s->stop = true;
    pthread_cond_signal(&s->c);
    pthread_mutex_unlock(&s->m);
    if (s->running) {
        pthread_join(s->thread, NULL);
        mechd_numbers_end(&s->numbers, &s->writer);
    }
    s->reader.ops->close(s->reader.self);
    s->writer.ops->close(s->writer.self);
    s->writer.ops->release(s->claim);
    pthread_cond_destroy(&s->c);
    pthread_mutex_destroy(&s->r);
    pthread_mutex_destroy(&s->m);
    free(s);
}

int mechd_store_look(const char *place, char *fault, size_t size)
{
    return mechd_database_of(place)->look(place, fault, size);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Keep what cannot be loaded under an id that no request can have. Where that fails (a full disk),
 * it stays as it is, for the next time. */
static void put_aside(const struct mechd_database *d, int64_t key, const char *id,
                      const char *reason)
{
    mechd_log(MECHD_ERROR, "set-aside", "instance=%s reason=\"%s\"", id, reason);
    if (!d->ops->set_aside(d->self, key, reason)) {
        mechd_log(MECHD_ERROR, "storage", "instance=%s reason=\"%s\"", id, d->ops->fault(d->self));
    }
}

/* One instance that is shown to a visitor, and what came of it. */
struct visit {
    mechd_store_visit *visit;
    void *context;
    int64_t key;
    char id[80];
    const char *reason;
    int outcome;
};

static void see(void *context, const struct mechd_stored *stored)
{
    struct visit *const v = context;
    v->key = stored->key;
    v->reason = "";
    snprintf(v->id, sizeof v->id, "%s", stored->id);
    v->outcome = v->visit(v->context, stored, &v->reason);
}

int mechd_store_visit_all(struct mechd_store *s, mechd_store_visit *visit, void *context)
{
    const struct mechd_database *const d = &s->reader;
    struct visit v = {.visit = visit, .context = context};
    int more;
    while ((more = d->ops->next(d->self, v.key, see, &v)) > 0) {
        if (v.outcome > 0) {
            put_aside(d, v.key, v.id, v.reason);
        } else if (v.outcome < 0) {
            mechd_log(MECHD_ERROR, "not-loaded", "instance=%s reason=\"%s\"", v.id, v.reason);
        }
    }
    if (more < 0) {
        mechd_log(MECHD_ERROR, "storage", "reason=\"%s\"", d->ops->fault(d->self));
    }
    return more;
}

/* One coupling, and what came of it. */
struct coupling_visit {
    mechd_store_coupling *visit;
    void *context;
    uint64_t number;
    const char *reason;
    int outcome;
};

static void see_coupling(void *context, const struct mechd_stored_coupling *stored)
{
    struct coupling_visit *const v = context;
    v->number = stored->number;
    v->reason = "";
    v->outcome = v->visit(v->context, stored, &v->reason);
}

int mechd_store_visit_couplings(struct mechd_store *s, mechd_store_coupling *visit, void *context)
{
    const struct mechd_database *const d = &s->reader;
    struct coupling_visit v = {.visit = visit, .context = context};
    int more;
    while ((more = d->ops->next_coupling(d->self, v.number, see_coupling, &v)) > 0) {
        const unsigned long long number = v.number;
        if (v.outcome == 0) {
            continue;
        }
        mechd_log(MECHD_ERROR, v.outcome > 0 ? "set-aside" : "not-loaded",
                  "coupling=c-%llu reason=\"%s\"", number, v.reason);
        if (v.outcome > 0 && !d->ops->set_coupling_aside(d->self, v.number, v.reason)) {
            mechd_log(MECHD_ERROR, "storage", "coupling=c-%llu reason=\"%s\"", number,
                      d->ops->fault(d->self));
        }
    }
    if (more < 0) {
        mechd_log(MECHD_ERROR, "storage", "reason=\"%s\"", d->ops->fault(d->self));
    }
    return more;
}

/* Rows that are copied while the reader is locked, in their order. */
struct copied {
    struct copied *next;
    struct mechd_stored_bytes row;
    char bytes[];
};

struct copies {
    struct copied *first, *last;
};

static int copy_row(void *context, const struct mechd_stored_bytes *row)
{
    struct copies *const all = context;
    struct copied *const c = malloc(sizeof *c + row->size);
    if (c == NULL) {
        return MECH_NO_MEMORY;
    }
    c->next = NULL;
    c->row = *row;
    c->row.bytes = c->bytes;
    if (row->size > 0) {
        memcpy(c->bytes, row->bytes, row->size);
    }
    if (all->first == NULL) {
        all->first = c;
    } else {
        all->last->next = c;
    }
    all->last = c;
    return 0;
}

/* Read them if copying had that outcome, and free them. */
static int read_copies(struct copies *all, int outcome, mechd_store_read *read, void *context)
{
    for (struct copied *c = all->first; c != NULL;) {
        struct copied *const next = c->next;
        outcome = outcome == 0 ? read(context, &c->row) : outcome;
        free(c);
        c = next;
    }
    return outcome;
}

int mechd_store_replay(struct mechd_store *s, int64_t key, mechd_store_read *read, void *context)
{
    struct copies all = {.first = NULL};
    pthread_mutex_lock(&s->r);
    const int outcome = s->reader.ops->replay(s->reader.self, key, copy_row, &all);
    pthread_mutex_unlock(&s->r);
    return read_copies(&all, outcome, read, context);
}

/* MECH_NOT_FOUND: there are none. */
static int read_rows(struct mechd_store *s, const struct mechd_rows_asked *asked,
                     mechd_store_read *read, void *context)
{
    int count = 0;
    pthread_mutex_lock(&s->r);
    const int outcome = s->reader.ops->rows(s->reader.self, asked, read, context, &count);
    pthread_mutex_unlock(&s->r);
    return outcome == 0 && count == 0 ? MECH_NOT_FOUND : outcome;
}

int mechd_store_coupling_state(struct mechd_store *s, uint64_t number, mechd_store_read *read,
                               void *context)
{
    const struct mechd_rows_asked asked = {.which = MECHD_ROWS_COUPLING, .of = number};
    struct copies all = {.first = NULL};
    const int outcome = read_rows(s, &asked, copy_row, &all);
    return read_copies(&all, outcome, read, context);
}

/* Rows one at a time: together they may be large. */
static int read_each(struct mechd_store *s, struct mechd_rows_asked asked, mechd_store_read *read,
                     void *context)
{
    int outcome = 0;
    while (outcome == 0) {
        struct copies one = {.first = NULL};
        outcome = read_rows(s, &asked, copy_row, &one);
        asked.row = one.first != NULL ? one.first->row.number + 1 : asked.row;
        outcome = read_copies(&one, outcome, read, context);
    }
    return outcome == MECH_NOT_FOUND ? 0 : outcome;
}

int mechd_store_snapshots(struct mechd_store *s, int64_t key, mechd_store_read *read, void *context)
{
    const struct mechd_rows_asked asked = {.which = MECHD_ROWS_SNAPSHOTS, .key = key};
    return read_each(s, asked, read, context);
}

int mechd_store_coupling_snapshots(struct mechd_store *s, uint64_t number, mechd_store_read *read,
                                   void *context)
{
    const struct mechd_rows_asked asked = {.which = MECHD_ROWS_COUPLING_SNAPSHOTS, .of = number};
    return read_each(s, asked, read, context);
}

int mechd_store_runs(struct mechd_store *s, int64_t key, mechd_store_run *read, void *context)
{
    pthread_mutex_lock(&s->r);
    const int outcome = s->reader.ops->runs(s->reader.self, key, read, context);
    pthread_mutex_unlock(&s->r);
    return outcome;
}

int mechd_store_results(struct mechd_store *s, int64_t key, uint64_t run, uint64_t row,
                        mechd_store_read *read, void *context)
{
    const struct mechd_rows_asked asked = {
        .which = MECHD_ROWS_RESULTS, .key = key, .of = run, .row = row};
    return read_rows(s, &asked, read, context);
}

uint64_t mechd_store_results_at(struct mechd_store *s, int64_t key, uint64_t run, double time)
{
    pthread_mutex_lock(&s->r);
    const uint64_t first = s->reader.ops->results_at(s->reader.self, key, run, time);
    pthread_mutex_unlock(&s->r);
    return first;
}

int mechd_store_sweeps(struct mechd_store *s, uint64_t *last, mechd_store_sweep *read,
                       void *context)
{
    return s->reader.ops->sweeps(s->reader.self, last, read, context);
}

int mechd_store_sweep_rows(struct mechd_store *s, uint64_t sweep, uint64_t row,
                           mechd_store_read *read, void *context)
{
    const struct mechd_rows_asked asked = {.which = MECHD_ROWS_SWEEP, .of = sweep, .row = row};
    return read_rows(s, &asked, read, context);
}

int mechd_store_receipts(struct mechd_store *s, int64_t since, mechd_store_receipt *take,
                         void *context)
{
    return s->reader.ops->receipts(s->reader.self, since, take, context);
}
