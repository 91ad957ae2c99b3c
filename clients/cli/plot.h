/* Plots of recorded outputs over time: with dots of Braille on a terminal, as SVG, as PNG. A value
 * that is not finite interrupts its curve. */
#pragma once

#include "clients/cli/cli.h"

/* What is drawn. owner: the command. */
struct mechctl_curve {
    char *name, unit[24]; /* unit "": none, or unknown */
    const double *at;     /* [rows], `stride` apart */
};
struct mechctl_plot {
    struct mechctl_curve *curves; /* [count] */
    size_t count, rows, stride;
    const double *time; /* [rows] s, `stride` apart, ascending */
};

/* The least and greatest finite value; a constant, or a curve that changes by less than its ninth
 * digit, gets room on both sides. false: no value is finite. */
bool mechctl_range(const struct mechctl_plot *p, const struct mechctl_curve *c, double range[2]);
/* A value of an axis that spans `range`, in at least `least` digits and in so many that what is
 * left out is below 1 % of the span: its ends differ as long as they do in a double. */
const char *mechctl_axis(double value, const double range[2], int least, char out[32]);

/* A graph for each curve on standard output, as wide as the terminal and `height` lines high. */
void mechctl_plot_text(const struct mechctl *m, const struct mechctl_plot *p, int height);
/* The picture as SVG, or as PNG (PNG specification, 8 bits a channel by a palette, not compressed)
 * appended to `out`: curves of one unit share a graph. out->failed: no memory. */
void mechctl_plot_svg(const struct mechctl_plot *p, struct mechc_bytes *out);
void mechctl_plot_png(const struct mechctl_plot *p, struct mechc_bytes *out);

/* --- what SVG and PNG have in common (plot.c) ------------------------------------------------- */

enum {
    MECHCTL_PAPER,  /* white */
    MECHCTL_GRID,   /* light grey */
    MECHCTL_TEXT,   /* dark grey */
    MECHCTL_CURVES, /* and the colours of curves from here on */
    MECHCTL_COLOURS = MECHCTL_CURVES + 8
};
extern const unsigned char mechctl_colours[MECHCTL_COLOURS][3];

struct mechctl_point {
    double x, y; /* pixels, from the upper left corner */
};

/* A surface to draw on. */
struct mechctl_pen {
    void *surface;
    int width, height; /* pixels */
    void (*line)(void *surface, const struct mechctl_point *p, size_t count, int colour);
    /* `align` -1: begins at x, 0: in its middle, 1: ends there; y is the baseline */
    void (*text)(void *surface, struct mechctl_point at, int align, int colour, const char *text);
};
enum { MECHCTL_PLOT_WIDTH = 800, MECHCTL_GRAPH_HEIGHT = 240 };
/* The height of the picture, pixels. */
int mechctl_picture_height(const struct mechctl_plot *p);
/* Draws all graphs. false: no memory. */
bool mechctl_draw(const struct mechctl_plot *p, const struct mechctl_pen *pen);
