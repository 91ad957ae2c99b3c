/* What plots have in common: ranges, round numbers at the axes, and the layout of a picture, in
 * which curves of one unit share a graph over the same time. */
#include "clients/cli/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 78, RIGHT = 16, TOP = 26, BOTTOM = 34, LEGEND = 60, LETTER = 7, GAP = 6 };
enum { POINTS = 4096, DIGITS = 9 };

const unsigned char mechctl_colours[MECHCTL_COLOURS][3] = {
    [MECHCTL_PAPER] = {255, 255, 255},
    [MECHCTL_GRID] = {228, 232, 236},
    [MECHCTL_TEXT] = {68, 80, 92},
    {31, 119, 180},
    {214, 96, 16},
    {44, 150, 60},
    {190, 40, 50},
    {130, 90, 180},
    {130, 80, 70},
    {200, 90, 170},
    {20, 150, 160},
};

/* Round values inside [least, most], 2 to 6 of them, in steps of 1, 2 or 5 times a power of ten.
 * Returns how many; values[0] is the first. An interval without length has one. */
static int ticks_of(double least, double most, double values[8])
{
    const double span = most - least;
    if (!(span > 0.) || !isfinite(span)) {
        values[0] = least;
        return 1;
    }
    // steps so wide that at most 6 fit
    const double power = pow(10., floor(log10(span / 5.)));
    double step = power;
    for (int k = 0; k < 3 && span / step > 5.; k++) {
        step = power * (k == 0 ? 2. : k == 1 ? 5. : 10.);
    }
    int n = 0;
    const double first = ceil(least / step - 1e-9);
    while (n < 8 && (first + n) * step <= most + 1e-9 * step) {
        values[n] = (first + n) * step + 0.; // no negative zero
        n++;
    }
    return n;
}

bool mechctl_range(const struct mechctl_plot *p, const struct mechctl_curve *c, double range[2])
{
    double least = INFINITY, most = -INFINITY;
    for (size_t k = 0; k < p->rows; k++) {
        const double x = c->at[k * p->stride];
        least = isfinite(x) ? fmin(least, x) : least;
        most = isfinite(x) ? fmax(most, x) : most;
    }
    const double size = fmax(fabs(least), fabs(most));
    if (least <= most && most - least <= 1e-9 * size) {
        const double room = size > 0. ? 0.1 * size : 1.;
        least -= room, most += room;
    }
    range[0] = least, range[1] = most;
    return least < most;
}

const char *mechctl_axis(double value, const double range[2], int least, char out[32])
{
    const double size = fmax(fabs(range[0]), fabs(range[1])), span = range[1] - range[0];
    int digits = least;
    if (span > 0. && isfinite(span)) {
        // from the first digit of the size to two behind the first one of the span
        const double need = floor(log10(size)) - floor(log10(span)) + 3.;
        digits = need > 17. ? 17 : need > least ? (int)need : least;
    }
    snprintf(out, 32, "%.*g", digits, value);
    return out;
}

/* Whether the i-th curve is the first one of its unit. */
static bool is_first(const struct mechctl_plot *p, size_t i)
{
    size_t same = 0;
    while (strcmp(p->curves[same].unit, p->curves[i].unit) != 0) {
        same++;
    }
    return same == i;
}

int mechctl_picture_height(const struct mechctl_plot *p)
{
    int graphs = 0;
    for (size_t i = 0; i < p->count; i++) {
        graphs += is_first(p, i);
    }
    return MECHCTL_GRAPH_HEIGHT * (graphs > 0 ? graphs : 1);
}

/* One graph: where it is on the picture and what its axes span. */
struct graph {
    struct mechctl_point upper, lower; /* corners of its frame */
    double time[2], value[2];
};

static struct mechctl_point place(const struct graph *g, double t, double x)
{
    // of halves: a span may be greater than all numbers
    const double least = 0.5 * g->value[0], span = 0.5 * g->value[1] - least;
    return (struct mechctl_point){
        g->upper.x + (g->lower.x - g->upper.x) * (t - g->time[0]) / (g->time[1] - g->time[0]),
        g->lower.y - (g->lower.y - g->upper.y) * ((0.5 * x - least) / span)};
}

static void draw_axes(const struct graph *g, const char *unit, const struct mechctl_pen *pen)
{
    double at[8];
    char text[64], number[32];
    for (int k = 0, n = ticks_of(g->value[0], g->value[1], at); k < n; k++) {
        const struct mechctl_point a = place(g, g->time[0], at[k]), b = {g->lower.x, a.y};
        pen->line(pen->surface, (const struct mechctl_point[]){a, b}, 2, MECHCTL_GRID);
        pen->text(pen->surface, (struct mechctl_point){a.x - GAP, a.y + 4.}, 1, MECHCTL_TEXT,
                  mechctl_axis(at[k], g->value, DIGITS, number));
    }
    for (int k = 0, n = ticks_of(g->time[0], g->time[1], at); k < n; k++) {
        const struct mechctl_point a = place(g, at[k], g->value[0]), b = {a.x, g->upper.y};
        pen->line(pen->surface, (const struct mechctl_point[]){a, b}, 2, MECHCTL_GRID);
        snprintf(text, sizeof text, k == n - 1 ? "%s s" : "%s",
                 mechctl_axis(at[k], g->time, DIGITS, number));
        pen->text(pen->surface, (struct mechctl_point){a.x, a.y + 16.}, 0, MECHCTL_TEXT, text);
    }
    if (*unit) {
        snprintf(text, sizeof text, "in %s", unit);
        pen->text(pen->surface, (struct mechctl_point){4., g->upper.y - 8.}, -1, MECHCTL_TEXT,
                  text);
    }
}

/* Points of a curve; those of the newest column of pixels end with its least and its greatest value
 * and its last point, so that many rows for one column are four points. */
struct points {
    struct mechctl_point *at;   /* [most] */
    size_t most, count, column; /* column: where the newest one begins */
};

static void add_point(struct points *p, struct mechctl_point here)
{
    if (p->count == 0 || floor(p->at[p->column].x) != floor(here.x)) {
        p->column = p->count;
        p->at[p->count++] = here;
        return;
    }
    struct mechctl_point *const of = p->at + p->column;
    if (p->count - p->column < 4) {
        of[1] = of[2] = of[0];
        p->count = p->column + 4;
    }
    of[1] = here.y < of[1].y ? here : of[1];
    of[2] = here.y > of[2].y ? here : of[2];
    of[3] = here;
}

/* The curve in pieces between values that are not finite. */
static void draw_curve(const struct mechctl_plot *p, const struct mechctl_curve *c,
                       const struct graph *g, int colour, const struct mechctl_pen *pen,
                       struct mechctl_point *at)
{
    struct points points = {.at = at, .most = POINTS};
    for (size_t k = 0; k <= p->rows; k++) {
        const double x = k < p->rows ? c->at[k * p->stride] : NAN;
        const bool ends = !isfinite(x), full = points.count + 4 > points.most;
        if (points.count > 0 && (ends || full)) {
            pen->line(pen->surface, at, points.count, colour);
            at[0] = at[points.count - 1];
            points.count = full && !ends, points.column = 0;
        }
        if (!ends) {
            add_point(&points, place(g, p->time[k * p->stride], x));
        }
    }
}

/* What the axes span of the graph of all curves with the unit of the i-th. */
static void measure(const struct mechctl_plot *p, size_t i, struct graph *g)
{
    g->value[0] = INFINITY, g->value[1] = -INFINITY;
    for (size_t j = i; j < p->count; j++) {
        double range[2];
        if (strcmp(p->curves[j].unit, p->curves[i].unit) == 0 &&
            mechctl_range(p, &p->curves[j], range)) {
            g->value[0] = fmin(g->value[0], range[0]);
            g->value[1] = fmax(g->value[1], range[1]);
        }
    }
    if (g->value[0] > g->value[1]) {
        g->value[0] = 0., g->value[1] = 1.;
    }
    g->time[0] = p->rows > 0 ? p->time[0] : 0.;
    g->time[1] = p->rows > 0 ? p->time[(p->rows - 1) * p->stride] : 1.;
    g->time[1] = g->time[1] > g->time[0] ? g->time[1] : g->time[0] + 1.;
}

/* The room at the left of all graphs, pixels: for the longest label. */
static double room(const struct mechctl_plot *p)
{
    double left = LEFT, at[8];
    char number[32];
    for (size_t i = 0; i < p->count; i++) {
        struct graph g;
        measure(p, i, &g);
        for (int k = 0, n = ticks_of(g.value[0], g.value[1], at); k < n; k++) {
            const int width = mechctl_width(mechctl_axis(at[k], g.value, DIGITS, number));
            left = fmax(left, GAP + LETTER * width);
        }
    }
    return left;
}

/* The graph of all curves with the unit of the i-th, which is the first of them. */
static void draw_graph(const struct mechctl_plot *p, size_t i, struct mechctl_point corner,
                       const struct mechctl_pen *pen, struct mechctl_point *at)
{
    const char *const unit = p->curves[i].unit;
    struct graph g = {.upper = {corner.x, corner.y + TOP},
                      .lower = {pen->width - RIGHT, corner.y + MECHCTL_GRAPH_HEIGHT - BOTTOM}};
    measure(p, i, &g);
    draw_axes(&g, unit, pen);
    double x = corner.x + LEGEND;
    for (size_t j = i, colour = 0; j < p->count; j++) {
        if (strcmp(p->curves[j].unit, unit) == 0) {
            const int ink = MECHCTL_CURVES + (int)(colour++ % 8);
            draw_curve(p, &p->curves[j], &g, ink, pen, at);
            pen->text(pen->surface, (struct mechctl_point){x, g.upper.y - 8.}, -1, ink,
                      p->curves[j].name);
            x += LETTER * mechctl_width(p->curves[j].name) + LETTER * 2;
        }
    }
}

bool mechctl_draw(const struct mechctl_plot *p, const struct mechctl_pen *pen)
{
    struct mechctl_point *const at = calloc(POINTS, sizeof *at);
    struct mechctl_point corner = {.x = room(p)};
    for (size_t i = 0; at && i < p->count; i++) {
        if (is_first(p, i)) {
            draw_graph(p, i, corner, pen, at);
            corner.y += MECHCTL_GRAPH_HEIGHT;
        }
    }
    free(at);
    return at;
}
