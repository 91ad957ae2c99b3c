/* Storage: one database, written by one thread. The kinds of databases are the lines of
 * databases.def (database.h); of --state DIR it is SQLite, a file in that directory.
 *
 * Code that makes a durable change posts a record. The thread writes all waiting records in one
 * transaction (group commit: one fsync for all of them), then calls `done` of each. Records are
 * applied in the order in which they were posted. No fsync happens on any other thread.
 *
 * Tables, version 11:
 *
 *   instances  key, id, serial, labels, durability, model,   data of the creation
 *              ttl, token,                                    s (0: none); the owner
 *              last_snapshot, last_run,                       the largest numbers ever assigned
 *              aside                                          why it is not loaded, or NULL
 *   states     key, revision, sequence, bytes,               the last stored state;
 *              base                                           number of the snapshot from which it
 *                                                             descends, or 0
 *   commands   key, number, bytes, base                      step commands after that state
 *   snapshots  key, number, time, bytes, parent              parent: as base
 *   receipts   scope, created, body, status, location, bytes, answers under idempotency keys;
 *              instance, etag                                 the key of the instance, or 0
 *   runs       key, number, state, description, progress      runs of an instance
 *   results    key, number, first, time, bytes                chunks of their rows, float64
 *   sweeps     number, token, description, progress           sweeps, and sweep_rows their rows
 *   couplings  number, token, document, revision, sequence,  couplings, as their requests have them
 *              bytes, aside                                   the state of each; aside: as above
 *   coupling_snapshots  coupling, number, time, bytes         snapshots of a coupling
 *   coupling_runs, coupling_results                           as runs and results; the key is the
 *                                                             number of the coupling
 *   numbers    name, value                                    highest ids perhaps assigned
 *
 * A database that is damaged, or of a newer version, is renamed and a new one created; the log
 * names both. Only one daemon at a time can use a place. shared, locked by its own mutex.
 *
 *   mechd_store_open(place, fault, sizeof fault, &store);
 *   record->done = done;  mechd_store_post(store, record);  // done(record) on the store's thread
 *   mechd_store_close(store);                               // applies waiting records
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mechd_store;

enum mechd_record_kind {
    MECHD_RECORD_CREATE,          /* id, serial, labels, ttl, token, durability, model, state */
    MECHD_RECORD_DESCRIBE,        /* labels and ttl */
    MECHD_RECORD_MODEL,           /* model and state */
    MECHD_RECORD_STATE,           /* state; the commands before it are deleted */
    MECHD_RECORD_COMMAND,         /* number and bytes */
    MECHD_RECORD_DELETE,          /* everything of the key */
    MECHD_RECORD_SNAPSHOT,        /* number, time, bytes, base, and `present` */
    MECHD_RECORD_DELETE_SNAPSHOT, /* number; what descends from it descends from base */
    MECHD_RECORD_RECEIPT,         /* receipt */
    MECHD_RECORD_RUN,             /* number and run: replaces the earlier record of that same run */
    MECHD_RECORD_RESULTS,         /* number, first and its time, bytes: replaces the same first */
    MECHD_RECORD_DELETE_RUN,      /* number */
    MECHD_RECORD_DELETE_RESULTS,  /* number */
    MECHD_RECORD_SWEEP,           /* number, token and sweep: its beginning */
    MECHD_RECORD_SWEEP_ROWS,      /* number, first and bytes */
    MECHD_RECORD_SWEEP_END,       /* number and sweep: all but the description */
    MECHD_RECORD_DELETE_SWEEP,    /* number */
    MECHD_RECORD_NUMBER,          /* id and number: of `numbers`, unless that has a larger one */
    MECHD_RECORD_LAST_NUMBER,     /* the same, whatever it has */
    MECHD_RECORD_COUPLING,        /* number, token, model: its document, and state */
    MECHD_RECORD_COUPLING_STATE,  /* number, and state; nothing where there is no such coupling */
    MECHD_RECORD_DELETE_COUPLING, /* number, and its snapshots */
    MECHD_RECORD_COUPLING_SNAPSHOT,        /* coupling, number, time, bytes */
    MECHD_RECORD_DELETE_COUPLING_SNAPSHOT, /* coupling, number */
};

/* A run as stored: see instance/run_store.c. */
struct mechd_stored_run {
    uint64_t number;
    const char *state, *description, *reason;
    double time, elapsed; /* s: simulated now, of the clock since its start */
    uint64_t periods, overruns, rows;
    bool recorded; /* has rows */
};

/* A sweep as stored: see sweep/keep.c. */
struct mechd_stored_sweep {
    uint64_t number;
    const char *token, *description, *state, *errors;
    uint32_t done, failed;
    uint64_t rows;
};

/* A retained answer: see call/receipts.h. */
struct mechd_stored_receipt {
    const char *scope, *location, *etag;
    int64_t instance; /* key of the instance, with which it is deleted; 0: none */
    const char *id;   /* as read: id of that instance, or NULL */
    uint64_t body;    /* hash of the request's */
    int64_t created;  /* s since 1970; set by the store when it is 0 */
    int status;
    const void *bytes;
    size_t size;
};

/* Owner: the store from post to done, then the callback. Its pointers must be valid as long as the
 * record. */
struct mechd_record {
    struct mechd_record *next;
    bool glued; /* always in the same transaction as the one before it, and with its outcome if
                   that is stale */
    enum mechd_record_kind kind;
    int64_t key; /* of the instance, from mechd_store_key; of runs and results of a coupling minus
                    its number */
    uint64_t coupling; /* number of the coupling of which it is a snapshot */
    const char *id, *labels, *durability, *model, *token;
    size_t model_size;
    double ttl; /* s, 0: none */
    uint64_t serial, revision, sequence, number;
    uint64_t first; /* row */
    uint64_t base;  /* number of the snapshot from which the state descends, 0: from none */
    bool present;   /* SNAPSHOT: it is of the stored state, which descends from it from now on */
    double time;
    const void *bytes;
    size_t size;
    struct mechd_stored_receipt receipt;
    struct mechd_stored_run run;
    struct mechd_stored_sweep sweep;
    /* True: must no longer be applied; `outcome` is MECH_CANCELLED. May be NULL. */
    bool (*stale)(const struct mechd_record *r);
    /* When it is on disk, before any later record is tried: with `failed` the order of outcomes. On
     * the store's thread. May be NULL. */
    void (*stored)(struct mechd_record *r);
    /* When it could not be stored, before any later record is tried. May be NULL. */
    void (*failed)(struct mechd_record *r);
    /* Once, on the store's thread, with the outcome: 0, MECH_CANCELLED, or MECH_INTERNAL (the disk
     * is full, the directory is read-only, …; mechd_store_fault returns which). Frees the record.
     * */
    void (*done)(struct mechd_record *r);
    int outcome;
};

/* Open or make the database and start the thread. 0, or negative with a sentence in fault. */
int mechd_store_open(const char *place, char *fault, size_t size, struct mechd_store **out);
/* Apply waiting records, stop, close. Accepts NULL. */
void mechd_store_close(struct mechd_store *s);
/* Whether the place, which exists, can be opened as it is, as far as can be determined without
 * opening. 0; negative with a sentence: it cannot, or the database there would be renamed. Any
 * thread. */
int mechd_store_look(const char *place, char *fault, size_t size);

/* A key for a new instance: never assigned before in this database. Any thread. */
int64_t mechd_store_key(struct mechd_store *s);

/* Ids increase over all processes on this database: one that another process may have assigned is
 * not assigned again. */
enum mechd_numbers {
    MECHD_NUMBER_INSTANCE,
    MECHD_NUMBER_OPERATION,
    MECHD_NUMBER_INCARNATION, /* first half of an ETag */
    MECHD_NUMBER_COUPLING,
    MECHD_NUMBER_PART,   /* of a snapshot or a run; each instance counts its own */
    MECHD_NUMBER_TRIAL,  /* as that */
    MECHD_NUMBER_CHOSEN, /* N of an id i-N that a client has chosen (instance/lives.c) */
    MECHD_NUMBER_FAR,    /* by how much N of such an id is below 2^62 */
    MECHD_NUMBER_FMU,    /* uploaded ones, although they are not stored */
    MECHD_NUMBERS
};
/* The last one that earlier processes may have assigned. */
uint64_t mechd_store_last(struct mechd_store *s, enum mechd_numbers which);
/* Where the incarnations of this process begin: by the clock (s << 20, and below that 1024 ns), and
 * above those before, whatever the clock says. NULL: by the clock alone. */
uint64_t mechd_store_incarnation(struct mechd_store *s);
/* This one is given: they are reserved in the database some at a time, in advance. False: this one
 * is not reserved yet, because the disk is behind or refuses. Never blocks for long. Any thread but
 * the store's own; nothing, and true, without a store. */
bool mechd_store_given(struct mechd_store *s, enum mechd_numbers which, uint64_t number);

/* One record, or several by next of which all but the first are glued. Never blocks for long. Any
 * thread but the store's own. */
void mechd_store_post(struct mechd_store *s, struct mechd_record *r);

/* Why the last record failed, "" if none has since the last success; into out. Any thread. */
void mechd_store_fault(struct mechd_store *s, char *out, size_t size);

struct mechd_store_counts {
    uint64_t records, commits, failures; /* so far: records on the disk or refused */
    uint64_t posted;                     /* records, so far */
    uint64_t waiting;                    /* records */
};
struct mechd_store_counts mechd_store_counts(struct mechd_store *s);

/* --- reading ---------------------------------------------------------------------------------- */

/* What the database has of an instance. Pointers are valid within the callback. */
struct mechd_stored {
    int64_t key;
    const char *id, *labels, *durability, *model, *token;
    double ttl; /* s, 0: none */
    size_t model_size;
    uint64_t serial, revision, sequence;
    uint64_t last_snapshot, last_run; /* numbers */
    const void *state;
    size_t state_size;
};

/* Called for each. 0; an outcome quarantines the instance: all of it is retained, `aside` has
 * *reason, its id is free ("rig" becomes "rig (17)"), and the log has a line; negative: it stays as
 * it is, for the next start (the log has *reason). */
typedef int mechd_store_visit(void *context, const struct mechd_stored *stored,
                              const char **reason);
/* All instances by age; before other threads use the store. 0 or negative. */
int mechd_store_visit_all(struct mechd_store *s, mechd_store_visit *visit, void *context);

/* State and commands after it, or snapshots, of one instance, in order: number 0 is the state. Any
 * thread; sees what has been committed. Stops with the first nonzero answer, which it returns; 0;
 * MECH_NOT_FOUND: there is none; MECH_INTERNAL: it cannot be read. */
struct mechd_stored_bytes {
    uint64_t number, revision, sequence;
    uint64_t base; /* of states, commands and snapshots: as in a record */
    double time;
    const void *bytes;
    size_t size;
};
typedef int mechd_store_read(void *context, const struct mechd_stored_bytes *bytes);
/* `read` gets copies, and may take any lock and read the store itself. */
int mechd_store_replay(struct mechd_store *s, int64_t key, mechd_store_read *read, void *context);
int mechd_store_snapshots(struct mechd_store *s, int64_t key, mechd_store_read *read,
                          void *context);

/* Runs of one instance, or of the coupling of minus this number, oldest first. Any thread. `read`
 * is called while the store's reader is locked, as it is by all that follow but those of couplings:
 * it only copies. */
typedef int mechd_store_run(void *context, const struct mechd_stored_run *run);
int mechd_store_runs(struct mechd_store *s, int64_t key, mechd_store_run *read, void *context);
/* The chunk of a run's rows that holds row `row`: its `number` is the first row in it. Any thread.
 * MECH_NOT_FOUND: there is none. */
int mechd_store_results(struct mechd_store *s, int64_t key, uint64_t run, uint64_t row,
                        mechd_store_read *read, void *context);
/* First row of the last chunk that begins at this time or before it; 0 when there is none. */
uint64_t mechd_store_results_at(struct mechd_store *s, int64_t key, uint64_t run, double time);

/* Sweeps, oldest first; *last is the largest number ever given. Before others use the store; as
 * above. */
typedef int mechd_store_sweep(void *context, const struct mechd_stored_sweep *sweep);
int mechd_store_sweeps(struct mechd_store *s, uint64_t *last, mechd_store_sweep *read,
                       void *context);
/* The chunk of a sweep's rows that begins at this one or after it: `number` is its first row. Any
 * thread. MECH_NOT_FOUND: there is none. */
int mechd_store_sweep_rows(struct mechd_store *s, uint64_t sweep, uint64_t row,
                           mechd_store_read *read, void *context);

/* A coupling as stored: see coupling/keep.h. Pointers are valid within the callback. */
struct mechd_stored_coupling {
    uint64_t number, revision, sequence;
    const char *token, *document;
    size_t document_size;
    const void *state;
    size_t state_size;
};

/* Called for each. 0; an outcome quarantines the coupling: its row is retained with *reason, it is
 * not shown again, and the log has a line; negative: it stays as it is, for the next start (the log
 * has *reason). */
typedef int mechd_store_coupling(void *context, const struct mechd_stored_coupling *stored,
                                 const char **reason);
/* All couplings by age; before others use the store. 0 or negative. */
int mechd_store_visit_couplings(struct mechd_store *s, mechd_store_coupling *visit, void *context);
/* The state of one, as its bytes: `number`, `revision` and `sequence` are its own. Any thread; as
 * mechd_store_replay. MECH_NOT_FOUND: there is none. */
int mechd_store_coupling_state(struct mechd_store *s, uint64_t number, mechd_store_read *read,
                               void *context);
/* Its snapshots in order, one at a time: as mechd_store_snapshots. */
int mechd_store_coupling_snapshots(struct mechd_store *s, uint64_t number, mechd_store_read *read,
                                   void *context);

/* All receipts made since then (s since 1970), oldest first; older ones are deleted. Before
 * others use the store. Stops with the first nonzero answer, which it returns; 0; MECH_INTERNAL. */
typedef int mechd_store_receipt(void *context, const struct mechd_stored_receipt *receipt);
int mechd_store_receipts(struct mechd_store *s, int64_t since, mechd_store_receipt *take,
                         void *context);
