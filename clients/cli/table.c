/* Aligned tables. Cells are collected first, because a column is as wide as its widest cell. On a
 * terminal the widest columns of text are cut until a row fits its line; numbers are never cut. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_COLUMNS = 12,
    GAP = 2,  /* columns of the terminal between two of the table */
    LEAST = 8 /* a cut text has at least so many columns */
};

/* The cell of a row: its text appended to `out` (nothing if the row has none). */
static bool cell(struct mechc_json row, const char *key, struct mechc_bytes *out)
{
    struct mechc_json v = row;
    if (*key && !mechc_json_member(row, key, &v)) {
        return false;
    }
    mechctl_inline(v, out);
    return true;
}

static void pad(int columns)
{
    printf("%*s", columns > 0 ? columns : 0, "");
}

struct shape {
    int width[MOST_COLUMNS]; /* 0: left out */
    int count, last;         /* the last column that is shown needs no padding */
};

static struct shape measure(struct mechc_json rows, const struct mechctl_column *columns,
                            struct mechc_bytes *text)
{
    struct shape s = {0};
    while (s.count < MOST_COLUMNS && columns[s.count].key) {
        s.count++;
    }
    for (struct mechc_json_walk w = mechc_json_walk(rows); mechc_json_next(&w);) {
        for (int i = 0; i < s.count; i++) {
            mechc_bytes_clear(text);
            if (cell(w.value, columns[i].key, text) && !text->failed) {
                const int have = mechctl_width(text->at), head = mechctl_width(columns[i].title);
                s.width[i] = have > s.width[i] ? have : s.width[i];
                s.width[i] = head > s.width[i] ? head : s.width[i];
            }
        }
    }
    for (int i = 0; i < s.count; i++) {
        s.last = s.width[i] > 0 ? i : s.last;
    }
    return s;
}

/* Cut the widest text again and again, until a row has no more than `most` columns. */
static void fit(struct shape *s, const struct mechctl_column *columns, int most)
{
    int all = -GAP;
    for (int i = 0; i < s->count; i++) {
        all += s->width[i] > 0 ? s->width[i] + GAP : 0;
    }
    for (; all > most; all--) {
        int widest = -1;
        for (int i = 0; i < s->count; i++) {
            const bool more = widest < 0 || s->width[i] > s->width[widest];
            widest = !columns[i].right && s->width[i] > LEAST && more ? i : widest;
        }
        if (widest < 0) {
            return;
        }
        s->width[widest]--;
    }
}

static void print_cell(const struct shape *s, const struct mechctl_column *columns, int i,
                       const char *text)
{
    const int have = mechctl_width(text), space = have < s->width[i] ? s->width[i] - have : 0;
    pad(columns[i].right ? space : 0);
    if (have > s->width[i]) {
        struct mechctl_line cut = {.to = stdout, .left = s->width[i] - 1};
        mechctl_piece(&cut, MECHCTL_PLAIN, text, false);
        fputs("…", stdout);
    } else {
        fputs(text, stdout);
    }
    if (i < s->last) {
        pad(GAP + (columns[i].right ? 0 : space));
    }
}

void mechctl_print_table(const struct mechctl *m, struct mechc_json rows,
                         const struct mechctl_column *columns, const char *none)
{
    if (mechc_json_count(rows) == 0) {
        puts(none);
        return;
    }
    struct mechc_bytes text = {0};
    struct shape s = measure(rows, columns, &text);
    if (isatty(STDOUT_FILENO)) {
        fit(&s, columns, mechctl_columns(STDOUT_FILENO));
    }
    fputs(mechctl_ink(m, MECHCTL_BOLD), stdout);
    for (int i = 0; i < s.count; i++) {
        if (s.width[i] > 0) {
            print_cell(&s, columns, i, columns[i].title);
        }
    }
    printf("%s\n", mechctl_ink_off(m));
    for (struct mechc_json_walk w = mechc_json_walk(rows); mechc_json_next(&w);) {
        for (int i = 0; i < s.count; i++) {
            mechc_bytes_clear(&text);
            mechc_bytes_text(&text, "");
            cell(w.value, columns[i].key, &text);
            if (s.width[i] > 0 && !text.failed) {
                print_cell(&s, columns, i, text.at);
            }
        }
        putchar('\n');
    }
    mechc_bytes_fini(&text);
}

bool mechctl_unit(struct mechc_json variables, const char *name, struct mechc_json *out)
{
    struct mechc_json v;
    for (struct mechc_json_walk w = mechc_json_walk(variables); mechc_json_next(&w);) {
        if (mechc_json_member(w.value, "name", &v) && mechc_json_is(v, name)) {
            return mechc_json_member(w.value, "unit", out) && mechc_json_kind(*out) == '"';
        }
    }
    return false;
}

void mechctl_print_values(const struct mechctl *m, struct mechc_json values,
                          const struct mechc_json *variables)
{
    struct mechc_bytes text = {0};
    int names = 0, numbers = 0;
    char unit[32];
    // widths first
    for (struct mechc_json_walk w = mechc_json_walk(values); mechc_json_next(&w);) {
        char *const name = mechctl_text(w.key, "");
        mechc_bytes_clear(&text);
        mechctl_inline(w.value, &text);
        const int a = name ? mechctl_width(name) : 0, b = text.failed ? 0 : mechctl_width(text.at);
        names = a > names ? a : names;
        numbers = b > numbers ? b : numbers;
        free(name);
    }
    for (struct mechc_json_walk w = mechc_json_walk(values); mechc_json_next(&w);) {
        char *const own = mechctl_text(w.key, "");
        const char *const name = own ? own : "";
        struct mechc_json v;
        unit[0] = 0;
        if (variables && mechctl_unit(*variables, name, &v)) {
            mechc_json_text(v, unit, sizeof unit);
        }
        mechc_bytes_clear(&text);
        mechctl_inline(w.value, &text);
        const char *const number = text.failed ? "" : text.at;
        fputs(name, stdout);
        pad(names - mechctl_width(name) + 2 + numbers - mechctl_width(number));
        printf("%s%s%s%s%s\n", number, *unit ? " " : "", mechctl_ink(m, MECHCTL_DIM), unit,
               mechctl_ink_off(m));
        free(own);
    }
    mechc_bytes_fini(&text);
}
