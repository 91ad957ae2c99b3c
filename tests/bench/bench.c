/* Measuring of bench.h: both sides of a pair run beside each other in turns of some milliseconds,
 * first the one and then the other, so that a change of the core's clock or a neighbour's load
 * meets both. The median of the pairs' ratios counts. Pairs are added until a confidence interval
 * of the median (order statistics, Hoeffding and Serfling; binomial, here by its normal
 * approximation) lies on one side of the limit (--quick) or is narrow, or until a cap.
 */
#define _GNU_SOURCE /* sched_setaffinity, sched_getcpu */
#include "tests/bench/bench.h"

#include "tests/bench/counts.h"
#include "tests/bench/rows.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void openblas_set_num_threads(int count);

/* pairs of a row: 13 are the fewest whose interval leaves out the outermost two */
enum { PAIRS_FEWEST = 13, PAIRS_QUICK = 101, PAIRS_MOST = 401 };
/* what a row may take when it is not decided by then, ns of the wall */
static const double row_quick_ns = 5e9, row_most_ns = 3e10;
static const double turn_ns = 2e6;
/* by a clock that others share, in which their turns are seen too */
static const double shared_turn_ns = 1e7;
/* 99 %, and the width of the interval at which a row without --quick ends */
static const double quantile = 2.58, narrow = 1.03;

static struct {
    const char *program;
    bool quick;
    bool counts; /* --count: instructions in place of times */
    double plant;
    const char *only;
    int32_t coordinates;
    bench_clock *clock; /* NULL: the thread's */
    cpu_set_t all, one; /* cores as they were given, and the thread's own */
} bench = {.plant = 1.};

static double read_clock(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
    return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/* --- options ---------------------------------------------------------------------------------- */

static void usage(const char *name)
{
    (void)fprintf(
        stderr,
        "usage: bench-%s [--json] [--strict] [--quick] [--count] [--plant F] [--only TEXT]\n",
        name);
    exit(2);
}

void bench_begin(const char *name, int argc, char **argv)
{
    bool json = false, strict = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--strict") == 0) {
            strict = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            bench.quick = true;
        } else if (strcmp(argv[i], "--count") == 0 && counts_can()) {
            bench.counts = true;
        } else if (strcmp(argv[i], "--plant") == 0 && i + 1 < argc) {
            bench.plant = strtod(argv[++i], NULL);
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            bench.only = argv[++i];
        } else {
            usage(name);
        }
    }
    if (!(bench.plant >= 1. && bench.plant <= 100.)) {
        usage(name);
    }
    bench.program = name;
    rows_begin(name, json, strict);
    openblas_set_num_threads(1);
    CPU_ZERO(&bench.one);
    (void)sched_getaffinity(0, sizeof bench.all, &bench.all);
    const int cpu = sched_getcpu();
    CPU_SET(cpu < 0 ? 0u : (unsigned)cpu, &bench.one);
    bench_time_by(NULL);
}

void bench_time_by(bench_clock *clock)
{
    bench.clock = clock;
    if (sched_setaffinity(0, sizeof bench.one, clock != NULL ? &bench.all : &bench.one) != 0) {
        (void)fprintf(stderr, "the cores that the thread may use stay as they are\n");
    }
}

void bench_coordinates(int32_t count)
{
    bench.coordinates = count;
}

bool bench_is_quick(void)
{
    return bench.quick;
}

double bench_plant(void)
{
    return bench.plant;
}

bool bench_wants(const char *what)
{
    return (bench.only == NULL || strstr(what, bench.only) != NULL) &&
           (!bench.counts || counts_units(bench.program, what) > 0);
}

/* --- turns ------------------------------------------------------------------------------------ */

/* one side of a pair */
struct side {
    bench_work *work;
    void *context;
    uint64_t count;  /* units of a turn */
    double repeated; /* of them: 1, or the planted slowdown */
    double ns[PAIRS_MOST];
};

static double clock_ns(const void *context)
{
    return bench.clock != NULL ? bench.clock(context) : read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Time of a unit. What ran in between has emptied the caches: some units go before. A planted
 * slowdown repeats a part of the units and does not count them; it repeats it in a call of its own,
 * since a call may cost as much by itself as its units do. */
static double timed(const struct side *s)
{
    const uint64_t repeated = (uint64_t)ceil((s->repeated - 1.) * (double)s->count);
    s->work(s->context, s->count >= 16 ? s->count / 8 : 1);
    const double from = clock_ns(s->context);
    s->work(s->context, s->count);
    if (repeated > 0) {
        s->work(s->context, repeated);
    }
    return (clock_ns(s->context) - from) / (double)s->count;
}

/* Units that fill a turn; warms everything up on the way. */
static void fill_turn(struct side *s)
{
    const double turn = bench.clock != NULL ? shared_turn_ns : turn_ns;
    // half of one unit cannot be repeated, and what is measured must not depend on what is planted
    s->count = 2;
    for (;;) {
        // one that was held up must not end the search
        const double ns = fmin(timed(s), timed(s)) * (double)s->count;
        if (ns > 0.5 * turn) {
            return;
        }
        s->count *= ns < 0.01 * turn ? 16 : 2;
    }
}

/* Bounds of the median of n sorted values. */
static void interval(const double *sorted, size_t n, double *low, double *high)
{
    const double at = floor(0.5 * ((double)n - quantile * sqrt((double)n)));
    const size_t k = at > 0. ? (size_t)at : 0;
    *low = sorted[k];
    *high = sorted[n - 1 - k];
}

/* Whether no more pairs are needed; the median and its interval into the row. */
static bool decide(const double *ratios, size_t n, struct row *r)
{
    double sorted[PAIRS_MOST];
    memcpy(sorted, ratios, n * sizeof *sorted);
    r->value = median(sorted, n);
    interval(sorted, n, &r->low, &r->high);
    r->pairs = (int)n;
    const double limit = row_limit(r);
    if (n < PAIRS_FEWEST) {
        return false;
    }
    if (bench.quick && limit > 0.) {
        return r->high <= limit || r->low > limit;
    }
    return bench.quick || r->high <= narrow * r->low;
}

static void measure_pair(struct side *ours, struct side *floor_side, struct row *r)
{
    double ratios[PAIRS_MOST];
    const size_t most = bench.quick ? PAIRS_QUICK : PAIRS_MOST;
    const double longest = bench.quick ? row_quick_ns : row_most_ns;
    fill_turn(ours);
    fill_turn(floor_side);
    const double from = read_clock(CLOCK_MONOTONIC);
    size_t n = 0;
    for (bool decided = false; !decided && n < most; n++) {
        struct side *const first = n % 2 ? floor_side : ours;
        struct side *const second = n % 2 ? ours : floor_side;
        first->ns[n] = timed(first);
        second->ns[n] = timed(second);
        ratios[n] = ours->ns[n] / floor_side->ns[n];
        const bool late = read_clock(CLOCK_MONOTONIC) - from > longest;
        decided = decide(ratios, n + 1, r) || (late && n + 1 >= PAIRS_FEWEST);
    }
    r->ns = median(ours->ns, n);
    r->floor_ns = median(floor_side->ns, n);
}

static void compare(struct row row, struct side *ours, struct side *floor_side)
{
    if (!bench_wants(row.what)) {
        return;
    }
    if (bench.counts) {
        counts_run(row.what, counts_units(bench.program, row.what), ours->repeated, ours->work,
                   ours->context);
        return;
    }
    row.coordinates = bench.coordinates;
    row_find_bar(&row);
    measure_pair(ours, floor_side, &row);
    row_add(row);
}

void bench_compare(const char *what, bench_work *work, void *context, bench_work *floor,
                   void *floor_context)
{
    static struct side ours, floor_side;
    ours = (struct side){.work = work, .context = context, .repeated = bench.plant};
    floor_side = (struct side){.work = floor, .context = floor_context, .repeated = 1.};
    compare((struct row){.what = what, .kind = ROW_PAIR, .has_bar = true}, &ours, &floor_side);
}

void bench_beside(const char *what, bench_work *work, void *context, bench_work *floor,
                  void *floor_context)
{
    static struct side ours, floor_side;
    ours = (struct side){.work = work, .context = context, .repeated = 1.};
    floor_side = (struct side){.work = floor, .context = floor_context, .repeated = 1.};
    compare((struct row){.what = what, .kind = ROW_PAIR}, &ours, &floor_side);
}

void bench_tell(const char *what, bench_work *work, void *context)
{
    static struct side ours;
    if (!bench_wants(what)) {
        return;
    }
    ours = (struct side){.work = work, .context = context, .repeated = 1.};
    if (bench.counts) {
        counts_run(what, counts_units(bench.program, what), bench.plant, work, context);
        return;
    }
    fill_turn(&ours);
    for (int i = 0; i < PAIRS_FEWEST; i++) {
        ours.ns[i] = timed(&ours);
    }
    row_add((struct row){.what = what,
                         .kind = ROW_TIME,
                         .coordinates = bench.coordinates,
                         .ns = median(ours.ns, PAIRS_FEWEST)});
}

/* --- what programs measure by themselves ------------------------------------------------------ */

static void add_value(struct row row)
{
    if (!bench_wants(row.what)) {
        return;
    }
    row_find_bar(&row);
    row_add(row);
}

void bench_value(const char *what, double value)
{
    add_value((struct row){.what = what, .kind = ROW_VALUE, .value = value, .has_bar = true});
}

void bench_tell_value(const char *what, double value)
{
    add_value((struct row){.what = what, .kind = ROW_VALUE, .value = value});
}

void bench_require(const char *what, double value, double most)
{
    add_value((struct row){.what = what, .kind = ROW_PROMISE, .value = value, .bar = most});
}

void bench_skip(const char *what, const char *why)
{
    if (bench_wants(what)) {
        (void)fprintf(stderr, "%s: not measured, %s\n", what, why);
        row_add((struct row){.what = what, .kind = ROW_SKIPPED});
    }
}

const char *bench_text(const char *what)
{
    static char buffer[8192];
    static size_t used;
    char *const at = buffer + used;
    const size_t size = strlen(what) + 1;
    if (size > sizeof buffer - used) {
        (void)fprintf(stderr, "no memory for the name of a row\n");
        exit(2);
    }
    memcpy(at, what, size);
    used += size;
    return at;
}

int bench_end(void)
{
    return bench.counts ? 0 : rows_end(bench.only == NULL);
}

static volatile double sink;

void bench_use(const double *x)
{
    sink = *x;
}
