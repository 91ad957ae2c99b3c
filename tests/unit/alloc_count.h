/* Counts what the calling thread allocates, for tests such as "1,000 steps allocate nothing":
 *
 *     alloc_count_start();
 *     (void)mech_sim_step(…);
 *     CU_ASSERT_EQUAL(alloc_count_stop(), 0);
 *
 * Counted are malloc, calloc, realloc, aligned_alloc and posix_memalign of the whole program and
 * its libraries; memory that is only returned is not counted. Also works under the sanitizers. */
#pragma once

/* begins to count in this thread, from zero */
void alloc_count_start(void);

/* ends counting; returns the number of allocations since the start */
long alloc_count_stop(void);
