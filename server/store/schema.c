/* The tables, version by version. */
#include "server/store/schema.h"

const char *const mechd_schema[] = {
    // 1: instances
    ("CREATE TABLE instances (key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
     " serial INTEGER NOT NULL, labels TEXT, durability TEXT NOT NULL, model TEXT NOT NULL);"
     "CREATE TABLE states (key INTEGER PRIMARY KEY REFERENCES instances ON DELETE CASCADE,"
     " revision INTEGER NOT NULL, sequence INTEGER NOT NULL, bytes BLOB NOT NULL);"
     "CREATE TABLE commands (key INTEGER NOT NULL REFERENCES instances ON DELETE CASCADE,"
     " number INTEGER NOT NULL, revision INTEGER NOT NULL, sequence INTEGER NOT NULL,"
     " bytes BLOB NOT NULL, PRIMARY KEY (key, number)) WITHOUT ROWID;"
     "CREATE TABLE snapshots (key INTEGER NOT NULL REFERENCES instances ON DELETE CASCADE,"
     " number INTEGER NOT NULL, time REAL NOT NULL, bytes BLOB NOT NULL,"
     " PRIMARY KEY (key, number)) WITHOUT ROWID;"
     "CREATE TABLE receipts (scope TEXT PRIMARY KEY, created INTEGER NOT NULL,"
     " body INTEGER NOT NULL, status INTEGER NOT NULL, location TEXT NOT NULL,"
     " bytes BLOB NOT NULL) WITHOUT ROWID;"
     "CREATE INDEX receipts_by_age ON receipts (created);"
     "CREATE TABLE aside (id TEXT NOT NULL, reason TEXT NOT NULL, labels TEXT,"
     " durability TEXT NOT NULL, model TEXT NOT NULL, revision INTEGER, sequence INTEGER,"
     " bytes BLOB);"),
    // 2: runs and the rows that they record
    ("CREATE TABLE runs (key INTEGER NOT NULL REFERENCES instances ON DELETE CASCADE,"
     " number INTEGER NOT NULL, state TEXT NOT NULL, description TEXT NOT NULL,"
     " time REAL NOT NULL, elapsed REAL NOT NULL, periods INTEGER NOT NULL,"
     " overruns INTEGER NOT NULL, rows INTEGER, reason TEXT NOT NULL,"
     " PRIMARY KEY (key, number)) WITHOUT ROWID;"
     "CREATE TABLE results (key INTEGER NOT NULL, number INTEGER NOT NULL,"
     " first INTEGER NOT NULL, time REAL NOT NULL, bytes BLOB NOT NULL,"
     " PRIMARY KEY (key, number, first),"
     " FOREIGN KEY (key, number) REFERENCES runs ON DELETE CASCADE);"
     "CREATE INDEX results_by_time ON results (key, number, time);"),
    // 3: time to live, and whose they are
    ("ALTER TABLE instances ADD COLUMN ttl REAL NOT NULL DEFAULT 0;"
     "ALTER TABLE instances ADD COLUMN token TEXT NOT NULL DEFAULT '';"),
    // 4: sweeps and their rows
    ("CREATE TABLE sweeps (number INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL,"
     " description TEXT NOT NULL, state TEXT NOT NULL, done INTEGER NOT NULL,"
     " failed INTEGER NOT NULL, rows INTEGER NOT NULL, errors TEXT NOT NULL);"
     "CREATE TABLE sweep_rows (number INTEGER NOT NULL REFERENCES sweeps ON DELETE CASCADE,"
     " first INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (number, first));"),
    // 5: numbers that have been given; receipts go with their instance
    ("CREATE TABLE numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
     "INSERT INTO numbers SELECT 'instances', ifnull(max(serial), 0) FROM instances;"
     "ALTER TABLE instances ADD COLUMN last_snapshot INTEGER NOT NULL DEFAULT 0;"
     "ALTER TABLE instances ADD COLUMN last_run INTEGER NOT NULL DEFAULT 0;"
     "UPDATE instances SET last_snapshot = ifnull((SELECT max(number) FROM snapshots s"
     " WHERE s.key = instances.key), 0), last_run = ifnull((SELECT max(number) FROM runs r"
     " WHERE r.key = instances.key), 0);"
     "ALTER TABLE receipts ADD COLUMN instance INTEGER NOT NULL DEFAULT 0;"
     "CREATE INDEX receipts_by_instance ON receipts (instance);"
     "CREATE TRIGGER receipts_of_instance AFTER DELETE ON instances"
     " BEGIN DELETE FROM receipts WHERE instance = OLD.key; END;"),
    // 6: answers with all of their head
    "ALTER TABLE receipts ADD COLUMN etag TEXT NOT NULL DEFAULT '';",
    // 7: what cannot be loaded stays whole, under another id
    ("ALTER TABLE instances ADD COLUMN aside TEXT;"
     "INSERT INTO instances (id, serial, labels, durability, model, aside)"
     " SELECT id || ' (-' || rowid || ')', 0, labels, durability, model, reason FROM aside;"
     "INSERT INTO states SELECT i.key, a.revision, a.sequence, a.bytes FROM aside a"
     " JOIN instances i ON i.id = a.id || ' (-' || a.rowid || ')'"
     " WHERE a.revision IS NOT NULL AND a.sequence IS NOT NULL AND a.bytes IS NOT NULL;"
     "UPDATE instances SET id = substr(id, 1, instr(id, ' (-') - 1) || ' (' || key || ')'"
     " WHERE aside IS NOT NULL;"
     "DROP TABLE aside;"),
    // 8: snapshots as a tree: of which one each is a successor, and the stored state
    ("ALTER TABLE snapshots ADD COLUMN parent INTEGER NOT NULL DEFAULT 0;"
     "ALTER TABLE states ADD COLUMN base INTEGER NOT NULL DEFAULT 0;"
     "ALTER TABLE commands ADD COLUMN base INTEGER NOT NULL DEFAULT 0;"),
    // 9: couplings, as long as their participants are stored
    ("CREATE TABLE couplings (number INTEGER PRIMARY KEY, token TEXT NOT NULL,"
     " document TEXT NOT NULL, revision INTEGER NOT NULL, sequence INTEGER NOT NULL,"
     " bytes BLOB NOT NULL, aside TEXT);"),
    // 10: snapshots of couplings
    ("CREATE TABLE coupling_snapshots (coupling INTEGER NOT NULL REFERENCES couplings"
     " ON DELETE CASCADE, number INTEGER NOT NULL, time REAL NOT NULL, bytes BLOB NOT NULL,"
     " PRIMARY KEY (coupling, number));"),
    // 11: runs of couplings and their rows: as those of instances
    ("CREATE TABLE coupling_runs (key INTEGER NOT NULL REFERENCES couplings ON DELETE CASCADE,"
     " number INTEGER NOT NULL, state TEXT NOT NULL, description TEXT NOT NULL,"
     " time REAL NOT NULL, elapsed REAL NOT NULL, periods INTEGER NOT NULL,"
     " overruns INTEGER NOT NULL, rows INTEGER, reason TEXT NOT NULL,"
     " PRIMARY KEY (key, number)) WITHOUT ROWID;"
     "CREATE TABLE coupling_results (key INTEGER NOT NULL, number INTEGER NOT NULL,"
     " first INTEGER NOT NULL, time REAL NOT NULL, bytes BLOB NOT NULL,"
     " PRIMARY KEY (key, number, first),"
     " FOREIGN KEY (key, number) REFERENCES coupling_runs ON DELETE CASCADE);"
     "CREATE INDEX coupling_results_by_time ON coupling_results (key, number, time);"),
};

const int mechd_schema_version = sizeof mechd_schema / sizeof *mechd_schema;
