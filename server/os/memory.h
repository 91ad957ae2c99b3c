/* Memory that lies free goes back to the system, and so do pages that only the start has read.
 *
 * The C library keeps what is freed. A second after an instance was destroyed, a task of the step
 * pool looks how much that is, and gives it back when it is a lot: no request waits for it. One
 * look serves all that were destroyed meanwhile, and there is another a second later while there
 * was news, because libraries free some time after they were told (ZeroMQ the subscriptions of a
 * connection that has ended). What bursts of requests and frames leave free is less and goes at a
 * look every ten seconds that nobody asks for.
 *
 * A part of the daemon; any thread.
 */
#pragma once

#include "server/os/clock.h"
#include "server/os/pool.h"

enum mechd_memory_asked {
    MECHD_MEMORY_QUIET,
    MECHD_MEMORY_ASKED, /* there will be a look */
    MECHD_MEMORY_AGAIN  /* and, for what was freed since, another */
};

struct mechd_memory {
    struct mechd_clock *clock;
    struct mechd_pool *pool;
    struct mechd_timer timer; /* to the look that was asked for */
    struct mechd_timer tick;  /* to the one that nobody asks for */
    struct mechd_task task;
    uint64_t every;    /* ns between two that nobody asks for; a test may change it before start */
    _Atomic int asked; /* from asking to looking; partner: mechd_memory_freed */
    _Atomic size_t in_use; /* bytes at the last look; partner: the next */
    _Atomic bool regular;  /* the next look is one that nobody asked for; partner: tick */
    _Atomic bool started;  /* the next look is the first; partner: mechd_memory_started */
};

void mechd_memory_init(struct mechd_memory *m, struct mechd_clock *clock, struct mechd_pool *pool);
/* All doors are open: what only the start has read goes a second later, and looks that nobody asks
 * for begin. */
void mechd_memory_started(struct mechd_memory *m);
/* Something that may have been large was freed. Without effect before init. */
void mechd_memory_freed(struct mechd_memory *m);
