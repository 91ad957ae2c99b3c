/* What the start has used: the dynamic linker has read symbols and relocations of all libraries,
 * and their initialisers have run, which leaves pages of files mapped that are not read again.
 * Mappings that cannot be written and hold no page of their own (smaps of proc(5): Anonymous, which
 * text with relocations or a debugger's breakpoints would have) are let go with MADV_DONTNEED; what
 * is used after all comes back from the page cache at a fault. 15.1 MB resident before, 5.7 MB
 * after.
 *
 * Giving free memory back: what lies free in the heaps of the C library is looked up (mallinfo2)
 * and returned page by page (malloc_trim): a second after something was freed, from 64 MiB on, and
 * each ten seconds, from 1 MiB on. Where the C library has no such calls, nothing is done. Eight
 * chains of 20,000 masses, deleted: 230 MB stay resident without, 14 MB with it. A look costs 1 to
 * 5 ms of processor time with 10,000 instances and 90 MB free, 20 ms when there is much to return.
 *
 * One heap for all threads: with a heap each, every one would stay as large as its largest burst
 * ever made it, and malloc_trim does not reach what is free at their tops. Mixed traffic
 * (tests/soak) took 21 MB after a minute and 27 MB after half an hour, 3 to 6 MB of it in use; it
 * stays at 14 to 15 MB with the looks, one heap, and large bodies outside of it (http/body.h).
 * Small blocks come from a store of each thread, and steps take none, so that the one lock costs
 * nothing that shows beside a heap for each thread (tests/bench, CPU time of steps over 1, 8, 64
 * connections and of a state as JSON).
 */
#define _DEFAULT_SOURCE /* madvise */
#include "server/os/memory.h"

#include "server/os/ticks.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef MECHD_HAS_MALLOC_TRIM
#include <malloc.h>
#endif

/* What the C library keeps at the top of each heap, and from where a block is a mapping of its own,
 * bytes: with its presets of 128 KiB frames and answers that come and go have their pages taken and
 * given back each time. */
enum { KEPT_AT_TOP = 16 << 20, BLOCK_MAPPED = 8 << 20 };

/* Free bytes that are returned on a requested check, and on a periodic one. */
enum { MUCH = 64 << 20, SOME = 1 << 20 };

/* Decrease of bytes in use between two checks: memory is still being freed. */
enum { FALL = 1 << 20 };

static const uint64_t pause_ns = 1000 * MECHD_MS; /* lets a row of deletions end */
static const uint64_t every_ns = 10000 * (uint64_t)MECHD_MS;

#ifdef MECHD_HAS_MALLOC_TRIM
/* Bytes in use; free memory has been returned if it was at least `much`. */
static size_t give_back(size_t much)
{
    const struct mallinfo2 now = mallinfo2();
    if (now.fordblks >= much) {
        malloc_trim(0);
    }
    return now.uordblks;
}

static void set_thresholds(void)
{
    // refused, the presets stay
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_AT_TOP);
    (void)mallopt(M_MMAP_THRESHOLD, BLOCK_MAPPED);
    (void)mallopt(M_ARENA_MAX, 1);
}
#else
static size_t give_back(size_t much)
{
    (void)much;
    return 0;
}

static void set_thresholds(void)
{
}
#endif

/* Let go of the pages of files that are mapped for reading or running only. */
static void let_go(void)
{
    FILE *const maps = fopen("/proc/self/smaps", "re");
    char line[512];
    uintptr_t from = 0;
    uintptr_t to = 0;
    bool whole = true; /* the line before was */
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        const bool begins = whole;
        whole = strchr(line, '\n') != NULL;
        uintptr_t start = 0, end = 0;
        unsigned long inode = 0;
        char rights[5] = "";
        if (begins && sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*x:%*x %lu", &start, &end,
                             rights, &inode) == 4) {
            const bool read_only = rights[0] == 'r' && rights[1] == '-' && inode != 0;
            from = read_only ? start : 0;
            to = read_only ? end : 0;
        } else if (begins && from != 0 && strncmp(line, "Anonymous:", 10) == 0 &&
                   strtoul(line + 10, NULL, 10) == 0) {
            (void)madvise((void *)from, to - from, MADV_DONTNEED); // or all stays as it is
        }
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
}

static void look(struct mechd_task *task)
{
    struct mechd_memory *m = (void *)((char *)task - offsetof(struct mechd_memory, task));
    if (atomic_exchange(&m->started, false)) {
        let_go();
    }
    // what is freed from here on asks anew
    const int asked = atomic_exchange(&m->asked, MECHD_MEMORY_QUIET);
    const size_t in_use = give_back(atomic_exchange(&m->regular, false) ? SOME : MUCH);
    const bool falls = in_use + FALL < atomic_exchange(&m->in_use, in_use);
    if (asked == MECHD_MEMORY_AGAIN || falls) {
        mechd_memory_freed(m);
    }
}

static void fire(struct mechd_timer *timer)
{
    struct mechd_memory *m = (void *)((char *)timer - offsetof(struct mechd_memory, timer));
    mechd_pool_push(m->pool, &m->task);
}

static void tick(struct mechd_timer *timer)
{
    struct mechd_memory *m = (void *)((char *)timer - offsetof(struct mechd_memory, tick));
    atomic_store(&m->regular, true);
    mechd_memory_freed(m);
    (void)mechd_clock_arm(m->clock, &m->tick, mechd_now() + m->every); // refused at the end
}

void mechd_memory_init(struct mechd_memory *m, struct mechd_clock *clock, struct mechd_pool *pool)
{
    set_thresholds();
    *m = (struct mechd_memory){.clock = clock,
                               .pool = pool,
                               .timer.fire = fire,
                               .tick.fire = tick,
                               .task.run = look,
                               .every = every_ns};
}

void mechd_memory_freed(struct mechd_memory *m)
{
    int asked = MECHD_MEMORY_QUIET;
    if (m->clock == NULL) {
        return;
    }
    if (!atomic_compare_exchange_strong(&m->asked, &asked, MECHD_MEMORY_ASKED)) {
        // what was freed since may not be free yet at the look that is on its way
        if (asked == MECHD_MEMORY_ASKED) {
            atomic_compare_exchange_strong(&m->asked, &asked, MECHD_MEMORY_AGAIN);
        }
        return;
    }
    // at the end of the daemon the clock refuses: everything goes back anyway
    if (!mechd_clock_arm(m->clock, &m->timer, mechd_now() + pause_ns)) {
        atomic_store(&m->asked, MECHD_MEMORY_QUIET);
    }
}

void mechd_memory_started(struct mechd_memory *m)
{
    atomic_store(&m->started, true);
    mechd_memory_freed(m);
    (void)mechd_clock_arm(m->clock, &m->tick, mechd_now() + m->every);
}
