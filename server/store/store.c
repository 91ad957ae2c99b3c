/* The store's queue and thread. While one transaction waits for the disk the next records gather;
 * they go together then. A transaction that fails is tried again record by record, so that one bad
 * record does not take others with it. */
#include "server/store/store.h"

#include "server/log.h"
#include "server/store/database.h"
#include "server/store/numbers.h"
#include "server/ticks.h"
#include "solver/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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
    int lock; /* descriptor of the lock file */
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
    const char *const text = sqlite3_errmsg(s->writer.sqlite);
    pthread_mutex_lock(&s->m);
    const bool news = strcmp(s->fault, text) != 0;
    snprintf(s->fault, sizeof s->fault, "%s", text);
    pthread_mutex_unlock(&s->m);
    if (news) {
        mechd_log(MECHD_ERROR, "storage", "reason=\"%s\"", text);
    }
}

/* Apply records until `end` in one transaction. True: they are on disk. */
static bool commit(struct mechd_store *s, struct mechd_record *first,
                   const struct mechd_record *end)
{
    bool good = mechd_database_run(&s->writer, MECHD_SQL_BEGIN);
    for (struct mechd_record *r = first, *before = NULL; good && r != end; r = r->next) {
        r->outcome = r->glued && before != NULL        ? before->outcome
                     : r->stale != NULL && r->stale(r) ? MECH_CANCELLED
                                                       : 0;
        before = r;
        good = r->outcome != 0 || mechd_database_apply(&s->writer, r);
    }
    good = good && mechd_database_run(&s->writer, MECHD_SQL_COMMIT);
    if (!good) {
        note_failure(s);
        mechd_database_undo(&s->writer);
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

/* What they have become is counted before anybody is told, who may ask for the counts. */
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
 * that who waits for readiness need not send work first. */
static void probe(struct mechd_store *s)
{
    if (!mechd_database_probe(&s->writer)) {
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

/* One daemon a directory: a lock that ends with the process. */
static int lock_directory(struct mechd_store *s, const char *directory, char *fault, size_t size)
{
    char path[512];
    if (mkdir(directory, 0700) != 0 && errno != EEXIST) {
        snprintf(fault, size, "cannot make the state directory %s: %s", directory, strerror(errno));
        return MECH_INTERNAL;
    }
    snprintf(path, sizeof path, "%s/lock", directory);
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock < 0) {
        snprintf(fault, size, "cannot write to the state directory %s: %s", directory,
                 strerror(errno));
        return MECH_INTERNAL;
    }
    if (flock(s->lock, LOCK_EX | LOCK_NB) != 0) {
        snprintf(fault, size, "another mechd uses the state directory %s", directory);
        return MECH_INTERNAL;
    }
    return 0;
}

static int start_thread(struct mechd_store *s)
{
    sqlite3_stmt *const statement = mechd_database_statement(&s->writer, MECHD_SQL_KEY);
    if (statement == NULL || sqlite3_step(statement) != SQLITE_ROW) {
        return MECH_INTERNAL;
    }
    atomic_init(&s->key, sqlite3_column_int64(statement, 0));
    sqlite3_reset(statement);
    mechd_numbers_read(&s->numbers, &s->writer);
    s->running = pthread_create(&s->thread, NULL, write_records, s) == 0;
    return s->running ? 0 : MECH_INTERNAL;
}

int mechd_store_open(const char *directory, char *fault, size_t size, struct mechd_store **out)
{
    struct mechd_store *const s = calloc(1, sizeof *s);
    snprintf(fault, size, "no memory or no threads for storage");
    if (s == NULL) {
        return MECH_NO_MEMORY;
    }
    s->lock = -1;
    pthread_mutex_init(&s->m, NULL);
    pthread_mutex_init(&s->r, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->c, &attributes);
    pthread_condattr_destroy(&attributes);
    int outcome = lock_directory(s, directory, fault, size);
    outcome = outcome != 0 ? outcome : mechd_database_open(&s->writer, directory, fault, size);
    outcome = outcome != 0 ? outcome : mechd_database_open(&s->reader, directory, fault, size);
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
    mechd_database_close(&s->reader);
    mechd_database_close(&s->writer);
    if (s->lock >= 0) {
        close(s->lock);
    }
    pthread_cond_destroy(&s->c);
    pthread_mutex_destroy(&s->r);
    pthread_mutex_destroy(&s->m);
    free(s);
}

/* --- reading ---------------------------------------------------------------------------------- */

static const char *text_at(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

/* Keep what cannot be loaded under an id that no request can have. Where that fails (a full disk),
 * it stays as it is, for the next time. */
static void put_aside(struct mechd_database *d, int64_t key, const char *id, const char *reason)
{
    mechd_log(MECHD_ERROR, "set-aside", "instance=%s reason=\"%s\"", id, reason);
    sqlite3_stmt *const s = mechd_database_statement(d, MECHD_SQL_ASIDE);
    if (s != NULL) {
        sqlite3_bind_int64(s, 1, key);
        sqlite3_bind_text(s, 2, reason, -1, SQLITE_TRANSIENT);
        (void)sqlite3_step(s);
    }
    if (s == NULL || sqlite3_reset(s) != SQLITE_OK) {
        mechd_log(MECHD_ERROR, "storage", "instance=%s reason=\"%s\"", id,
                  sqlite3_errmsg(d->sqlite));
    }
}

/* The instance with the next key after `after`. 1; 0: there is none; negative. */
static int read_next(struct mechd_database *d, int64_t after, struct mechd_stored *out)
{
    sqlite3_stmt *const s = mechd_database_statement(d, MECHD_SQL_ALL);
    if (s == NULL) {
        return MECH_INTERNAL;
    }
    sqlite3_bind_int64(s, 1, after);
    const int code = sqlite3_step(s);
    if (code != SQLITE_ROW) {
        sqlite3_reset(s);
        return code == SQLITE_DONE ? 0 : MECH_INTERNAL;
    }
    *out = (struct mechd_stored){.key = sqlite3_column_int64(s, 0),
                                 .id = text_at(s, 1),
                                 .labels = text_at(s, 2),
                                 .durability = text_at(s, 3),
                                 .model = text_at(s, 4),
                                 .model_size = (size_t)sqlite3_column_bytes(s, 4),
                                 .serial = (uint64_t)sqlite3_column_int64(s, 5),
                                 .revision = (uint64_t)sqlite3_column_int64(s, 6),
                                 .sequence = (uint64_t)sqlite3_column_int64(s, 7),
                                 .state = sqlite3_column_blob(s, 8),
                                 .state_size = (size_t)sqlite3_column_bytes(s, 8),
                                 .ttl = sqlite3_column_double(s, 9),
                                 .token = text_at(s, 10),
                                 .last_snapshot = (uint64_t)sqlite3_column_int64(s, 11),
                                 .last_run = (uint64_t)sqlite3_column_int64(s, 12)};
    return 1;
}

int mechd_store_visit_all(struct mechd_store *s, mechd_store_visit *visit, void *context)
{
    struct mechd_stored stored = {.key = 0};
    int more;
    while ((more = read_next(&s->reader, stored.key, &stored)) > 0) {
        const char *reason = "";
        const int outcome = visit(context, &stored, &reason);
        char id[80];
        snprintf(id, sizeof id, "%s", stored.id);
        sqlite3_reset(s->reader.statement[MECHD_SQL_ALL]);
        if (outcome > 0) {
            put_aside(&s->reader, stored.key, id, reason);
        } else if (outcome < 0) {
            mechd_log(MECHD_ERROR, "not-loaded", "instance=%s reason=\"%s\"", id, reason);
        }
    }
    if (more < 0) {
        mechd_log(MECHD_ERROR, "storage", "reason=\"%s\"", sqlite3_errmsg(s->reader.sqlite));
    }
    return more;
}

/* Rows of a statement whose first value is the key; *count grows. */
static int take_rows(sqlite3_stmt *statement, int64_t key, mechd_store_read *read, void *context,
                     int *count)
{
    int outcome = 0, code = SQLITE_ERROR;
    sqlite3_bind_int64(statement, 1, key);
    while (outcome == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const struct mechd_stored_bytes row = {
            .number = (uint64_t)sqlite3_column_int64(statement, 0),
            .revision = (uint64_t)sqlite3_column_int64(statement, 1),
            .sequence = (uint64_t)sqlite3_column_int64(statement, 2),
            .time = sqlite3_column_double(statement, 3),
            .bytes = sqlite3_column_blob(statement, 4),
            .size = (size_t)sqlite3_column_bytes(statement, 4)};
        outcome = read(context, &row);
        ++*count;
    }
    sqlite3_reset(statement);
    return outcome != 0 ? outcome : code == SQLITE_DONE ? 0 : MECH_INTERNAL;
}

static int read_rows(struct mechd_store *s, enum mechd_statement which, int64_t key,
                     mechd_store_read *read, void *context, int *count)
{
    sqlite3_stmt *const statement = mechd_database_statement(&s->reader, which);
    return statement != NULL ? take_rows(statement, key, read, context, count) : MECH_INTERNAL;
}

int mechd_store_replay(struct mechd_store *s, int64_t key, mechd_store_read *read, void *context)
{
    int count = 0;
    pthread_mutex_lock(&s->r);
    // one transaction: no record comes between the state and its commands
    int outcome =
        sqlite3_exec(s->reader.sqlite, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ? 0 : MECH_INTERNAL;
    if (outcome == 0) {
        outcome = read_rows(s, MECHD_SQL_READ_STATE, key, read, context, &count);
        if (outcome == 0 && count == 0) {
            outcome = MECH_NOT_FOUND;
        }
        if (outcome == 0) {
            outcome = read_rows(s, MECHD_SQL_READ_COMMANDS, key, read, context, &count);
        }
        (void)sqlite3_exec(s->reader.sqlite, "COMMIT", NULL, NULL, NULL);
    }
    pthread_mutex_unlock(&s->r);
    return outcome;
}

int mechd_store_snapshots(struct mechd_store *s, int64_t key, mechd_store_read *read, void *context)
{
    int count = 0;
    pthread_mutex_lock(&s->r);
    const int outcome = read_rows(s, MECHD_SQL_READ_SNAPSHOTS, key, read, context, &count);
    pthread_mutex_unlock(&s->r);
    return outcome;
}

int mechd_store_runs(struct mechd_store *s, int64_t key, mechd_store_run *read, void *context)
{
    int outcome = 0, code = SQLITE_ERROR;
    pthread_mutex_lock(&s->r);
    sqlite3_stmt *const statement = mechd_database_statement(&s->reader, MECHD_SQL_READ_RUNS);
    if (statement != NULL) {
        sqlite3_bind_int64(statement, 1, key);
        while (outcome == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            const struct mechd_stored_run row = {
                .number = (uint64_t)sqlite3_column_int64(statement, 0),
                .state = text_at(statement, 1),
                .description = text_at(statement, 2),
                .time = sqlite3_column_double(statement, 3),
                .elapsed = sqlite3_column_double(statement, 4),
                .periods = (uint64_t)sqlite3_column_int64(statement, 5),
                .overruns = (uint64_t)sqlite3_column_int64(statement, 6),
                .rows = (uint64_t)sqlite3_column_int64(statement, 7),
                .recorded = sqlite3_column_type(statement, 7) != SQLITE_NULL,
                .reason = text_at(statement, 8)};
            outcome = read(context, &row);
        }
        sqlite3_reset(statement);
    }
    pthread_mutex_unlock(&s->r);
    return outcome != 0 ? outcome : code == SQLITE_DONE ? 0 : MECH_INTERNAL;
}

int mechd_store_results(struct mechd_store *s, int64_t key, uint64_t run, uint64_t row,
                        mechd_store_read *read, void *context)
{
    int count = 0;
    int outcome = MECH_INTERNAL;
    pthread_mutex_lock(&s->r);
    sqlite3_stmt *const statement = mechd_database_statement(&s->reader, MECHD_SQL_READ_RESULTS);
    if (statement != NULL) {
        sqlite3_bind_int64(statement, 2, (int64_t)run);
        sqlite3_bind_int64(statement, 3, (int64_t)row);
        outcome = take_rows(statement, key, read, context, &count);
    }
    pthread_mutex_unlock(&s->r);
    return outcome == 0 && count == 0 ? MECH_NOT_FOUND : outcome;
}

uint64_t mechd_store_results_at(struct mechd_store *s, int64_t key, uint64_t run, double time)
{
    uint64_t first = 0;
    pthread_mutex_lock(&s->r);
    sqlite3_stmt *const statement = mechd_database_statement(&s->reader, MECHD_SQL_FIND_RESULTS);
    if (statement != NULL) {
        sqlite3_bind_int64(statement, 1, key);
        sqlite3_bind_int64(statement, 2, (int64_t)run);
        sqlite3_bind_double(statement, 3, time);
        if (sqlite3_step(statement) == SQLITE_ROW) {
            first = (uint64_t)sqlite3_column_int64(statement, 0);
        }
        sqlite3_reset(statement);
    }
    pthread_mutex_unlock(&s->r);
    return first;
}

int mechd_store_sweeps(struct mechd_store *s, uint64_t *last, mechd_store_sweep *read,
                       void *context)
{
    int outcome = 0, code = SQLITE_ERROR;
    sqlite3_stmt *statement = mechd_database_statement(&s->reader, MECHD_SQL_LAST_SWEEP);
    *last = 0;
    if (statement != NULL && sqlite3_step(statement) == SQLITE_ROW) {
        *last = (uint64_t)sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    }
    statement = mechd_database_statement(&s->reader, MECHD_SQL_READ_SWEEPS);
    while (statement != NULL && outcome == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const struct mechd_stored_sweep row = {
            .number = (uint64_t)sqlite3_column_int64(statement, 0),
            .token = text_at(statement, 1),
            .description = text_at(statement, 2),
            .state = text_at(statement, 3),
            .done = (uint32_t)sqlite3_column_int64(statement, 4),
            .failed = (uint32_t)sqlite3_column_int64(statement, 5),
            .rows = (uint64_t)sqlite3_column_int64(statement, 6),
            .errors = text_at(statement, 7)};
        outcome = read(context, &row);
    }
    sqlite3_reset(statement);
    return outcome != 0 ? outcome : code == SQLITE_DONE ? 0 : MECH_INTERNAL;
}

int mechd_store_sweep_rows(struct mechd_store *s, uint64_t sweep, uint64_t row,
                           mechd_store_read *read, void *context)
{
    int count = 0;
    int outcome = MECH_INTERNAL;
    pthread_mutex_lock(&s->r);
    sqlite3_stmt *const statement = mechd_database_statement(&s->reader, MECHD_SQL_READ_SWEEP_ROWS);
    if (statement != NULL) {
        sqlite3_bind_int64(statement, 2, (int64_t)row);
        outcome = take_rows(statement, (int64_t)sweep, read, context, &count);
    }
    pthread_mutex_unlock(&s->r);
    return outcome == 0 && count == 0 ? MECH_NOT_FOUND : outcome;
}

int mechd_store_receipts(struct mechd_store *s, int64_t since, mechd_store_receipt *take,
                         void *context)
{
    sqlite3_stmt *statement = mechd_database_statement(&s->reader, MECHD_SQL_FORGET_RECEIPTS);
    int outcome = 0, code = SQLITE_ERROR;
    if (statement != NULL) {
        sqlite3_bind_int64(statement, 1, since);
        (void)sqlite3_step(statement); // a disk that is full now may have room later
        sqlite3_reset(statement);
    }
    statement = mechd_database_statement(&s->reader, MECHD_SQL_READ_RECEIPTS);
    if (statement != NULL) {
        sqlite3_bind_int64(statement, 1, since);
        while (outcome == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            const struct mechd_stored_receipt row = {
                .scope = text_at(statement, 0),
                .created = sqlite3_column_int64(statement, 1),
                .body = (uint64_t)sqlite3_column_int64(statement, 2),
                .status = sqlite3_column_int(statement, 3),
                .location = text_at(statement, 4),
                .bytes = sqlite3_column_blob(statement, 5),
                .size = (size_t)sqlite3_column_bytes(statement, 5),
                .instance = sqlite3_column_int64(statement, 6),
                .id = text_at(statement, 7),
                .etag = text_at(statement, 8)};
            outcome = take(context, &row);
        }
        sqlite3_reset(statement);
    }
    return outcome != 0 ? outcome : code == SQLITE_DONE ? 0 : MECH_INTERNAL;
}
