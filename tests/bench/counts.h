/* Rows counted under callgrind (--count): a row of counts.def runs its units, and then twice as
 * many, between two marks in callgrind's output each; the difference is what a unit costs, whatever
 * the setting up did. tests/count/run.py reads it. owner: the one thread of the program.
 */
#pragma once

#include "tests/bench/bench.h"

/* Whether this program was built where callgrind's header is. */
bool counts_can(void);

/* Units of the row in counts.def; 0: it is not counted. */
uint64_t counts_units(const char *program, const char *what);

/* Runs the row; the marks are "what|units". `plant`: that many times the units. */
void counts_run(const char *what, uint64_t units, double plant, bench_work *work, void *context);
