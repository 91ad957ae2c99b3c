/* Whether a write-ahead log is whole, looked at before SQLite opens it: SQLite reads as far as the
 * checksums hold and drops the rest without a word. owner: the caller; one thread.
 */
#pragma once

#include <stdint.h>

struct mechd_wal {
    const char *fault;  /* what is wrong, as a sentence; NULL: it is whole, or there is none */
    uint64_t frames;    /* pages that SQLite will read, of whole transactions */
    uint64_t committed; /* pages that its index knows of, if that has outlived the process */
    uint64_t size;      /* of the file, bytes */
};

/* Look at `path`-wal and `path`-shm. Call it before the database is opened: to close a
 * descriptor of the index would end the locks that SQLite has on it. */
void mechd_wal_look(const char *path, struct mechd_wal *out);
