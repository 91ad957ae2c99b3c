/* Returns free memory to the system, and releases pages that were read only during startup.
 *
 * The C library retains freed memory. A second after an instance was destroyed, a task of the step
 * pool checks how much that is, and returns it to the system if it is large: no request waits for
 * it. One check covers all instances destroyed meanwhile, and another follows a second later if
 * there were more, because libraries free memory with a delay (ZeroMQ the subscriptions of a
 * connection that has ended). Bursts of requests and frames leave less free memory, which is
 * returned by a periodic check every ten seconds.
 *
 * A part of the daemon; any thread.
 */
#pragma once

#include "server/os/clock.h"
#include "server/os/pool.h"

enum mechd_memory_asked {
    MECHD_MEMORY_QUIET,
    MECHD_MEMORY_ASKED, /* a check is due */
    MECHD_MEMORY_AGAIN  /* and another, for memory freed since */
};

struct mechd_memory {
    struct mechd_clock *clock;
    struct mechd_pool *pool;
    struct mechd_timer timer; /* of the requested check */
    struct mechd_timer tick;  /* of the periodic check */
    struct mechd_task task;
    uint64_t every;        /* ns between two periodic checks; a test may change it before start */
    _Atomic int asked;     /* from request to check; partner: mechd_memory_freed */
    _Atomic size_t in_use; /* bytes at the last check; partner: the next */
    _Atomic bool regular;  /* the next check is periodic; partner: tick */
    _Atomic bool started;  /* the next check is the first; partner: mechd_memory_started */
};

void mechd_memory_init(struct mechd_memory *m, struct mechd_clock *clock, struct mechd_pool *pool);
/* All doors are open: pages read only during startup are released a second later, and periodic
 * checks begin. */
void mechd_memory_started(struct mechd_memory *m);
/* Something that may have been large was freed. Without effect before init. */
void mechd_memory_freed(struct mechd_memory *m);
