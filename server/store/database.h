/* The database behind the store: opening, setting aside, statements. owner: one thread. */
#pragma once

#include "server/store/store.h"

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
    MECHD_SQL_RECEIPT,
    MECHD_SQL_FORGET_RECEIPTS,
    MECHD_SQL_READ_RECEIPTS,
    MECHD_SQL_KEY,
    MECHD_SQL_ALL,
    MECHD_SQL_ASIDE,
    MECHD_SQL_READ_STATE,
    MECHD_SQL_READ_COMMANDS,
    MECHD_SQL_READ_SNAPSHOTS,
    MECHD_SQL_RUN,
    MECHD_SQL_RESULTS,
    MECHD_SQL_DELETE_RUN,
    MECHD_SQL_DELETE_RESULTS,
    MECHD_SQL_NO_ROWS,
    MECHD_SQL_READ_RUNS,
    MECHD_SQL_READ_RESULTS,
    MECHD_SQL_FIND_RESULTS,
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
    MECHD_SQL_READ_NUMBER,
    MECHD_SQL_COUNT
};

struct mechd_database {
    sqlite3 *sqlite;
    sqlite3_stmt *statement[MECHD_SQL_COUNT]; /* prepared at first use */
};

/* Open `directory`/mechd.sqlite, with its schema: an older one is brought up to this version, one
 * that is damaged or newer is set aside first. 0, or negative with a sentence. */
int mechd_database_open(struct mechd_database *d, const char *directory, char *fault, size_t size);
void mechd_database_close(struct mechd_database *d);
/* Why opening would set `directory`/mechd.sqlite aside, or NULL, as far as its first bytes tell
 * (the format's header, whose version number may be older than what its log holds). Opens no
 * database: another process may have it. Any thread. */
const char *mechd_database_look(const char *directory);
/* A statement without bound values, or NULL. */
sqlite3_stmt *mechd_database_statement(struct mechd_database *d, enum mechd_statement which);
/* Step a statement without rows. True: done. */
bool mechd_database_run(struct mechd_database *d, enum mechd_statement which);
/* End the transaction that has failed, if one is open: others could not write before. */
void mechd_database_undo(struct mechd_database *d);
/* Write something that changes nothing. True: the disk takes it. */
bool mechd_database_probe(struct mechd_database *d);
/* Apply one record within a transaction. True: done. */
bool mechd_database_apply(struct mechd_database *d, const struct mechd_record *r);
