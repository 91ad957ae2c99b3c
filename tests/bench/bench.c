/* Measuring of bench.h: both sides of a pair run in turns of some milliseconds, so that a change of
 * the core's clock or a neighbour's load meets both; the median of the turns counts. */
#define _GNU_SOURCE /* sched_setaffinity, sched_getcpu */
#include "tests/bench/bench.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void openblas_set_num_threads(int count);

enum { TURNS = 101, ROWS_MOST = 64 };
static const double turn_ns = 4e6;
/* by a clock that others share, in which their turns stand too */
static const double shared_turn_ns = 2e7;
/* a bar counts as broken beyond this: shared machines vary by some percent between runs */
static const double margin = 1.25;
/* what factoring a block of 6 x 6 takes where bars in ns were set: 49 ns on a machine on which the
 * links of bench-joints take 1.2 times what they took there; on slower ones these bars grow */
static const double reference_block_ns = 41.;

struct row {
    const char *what;
    double ns, floor_ns, ratio, bar;
    bool pair, plain;    /* plain: a value, not a time */
    int32_t coordinates; /* that a unit moves; 0: not told */
};

static struct {
    const char *name;
    bool json, strict, quick;
    double slowness;
    struct row rows[ROWS_MOST];
    int count;
    int32_t coordinates;
    bench_clock *clock; /* NULL: the thread's */
    cpu_set_t all;      /* cores as they were given */
} bench;

static double now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
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
    return x[n / 2];
}

/* Factors and solves of small dense blocks, as the solver's scalar code has them. */
static double blocks(uint64_t count)
{
    enum { N = 6, BLOCKS = 64 };
    static double A[BLOCKS][N][N], x[BLOCKS][N];
    double sum = 0.;
    for (uint64_t k = 0; k < count; k++) {
        double(*const a)[N] = A[k % BLOCKS], *const b = x[k % BLOCKS];
        for (int i = 0; i < N; i++) {
            b[i] = 1. + i;
            for (int j = 0; j < N; j++) {
                a[i][j] = i == j ? 4. : 1. / (1. + i + j);
            }
        }
        for (int p = 0; p < N; p++) {
            const double inverse = 1. / a[p][p];
            for (int i = p + 1; i < N; i++) {
                const double f = a[i][p] * inverse;
                for (int j = p; j < N; j++) {
                    a[i][j] -= f * a[p][j];
                }
                b[i] -= f * b[p];
            }
        }
        sum += b[N - 1];
    }
    return sum;
}

/* How much slower than the machine for which bars in ns were set this one runs now; at least 1.
 * Taken before and after all rows: the larger counts. */
static double slowness(void)
{
    enum { BLOCKS_TIMED = 20000 };
    double ns[TURNS / 10];
    volatile double kept = blocks(BLOCKS_TIMED);
    for (int i = 0; i < TURNS / 10; i++) {
        const double from = now_ns();
        kept = kept + blocks(BLOCKS_TIMED);
        ns[i] = (now_ns() - from) / BLOCKS_TIMED;
    }
    const double block = median(ns, TURNS / 10);
    (void)fprintf(stderr, "a block of 6 x 6: %.0f ns, %.0f where bars were set\n", block,
                  reference_block_ns);
    return fmax(1., block / reference_block_ns);
}

void bench_begin(const char *name, int argc, char **argv)
{
    bench.name = name;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            bench.json = true;
        } else if (strcmp(argv[i], "--strict") == 0) {
            bench.strict = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            bench.quick = true;
        } else {
            (void)fprintf(stderr, "usage: bench-%s [--json] [--strict] [--quick]\n", name);
            exit(2);
        }
    }
    openblas_set_num_threads(1);
    cpu_set_t one;
    CPU_ZERO(&one);
    (void)sched_getaffinity(0, sizeof bench.all, &bench.all);
    const int cpu = sched_getcpu();
    CPU_SET(cpu < 0 ? 0u : (unsigned)cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) {
        (void)fprintf(stderr, "bench-%s: not pinned to a core\n", name);
    }
    bench.slowness = slowness();
}

static double clock_ns(const void *context)
{
    return bench.clock != NULL ? bench.clock(context) : now_ns();
}

/* Time of a unit. What runs in between has emptied the caches: some units go before. */
static double timed(bench_work *work, void *context, uint64_t count)
{
    work(context, count / 8 + 1);
    const double from = clock_ns(context);
    work(context, count);
    return (clock_ns(context) - from) / (double)count;
}

/* Turns of each side; on a shared clock a tenth would tell the neighbours. */
static size_t turns_of_a_row(void)
{
    return !bench.quick ? TURNS : bench.clock != NULL ? TURNS / 3 : TURNS / 10;
}

/* Units that fill a turn; warms everything up on the way. */
static uint64_t units_of_a_turn(bench_work *work, void *context)
{
    const double turn = bench.clock != NULL ? shared_turn_ns : turn_ns;
    uint64_t count = 1;
    for (;;) {
        const double ns = timed(work, context, count) * (double)count;
        if (ns > 0.5 * turn) {
            return count;
        }
        count *= ns < 0.01 * turn ? 16 : 2;
    }
}

static void add(struct row row)
{
    row.coordinates = bench.coordinates;
    if (bench.count < ROWS_MOST) {
        bench.rows[bench.count++] = row;
    }
}

void bench_compare(const char *what, bench_work *work, void *context, bench_work *floor,
                   void *floor_context, double bar)
{
    double ours[TURNS], floors[TURNS], ratios[TURNS];
    const size_t turns = turns_of_a_row();
    const uint64_t count = units_of_a_turn(work, context);
    const uint64_t floor_count = units_of_a_turn(floor, floor_context);
    for (size_t i = 0; i < turns; i++) {
        ours[i] = timed(work, context, count);
        floors[i] = timed(floor, floor_context, floor_count);
        ratios[i] = ours[i] / floors[i];
    }
    add((struct row){.what = what,
                     .ns = median(ours, turns),
                     .floor_ns = median(floors, turns),
                     .ratio = median(ratios, turns),
                     .bar = bar,
                     .pair = true});
}

void bench_limit(const char *what, bench_work *work, void *context, double bar)
{
    double ours[TURNS];
    const size_t turns = turns_of_a_row();
    const uint64_t count = units_of_a_turn(work, context);
    for (size_t i = 0; i < turns; i++) {
        ours[i] = timed(work, context, count);
    }
    add((struct row){.what = what, .ns = median(ours, turns), .bar = bar});
}

void bench_value(const char *what, double value, double bar)
{
    add((struct row){.what = what, .ns = value, .bar = bar, .plain = true});
}

void bench_time_by(bench_clock *clock)
{
    bench.clock = clock;
    if (clock != NULL && sched_setaffinity(0, sizeof bench.all, &bench.all) != 0) {
        (void)fprintf(stderr, "bench-%s: stays on one core\n", bench.name);
    }
}

static bool broken(const struct row *r)
{
    const double value = r->pair ? r->ratio : r->ns;
    const bool time = !r->pair && !r->plain;
    const double most = r->bar * (bench.strict ? 1. : margin) * (time ? bench.slowness : 1.);
    return r->bar > 0. && !(value <= most);
}

static void print_table(void)
{
    (void)printf("%-36s %12s %9s %12s %8s %8s\n", bench.name, "ns", "/coord.", "floor ns", "ratio",
                 "bar");
    for (int i = 0; i < bench.count; i++) {
        const struct row *const r = &bench.rows[i];
        (void)printf("%-36s %12.1f", r->what, r->ns);
        if (r->coordinates) {
            (void)printf(" %9.2f", r->ns / r->coordinates);
        } else {
            (void)printf(" %9s", "");
        }
        if (r->pair) {
            (void)printf(" %12.1f %8.3f", r->floor_ns, r->ratio);
        } else {
            (void)printf(" %12s %8s", "", "");
        }
        if (r->bar > 0.) {
            (void)printf(r->pair || r->plain ? " %8.2f" : " %5.0f ns", r->bar);
        }
        (void)printf("%s\n", broken(r) ? "  BROKEN" : "");
    }
}

static void print_json(void)
{
    (void)printf("{\"benchmark\": \"%s\", \"rows\": [", bench.name);
    for (int i = 0; i < bench.count; i++) {
        const struct row *const r = &bench.rows[i];
        (void)printf("%s{\"what\": \"%s\", \"%s\": %.1f", i > 0 ? ", " : "", r->what,
                     r->plain ? "value" : "ns", r->ns);
        if (r->coordinates) {
            (void)printf(", \"coordinates\": %d, \"nsPerCoordinate\": %.3f", (int)r->coordinates,
                         r->ns / r->coordinates);
        }
        if (r->pair) {
            (void)printf(", \"floorNs\": %.1f, \"ratio\": %.4f", r->floor_ns, r->ratio);
        }
        if (r->bar > 0.) {
            (void)printf(", \"bar\": %g, \"broken\": %s", r->bar, broken(r) ? "true" : "false");
        }
        (void)printf("}");
    }
    (void)printf("]}\n");
}

const char *bench_text(const char *what)
{
    static char room[4096];
    static size_t used;
    char *const at = room + used;
    const size_t size = strlen(what) + 1;
    if (size > sizeof room - used) {
        return "";
    }
    memcpy(at, what, size);
    used += size;
    return at;
}

void bench_coordinates(int32_t count)
{
    bench.coordinates = count;
}

bool bench_is_quick(void)
{
    return bench.quick;
}

int bench_end(void)
{
    bench.slowness = fmax(bench.slowness, slowness());
    if (bench.json) {
        print_json();
    } else {
        print_table();
    }
    for (int i = 0; i < bench.count; i++) {
        if (broken(&bench.rows[i])) {
            return 1;
        }
    }
    return bench.count > 0 ? 0 : 1;
}

static volatile double sink;

void bench_use(const double *x)
{
    sink = *x;
}
