/* One walk through the table: leases that are over end, and instances that have not been used for
 * their time to live are deleted. When is the reaper's (instance/reaper.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mechd_host;

/* When the next of them may expire, ns; 0: none. *seen: instances. On a thread of the pool, one at
 * a time. */
uint64_t mechd_expire(struct mechd_host *host, size_t *seen);
