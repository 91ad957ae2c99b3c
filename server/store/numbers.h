/* Numbers that are assigned once over all processes on a database, and the highest so far.
 *
 * A block of them is recorded in the database in advance, so that assigning one does not wait; a
 * process that is killed skips the rest of its block, one that shuts down does not. shared.
 */
#pragma once

#include "server/store/database.h"

#include <stdatomic.h>

struct mechd_numbers_given {
    struct mechd_number {
        uint64_t last;           /* that earlier processes may have assigned; const */
        uint64_t first;          /* that this process may assign; const */
        _Atomic uint64_t given;  /* the largest by now */
        _Atomic uint64_t known;  /* recorded in the database up to here, or on the way to it */
        _Atomic uint64_t stored; /* recorded in it */
    } of[MECHD_NUMBERS];
};

/* Read the last numbers of earlier processes, and record a block in advance; before the store's
 * thread runs. If the disk accepts no writes now, the block is recorded with the first number. */
void mechd_numbers_read(struct mechd_numbers_given *n, const struct mechd_database *d);
/* Record the numbers assigned and no more, once that thread has ended. */
void mechd_numbers_end(struct mechd_numbers_given *n, const struct mechd_database *d);

/* Those of a store. */
struct mechd_numbers_given *mechd_store_numbers(struct mechd_store *s);
