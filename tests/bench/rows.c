/* Rows of rows.h and the table of bars. */
#include "tests/bench/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 80 };

/* A bar is 1.1 of what was measured, and a row is broken beyond 1.12 of its bar: 1.23 of what was
 * measured, half-way (in ratios) between nothing and the 1.5 that must be seen. */
static const double margin = 1.12;
/* A case whose ratio differed by more between the runs of --measure is shown beside its bar and not
 * judged by it: it would be broken by chance. */
static const double steady = 0.2;

static const struct bar {
    const char *program, *what, *floor;
    double measured, spread, bar, goal;
    const char *when;
} bars[] = {
#define BAR(...) {__VA_ARGS__},
#include "tests/bench/bars.def"
#undef BAR
};

static struct {
    const char *program;
    bool json, strict;
    struct row at[ROWS_MOST];
    int count;
} rows;

void rows_begin(const char *program, bool json, bool strict)
{
    rows.program = program;
    rows.json = json;
    rows.strict = strict;
}

void row_find_bar(struct row *r)
{
    for (size_t k = 0; k < sizeof bars / sizeof *bars && r->has_bar; k++) {
        if (strcmp(bars[k].program, rows.program) == 0 && strcmp(bars[k].what, r->what) == 0) {
            r->bar = bars[k].bar;
            r->has_bar = bars[k].spread <= steady;
            r->goal = bars[k].goal;
            r->floor = bars[k].floor;
        }
    }
}

double row_limit(const struct row *r)
{
    return r->bar * (rows.strict || r->kind == ROW_PROMISE ? 1. : margin);
}

void row_add(struct row r)
{
    if (rows.count == ROWS_MOST) {
        (void)fprintf(stderr, "more than %d rows\n", ROWS_MOST);
        exit(2);
    }
    rows.at[rows.count++] = r;
}

static bool judged(const struct row *r)
{
    return r->has_bar || r->kind == ROW_PROMISE;
}

/* A missing bar is broken, and so is a value that is not a number. */
static bool broken(const struct row *r)
{
    return (r->has_bar && !(r->bar > 0.)) ||
           (judged(r) && r->bar > 0. && !(r->value <= row_limit(r)));
}

static const char *verdict(const struct row *r)
{
    return r->has_bar && !(r->bar > 0.) ? "  NO LINE IN bars.def" : broken(r) ? "  BROKEN" : "";
}

static void print_table(void)
{
    (void)printf("%-44s %12s %8s %12s %9s %5s %9s %7s\n", rows.program, "ns", "/coord.", "floor ns",
                 "ratio", "+-%", "bar", "goal");
    for (int i = 0; i < rows.count; i++) {
        const struct row *const r = &rows.at[i];
        (void)printf("%-44s", r->what);
        if (r->kind == ROW_SKIPPED) {
            (void)printf(" not measured\n");
            continue;
        }
        if (r->kind == ROW_PAIR || r->kind == ROW_TIME) {
            (void)printf(" %12.1f", r->ns);
        } else {
            (void)printf(" %12s", "");
        }
        if (r->coordinates) {
            (void)printf(" %8.2f", r->ns / r->coordinates);
        } else {
            (void)printf(" %8s", "");
        }
        if (r->kind == ROW_PAIR) {
            (void)printf(" %12.1f %9.3f %5.1f", r->floor_ns, r->value,
                         50. * (r->high - r->low) / r->value);
        } else if (r->kind != ROW_TIME) {
            (void)printf(" %12s %9.4g %5s", "", r->value, "");
        }
        if (r->bar > 0.) {
            (void)printf(" %9.4g", r->bar);
        }
        if (r->goal > 0.) {
            (void)printf(" %7.3g", r->goal);
        }
        (void)printf("%s\n", verdict(r));
    }
}

static void print_json(void)
{
    static const char *const kinds[] = {"pair", "time", "value", "promise", "skipped"};
    (void)printf("{\"benchmark\": \"%s\", \"rows\": [", rows.program);
    for (int i = 0; i < rows.count; i++) {
        const struct row *const r = &rows.at[i];
        (void)printf("%s{\"what\": \"%s\", \"kind\": \"%s\"", i > 0 ? ", " : "", r->what,
                     kinds[r->kind]);
        if (r->kind == ROW_PAIR || r->kind == ROW_TIME) {
            (void)printf(", \"ns\": %.1f", r->ns);
        }
        if (r->coordinates) {
            (void)printf(", \"coordinates\": %d, \"nsPerCoordinate\": %.3f", (int)r->coordinates,
                         r->ns / r->coordinates);
        }
        if (r->kind == ROW_PAIR) {
            (void)printf(", \"floorNs\": %.1f, \"low\": %.5g, \"high\": %.5g, \"pairs\": %d",
                         r->floor_ns, r->low, r->high, r->pairs);
        }
        if (r->kind != ROW_TIME && r->kind != ROW_SKIPPED) {
            (void)printf(", \"value\": %.5g", r->value);
        }
        if (r->floor != NULL) {
            (void)printf(", \"floor\": \"%s\"", r->floor);
        }
        if (r->has_bar || r->bar > 0.) {
            (void)printf(
                ", \"bar\": %g, \"limit\": %g, \"goal\": %g, \"judged\": %s, \"broken\": %s",
                r->bar, row_limit(r), r->goal, judged(r) ? "true" : "false",
                broken(r) ? "true" : "false");
        }
        (void)printf("}");
    }
    (void)printf("]}\n");
}

/* Cases of bars.def that the program has neither measured nor skipped. */
static int count_missing(void)
{
    int missing = 0;
    for (size_t k = 0; k < sizeof bars / sizeof *bars; k++) {
        bool found = strcmp(bars[k].program, rows.program) != 0;
        for (int i = 0; i < rows.count && !found; i++) {
            found = strcmp(bars[k].what, rows.at[i].what) == 0;
        }
        if (!found) {
            (void)fprintf(stderr, "%s: a case of bars.def that is not measured\n", bars[k].what);
            missing++;
        }
    }
    return missing;
}

int rows_end(bool all)
{
    if (rows.json) {
        print_json();
    } else {
        print_table();
    }
    int bad = all ? count_missing() : 0;
    for (int i = 0; i < rows.count; i++) {
        bad += broken(&rows.at[i]);
    }
    return bad > 0 || rows.count == 0;
}
