/* Memory that destroyed instances leave free goes back to the system.
 *
 * The C library keeps what is freed. A second after an instance was destroyed, a task of the step
 * pool looks how much that is, and gives it back when it is a lot: no request waits for it. One
 * look serves all that were destroyed meanwhile.
 *
 * A part of the daemon; any thread.
 */
#pragma once

#include "server/clock.h"
#include "server/pool.h"

struct mechd_memory {
    struct mechd_clock *clock;
    struct mechd_pool *pool;
    struct mechd_timer timer;
    struct mechd_task task;
    _Atomic bool asked; /* from asking to looking; partner: mechd_memory_freed */
};

void mechd_memory_init(struct mechd_memory *m, struct mechd_clock *clock, struct mechd_pool *pool);
/* Something that may have been large was freed. Without effect before init. */
void mechd_memory_freed(struct mechd_memory *m);
