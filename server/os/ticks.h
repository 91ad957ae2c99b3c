/* Time for deadlines and measurements: nanoseconds of the monotonic clock. Any thread. */
#pragma once

#include <stdint.h>
#include <time.h>

enum { MECHD_MS = 1000000 };

static inline uint64_t mechd_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Seconds as ns: below 0 none; beyond 2^62 ns, a century and a half, that, so that sums of some
 * fit. */
static inline uint64_t mechd_ns(double seconds)
{
    static const double most = 0x1p62;
    const double ns = 1e9 * seconds;
    return ns < most ? (uint64_t)(ns > 0. ? ns : 0.) : (uint64_t)most;
}
