/* Plots on a terminal: characters of Braille (U+2800) have two by four dots each. */
#include "clients/cli/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LABEL = 12, LEAST = 8, DOTS_X = 2, DOTS_Y = 4, DIGITS = 4, DIGITS_TIME = 6 };

/* The dots of one graph: bits of the characters. */
struct dots {
    unsigned char *at; /* [lines][columns] */
    int columns, lines;
    int label; /* columns of the labels at the left, with the space behind them */
};

static void set(struct dots *d, int x, int y)
{
    // bit of a dot by its column and line in the character (Unicode, Braille Patterns)
    static const unsigned char bits[DOTS_Y][DOTS_X] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x >= 0 && y >= 0 && x < d->columns * DOTS_X && y < d->lines * DOTS_Y) {
        d->at[y / DOTS_Y * d->columns + x / DOTS_X] |= bits[y % DOTS_Y][x % DOTS_X];
    }
}

static void fill(const struct mechctl_plot *p, const struct mechctl_curve *c, const double range[2],
                 struct dots *d)
{
    const int width = d->columns * DOTS_X, height = d->lines * DOTS_Y;
    const double begin = p->time[0], span = p->time[(p->rows - 1) * p->stride] - begin;
    int before_x = -1, before_y = 0;
    for (size_t k = 0; k < p->rows; k++) {
        const double value = c->at[k * p->stride];
        if (!isfinite(value)) {
            before_x = -1;
            continue;
        }
        const double part = span > 0. ? (p->time[k * p->stride] - begin) / span : 0.;
        const double high = (value - range[0]) / (range[1] - range[0]);
        const int x = (int)lround(part * (width - 1)), y = (int)lround((1. - high) * (height - 1));
        // a straight line from the point before
        const int dx = x - before_x, dy = y - before_y, n = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
        for (int i = 0; before_x >= 0 && i < n; i++) {
            set(d, before_x + (int)lround((double)dx * i / n),
                before_y + (int)lround((double)dy * i / n));
        }
        set(d, x, y);
        before_x = x, before_y = y;
    }
}

static void print_line(const struct mechctl *m, const struct dots *d, int line, const char *label)
{
    char text[8];
    printf("%*s ", d->label - 1, label);
    fputs(mechctl_ink(m, MECHCTL_BLUE), stdout);
    for (int k = 0; k < d->columns; k++) {
        const unsigned char bits = d->at[line * d->columns + k];
        snprintf(text, sizeof text, "%c%c%c", 0xe2, 0xa0 | bits >> 6, 0x80 | (bits & 0x3f));
        fputs(text, stdout);
    }
    printf("%s\n", mechctl_ink_off(m));
}

/* Room for the longest label of all graphs, so that their times are below each other. */
static int label_columns(const struct mechctl_plot *p)
{
    int columns = LABEL;
    for (size_t i = 0; i < p->count; i++) {
        double range[2];
        char text[32];
        for (int k = 0; p->rows > 0 && mechctl_range(p, &p->curves[i], range) && k < 2; k++) {
            const int width = mechctl_width(mechctl_axis(range[k], range, DIGITS, text)) + 1;
            columns = width > columns ? width : columns;
        }
    }
    return columns;
}

void mechctl_plot_text(const struct mechctl *m, const struct mechctl_plot *p, int height)
{
    struct dots d = {.lines = height, .label = label_columns(p)};
    const int room = mechctl_columns(STDOUT_FILENO) - d.label;
    d.columns = room > LEAST ? room : LEAST;
    d.at = calloc((size_t)d.columns * (size_t)d.lines, 1);
    for (size_t i = 0; d.at && i < p->count; i++) {
        const struct mechctl_curve *const c = &p->curves[i];
        double range[2];
        char text[32];
        printf("%s%s%s%s%s\n", mechctl_ink(m, MECHCTL_BOLD), c->name, mechctl_ink_off(m),
               *c->unit ? " in " : "", c->unit);
        if (p->rows == 0 || !mechctl_range(p, c, range)) {
            printf("%*s no values\n", d.label - 1, "");
            continue;
        }
        memset(d.at, 0, (size_t)d.columns * (size_t)d.lines);
        fill(p, c, range, &d);
        for (int line = 0; line < d.lines; line++) {
            const bool is_end = line == 0 || line == d.lines - 1;
            print_line(m, &d, line,
                       is_end ? mechctl_axis(range[line == 0], range, DIGITS, text) : "");
        }
    }
    if (d.at && p->rows > 0) {
        char from[32], to[32];
        const double range[2] = {p->time[0], p->time[(p->rows - 1) * p->stride]};
        mechctl_axis(range[0], range, DIGITS_TIME, from);
        mechctl_axis(range[1], range, DIGITS_TIME, to);
        const int gap = d.columns - mechctl_width(from) - mechctl_width(to) - 4;
        printf("%*s%s s%*s%s s\n", d.label, "", from, gap > 0 ? gap : 1, "", to);
    }
    free(d.at);
}
