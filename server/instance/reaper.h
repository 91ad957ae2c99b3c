/* Expiry: leases and instances that are no longer used.
 *
 * One timer for all instances, due when the first of them may expire. A task of the pool then walks
 * through the table (expiry.h); use in the meantime has postponed the expiry. Two walks are at
 * least 20 ms plus 20 µs per instance apart, so that they take less than one percent of a
 * processor. shared, locked by m (before the clock's).
 */
#pragma once

#include "server/os/clock.h"
#include "server/os/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mechd_host;

struct mechd_reaper {
    struct mechd_host *host; /* NULL: nothing expires */
    /* Ends all that is over; *seen: instances. When the next one may expire, ns; 0: none. const */
    uint64_t (*walk)(struct mechd_host *host, size_t *seen);
    pthread_mutex_t m;
    struct mechd_timer timer;
    struct mechd_task task;
    uint64_t due;  /* ns: of the timer, or of what was added during the walk; 0: none */
    uint64_t last; /* end of the last walk */
    uint64_t gap;  /* ns to the next one, at least */
    bool walking;
};

/* Needs the clock and the pool. */
void mechd_reaper_init(struct mechd_reaper *r, struct mechd_host *host,
                       uint64_t (*walk)(struct mechd_host *host, size_t *seen));
/* When the clock has stopped and the pool has ended. */
void mechd_reaper_fini(struct mechd_reaper *r);
/* Something may expire at `due` (ns; 0: nothing). Any thread. */
void mechd_reaper_meet(struct mechd_reaper *r, uint64_t due);
