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
