/* Counting of counts.h, by callgrind's client requests: a program that does not run under valgrind
 * passes over them. */
#include "tests/bench/counts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef BENCH_CALLGRIND
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(mark) ((void)(mark))
#endif

static const struct count {
    const char *program, *what;
    uint64_t units;
    double instructions, per_cent;
} counts[] = {
#define COUNT(...) {__VA_ARGS__},
#include "tests/bench/counts.def"
#undef COUNT
};

bool counts_can(void)
{
#ifdef BENCH_CALLGRIND
    return true;
#else
    return false;
#endif
}

uint64_t counts_units(const char *program, const char *what)
{
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        if (strcmp(counts[k].program, program) == 0 && strcmp(counts[k].what, what) == 0) {
            return counts[k].units;
        }
    }
    return 0;
}

void counts_run(const char *what, uint64_t units, double plant, bench_work *work, void *context)
{
    // what only the first units do is no part of it
    work(context, units);
    CALLGRIND_START_INSTRUMENTATION;
    for (uint64_t n = units; n <= 2 * units; n += units) {
        char mark[128];
        (void)snprintf(mark, sizeof mark, "%s|%llu", what, (unsigned long long)n);
        CALLGRIND_ZERO_STATS;
        work(context, (uint64_t)ceil(plant * (double)n));
        CALLGRIND_DUMP_STATS_AT(mark);
    }
    CALLGRIND_STOP_INSTRUMENTATION;
}
