/* Plots as SVG 1.1. */
#include "clients/cli/plot.h"

#include "protocol/wire/text.h"

#include <stdio.h>
#include <string.h>

static void add_colour(struct mechc_bytes *b, int colour)
{
    const unsigned char *const c = mechctl_colours[colour];
    char text[16];
    snprintf(text, sizeof text, "#%02x%02x%02x", c[0], c[1], c[2]);
    mechc_bytes_text(b, text);
}

static void line(void *surface, const struct mechctl_point *p, size_t count, int colour)
{
    struct mechc_bytes *const b = surface;
    char text[64];
    mechc_bytes_text(b, "<polyline fill=\"none\" stroke-linejoin=\"round\" stroke=\"");
    add_colour(b, colour);
    mechc_bytes_text(b, colour < MECHCTL_CURVES ? "\" points=\""
                                                : "\" stroke-width=\"1.6\" points=\"");
    for (size_t k = 0; k < count; k++) {
        // tenths of a pixel, without the locale's comma
        const long x = (long)(10. * p[k].x + 0.5), y = (long)(10. * p[k].y + 0.5);
        snprintf(text, sizeof text, "%s%ld.%ld,%ld.%ld", k > 0 ? " " : "", x / 10, x % 10, y / 10,
                 y % 10);
        mechc_bytes_text(b, text);
    }
    mechc_bytes_text(b, "\"/>\n");
}

static void text(void *surface, struct mechctl_point at, int align, int colour, const char *given)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    struct mechc_bytes *const b = surface;
    char place[96];
    snprintf(place, sizeof place, "<text x=\"%ld\" y=\"%ld\" text-anchor=\"%s\" fill=\"",
             (long)at.x, (long)at.y, anchors[align + 1]);
    mechc_bytes_text(b, place);
    add_colour(b, colour);
    mechc_bytes_text(b, "\">");
    for (const char *c = given; *c; c++) {
        const char *const entity = mechp_text_entity(*c);
        mechc_bytes_add(b, entity ? entity : c, entity ? strlen(entity) : 1);
    }
    mechc_bytes_text(b, "</text>\n");
}

void mechctl_plot_svg(const struct mechctl_plot *p, struct mechc_bytes *out)
{
    const struct mechctl_pen pen = {.surface = out,
                                    .width = MECHCTL_PLOT_WIDTH,
                                    .height = mechctl_picture_height(p),
                                    .line = line,
                                    .text = text};
    char head[256];
    snprintf(head, sizeof head,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
             pen.width, pen.height);
    mechc_bytes_text(out, head);
    out->failed = !mechctl_draw(p, &pen) || out->failed;
    mechc_bytes_text(out, "</svg>\n");
}
