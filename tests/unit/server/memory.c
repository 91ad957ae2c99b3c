/* Free memory goes back to the system after something large was freed. */
#include "server/memory.h"

#include "server/ticks.h"
#include "tests/unit/unit.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 3000, BLOCK = 50000, KEPT = 50 }; /* 150 MB; each 50th block stays */

/* Resident bytes of this process. */
static size_t resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fscanf(f, "%*u %lu", &pages), 1);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void freed_memory_goes_back_within_seconds(void)
{
    static char *blocks[BLOCKS];
    const struct timespec nap = {.tv_nsec = 20 * MECHD_MS};
    struct mechd_pool pool;
    struct mechd_clock clock;
    struct mechd_memory memory;
    CU_ASSERT_EQUAL_FATAL(mechd_pool_init(&pool, 1), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&clock), 0);
    mechd_memory_init(&memory, &clock, &pool);
    for (int k = 0; k < BLOCKS; k++) {
        blocks[k] = malloc(BLOCK);
        CU_ASSERT_PTR_NOT_NULL_FATAL(blocks[k]);
        memset(blocks[k], k % 100 + 1, BLOCK);
    }
    for (int k = 0; k < BLOCKS; k++) {
        if (k % KEPT != KEPT - 1) {
            free(blocks[k]);
        }
    }
    // sanitizers and valgrind keep heaps of their own: there is nothing to give back
    if (mallinfo2().fordblks > (size_t)100 << 20) {
        const size_t before = resident();
        const uint64_t until = mechd_now() + (uint64_t)20000 * MECHD_MS;
        mechd_memory_freed(&memory);
        mechd_memory_freed(&memory);
        while (resident() > before - ((size_t)100 << 20) && mechd_now() < until) {
            nanosleep(&nap, NULL);
        }
        CU_ASSERT(resident() < before - ((size_t)100 << 20));
    }
    for (int k = KEPT - 1; k < BLOCKS; k += KEPT) {
        CU_ASSERT_EQUAL(blocks[k][BLOCK - 1], k % 100 + 1);
        free(blocks[k]);
    }
    // asked and not yet looked: the end does not wait for it
    mechd_memory_freed(&memory);
    mechd_clock_stop(&clock);
    mechd_pool_fini(&pool);
    mechd_memory_freed(&memory);
    mechd_clock_fini(&clock);
}

UNIT_TESTS(UNIT_TEST(freed_memory_goes_back_within_seconds))
