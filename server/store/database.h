/* Interface of databases: a table of operations for each kind, one line of databases.def. The store
 * (store.h) has the queue, the thread and the order of records; a database has transactions, and
 * returns rows as they were written.
 *
 * `place` is the value of --state. `self` is one connection, which one thread uses at a time; the
 * store opens two, one to write and one to read. Each sees what the other has committed. */
#pragma once

#include "server/store/store.h"

/* Callback for an instance; pointers are valid within the call. It must not use the connection. */
typedef void mechd_database_see(void *context, const struct mechd_stored *stored);

/* Callback for a coupling, in the same way. */
typedef void mechd_database_see_coupling(void *context, const struct mechd_stored_coupling *stored);

/* Rows of bytes. */
enum mechd_rows_kind {
    MECHD_ROWS_SNAPSHOTS,
    MECHD_ROWS_RESULTS,
    MECHD_ROWS_SWEEP,
    MECHD_ROWS_COUPLING,
    MECHD_ROWS_COUPLING_SNAPSHOTS
};
struct mechd_rows_asked {
    enum mechd_rows_kind which;
    int64_t key;  /* of the instance; not of sweeps and couplings */
    uint64_t of;  /* number of the run, of the sweep or of the coupling */
    uint64_t row; /* results: the chunk that holds it; a sweep: the first chunk there or after it;
                     a snapshot: the first one of this number or a later one */
};

struct mechd_database_ops {
    const char *name;
    /* Whether a place is of this kind. */
    bool (*serves)(const char *place);
    /* Whether the place, which exists, can be opened as it is, as far as can be determined without
     * opening: another process may use it. 0; negative with a sentence: it cannot, or the existing
     * database would be renamed. Any thread. */
    int (*look)(const char *place, char *fault, size_t size);

    /* Claim the place for this process exclusively, as long as it runs, and log what is wrong with
     * it. 0 and the argument of `release`; negative with a sentence. */
    int (*claim)(const char *place, char *fault, size_t size, void **claim);
    void (*release)(void *claim); /* accepts NULL */

    /* A connection to the existing database: an older version is upgraded, a damaged or newer one
     * is renamed first. 0, or negative with a sentence. */
    int (*open)(const char *place, char *fault, size_t size, void **self);
    void (*close)(void *self); /* accepts NULL */
    /* Why the last operation failed. Valid until the next one. */
    const char *(*fault)(void *self);

    /* --- writing: begin, records, commit; if commit returns true, the transaction is on disk.
     * After false: undo, and nothing of the transaction has happened. */
    bool (*begin)(void *self);
    bool (*apply)(void *self, const struct mechd_record *r);
    bool (*commit)(void *self);
    void (*undo)(void *self);
    /* Write something that changes nothing. True: the disk accepts writes. */
    bool (*probe)(void *self);
    /* The largest key of an instance ever assigned, 0: none; the value of MECHD_RECORD_NUMBER
     * under this name, without one *out stays. False: it cannot be read. */
    bool (*last_key)(void *self, int64_t *out);
    bool (*number)(void *self, const char *name, uint64_t *out);

    /* --- reading: as the functions of store.h of these names */
    /* The instance with the smallest key above `after` that is not quarantined (column `aside`). 1;
     * 0: there is none; negative. */
    int (*next)(void *self, int64_t after, mechd_database_see *see, void *context);
    bool (*set_aside)(void *self, int64_t key, const char *reason);
    /* The same of couplings, by their numbers. */
    int (*next_coupling)(void *self, uint64_t after, mechd_database_see_coupling *see,
                         void *context);
    bool (*set_coupling_aside)(void *self, uint64_t number, const char *reason);
    /* In one transaction: no record is written between the state and its commands. */
    int (*replay)(void *self, int64_t key, mechd_store_read *read, void *context);
    /* In order; *count is incremented. */
    int (*rows)(void *self, const struct mechd_rows_asked *asked, mechd_store_read *read,
                void *context, int *count);
    int (*runs)(void *self, int64_t key, mechd_store_run *read, void *context);
    uint64_t (*results_at)(void *self, int64_t key, uint64_t run, double time);
    int (*sweeps)(void *self, uint64_t *last, mechd_store_sweep *read, void *context);
    int (*receipts)(void *self, int64_t since, mechd_store_receipt *take, void *context);
};

/* One connection. */
struct mechd_database {
    const struct mechd_database_ops *ops;
    void *self; /* NULL: not open */
};

/* All kinds; NULL after the last. */
const struct mechd_database_ops *mechd_database_at(size_t k);
/* The kind for this place: the last accepts all others. */
const struct mechd_database_ops *mechd_database_of(const char *place);
