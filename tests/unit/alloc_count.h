/* Counts what the calling thread allocates, for tests such as "1,000 steps allocate nothing":
 *
 *     alloc_count_start();
 *     (void)mech_sim_step(…);
 *     CU_ASSERT_EQUAL(alloc_count_stop(), 0);
 *
 * Counted are malloc, calloc, realloc, aligned_alloc and posix_memalign of the whole program and
 * its libraries; memory that is only returned is not counted. Also works under the sanitizers.
 *
 * Refuses allocations as well, for tests such as "creation survives any failed allocation". */
#pragma once

#include <stdbool.h>

/* begins to count in this thread, from zero */
void alloc_count_start(void);

/* ends counting; returns the number of allocations since the start */
long alloc_count_stop(void);

/* From now on in this thread, let `first` allocations pass and refuse the next one, or all later
 * ones when `forever`. C++'s operator new is never refused. */
void alloc_refuse_start(long first, bool forever);

/* allocates as before; returns the number of allocations refused */
long alloc_refuse_stop(void);

/* The same for all threads together. */
void alloc_refuse_everywhere(long first, bool forever);
long alloc_refuse_nowhere(void);
/* Whether this thread is refused nothing, whatever is to others. */
void alloc_exempt(bool yes);

/* What this thread allocates from here on may be left (true), or again not (false), for a library
 * that loses some of its own memory when it is refused other. Only AddressSanitizer looks. */
void alloc_leaks_taken(bool yes);
