/* The database in one file, by SQLite: shared by its three sources. sqlite.c opens and closes,
 * sqlite_write.c applies records, sqlite_read.c reads. Contract: database.h. */
#pragma once

#include "server/store/database.h"

#include <sqlite3.h>

enum mechd_statement {
    MECHD_SQL_BEGIN,
    MECHD_SQL_COMMIT,
    MECHD_SQL_ROLLBACK,
    MECHD_SQL_ID_ASIDE,
    MECHD_SQL_CREATE,
    MECHD_SQL_DESCRIBE,
    MECHD_SQL_MODEL,
    MECHD_SQL_STATE,
    MECHD_SQL_FORGET_COMMANDS,
    MECHD_SQL_COMMAND,
    MECHD_SQL_DELETE,
    MECHD_SQL_SNAPSHOT,
    MECHD_SQL_DELETE_SNAPSHOT,
    MECHD_SQL_PARENT,
    MECHD_SQL_BASE,
    MECHD_SQL_COMMAND_BASE,
    MECHD_SQL_PRESENT,
    MECHD_SQL_COMMAND_PRESENT,
    MECHD_SQL_RECEIPT,
    MECHD_SQL_FORGET_RECEIPTS,
    MECHD_SQL_READ_RECEIPTS,
    MECHD_SQL_KEY,
    MECHD_SQL_ALL,
    MECHD_SQL_ASIDE,
    MECHD_SQL_READ_STATE,
    MECHD_SQL_READ_COMMANDS,
    MECHD_SQL_READ_SNAPSHOTS,
    // of an instance, and in the same order of a coupling
    MECHD_SQL_RUN,
    MECHD_SQL_RESULTS,
    MECHD_SQL_DELETE_RUN,
    MECHD_SQL_DELETE_RESULTS,
    MECHD_SQL_NO_ROWS,
    MECHD_SQL_READ_RUNS,
    MECHD_SQL_READ_RESULTS,
    MECHD_SQL_FIND_RESULTS,
    MECHD_SQL_COUPLING_RUN,
    MECHD_SQL_COUPLING_RESULTS,
    MECHD_SQL_DELETE_COUPLING_RUN,
    MECHD_SQL_DELETE_COUPLING_RESULTS,
    MECHD_SQL_NO_COUPLING_ROWS,
    MECHD_SQL_READ_COUPLING_RUNS,
    MECHD_SQL_READ_COUPLING_RESULTS,
    MECHD_SQL_FIND_COUPLING_RESULTS,
    MECHD_SQL_SWEEP,
    MECHD_SQL_SWEEP_ROWS,
    MECHD_SQL_SWEEP_END,
    MECHD_SQL_DELETE_SWEEP,
    MECHD_SQL_LAST_SWEEP,
    MECHD_SQL_READ_SWEEPS,
    MECHD_SQL_READ_SWEEP_ROWS,
    MECHD_SQL_LAST_SNAPSHOT,
    MECHD_SQL_LAST_RUN,
    MECHD_SQL_NUMBER,
    MECHD_SQL_LAST_NUMBER,
    MECHD_SQL_READ_NUMBER,
    MECHD_SQL_COUPLING,
    MECHD_SQL_COUPLING_STATE,
    MECHD_SQL_DELETE_COUPLING,
    MECHD_SQL_NEXT_COUPLING,
    MECHD_SQL_COUPLING_ASIDE,
    MECHD_SQL_READ_COUPLING,
    MECHD_SQL_COUPLING_SNAPSHOT,
    MECHD_SQL_DELETE_COUPLING_SNAPSHOT,
    MECHD_SQL_READ_COUPLING_SNAPSHOTS,
    MECHD_SQL_COUNT
};

struct mechd_sqlite {
    sqlite3 *sqlite;
    sqlite3_stmt *statement[MECHD_SQL_COUNT]; /* prepared at first use */
};

/* A statement without bound values, or NULL. */
sqlite3_stmt *mechd_sqlite_statement(struct mechd_sqlite *d, enum mechd_statement which);
/* The statement of runs for this key, which is bound: of an instance, or minus the number of a
 * coupling. NULL as above. */
sqlite3_stmt *mechd_sqlite_of_runs(struct mechd_sqlite *d, enum mechd_statement which, int64_t key);
/* Step a statement without rows. True: done. */
bool mechd_sqlite_run(struct mechd_sqlite *d, enum mechd_statement which);

/* Members of the table (database.h), by the same names. */
bool mechd_sqlite_apply(void *self, const struct mechd_record *r);
void mechd_sqlite_undo(void *self);
bool mechd_sqlite_last_key(void *self, int64_t *out);
bool mechd_sqlite_number(void *self, const char *name, uint64_t *out);
int mechd_sqlite_next(void *self, int64_t after, mechd_database_see *see, void *context);
bool mechd_sqlite_set_aside(void *self, int64_t key, const char *reason);
int mechd_sqlite_next_coupling(void *self, uint64_t after, mechd_database_see_coupling *see,
                               void *context);
bool mechd_sqlite_set_coupling_aside(void *self, uint64_t number, const char *reason);
int mechd_sqlite_replay(void *self, int64_t key, mechd_store_read *read, void *context);
int mechd_sqlite_rows(void *self, const struct mechd_rows_asked *asked, mechd_store_read *read,
                      void *context, int *count);
int mechd_sqlite_runs(void *self, int64_t key, mechd_store_run *read, void *context);
uint64_t mechd_sqlite_results_at(void *self, int64_t key, uint64_t run, double time);
int mechd_sqlite_sweeps(void *self, uint64_t *last, mechd_store_sweep *read, void *context);
int mechd_sqlite_receipts(void *self, int64_t since, mechd_store_receipt *take, void *context);
