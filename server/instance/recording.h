/* Recording of a run: rows of time and outputs, in memory or on disk.
 *
 * Rows of an instance that is not stored stay in memory that is taken before the run begins. Those
 * of a stored instance pass through a window: each record of the state takes the rows since the
 * last one with it in the same transaction, in chunks that grow to a few KiB, so that rows and
 * state on the disk agree. Times of rows increase strictly.
 *
 * owner: the instance's, except where noted.
 */
#pragma once

#include "server/instance/instance.h"

struct mechd_run;

/* Bytes of rows that the runs of one instance may have together, in memory and on the disk; bytes
 * in memory of all instances. */
static const size_t mechd_rows_memory = (size_t)64 << 20;
static const size_t mechd_rows_disk = (size_t)1 << 30;
static const size_t mechd_rows_daemon = (size_t)1 << 30;

/* Memory that a run and its readers share. */
struct mechd_row_block {
    _Atomic int refs;
    struct mechd_host *host;
    size_t size; /* bytes of values */
    double values[];
};
/* For so many bytes, one reference. 0; MECH_UNSUPPORTED: all instances together have too much;
 * negative. */
int mechd_row_block_take(struct mechd_host *host, size_t size, struct mechd_row_block **out);
void mechd_row_block_unref(struct mechd_row_block *b); /* accepts NULL */

struct mechd_recording {
    /* const after the start */
    uint64_t every;     /* periods from one row to the next; 0: nothing is recorded */
    size_t width;       /* values of a row, time first */
    const bool *chosen; /* [channel_count] outputs that are in it, or NULL: all; the run's */
    bool hash;          /* the state's hash too, as its last MECHD_HASH_VALUES */
    bool inputs;        /* the inputs too, behind the outputs: NaN where the model's own acts */
    int64_t key;        /* of the instance in the store; 0: rows stay in memory */
    size_t bytes;       /* upper limit of all rows */
    /* the owner's */
    struct mechd_row_block *block; /* rows base to count, or NULL */
    uint64_t capacity, base, count;
    uint64_t chunk;  /* first row of the last chunk of the disk, which grows */
    uint64_t posted; /* rows on disk or being written */
    bool dropped;    /* the rows have been deleted */
    /* any thread; partner: the store's, as records are done */
    _Atomic uint64_t safe; /* rows on the disk */
    _Atomic size_t on_way; /* bytes */
};

struct mechd_run_settings;
/* Prepare for at most `rows` rows of what the settings choose, for this instance. 0;
 * MECH_UNSUPPORTED: all instances together have too much; negative. */
int mechd_recording_begin(struct mechd_recording *r, const struct mechd_instance *i,
                          const struct mechd_run_settings *s, double rows);
/* Values of a row of it. */
size_t mechd_recording_width(const struct mechd_instance *i, const struct mechd_run_settings *s);
void mechd_recording_fini(struct mechd_recording *r);

/* Append the published values, in a window that is not full. */
void mechd_recording_add(struct mechd_recording *r, const struct mechd_instance *i);
/* True if there is no space until pending writes are done. */
bool mechd_recording_full(struct mechd_recording *r);
/* True if it is time to send rows to the disk. */
bool mechd_recording_pressed(const struct mechd_recording *r);
/* True if no more rows are sent to the disk until pending writes are done. */
bool mechd_recording_crowded(const struct mechd_recording *r);
/* The rows of the chunk to be sent: the first, their number and values. They count as sent. */
const double *mechd_recording_take(struct mechd_recording *r, uint64_t *first, uint64_t *count);
/* So many bytes of them, of rows `first` and on, are on the disk, or will not be. On the store's
 * thread. */
void mechd_recording_stored(struct mechd_recording *r, uint64_t first, size_t size, bool stored);
/* Discard rows that are not on disk, after changes that could not be stored. */
void mechd_recording_undo(struct mechd_recording *r);
/* Free memory that is no longer needed, and all of it if `all`. */
void mechd_recording_trim(struct mechd_recording *r, bool all);

/* --- reading (run_reading.c) ------------------------------------------------------------------ */

/* Rows 0 to end of a run, in progress or not. One thread at a time. */
struct mechd_run_reading {
    struct mechd_run *run; /* references */
    struct mechd_instance *instance;
    size_t width;
    uint64_t end;
    /* rows in memory from `first` on, or NULL */
    struct mechd_row_block *block;
    uint64_t first;
    /* the chunk read last: rows chunk_first and on, chunk_count of them */
    double *chunk;
    uint64_t chunk_first, chunk_count;
    size_t chunk_room;
};

/* All rows recorded so far; as owner. 0 or negative. */
int mechd_run_reading_begin(struct mechd_run_reading *x, struct mechd_run *run);
/* Rows on the disk, of a stored instance, or those published so far: as owner. Then, on any thread,
 * the end follows. */
void mechd_run_reading_begin_safe(struct mechd_run_reading *x, struct mechd_run *run);
void mechd_run_reading_follow(struct mechd_run_reading *x);
void mechd_run_reading_fini(struct mechd_run_reading *x);
/* A row before the end, valid until the next call; NULL: it has been deleted or cannot be read. */
const double *mechd_run_reading_row(struct mechd_run_reading *x, uint64_t row);
/* First row at or after this time; with `beyond`, after it. */
uint64_t mechd_run_reading_find(struct mechd_run_reading *x, double time, bool beyond);
