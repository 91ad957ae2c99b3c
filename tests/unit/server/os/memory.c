/* Free memory goes back to the system, at once after something large was freed and by and by
 * otherwise, and what only the start has read does. */
#include "server/os/memory.h"

#include "server/os/ticks.h"
#include "tests/unit/unit.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* 150 MB, of which each 50th block stays; what is expected back */
enum { BLOCKS = 3000, BLOCK = 50000, KEPT = 50, MUCH = 100 << 20 };

/* What is under test, with a pool and a clock of its own. */
struct fixture {
    struct mechd_pool pool;
    struct mechd_clock clock;
    struct mechd_memory memory;
};

static void begin(struct fixture *f)
{
    CU_ASSERT_EQUAL_FATAL(mechd_pool_init(&f->pool, 1), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&f->clock, 1), 0);
    mechd_memory_init(&f->memory, &f->clock, &f->pool);
}

static void end(struct fixture *f)
{
    mechd_clock_stop(&f->clock);
    mechd_pool_fini(&f->pool);
    mechd_clock_fini(&f->clock);
}

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

/* Resident pages of files. */
static unsigned long mapped(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fscanf(f, "%*u %*u %lu", &pages), 1);
    fclose(f);
    return pages;
}

static char *blocks[BLOCKS];

static void take_blocks(size_t size)
{
    for (int k = 0; k < BLOCKS; k++) {
        blocks[k] = malloc(size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(blocks[k]);
        memset(blocks[k], k % 100 + 1, size);
    }
}

/* All but each 50th. */
static void free_most(void)
{
    for (int k = 0; k < BLOCKS; k++) {
        if (k % KEPT != KEPT - 1) {
            free(blocks[k]);
        }
    }
}

/* Those that have stayed hold what they held. */
static void free_rest(size_t size)
{
    for (int k = KEPT - 1; k < BLOCKS; k += KEPT) {
        CU_ASSERT_EQUAL(blocks[k][size - 1], k % 100 + 1);
        free(blocks[k]);
    }
}

/* Sanitizers and valgrind keep heaps of their own: there is nothing to give back. */
static bool lies_free(size_t size)
{
    return mallinfo2().fordblks > size;
}

/* True once at most `most` bytes are resident; false after two minutes. */
static bool falls_to(size_t most)
{
    const struct timespec nap = {.tv_nsec = 20 * MECHD_MS};
    const uint64_t until = mechd_now() + (uint64_t)120000 * MECHD_MS;
    while (resident() > most && mechd_now() < until) {
        nanosleep(&nap, NULL); // steady: between two looks
    }
    return resident() <= most;
}

/* A private mapping of a file of `size` zeros, with each page read. */
static unsigned char *map_file(FILE *file, size_t size)
{
    unsigned char *const at =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
    CU_ASSERT_FATAL(at != MAP_FAILED);
    unsigned sum = 0;
    for (size_t k = 0; k < size; k += 4096) {
        sum += *(volatile unsigned char *)(at + k);
    }
    CU_ASSERT_EQUAL(sum, 0);
    return at;
}

static void pages_of_files_go_and_written_ones_stay(void)
{
    enum { SIZE = 8 << 20 };
    const struct timespec nap = {.tv_nsec = 20 * MECHD_MS};
    struct fixture f;
    begin(&f);
    FILE *const file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL_FATAL(ftruncate(fileno(file), SIZE), 0);
    unsigned char *const read = map_file(file, SIZE);
    unsigned char *const written = map_file(file, SIZE);
    written[12345] = 7;
    CU_ASSERT_EQUAL(mprotect(read, SIZE, PROT_READ), 0);
    CU_ASSERT_EQUAL(mprotect(written, SIZE, PROT_READ), 0);
    const unsigned long before = mapped();
    const unsigned long pages = SIZE / (unsigned long)sysconf(_SC_PAGESIZE);
    const uint64_t until = mechd_now() + (uint64_t)120000 * MECHD_MS;
    mechd_memory_started(&f.memory);
    while (mapped() + pages > before && mechd_now() < until) {
        nanosleep(&nap, NULL); // steady: between two looks
    }
    CU_ASSERT(mapped() + pages <= before);
    CU_ASSERT_EQUAL(written[12345], 7);
    CU_ASSERT_EQUAL(read[12345], 0);
    end(&f);
    munmap(read, SIZE);
    munmap(written, SIZE);
    fclose(file);
}

static void freed_memory_goes_back_within_seconds(void)
{
    struct fixture f;
    begin(&f);
    take_blocks(BLOCK);
    free_most();
    if (lies_free(MUCH)) {
        const size_t before = resident();
        mechd_memory_freed(&f.memory);
        mechd_memory_freed(&f.memory);
        CU_ASSERT(falls_to(before - MUCH));
    }
    free_rest(BLOCK);
    // asked and not yet looked: the end does not wait for it
    mechd_memory_freed(&f.memory);
    mechd_clock_stop(&f.clock);
    mechd_pool_fini(&f.pool);
    mechd_memory_freed(&f.memory);
    mechd_clock_fini(&f.clock);
}

/* a library that frees some time after the request */
static void what_is_freed_after_a_look_goes_back_too(void)
{
    const struct timespec late = {.tv_nsec = 600 * MECHD_MS};
    struct fixture f;
    begin(&f);
    take_blocks(BLOCK);
    const size_t before = resident();
    mechd_memory_freed(&f.memory);
    nanosleep(&late, NULL); // steady: where the look comes later, it sees what is freed
    mechd_memory_freed(&f.memory);
    nanosleep(&late, NULL); // steady: the first look is over
    free_most();
    CU_ASSERT(!lies_free(MUCH) || falls_to(before - MUCH));
    free_rest(BLOCK);
    end(&f);
}

/* bursts: less than what goes a second after a deletion, and nothing is deleted */
static void what_bursts_leave_goes_back_unasked(void)
{
    enum { SMALL = 5000, MOST = 10 << 20 }; /* 15 MB */
    struct fixture f;
    begin(&f);
    f.memory.every = 100 * MECHD_MS;
    mechd_memory_started(&f.memory);
    // the second burst too: looks go on
    for (int burst = 0; burst < 2; burst++) {
        take_blocks(SMALL);
        const size_t before = resident();
        free_most();
        CU_ASSERT(!lies_free(MOST) || falls_to(before - MOST));
        free_rest(SMALL);
    }
    end(&f);
}

static void *burst_of_a_thread(void *barrier)
{
    enum { COUNT = 2000, SIZE = 5000 }; /* 10 MB: less than the C library keeps at a heap's top */
    char **const own = malloc(COUNT * sizeof *own);
    (void)pthread_barrier_wait(barrier); // all at once, so that a heap each would be begun
    for (int k = 0; own != NULL && k < COUNT; k++) {
        own[k] = malloc(SIZE);
        if (own[k] != NULL) {
            memset(own[k], 1, SIZE);
        }
    }
    (void)pthread_barrier_wait(barrier);
    for (int k = 0; own != NULL && k < COUNT; k++) {
        free(own[k]);
    }
    free(own);
    (void)pthread_barrier_wait(barrier); // the last look is at threads that go on
    (void)pthread_barrier_wait(barrier);
    return NULL;
}

static void what_bursts_of_threads_leave_goes_back_too(void)
{
    enum { THREADS = 4, SLACK = 4 << 20, SAME = 30 << 20 };
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    struct fixture f;
    begin(&f);
    f.memory.every = 100 * MECHD_MS;
    mechd_memory_started(&f.memory);
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&barrier, NULL, THREADS + 1), 0);
    for (int k = 0; k < THREADS; k++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[k], NULL, burst_of_a_thread, &barrier), 0);
    }
    const size_t before = resident();
    (void)pthread_barrier_wait(&barrier);
    (void)pthread_barrier_wait(&barrier);
    const bool own_heap = mallinfo2().uordblks < SAME; // a sanitizer's
    (void)pthread_barrier_wait(&barrier);
    CU_ASSERT(own_heap || falls_to(before + SLACK));
    (void)pthread_barrier_wait(&barrier);
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
    }
    pthread_barrier_destroy(&barrier);
    end(&f);
}

UNIT_TESTS(UNIT_TEST(freed_memory_goes_back_within_seconds),
           UNIT_TEST(what_bursts_leave_goes_back_unasked),
           UNIT_TEST(what_bursts_of_threads_leave_goes_back_too),
           UNIT_TEST(what_is_freed_after_a_look_goes_back_too),
           UNIT_TEST(pages_of_files_go_and_written_ones_stay))
