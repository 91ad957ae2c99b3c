/* Numbers that are given once through all processes on a database: up to which they have been.
 *
 * The database is told of a block of them ahead, so that giving one waits for nothing; a process
 * that is killed leaves out the rest of its block, one that ends does not. shared.
 */
#pragma once

#include "server/store/database.h"

#include <stdatomic.h>

struct mechd_numbers_given {
    struct mechd_number {
        uint64_t last;          /* that those before may have given; const */
        uint64_t first;         /* that this process may give; const */
        _Atomic uint64_t given; /* the largest by now */
        _Atomic uint64_t known; /* up to here the database is told */
    } of[MECHD_NUMBERS];
};

/* What those before have given, and a block ahead; before the store's thread runs. A disk that
 * takes nothing now is told with the first one. */
void mechd_numbers_read(struct mechd_numbers_given *n, const struct mechd_database *d);
/* What has been given and no more, once that thread has ended. */
void mechd_numbers_end(struct mechd_numbers_given *n, const struct mechd_database *d);

/* Those of a store. */
struct mechd_numbers_given *mechd_store_numbers(struct mechd_store *s);
