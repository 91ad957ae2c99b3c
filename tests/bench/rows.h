/* Rows of a benchmark: what was measured, its bar, the verdict, and how they are printed. Used by
 * bench.c alone. owner: the one thread of the program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum row_kind {
    ROW_PAIR,    /* work beside a floor; the value is the ratio */
    ROW_TIME,    /* of the work alone, ns */
    ROW_VALUE,   /* in the unit that the name says */
    ROW_PROMISE, /* the same, at most `bar`, without margin */
    ROW_SKIPPED
};

struct row {
    const char *what;
    const char *floor; /* of bars.def, or NULL */
    enum row_kind kind;
    bool has_bar; /* it is judged by its line of bars.def, which it must have */
    double ns, floor_ns;
    double value, low, high; /* the median, and the interval that it lies in */
    double bar, goal;        /* 0: none */
    int pairs;
    int32_t coordinates; /* that a unit moves; 0: not printed */
};

void rows_begin(const char *program, bool json, bool strict);

/* The line of bars.def, if the row has a bar and there is one. */
void row_find_bar(struct row *r);

/* What the value must not exceed: the bar with its margin; 0: no bar. */
double row_limit(const struct row *r);

void row_add(struct row r);

/* Print; 1 when a row is broken, or, when `all` of them were wanted, a case of bars.def is missing;
 * else 0. */
int rows_end(bool all);
