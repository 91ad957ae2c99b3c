/* SQL of the store, and records as statements. */
#include "server/store/sqlite.h"

/* Runs and their rows, in tables with this beginning of their names. */
#define SQL_RUN(of, owner)                                                                         \
    "INSERT INTO " of "runs (key, number, state, description, time, elapsed, periods, overruns,"   \
    " rows, reason) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10"                                \
    " WHERE EXISTS (SELECT 1 FROM " owner " = ?1)"                                                 \
    " ON CONFLICT (key, number) DO UPDATE SET state = ?3, description = ?4, time = ?5,"            \
    " elapsed = ?6, periods = ?7, overruns = ?8, rows = ?9, reason = ?10"
#define SQL_RESULTS(of)                                                                            \
    "INSERT OR REPLACE INTO " of "results (key, number, first, time, bytes)"                       \
    " SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS"                                                      \
    " (SELECT 1 FROM " of "runs WHERE key = ?1 AND number = ?2)"
#define SQL_DELETE_RUN(of) "DELETE FROM " of "runs WHERE key = ?1 AND number = ?2"
#define SQL_DELETE_RESULTS(of) "DELETE FROM " of "results WHERE key = ?1 AND number = ?2"
#define SQL_NO_ROWS(of) "UPDATE " of "runs SET rows = NULL WHERE key = ?1 AND number = ?2"
#define SQL_READ_RUNS(of)                                                                          \
    "SELECT number, state, description, time, elapsed, periods, overruns, rows, reason"            \
    " FROM " of "runs WHERE key = ?1 ORDER BY number"
#define SQL_READ_RESULTS(of)                                                                       \
    "SELECT first, 0, 0, time, bytes, 0 FROM " of "results WHERE key = ?1"                         \
    " AND number = ?2 AND first <= ?3 ORDER BY first DESC LIMIT 1"
#define SQL_FIND_RESULTS(of)                                                                       \
    "SELECT first FROM " of "results WHERE key = ?1 AND number = ?2"                               \
    " AND time <= ?3 ORDER BY time DESC LIMIT 1"

static const char *const text_of[MECHD_SQL_COUNT] = {
    [MECHD_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [MECHD_SQL_COMMIT] = "COMMIT",
    [MECHD_SQL_ROLLBACK] = "ROLLBACK",
    [MECHD_SQL_ID_ASIDE] = "UPDATE instances SET aside = 'its id was used again',"
                           " id = id || ' (' || key || ')' WHERE id = ?1",
    [MECHD_SQL_CREATE] = "INSERT INTO instances (key, id, serial, labels, durability, model,"
                         " ttl, token) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [MECHD_SQL_DESCRIBE] = "UPDATE instances SET labels = ?2, ttl = ?3 WHERE key = ?1",
    [MECHD_SQL_MODEL] = "UPDATE instances SET model = ?2 WHERE key = ?1",
    // of an instance that has been deleted meanwhile nothing is kept
    [MECHD_SQL_STATE] = "INSERT OR REPLACE INTO states (key, revision, sequence, bytes, base)"
                        " SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS"
                        " (SELECT 1 FROM instances WHERE key = ?1)",
    [MECHD_SQL_FORGET_COMMANDS] = "DELETE FROM commands WHERE key = ?1",
    [MECHD_SQL_COMMAND] = "INSERT OR REPLACE INTO commands (key, number, revision, sequence, bytes,"
                          " base) SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS"
                          " (SELECT 1 FROM instances WHERE key = ?1)",
    [MECHD_SQL_DELETE] = "DELETE FROM instances WHERE key = ?1",
    [MECHD_SQL_SNAPSHOT] = "INSERT OR REPLACE INTO snapshots (key, number, time, bytes, parent)"
                           " SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS"
                           " (SELECT 1 FROM instances WHERE key = ?1)",
    [MECHD_SQL_DELETE_SNAPSHOT] = "DELETE FROM snapshots WHERE key = ?1 AND number = ?2",
    [MECHD_SQL_PARENT] = "UPDATE snapshots SET parent = ?3 WHERE key = ?1 AND parent = ?2",
    [MECHD_SQL_BASE] = "UPDATE states SET base = ?3 WHERE key = ?1 AND base = ?2",
    [MECHD_SQL_COMMAND_BASE] = "UPDATE commands SET base = ?3 WHERE key = ?1 AND base = ?2",
    [MECHD_SQL_PRESENT] = "UPDATE states SET base = ?2 WHERE key = ?1",
    // the last one's counts
    [MECHD_SQL_COMMAND_PRESENT] = "UPDATE commands SET base = ?2 WHERE key = ?1",
    [MECHD_SQL_RECEIPT] = "INSERT OR REPLACE INTO receipts"
                          " (scope, created, body, status, location, bytes, instance, etag)"
                          " SELECT ?1, iif(?2 = 0, unixepoch(), ?2), ?3, ?4, ?5, ?6, ?7, ?8"
                          " WHERE ?7 = 0 OR EXISTS (SELECT 1 FROM instances WHERE key = ?7)",
    [MECHD_SQL_FORGET_RECEIPTS] = "DELETE FROM receipts WHERE created < ?1",
    [MECHD_SQL_READ_RECEIPTS] =
        "SELECT r.scope, r.created, r.body, r.status, r.location, r.bytes, r.instance, i.id, r.etag"
        " FROM receipts r LEFT JOIN instances i ON i.key = r.instance AND i.aside IS NULL"
        " WHERE r.created >= ?1 AND (r.instance = 0 OR i.key IS NOT NULL) ORDER BY r.created",
    [MECHD_SQL_KEY] = "SELECT max(seq) FROM sqlite_sequence WHERE name = 'instances'",
    [MECHD_SQL_ALL] =
        "SELECT i.key, i.id, i.labels, i.durability, i.model, i.serial, s.revision,"
        " s.sequence, s.bytes, i.ttl, i.token, i.last_snapshot, i.last_run FROM instances i"
        " LEFT JOIN states s ON s.key = i.key WHERE i.key > ?1 AND i.aside IS NULL"
        " ORDER BY i.key LIMIT 1",
    [MECHD_SQL_ASIDE] = "UPDATE instances SET aside = ?2, id = id || ' (' || key || ')'"
                        " WHERE key = ?1",
    [MECHD_SQL_READ_STATE] = "SELECT 0, revision, sequence, 0.0, bytes, base FROM states"
                             " WHERE key = ?1",
    [MECHD_SQL_READ_COMMANDS] = "SELECT number, revision, sequence, 0.0, bytes, base FROM commands"
                                " WHERE key = ?1 ORDER BY number",
    [MECHD_SQL_READ_SNAPSHOTS] = "SELECT number, 0, 0, time, bytes, parent FROM snapshots"
                                 " WHERE key = ?1 AND number >= ?2 ORDER BY number LIMIT 1",
    [MECHD_SQL_RUN] = SQL_RUN("", "instances WHERE key"),
    [MECHD_SQL_RESULTS] = SQL_RESULTS(""),
    [MECHD_SQL_DELETE_RUN] = SQL_DELETE_RUN(""),
    [MECHD_SQL_DELETE_RESULTS] = SQL_DELETE_RESULTS(""),
    [MECHD_SQL_NO_ROWS] = SQL_NO_ROWS(""),
    [MECHD_SQL_READ_RUNS] = SQL_READ_RUNS(""),
    [MECHD_SQL_READ_RESULTS] = SQL_READ_RESULTS(""),
    [MECHD_SQL_FIND_RESULTS] = SQL_FIND_RESULTS(""),
    [MECHD_SQL_COUPLING_RUN] = SQL_RUN("coupling_", "couplings WHERE number"),
    [MECHD_SQL_COUPLING_RESULTS] = SQL_RESULTS("coupling_"),
    [MECHD_SQL_DELETE_COUPLING_RUN] = SQL_DELETE_RUN("coupling_"),
    [MECHD_SQL_DELETE_COUPLING_RESULTS] = SQL_DELETE_RESULTS("coupling_"),
    [MECHD_SQL_NO_COUPLING_ROWS] = SQL_NO_ROWS("coupling_"),
    [MECHD_SQL_READ_COUPLING_RUNS] = SQL_READ_RUNS("coupling_"),
    [MECHD_SQL_READ_COUPLING_RESULTS] = SQL_READ_RESULTS("coupling_"),
    [MECHD_SQL_FIND_COUPLING_RESULTS] = SQL_FIND_RESULTS("coupling_"),
    [MECHD_SQL_SWEEP] = "INSERT INTO sweeps (number, token, description, state, done, failed, rows,"
                        " errors) VALUES (?1, ?2, ?3, ?4, 0, 0, 0, '[]')",
    // of a sweep that has been deleted meanwhile nothing is kept
    [MECHD_SQL_SWEEP_ROWS] = "INSERT INTO sweep_rows (number, first, bytes) SELECT ?1, ?2, ?3"
                             " WHERE EXISTS (SELECT 1 FROM sweeps WHERE number = ?1)",
    [MECHD_SQL_SWEEP_END] = "UPDATE sweeps SET state = ?2, done = ?3, failed = ?4, rows = ?5,"
                            " errors = ?6 WHERE number = ?1",
    [MECHD_SQL_DELETE_SWEEP] = "DELETE FROM sweeps WHERE number = ?1",
    [MECHD_SQL_LAST_SWEEP] = "SELECT max(seq) FROM sqlite_sequence WHERE name = 'sweeps'",
    [MECHD_SQL_READ_SWEEPS] = "SELECT number, token, description, state, done, failed, rows, errors"
                              " FROM sweeps ORDER BY number",
    [MECHD_SQL_READ_SWEEP_ROWS] = "SELECT first, 0, 0, 0.0, bytes, 0 FROM sweep_rows"
                                  " WHERE number = ?1 AND first >= ?2 ORDER BY first LIMIT 1",
    [MECHD_SQL_LAST_SNAPSHOT] = "UPDATE instances SET last_snapshot = ?2"
                                " WHERE key = ?1 AND last_snapshot < ?2",
    [MECHD_SQL_LAST_RUN] = "UPDATE instances SET last_run = ?2 WHERE key = ?1 AND last_run < ?2",
    [MECHD_SQL_NUMBER] = "INSERT INTO numbers (name, value) VALUES (?1, ?2)"
                         " ON CONFLICT (name) DO UPDATE SET value = max(value, ?2)",
    [MECHD_SQL_LAST_NUMBER] = "INSERT OR REPLACE INTO numbers (name, value) VALUES (?1, ?2)",
    [MECHD_SQL_READ_NUMBER] = "SELECT value FROM numbers WHERE name = ?1",
    [MECHD_SQL_COUPLING] = "INSERT INTO couplings (number, token, document, revision, sequence,"
                           " bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [MECHD_SQL_COUPLING_STATE] = "UPDATE couplings SET revision = ?2, sequence = ?3, bytes = ?4"
                                 " WHERE number = ?1",
    [MECHD_SQL_DELETE_COUPLING] = "DELETE FROM couplings WHERE number = ?1",
    [MECHD_SQL_NEXT_COUPLING] = "SELECT number, token, document, revision, sequence, bytes"
                                " FROM couplings WHERE number > ?1 AND aside IS NULL"
                                " ORDER BY number LIMIT 1",
    [MECHD_SQL_COUPLING_ASIDE] = "UPDATE couplings SET aside = ?2 WHERE number = ?1",
    [MECHD_SQL_READ_COUPLING] = "SELECT number, revision, sequence, 0.0, bytes, 0 FROM couplings"
                                " WHERE number = ?1",
    // of a coupling that is not stored, or deleted meanwhile, nothing is kept
    [MECHD_SQL_COUPLING_SNAPSHOT] =
        "INSERT OR REPLACE INTO coupling_snapshots (coupling, number, time, bytes)"
        " SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM couplings WHERE number = ?1)",
    [MECHD_SQL_DELETE_COUPLING_SNAPSHOT] =
        "DELETE FROM coupling_snapshots WHERE coupling = ?1 AND number = ?2",
    [MECHD_SQL_READ_COUPLING_SNAPSHOTS] =
        "SELECT number, 0, 0, time, bytes, 0 FROM coupling_snapshots"
        " WHERE coupling = ?1 AND number >= ?2 ORDER BY number LIMIT 1",
};

sqlite3_stmt *mechd_sqlite_statement(struct mechd_sqlite *d, enum mechd_statement which)
{
    if (d->statement[which] == NULL) {
        sqlite3_prepare_v3(d->sqlite, text_of[which], -1, SQLITE_PREPARE_PERSISTENT,
                           &d->statement[which], NULL);
    } else {
        sqlite3_reset(d->statement[which]);
        sqlite3_clear_bindings(d->statement[which]);
    }
    return d->statement[which];
}

static bool finish(sqlite3_stmt *s)
{
    const bool done = s != NULL && sqlite3_step(s) == SQLITE_DONE;
    return sqlite3_reset(s) == SQLITE_OK && done;
}

bool mechd_sqlite_run(struct mechd_sqlite *d, enum mechd_statement which)
{
    return finish(mechd_sqlite_statement(d, which));
}

void mechd_sqlite_undo(void *self)
{
    struct mechd_sqlite *const d = self;
    if (!sqlite3_get_autocommit(d->sqlite)) {
        mechd_sqlite_run(d, MECHD_SQL_ROLLBACK);
    }
}

/* A statement for this key. */
static sqlite3_stmt *of_key(struct mechd_sqlite *d, enum mechd_statement which, int64_t key)
{
    sqlite3_stmt *const s = mechd_sqlite_statement(d, which);
    if (s != NULL) {
        sqlite3_bind_int64(s, 1, key);
    }
    return s;
}

_Static_assert(MECHD_SQL_FIND_COUPLING_RESULTS - MECHD_SQL_FIND_RESULTS ==
                   MECHD_SQL_COUPLING_RUN - MECHD_SQL_RUN,
               "both in one order");

sqlite3_stmt *mechd_sqlite_of_runs(struct mechd_sqlite *d, enum mechd_statement which, int64_t key)
{
    const int of = key < 0 ? MECHD_SQL_COUPLING_RUN - MECHD_SQL_RUN : 0;
    return of_key(d, (enum mechd_statement)((int)which + of), key < 0 ? -key : key);
}

/* The same for a number of it. */
static sqlite3_stmt *of_run(struct mechd_sqlite *d, enum mechd_statement which,
                            const struct mechd_record *r)
{
    sqlite3_stmt *const s = mechd_sqlite_of_runs(d, which, r->key);
    if (s != NULL) {
        sqlite3_bind_int64(s, 2, (int64_t)r->number);
    }
    return s;
}

/* SQLite takes a blob of length 0 for NULL unless it has an address. */
static void bind_bytes(sqlite3_stmt *s, int at, const void *bytes, size_t size)
{
    sqlite3_bind_blob64(s, at, size > 0 ? bytes : "", size, SQLITE_STATIC);
}

static bool apply_create(struct mechd_sqlite *d, const struct mechd_record *r)
{
    // one that could not be loaded, nor set aside when that was seen
    sqlite3_stmt *s = mechd_sqlite_statement(d, MECHD_SQL_ID_ASIDE);
    if (s == NULL) {
        return false;
    }
    sqlite3_bind_text(s, 1, r->id, -1, SQLITE_STATIC);
    if (!finish(s) || (s = of_key(d, MECHD_SQL_CREATE, r->key)) == NULL) {
        return false;
    }
    sqlite3_bind_text(s, 2, r->id, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 3, (int64_t)r->serial);
    sqlite3_bind_text(s, 4, r->labels, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, r->durability, -1, SQLITE_STATIC);
    sqlite3_bind_text64(s, 6, r->model, r->model_size, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_double(s, 7, r->ttl);
    sqlite3_bind_text(s, 8, r->token != NULL ? r->token : "", -1, SQLITE_STATIC);
    return finish(s);
}

static bool apply_describe(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, MECHD_SQL_DESCRIBE, r->key);
    if (s == NULL) {
        return false;
    }
    sqlite3_bind_text(s, 2, r->labels, -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 3, r->ttl);
    return finish(s);
}

static bool apply_model(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, MECHD_SQL_MODEL, r->key);
    if (s != NULL) {
        sqlite3_bind_text64(s, 2, r->model, r->model_size, SQLITE_STATIC, SQLITE_UTF8);
    }
    return finish(s);
}

static bool apply_state(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, MECHD_SQL_STATE, r->key);
    if (s == NULL) {
        return false;
    }
    sqlite3_bind_int64(s, 2, (int64_t)r->revision);
    sqlite3_bind_int64(s, 3, (int64_t)r->sequence);
    bind_bytes(s, 4, r->bytes, r->size);
    sqlite3_bind_int64(s, 5, (int64_t)r->base);
    return finish(s) && finish(of_key(d, MECHD_SQL_FORGET_COMMANDS, r->key));
}

static bool apply_command(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, MECHD_SQL_COMMAND, r->key);
    if (s == NULL) {
        return false;
    }
    sqlite3_bind_int64(s, 2, (int64_t)r->number);
    sqlite3_bind_int64(s, 3, (int64_t)r->revision);
    sqlite3_bind_int64(s, 4, (int64_t)r->sequence);
    bind_bytes(s, 5, r->bytes, r->size);
    sqlite3_bind_int64(s, 6, (int64_t)r->base);
    return finish(s);
}

/* A statement for this key and a number of it. */
static sqlite3_stmt *of_number(struct mechd_sqlite *d, enum mechd_statement which,
                               const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, which, r->key);
    if (s != NULL) {
        sqlite3_bind_int64(s, 2, (int64_t)r->number);
    }
    return s;
}

static bool apply_snapshot(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_number(d, MECHD_SQL_SNAPSHOT, r);
    if (s == NULL) {
        return false;
    }
    sqlite3_bind_double(s, 3, r->time);
    bind_bytes(s, 4, r->bytes, r->size);
    sqlite3_bind_int64(s, 5, (int64_t)r->base);
    const bool kept = finish(s) && finish(of_number(d, MECHD_SQL_LAST_SNAPSHOT, r));
    return kept && (!r->present || (finish(of_number(d, MECHD_SQL_PRESENT, r)) &&
                                    finish(of_number(d, MECHD_SQL_COMMAND_PRESENT, r))));
}

/* What descends from it descends from its parent. */
static bool apply_delete_snapshot(struct mechd_sqlite *d, const struct mechd_record *r)
{
    static const enum mechd_statement moves[] = {MECHD_SQL_PARENT, MECHD_SQL_BASE,
                                                 MECHD_SQL_COMMAND_BASE};
    for (size_t k = 0; k < sizeof moves / sizeof *moves; k++) {
        sqlite3_stmt *const s = of_number(d, moves[k], r);
        if (s != NULL) {
            sqlite3_bind_int64(s, 3, (int64_t)r->base);
        }
        if (!finish(s)) {
            return false;
        }
    }
    return finish(of_number(d, MECHD_SQL_DELETE_SNAPSHOT, r));
}

static bool apply_receipt(struct mechd_sqlite *d, const struct mechd_stored_receipt *r)
{
    sqlite3_stmt *const s = mechd_sqlite_statement(d, MECHD_SQL_RECEIPT);
    if (s == NULL) {
        return false;
    }
    sqlite3_bind_text(s, 1, r->scope, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, r->created);
    sqlite3_bind_int64(s, 3, (int64_t)r->body);
    sqlite3_bind_int(s, 4, r->status);
    sqlite3_bind_text(s, 5, r->location, -1, SQLITE_STATIC);
    bind_bytes(s, 6, r->bytes, r->size);
    sqlite3_bind_int64(s, 7, r->instance);
    sqlite3_bind_text(s, 8, r->etag, -1, SQLITE_STATIC);
    return finish(s);
}

static bool apply_run(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_run(d, MECHD_SQL_RUN, r);
    if (s == NULL) {
        return false;
    }
    sqlite3_bind_text(s, 3, r->run.state, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, r->run.description, -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 5, r->run.time);
    sqlite3_bind_double(s, 6, r->run.elapsed);
    sqlite3_bind_int64(s, 7, (int64_t)r->run.periods);
    sqlite3_bind_int64(s, 8, (int64_t)r->run.overruns);
    if (r->run.recorded) {
        sqlite3_bind_int64(s, 9, (int64_t)r->run.rows);
    }
    sqlite3_bind_text(s, 10, r->run.reason, -1, SQLITE_STATIC);
    // the numbers of a coupling's runs continue without it (instance/lives.h)
    return finish(s) && (r->key < 0 || finish(of_number(d, MECHD_SQL_LAST_RUN, r)));
}

static bool apply_results(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_run(d, MECHD_SQL_RESULTS, r);
    if (s == NULL) {
        return false;
    }
    sqlite3_bind_int64(s, 3, (int64_t)r->first);
    sqlite3_bind_double(s, 4, r->time);
    bind_bytes(s, 5, r->bytes, r->size);
    return finish(s);
}

static bool apply_sweep(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, MECHD_SQL_SWEEP, (int64_t)r->number);
    if (s != NULL) {
        sqlite3_bind_text(s, 2, r->sweep.token, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, r->sweep.description, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 4, r->sweep.state, -1, SQLITE_STATIC);
    }
    return finish(s);
}

static bool apply_sweep_rows(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, MECHD_SQL_SWEEP_ROWS, (int64_t)r->number);
    if (s != NULL) {
        sqlite3_bind_int64(s, 2, (int64_t)r->first);
        bind_bytes(s, 3, r->bytes, r->size);
    }
    return finish(s);
}

static bool apply_sweep_end(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, MECHD_SQL_SWEEP_END, (int64_t)r->number);
    if (s != NULL) {
        sqlite3_bind_text(s, 2, r->sweep.state, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 3, r->sweep.done);
        sqlite3_bind_int64(s, 4, r->sweep.failed);
        sqlite3_bind_int64(s, 5, (int64_t)r->sweep.rows);
        sqlite3_bind_text(s, 6, r->sweep.errors, -1, SQLITE_STATIC);
    }
    return finish(s);
}

static bool apply_number(struct mechd_sqlite *d, const struct mechd_record *r,
                         enum mechd_statement which)
{
    sqlite3_stmt *const s = mechd_sqlite_statement(d, which);
    if (s != NULL) {
        sqlite3_bind_text(s, 1, r->id, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 2, (int64_t)r->number);
    }
    return finish(s);
}

static bool apply_coupling(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, MECHD_SQL_COUPLING, (int64_t)r->number);
    if (s != NULL) {
        sqlite3_bind_text(s, 2, r->token != NULL ? r->token : "", -1, SQLITE_STATIC);
        sqlite3_bind_text64(s, 3, r->model, r->model_size, SQLITE_STATIC, SQLITE_UTF8);
        sqlite3_bind_int64(s, 4, (int64_t)r->revision);
        sqlite3_bind_int64(s, 5, (int64_t)r->sequence);
        bind_bytes(s, 6, r->bytes, r->size);
    }
    return finish(s);
}

static bool apply_coupling_state(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, MECHD_SQL_COUPLING_STATE, (int64_t)r->number);
    if (s != NULL) {
        sqlite3_bind_int64(s, 2, (int64_t)r->revision);
        sqlite3_bind_int64(s, 3, (int64_t)r->sequence);
        bind_bytes(s, 4, r->bytes, r->size);
    }
    return finish(s);
}

/* A statement for a snapshot of a coupling. */
static sqlite3_stmt *of_coupling(struct mechd_sqlite *d, enum mechd_statement which,
                                 const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_key(d, which, (int64_t)r->coupling);
    if (s != NULL) {
        sqlite3_bind_int64(s, 2, (int64_t)r->number);
    }
    return s;
}

static bool apply_coupling_snapshot(struct mechd_sqlite *d, const struct mechd_record *r)
{
    sqlite3_stmt *const s = of_coupling(d, MECHD_SQL_COUPLING_SNAPSHOT, r);
    if (s != NULL) {
        sqlite3_bind_double(s, 3, r->time);
        bind_bytes(s, 4, r->bytes, r->size);
    }
    return finish(s);
}

bool mechd_sqlite_apply(void *self, const struct mechd_record *r)
{
    struct mechd_sqlite *const d = self;
    switch (r->kind) {
    case MECHD_RECORD_CREATE:
        return apply_create(d, r) && apply_state(d, r);
    case MECHD_RECORD_DESCRIBE:
        return apply_describe(d, r);
    case MECHD_RECORD_MODEL:
        return apply_model(d, r) && apply_state(d, r);
    case MECHD_RECORD_STATE:
        return apply_state(d, r);
    case MECHD_RECORD_COMMAND:
        return apply_command(d, r);
    case MECHD_RECORD_DELETE:
        return finish(of_key(d, MECHD_SQL_DELETE, r->key));
    case MECHD_RECORD_SNAPSHOT:
        return apply_snapshot(d, r);
    case MECHD_RECORD_DELETE_SNAPSHOT:
        return apply_delete_snapshot(d, r);
    case MECHD_RECORD_RECEIPT:
        return apply_receipt(d, &r->receipt);
    case MECHD_RECORD_RUN:
        return apply_run(d, r);
    case MECHD_RECORD_RESULTS:
        return apply_results(d, r);
    case MECHD_RECORD_DELETE_RUN:
        return finish(of_run(d, MECHD_SQL_DELETE_RUN, r));
    case MECHD_RECORD_DELETE_RESULTS:
        return finish(of_run(d, MECHD_SQL_DELETE_RESULTS, r)) &&
               finish(of_run(d, MECHD_SQL_NO_ROWS, r));
    case MECHD_RECORD_SWEEP:
        return apply_sweep(d, r);
    case MECHD_RECORD_SWEEP_ROWS:
        return apply_sweep_rows(d, r);
    case MECHD_RECORD_SWEEP_END:
        return apply_sweep_end(d, r);
    case MECHD_RECORD_DELETE_SWEEP:
        return finish(of_key(d, MECHD_SQL_DELETE_SWEEP, (int64_t)r->number));
    case MECHD_RECORD_NUMBER:
        return apply_number(d, r, MECHD_SQL_NUMBER);
    case MECHD_RECORD_LAST_NUMBER:
        return apply_number(d, r, MECHD_SQL_LAST_NUMBER);
    case MECHD_RECORD_COUPLING:
        return apply_coupling(d, r);
    case MECHD_RECORD_COUPLING_STATE:
        return apply_coupling_state(d, r);
    case MECHD_RECORD_DELETE_COUPLING:
        return finish(of_key(d, MECHD_SQL_DELETE_COUPLING, (int64_t)r->number));
    case MECHD_RECORD_COUPLING_SNAPSHOT:
        return apply_coupling_snapshot(d, r);
    case MECHD_RECORD_DELETE_COUPLING_SNAPSHOT:
        return finish(of_coupling(d, MECHD_SQL_DELETE_COUPLING_SNAPSHOT, r));
    }
    return false;
}
