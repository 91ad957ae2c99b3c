/* Benchmarks: a program measures pairs (work, floor) alternately on one pinned core, prints a table
 * of medians with their ratios and bars, and fails when a bar is broken by a wide margin.
 *
 *     int main(int argc, char **argv)
 *     {
 *         bench_begin("lti", argc, argv);
 *         bench_compare("chain of 1000, banded", chain_run, &chain, floor_run, &floor, 0.8);
 *         bench_limit("bouncing ball", ball_run, &ball, 200.);
 *         return bench_end();
 *     }
 *
 * Options: --json (one object on stdout), --strict (a bar is a bar: no margin), --quick (a tenth of
 * the time). Times are CPU times of the thread, ns per call unit, unless bench_time_by says
 * otherwise. owner: the one thread of the program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Does `count` units of the work (steps, calls). */
typedef void bench_work(void *context, uint64_t count);

/* Pins the thread to its core, keeps BLAS to one thread, reads the options. Exits with 2 on an
 * option that it does not know. */
void bench_begin(const char *name, int argc, char **argv);

/* Median time of a unit of each, and the median of their ratios, which must not exceed `bar` (0: no
 * bar, for information). */
void bench_compare(const char *what, bench_work *work, void *context, bench_work *floor,
                   void *floor_context, double bar);

/* What is measured elsewhere, in the unit that `what` names: at most `bar` (0: no bar). */
void bench_value(const char *what, double value, double bar);

/* From here on this clock (ns, of the work's or floor's context) tells the time, for work that
 * other threads or processes do: the thread may use all cores, as what it starts may, and turns are
 * longer. NULL: the CPU time of this thread, on the cores that it then has. */
typedef double bench_clock(const void *context);
void bench_time_by(bench_clock *clock);

/* From here on a unit of the rows moves so many coordinates: their time is told for one, too. 0:
 * not told, as in the beginning. */
void bench_coordinates(int32_t count);

/* Median time of a unit, which must not exceed `bar` ns (0: no bar). */
void bench_limit(const char *what, bench_work *work, void *context, double bar);

/* Whether --quick was given: what takes seconds to build may be left out. */
bool bench_is_quick(void);

/* A name that a row may keep: `what` is copied, for as long as the program runs. */
const char *bench_text(const char *what);

/* Prints what was measured; 0, or 1 when a bar is broken by more than the margin. */
int bench_end(void);

/* Keeps a result alive. */
void bench_use(const double *x);
