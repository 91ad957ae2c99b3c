/* What ends by the clock: leases and instances that nobody uses any more.
 *
 * One timer for all instances, due when the first of them may end. A task of the pool then walks
 * through the table; what has been used meanwhile has moved its end. Two walks are apart by 20 ms
 * and 20 µs for each instance, so that they take less than one part in a hundred of a processor.
 * shared, locked by m (before the clock's).
 */
#pragma once

#include "server/os/clock.h"
#include "server/os/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct mechd_host;

struct mechd_reaper {
    struct mechd_host *host; /* NULL: nothing ends by the clock */
    pthread_mutex_t m;
    struct mechd_timer timer;
    struct mechd_task task;
    uint64_t due;  /* ns: of the timer, or of what has come during the walk; 0: none */
    uint64_t last; /* end of the last walk */
    uint64_t gap;  /* ns to the next one, at least */
    bool walking;
};

/* Needs the clock and the pool. */
void mechd_reaper_init(struct mechd_reaper *r, struct mechd_host *host);
/* When the clock has stopped and the pool has ended. */
void mechd_reaper_fini(struct mechd_reaper *r);
/* Something may end at `due` (ns; 0: nothing). Any thread. */
void mechd_reaper_meet(struct mechd_reaper *r, uint64_t due);
