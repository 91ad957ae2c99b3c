/* What the store needs of a database: a table of operations for each kind, one line of
 * databases.def. The store (store.h) has the queue, the thread and the order of records; a
 * database has transactions, and rows that come back as they were given.
 *
 * `place` is what --state says. `self` is one connection, which one thread uses at a time; the
 * store opens two, one to write and one to read. What one has committed, the other sees. */
#pragma once

#include "server/store/store.h"

/* Is shown an instance; what it points to is valid within the call. The connection is not used in
 * it. */
typedef void mechd_database_see(void *context, const struct mechd_stored *stored);

/* Rows of bytes. */
enum mechd_rows { MECHD_ROWS_SNAPSHOTS, MECHD_ROWS_RESULTS, MECHD_ROWS_SWEEP };
struct mechd_rows_asked {
    enum mechd_rows which;
    int64_t key; /* of the instance; not of sweeps */
    uint64_t of; /* number of the run or of the sweep */
    uint64_t
        row; /* results: the chunk that holds it; a sweep: the first chunk there or behind it */
};

struct mechd_database_ops {
    const char *name;
    /* Whether a place is of this kind. */
    bool (*serves)(const char *place);
    /* Why opening would set what is there aside, or NULL, as far as can be told without opening:
     * another process may have it. Any thread. */
    const char *(*look)(const char *place);

    /* Have the place for this process alone, as long as it lives, and say in the log what is wrong
     * with it. 0 and what `release` takes; negative with a sentence. */
    int (*claim)(const char *place, char *fault, size_t size, void **claim);
    void (*release)(void *claim); /* accepts NULL */

    /* A connection to what is there: an older version is brought up to this one, what is damaged or
     * newer is set aside first. 0, or negative with a sentence. */
    int (*open)(const char *place, char *fault, size_t size, void **self);
    void (*close)(void *self); /* accepts NULL */
    /* Why the last operation failed. Valid until the next one. */
    const char *(*fault)(void *self);

    /* --- writing: begin, records, commit; a commit that is true is on the disk. After false: undo,
     * and nothing of the transaction has happened. */
    bool (*begin)(void *self);
    bool (*apply)(void *self, const struct mechd_record *r);
    bool (*commit)(void *self);
    void (*undo)(void *self);
    /* Write something that changes nothing. True: the disk takes it. */
    bool (*probe)(void *self);
    /* The largest key of an instance ever given, 0: none; the last value of MECHD_RECORD_NUMBER
     * under this name, 0: none. False: it cannot be read. */
    bool (*last_key)(void *self, int64_t *out);
    bool (*number)(void *self, const char *name, uint64_t *out);

    /* --- reading: as the functions of store.h of these names */
    /* The instance with the smallest key behind `after` that is not aside. 1; 0: there is none;
     * negative. */
    int (*next)(void *self, int64_t after, mechd_database_see *see, void *context);
    bool (*set_aside)(void *self, int64_t key, const char *reason);
    /* In one transaction: no record comes between the state and its commands. */
    int (*replay)(void *self, int64_t key, mechd_store_read *read, void *context);
    /* In order; *count grows. */
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

/* All kinds; NULL behind the last. */
const struct mechd_database_ops *mechd_database_at(size_t k);
/* The one that serves this place: the last takes what no other does. */
const struct mechd_database_ops *mechd_database_of(const char *place);
