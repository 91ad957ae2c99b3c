/* Benchmarks: a program measures pairs (work, floor) in turns on one pinned core, prints a table
 * of medians with their ratios and bars, and fails when a bar is broken. Bars are lines of
 * bars.def, found by program and case; README.md says how they are set and read.
 *
 *     int main(int argc, char **argv)
 *     {
 *         bench_begin("lti", argc, argv);
 *         bench_compare("chain of 1000, banded", chain_run, &chain, floor_run, &floor);
 *         bench_tell("bouncing ball", ball_run, &ball);
 *         return bench_end();
 *     }
 *
 * Options: --count (under callgrind: instructions of the rows in counts.def; counts.h), --quick (a
 * row ends as soon as it is decided), --json (one object on stdout), --strict
 * (a bar is a bar: no margin), --plant F (each unit under test takes F times as long, and each
 * bar must turn red), --only TEXT (only rows whose name contains it). Times are CPU times of the
 * thread, ns per unit, unless bench_time_by says otherwise. owner: the one thread of the program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Does `count` units of the work (steps, calls). */
typedef void bench_work(void *context, uint64_t count);

/* Pins the thread to its core, keeps BLAS to one thread, reads the options. Exits with 2 on an
 * option that it does not know. */
void bench_begin(const char *name, int argc, char **argv);

/* Median time of a unit of each, and the median of the ratios of pairs that ran beside each other,
 * held against the bar of bars.def. A case without a line there is broken. */
void bench_compare(const char *what, bench_work *work, void *context, bench_work *floor,
                   void *floor_context);
/* The same for information: no bar. */
void bench_beside(const char *what, bench_work *work, void *context, bench_work *floor,
                  void *floor_context);
/* Median time of a unit, for information. */
void bench_tell(const char *what, bench_work *work, void *context);

/* What the program measures by itself, in the unit that `what` names, held against the bar of
 * bars.def. The program plants the slowdown: what it makes or waits for is bench_plant() times as
 * much. */
void bench_value(const char *what, double value);
/* The same for information: no bar. */
void bench_tell_value(const char *what, double value);
/* A promise of the documents in the unit that `what` names: fails above `most`. It is no bar, as it
 * says nothing about a loss of speed; a planted slowdown leaves it as it is. */
void bench_require(const char *what, double value, double most);

/* A case of bars.def that this machine or run does not measure, and why. */
void bench_skip(const char *what, const char *why);

/* 1, or the factor of --plant. */
double bench_plant(void);

/* Whether --only leaves this row in; what is expensive to build may ask. */
bool bench_wants(const char *what);

/* From here on this clock (ns, of the work's or floor's context) measures, for work that other
 * threads or processes do: the thread may use all cores, as what it starts may, and turns are
 * longer. NULL: the CPU time of this thread, on the core that it then has. */
typedef double bench_clock(const void *context);
void bench_time_by(bench_clock *clock);

/* From here on a unit of the rows moves so many coordinates: the time of one is printed, too. 0:
 * not printed, as in the beginning. */
void bench_coordinates(int32_t count);

/* Whether --quick was given: what takes seconds to build may be left out. */
bool bench_is_quick(void);

/* A name that a row may keep: `what` is copied, for as long as the program runs. */
const char *bench_text(const char *what);

/* Prints what was measured; 0, or 1 when a bar or a promise is broken, or a case of bars.def was
 * neither measured nor skipped. */
int bench_end(void);

/* Keeps a result alive. */
void bench_use(const double *x);
