/* What the database has, row by row. */
#include "server/store/sqlite.h"
#include "solver/base/err.h"

static const char *text_at(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

int mechd_sqlite_next(void *self, int64_t after, mechd_database_see *see, void *context)
{
    sqlite3_stmt *const s = mechd_sqlite_statement(self, MECHD_SQL_ALL);
    if (s == NULL) {
        return MECH_INTERNAL;
    }
    sqlite3_bind_int64(s, 1, after);
    const int code = sqlite3_step(s);
    if (code == SQLITE_ROW) {
        const struct mechd_stored found = {.key = sqlite3_column_int64(s, 0),
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
        see(context, &found);
    }
    sqlite3_reset(s);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : MECH_INTERNAL;
}

bool mechd_sqlite_set_aside(void *self, int64_t key, const char *reason)
{
    sqlite3_stmt *const s = mechd_sqlite_statement(self, MECHD_SQL_ASIDE);
    if (s != NULL) {
        sqlite3_bind_int64(s, 1, key);
        sqlite3_bind_text(s, 2, reason, -1, SQLITE_TRANSIENT);
        (void)sqlite3_step(s);
    }
    return s != NULL && sqlite3_reset(s) == SQLITE_OK;
}

int mechd_sqlite_next_coupling(void *self, uint64_t after, mechd_database_see_coupling *see,
                               void *context)
{
    sqlite3_stmt *const s = mechd_sqlite_statement(self, MECHD_SQL_NEXT_COUPLING);
    if (s == NULL) {
        return MECH_INTERNAL;
    }
    sqlite3_bind_int64(s, 1, (int64_t)after);
    const int code = sqlite3_step(s);
    if (code == SQLITE_ROW) {
        const struct mechd_stored_coupling found = {
            .number = (uint64_t)sqlite3_column_int64(s, 0),
            .token = text_at(s, 1),
            .document = text_at(s, 2),
            .document_size = (size_t)sqlite3_column_bytes(s, 2),
            .revision = (uint64_t)sqlite3_column_int64(s, 3),
            .sequence = (uint64_t)sqlite3_column_int64(s, 4),
            .state = sqlite3_column_blob(s, 5),
            .state_size = (size_t)sqlite3_column_bytes(s, 5)};
        see(context, &found);
    }
    sqlite3_reset(s);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : MECH_INTERNAL;
}

bool mechd_sqlite_set_coupling_aside(void *self, uint64_t number, const char *reason)
{
    sqlite3_stmt *const s = mechd_sqlite_statement(self, MECHD_SQL_COUPLING_ASIDE);
    if (s != NULL) {
        sqlite3_bind_int64(s, 1, (int64_t)number);
        sqlite3_bind_text(s, 2, reason, -1, SQLITE_TRANSIENT);
        (void)sqlite3_step(s);
    }
    return s != NULL && sqlite3_reset(s) == SQLITE_OK;
}

bool mechd_sqlite_last_key(void *self, int64_t *out)
{
    sqlite3_stmt *const s = mechd_sqlite_statement(self, MECHD_SQL_KEY);
    const bool found = s != NULL && sqlite3_step(s) == SQLITE_ROW;
    *out = found ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_reset(s);
    return found;
}

bool mechd_sqlite_number(void *self, const char *name, uint64_t *out)
{
    sqlite3_stmt *const s = mechd_sqlite_statement(self, MECHD_SQL_READ_NUMBER);
    int code = SQLITE_ERROR;
    if (s != NULL) {
        sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
        code = sqlite3_step(s);
        *out = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 0) : *out;
        sqlite3_reset(s);
    }
    return code == SQLITE_ROW || code == SQLITE_DONE;
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
            .size = (size_t)sqlite3_column_bytes(statement, 4),
            .base = (uint64_t)sqlite3_column_int64(statement, 5)};
        outcome = read(context, &row);
        ++*count;
    }
    sqlite3_reset(statement);
    return outcome != 0 ? outcome : code == SQLITE_DONE ? 0 : MECH_INTERNAL;
}

int mechd_sqlite_rows(void *self, const struct mechd_rows_asked *asked, mechd_store_read *read,
                      void *context, int *count)
{
    static const enum mechd_statement by[] = {[MECHD_ROWS_SNAPSHOTS] = MECHD_SQL_READ_SNAPSHOTS,
                                              [MECHD_ROWS_SWEEP] = MECHD_SQL_READ_SWEEP_ROWS,
                                              [MECHD_ROWS_COUPLING] = MECHD_SQL_READ_COUPLING,
                                              [MECHD_ROWS_COUPLING_SNAPSHOTS] =
                                                  MECHD_SQL_READ_COUPLING_SNAPSHOTS};
    const bool is_result = asked->which == MECHD_ROWS_RESULTS;
    sqlite3_stmt *const s = is_result
                                ? mechd_sqlite_of_runs(self, MECHD_SQL_READ_RESULTS, asked->key)
                                : mechd_sqlite_statement(self, by[asked->which]);
    if (s == NULL) {
        return MECH_INTERNAL;
    }
    if (is_result) {
        sqlite3_bind_int64(s, 2, (int64_t)asked->of);
        sqlite3_bind_int64(s, 3, (int64_t)asked->row);
    } else if (asked->which != MECHD_ROWS_COUPLING) {
        sqlite3_bind_int64(s, 2, (int64_t)asked->row);
    }
    const int64_t owner = asked->key < 0 ? -asked->key : asked->key;
    const bool keyed = is_result || asked->which == MECHD_ROWS_SNAPSHOTS;
    const int64_t key = keyed ? owner : (int64_t)asked->of;
    return take_rows(s, key, read, context, count);
}

static int read_rows(struct mechd_sqlite *d, enum mechd_statement which, int64_t key,
                     mechd_store_read *read, void *context, int *count)
{
    sqlite3_stmt *const statement = mechd_sqlite_statement(d, which);
    return statement != NULL ? take_rows(statement, key, read, context, count) : MECH_INTERNAL;
}

int mechd_sqlite_replay(void *self, int64_t key, mechd_store_read *read, void *context)
{
    struct mechd_sqlite *const d = self;
    int count = 0;
    int outcome =
        sqlite3_exec(d->sqlite, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ? 0 : MECH_INTERNAL;
    if (outcome == 0) {
        outcome = read_rows(d, MECHD_SQL_READ_STATE, key, read, context, &count);
        if (outcome == 0 && count == 0) {
            outcome = MECH_NOT_FOUND;
        }
        if (outcome == 0) {
            outcome = read_rows(d, MECHD_SQL_READ_COMMANDS, key, read, context, &count);
        }
        (void)sqlite3_exec(d->sqlite, "COMMIT", NULL, NULL, NULL);
    }
    return outcome;
}

int mechd_sqlite_runs(void *self, int64_t key, mechd_store_run *read, void *context)
{
    int outcome = 0, code = SQLITE_ERROR;
    sqlite3_stmt *const statement = mechd_sqlite_of_runs(self, MECHD_SQL_READ_RUNS, key);
    if (statement != NULL) {
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
    return outcome != 0 ? outcome : code == SQLITE_DONE ? 0 : MECH_INTERNAL;
}

uint64_t mechd_sqlite_results_at(void *self, int64_t key, uint64_t run, double time)
{
    uint64_t first = 0;
    sqlite3_stmt *const statement = mechd_sqlite_of_runs(self, MECHD_SQL_FIND_RESULTS, key);
    if (statement != NULL) {
        sqlite3_bind_int64(statement, 2, (int64_t)run);
        sqlite3_bind_double(statement, 3, time);
        if (sqlite3_step(statement) == SQLITE_ROW) {
            first = (uint64_t)sqlite3_column_int64(statement, 0);
        }
        sqlite3_reset(statement);
    }
    return first;
}

int mechd_sqlite_sweeps(void *self, uint64_t *last, mechd_store_sweep *read, void *context)
{
    int outcome = 0, code = SQLITE_ERROR;
    sqlite3_stmt *statement = mechd_sqlite_statement(self, MECHD_SQL_LAST_SWEEP);
    *last = 0;
    if (statement != NULL && sqlite3_step(statement) == SQLITE_ROW) {
        *last = (uint64_t)sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    }
    statement = mechd_sqlite_statement(self, MECHD_SQL_READ_SWEEPS);
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

int mechd_sqlite_receipts(void *self, int64_t since, mechd_store_receipt *take, void *context)
{
    sqlite3_stmt *statement = mechd_sqlite_statement(self, MECHD_SQL_FORGET_RECEIPTS);
    int outcome = 0, code = SQLITE_ERROR;
    if (statement != NULL) {
        sqlite3_bind_int64(statement, 1, since);
        (void)sqlite3_step(statement); // a disk that is full now may have room later
        sqlite3_reset(statement);
    }
    statement = mechd_sqlite_statement(self, MECHD_SQL_READ_RECEIPTS);
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
