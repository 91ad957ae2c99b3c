/* Pictures that are drawn again and again over themselves: they are never wider than the terminal,
 * or what went on to the next line would stay there. */
#include "clients/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    UNKNOWN = 80, /* columns of a terminal that does not report them */
    BAR = 40,     /* longest bar */
    SHORT = 8,    /* below so many columns a bar is useless */
    TIME = 12     /* columns of the time left, so that the bar keeps its length */
};

int mechctl_columns(int descriptor)
{
    struct winsize size = {0};
    const char *const told = getenv("COLUMNS");
    long columns = told ? strtol(told, NULL, 10) : 0;
    if (columns <= 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
        columns = size.ws_col;
    }
    columns = columns > 0 ? columns : UNKNOWN;
    return columns > 10000 ? 10000 : columns > 1 ? (int)columns - 1 : 1;
}

void mechctl_piece(struct mechctl_line *l, enum mechctl_ink ink, const char *text, bool whole)
{
    const int width = mechctl_width(text);
    if (l->left <= 0 || (whole && width > l->left)) {
        return;
    }
    const int columns = width < l->left ? width : l->left;
    // the bytes of so many characters: up to the first byte of the next
    const char *end = text;
    for (int k = 0; *end; end++) {
        k += ((unsigned char)*end & 0xc0) != 0x80;
        if (k > columns) {
            break;
        }
    }
    const bool plain = ink == MECHCTL_PLAIN;
    fprintf(l->to, "%s%.*s%s", plain ? "" : mechctl_ink(l->m, ink), (int)(end - text), text,
            plain ? "" : mechctl_ink_off(l->m));
    l->left -= columns;
}

void mechctl_line_end(const struct mechctl_line *l)
{
    fputs("\033[K", l->to);
}

void mechctl_bar(double fraction, double left)
{
    struct mechctl_line l = {.to = stderr, .left = mechctl_columns(STDERR_FILENO)};
    char bar[BAR + 1], text[64];
    fraction = fmin(fmax(fraction, 0.), 1.);
    const int part = snprintf(text, sizeof text, "%3d %%", (int)(100. * fraction));
    const int room = l.left - part - 3 - (left >= 0. ? TIME : 0), most = room < BAR ? room : BAR;
    fputc('\r', stderr);
    if (most >= SHORT) {
        for (int k = 0; k < most; k++) {
            bar[k] = k < (int)(fraction * most) ? '#' : '.';
        }
        bar[most] = 0;
        mechctl_piece(&l, MECHCTL_PLAIN, "[", true);
        mechctl_piece(&l, MECHCTL_PLAIN, bar, true);
        mechctl_piece(&l, MECHCTL_PLAIN, "] ", true);
    }
    mechctl_piece(&l, MECHCTL_PLAIN, text, true);
    if (left >= 0.) {
        snprintf(text, sizeof text, " %.0f s left", ceil(left));
        mechctl_piece(&l, MECHCTL_PLAIN, text, true);
    }
    mechctl_line_end(&l);
}
