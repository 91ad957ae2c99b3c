/* mechctl watch: outputs live from the stream, on the whole terminal or one line a frame. */
#include "clients/cli/channels.h"
#include "solver/base/text.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum {
    HISTORY = MECHCTL_HISTORY,
    SHORT = 8,   /* columns below which a history is useless */
    WIDE = 40,   /* from so many columns on a history may be higher than a line */
    HIGHEST = 9, /* lines of one channel */
    NUMBER = 14
};

static const double redraw = 0.05; /* s between two pictures: faster than the eye needs */
static const double silence = 1.;  /* s without a frame after which the server is queried */
/* s between two requests of which the first was refused with 429 or 5xx: the first pause, which
 * doubles up to the longest */
static const double pause_first = 0.25, pause_longest = 8.;
/* What changes by less than the ninth digit, which the number beside it does not show, or by less
 * than rounding among values of its unit, is drawn as a constant. */
static const double digits_shown = 1e-9, rounding = 1e-13;

struct view {
    struct mechctl *m;
    struct mechctl_channels own;      /* what is read of the instance or coupling */
    struct mechctl_channel *channels; /* [count] its own, one a value of the frame */
    size_t count, filled, at;         /* filled: values in the rings; at: where the next goes */
    int width;                        /* of the longest name */
    bool live;                        /* pictures, else lines */
    bool whole;                       /* the pictures fill the terminal's other screen */
    bool away;           /* stopped and continued in the background: nothing is drawn */
    struct termios keys; /* the terminal's settings before, while has_keys */
    bool has_keys;
    struct mechc_sample last; /* what was drawn last; its values are `values` */
    double *values;           /* [count] */
    uint64_t lost;
    bool waits;  /* it has been reported that it waits */
    bool quits;  /* the user has pressed q */
    bool unsure; /* names and units may be those of another instance under the id */
};

static volatile sig_atomic_t interrupted, suspended;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static void suspend(int signal)
{
    (void)signal;
    suspended = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- channels: every value of the outputs by name --------------------------------------------- */

/* Names and units, and room for a value of each. */
static int take_channels(struct view *v, const struct mechctl_channels *c)
{
    double *const values = realloc(v->values, (c->count + 1) * sizeof *values);
    if (!values) {
        return MECHCTL_FAILED;
    }
    mechctl_channels_free(&v->own);
    v->own = *c;
    v->channels = c->at;
    v->count = c->count;
    v->width = c->width;
    v->values = values;
    v->filled = v->at = 0;
    v->last.count = 0;
    v->last.values = v->last.values ? values : NULL;
    return MECHCTL_DONE;
}

/* At the start, and for another instance under the id: its outputs may have other names. True in
 * *changed: they have. */
static int read_channels(struct view *v, bool *changed)
{
    struct mechctl_channels found;
    int code = mechctl_channels_read(v->m, v->m->arguments[0], &found);
    *changed = code == MECHCTL_DONE && !mechctl_channels_same(&found, &v->own);
    if (*changed || !v->channels) {
        code = code == MECHCTL_DONE ? take_channels(v, &found) : code;
    } else {
        mechctl_channels_free(&found);
    }
    return code;
}

/* --- pictures --------------------------------------------------------------------------------- */

/* The greatest magnitude in the rings of the channels with this unit. */
static double scale_of(const struct view *v, const char *unit)
{
    double scale = 0.;
    for (const struct mechctl_channel *c = v->channels; c < v->channels + v->count; c++) {
        const size_t n = strcmp(c->unit, unit) == 0 ? v->filled : 0;
        for (size_t i = 0; i < n; i++) {
            scale = fmax(scale, fabs(c->past[i]));
        }
    }
    return scale;
}

/* The newest values of the ring in `room` columns: line `line`, from the lowest up, of `lines`
 * lines of eight heights each, between their least and greatest value. */
static void draw_history(const struct view *v, const struct mechctl_channel *c, int line, int lines,
                         struct mechctl_line *l)
{
    static const char *const heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    char text[HISTORY * 4 + 1];
    const size_t room = l->left > 2 ? (size_t)l->left - 2 : 0;
    const size_t n = v->filled < room ? v->filled : room;
    if (room < SHORT) {
        return;
    }
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double x = c->past[(v->at + HISTORY - n + i) % HISTORY];
        least = fmin(least, x);
        most = fmax(most, x);
    }
    const double still =
        fmax(digits_shown * fmax(fabs(least), fabs(most)), rounding * scale_of(v, c->unit));
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = c->past[(v->at + HISTORY - n + i) % HISTORY];
        const double part = most - least > still ? (x - least) / (most - least) : 0.5;
        // the lowest height is seen too
        const double high = fmin(floor(part * 8. * lines), 8. * lines - 1.) + 1. - 8. * line;
        const char *const height = heights[(int)fmin(8., fmax(0., high))];
        memcpy(text + used, height, strlen(height));
        used += strlen(height);
    }
    text[used] = 0;
    mechctl_piece(l, MECHCTL_PLAIN, "  ", true);
    mechctl_piece(l, MECHCTL_BLUE, text, true);
}

/* Channels that fit on the terminal below the first line, and the lines that each may have. */
static size_t channels_shown(const struct view *v, const struct mechc_sample *s, int columns,
                             int *lines)
{
    struct winsize size = {.ws_row = 24};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) {
        size.ws_row = 24;
    }
    const size_t have = v->count < s->count ? v->count : s->count;
    const size_t room = size.ws_row > 4 ? (size_t)size.ws_row - 3 : 1;
    const size_t each = have > 0 ? room / have : 1;
    const bool high = v->whole && columns >= WIDE - 1 && each > 2;
    *lines = !high ? 1 : each < HIGHEST ? (int)each : HIGHEST;
    return have < room ? have : room;
}

/* Name, value, unit and, if it is not below, history: as many as the line has room for. */
static void draw_channel(const struct view *v, const struct mechctl_channel *c, double value,
                         bool history, struct mechctl_line *l)
{
    char text[128];
    // on a narrow terminal name and number share it
    const int rest = l->left - 1 - NUMBER, half = l->left / 2, most = rest > half ? rest : half;
    const int name = v->width < most ? v->width : most, space = l->left - name - 1;
    struct mechctl_line part = {.m = l->m, .to = l->to, .left = name};
    mechctl_piece(&part, MECHCTL_PLAIN, c->name, false);
    fprintf(l->to, "%*s", part.left, "");
    l->left -= name;
    int digits = 9, told = 0;
    do {
        told =
            snprintf(text, sizeof text, " %*.*g", space < NUMBER ? space : NUMBER, digits, value);
    } while (told > 0 && mechctl_width(text) > l->left && digits-- > 1);
    mechctl_piece(l, MECHCTL_PLAIN, text, true);
    snprintf(text, sizeof text, " %-6s", c->unit);
    mechctl_piece(l, MECHCTL_DIM, text, true);
    if (history) {
        draw_history(v, c, 0, 1, l);
    }
}

static void draw_head(const struct view *v, const struct mechc_sample *s, struct mechctl_line *l)
{
    char text[64], number[32];
    mechctl_piece(l, MECHCTL_BOLD, s->id, false);
    snprintf(text, sizeof text, "  time %s s", mechctl_human(s->time, number));
    mechctl_piece(l, MECHCTL_PLAIN, text, true);
    snprintf(text, sizeof text, "  step %llu", (unsigned long long)s->step);
    mechctl_piece(l, MECHCTL_PLAIN, text, true);
    if (v->lost > 0) {
        snprintf(text, sizeof text, "  lost %llu", (unsigned long long)v->lost);
        mechctl_piece(l, MECHCTL_RED, text, true);
    }
}

static void end_line(const struct mechctl_line *l)
{
    mechctl_line_end(l);
    putchar('\n');
}

/* The head and the channels, from the cursor on. */
static void draw(const struct view *v, const struct mechc_sample *s)
{
    const int columns = mechctl_columns(STDOUT_FILENO);
    int lines = 1;
    const size_t shown = channels_shown(v, s, columns, &lines);
    struct mechctl_line l = {.m = v->m, .to = stdout, .left = columns};
    draw_head(v, s, &l);
    end_line(&l);
    for (size_t i = 0; i < shown; i++) {
        l.left = columns;
        draw_channel(v, &v->channels[i], s->values[i], lines == 1, &l);
        end_line(&l);
        for (int line = lines - 2; line >= 0; line--) {
            l.left = columns;
            draw_history(v, &v->channels[i], line, lines - 1, &l);
            end_line(&l);
        }
    }
    if (shown < s->count) {
        char text[96];
        mech_text_format(text, sizeof text, "… %zu more; a taller terminal shows them",
                         s->count - shown);
        l.left = columns;
        mechctl_piece(&l, MECHCTL_DIM, text, false);
        end_line(&l);
    }
}

/* The whole screen anew: what an older, larger picture has left is cleared. */
static void redraw_screen(struct view *v)
{
    fputs("\033[H", stdout);
    draw(v, &v->last);
    fputs("\033[J", stdout);
    mechctl_flush();
}

/* --- the terminal's other screen, and its keys ------------------------------------------------ */

/* Not in the background of a shell, where the terminal is another program's. */
static bool is_in_front(int terminal)
{
    // −1: the terminal is not that of a shell
    const pid_t front = tcgetpgrp(terminal);
    return front == -1 || front == getpgrp();
}

static void enter_screen(struct view *v)
{
    v->whole = true;
    fputs("\033[?1049h\033[?25l\033[2J", stdout);
    v->has_keys =
        isatty(STDIN_FILENO) && is_in_front(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &v->keys) == 0;
    if (v->has_keys) {
        struct termios raw = v->keys;
        // keys at once and not shown; Ctrl-C remains a signal
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
}

/* As it was before, with the last picture below the command. */
static void leave_screen(struct view *v)
{
    if (v->has_keys) {
        tcsetattr(STDIN_FILENO, TCSANOW, &v->keys);
    }
    v->has_keys = false;
    fputs("\033[?25h\033[?1049l", stdout);
    v->whole = false;
    if (v->last.values) {
        draw(v, &v->last);
    }
}

/* Ctrl-Z: the terminal is the shell's until the program is in front again. */
static void stop_here(struct view *v)
{
    const struct sigaction stops = {.sa_handler = SIG_DFL};
    if (v->whole) {
        leave_screen(v);
    }
    mechctl_flush();
    sigaction(SIGTSTP, &stops, NULL);
    raise(SIGTSTP); // returns when the program is continued
    suspended = 0;
    mechctl_on_signal(SIGTSTP, suspend);
    v->away = true;
}

/* Stop if the user wants it, and draw again as soon as the program is in front. */
static void mind_the_shell(struct view *v)
{
    if (suspended) {
        stop_here(v);
    }
    if (v->away && is_in_front(STDOUT_FILENO)) {
        v->away = false;
        enter_screen(v);
        if (v->last.values) {
            redraw_screen(v);
        }
    }
}

/* Do what the user and the shell want. True: the command is to end. */
static bool wants_to_end(struct view *v)
{
    struct pollfd key = {.fd = STDIN_FILENO, .events = POLLIN};
    char c = 0;
    if (v->live) {
        mind_the_shell(v);
    }
    while (v->has_keys && poll(&key, 1, 0) > 0 && (key.revents & POLLIN) &&
           read(STDIN_FILENO, &c, 1) == 1) {
        v->quits = v->quits || c == 'q' || c == 'Q';
    }
    return v->quits || interrupted;
}

static void remember(struct view *v, const struct mechc_sample *s)
{
    for (size_t i = 0; i < v->count && i < s->count; i++) {
        v->channels[i].past[v->at] = s->values[i];
    }
    v->at = (v->at + 1) % HISTORY;
    v->filled += v->filled < HISTORY;
    v->last = *s;
    v->last.id = v->m->arguments[0];
    v->last.count = s->count < v->count ? s->count : v->count;
    v->last.values = v->values;
    memcpy(v->values, s->values, v->last.count * sizeof *v->values);
}

static void print_line(const struct view *v, const struct mechc_sample *s)
{
    struct mechc_bytes b = {0};
    const bool json = v->m->json;
    mechc_bytes_text(&b, json ? "{\"time\":" : "");
    mechc_bytes_number(&b, s->time);
    if (json) {
        char step[64];
        snprintf(step, sizeof step, ",\"step\":%llu,\"values\":[", (unsigned long long)s->step);
        mechc_bytes_text(&b, step);
    }
    for (size_t i = 0; i < s->count; i++) {
        mechc_bytes_text(&b, json ? (i ? "," : "") : "\t");
        mechc_bytes_number(&b, s->values[i]);
    }
    mechc_bytes_text(&b, json ? "]}" : "");
    errno = 0;
    puts(b.failed ? "" : b.at);
    mechctl_flush();
    mechc_bytes_fini(&b);
}

static void print_header(const struct view *v)
{
    if (v->m->json) {
        return;
    }
    fputs("time", stdout);
    for (size_t i = 0; i < v->count; i++) {
        printf("\t%s", v->channels[i].name);
    }
    putchar('\n');
    mechctl_flush();
}

/* --- the loop --------------------------------------------------------------------------------- */

/* An idle stream does not show whether the instance is at rest or deleted. MECHCTL_LATER: the
 * server is busy, or about to shut down. */
static int ask(struct view *v)
{
    const char *const id = v->m->arguments[0];
    char path[MECHC_PATH];
    struct mechc_reply r = {.body = ""};
    int result = mechc_path(v->m->c, MECHCTL_PATH("v1", mechctl_kind(v->m), id), path);
    if (result == MECHC_OK) {
        result = mechc_call(v->m->c, &(struct mechc_request){.method = "GET", .path = path}, &r);
    }
    return interrupted ? MECHCTL_DONE : mechctl_answer(v->m, result, &r);
}

/* The next pause. */
static double longer(double pause)
{
    return fmin(2. * pause, pause_longest);
}

/* The names and units of a frame that may be another instance's, as soon as the server gives them;
 * later frames wait in the stream. True in *changed: they are others. */
static int settle(struct view *v, bool *changed)
{
    int code = read_channels(v, changed);
    for (double pause = pause_first; code == MECHCTL_LATER; pause = longer(pause)) {
        const double end = now() + pause;
        while (!wants_to_end(v) && now() < end) {
            const double left = fmin(end - now(), pause_first);
            (void)poll(NULL, 0, left > 0. ? (int)(1e3 * left) + 1 : 0);
        }
        if (v->quits || interrupted) {
            return MECHCTL_DONE;
        }
        code = read_channels(v, changed);
    }
    v->unsure = v->unsure && code != MECHCTL_DONE;
    return code;
}

/* Once, where no picture shows that nothing moves. */
static void report_waiting(struct view *v)
{
    if (!v->waits && !v->live && !interrupted) {
        fprintf(stderr, "mechctl: %s is idle: waiting for its next step; Ctrl-C ends the wait\n",
                v->m->arguments[0]);
    }
    v->waits = true;
}

/* A picture, or a line. */
static void show(struct view *v, const struct mechc_sample *s)
{
    if (v->live) {
        remember(v, s);
    }
    if (v->whole) {
        redraw_screen(v);
    } else if (!v->live) {
        print_line(v, s);
    }
}

/* After a time without frames: the next query is after *quiet, s. */
static int look(struct view *v, double *quiet)
{
    const int code = ask(v);
    *quiet = code == MECHCTL_LATER ? longer(*quiet) : silence;
    report_waiting(v);
    return code == MECHCTL_LATER ? MECHCTL_DONE : code;
}

static int follow(struct view *v, struct mechc_stream *stream, double most, double every)
{
    double last = -INFINITY, shown = 0., heard = now(), quiet = silence;
    struct mechc_sample s;
    while (!ferror(stdout) && shown < most) {
        const int result = mechc_stream_next(stream, 0.25, &s);
        if (wants_to_end(v)) {
            return MECHCTL_DONE;
        }
        int code = MECHCTL_DONE;
        bool changed = false;
        if (result == MECHC_TIMEOUT && now() - heard > quiet) {
            code = look(v, &quiet);
            heard = now();
        } else if (result != MECHC_OK && result != MECHC_TIMEOUT) {
            code = mechctl_result(v->m, result);
        }
        if (code != MECHCTL_DONE) {
            return code;
        }
        if (result != MECHC_OK) {
            continue;
        }
        heard = now();
        quiet = silence;
        v->lost += s.lost;
        // the first frame may be of an instance that was not yet there when the names were read
        v->unsure = v->unsure ? (s.flags & MECHC_REWOUND) != 0 : (s.flags & MECHC_ANOTHER) != 0;
        code = v->unsure ? settle(v, &changed) : MECHCTL_DONE;
        if (code != MECHCTL_DONE || v->quits || interrupted) {
            return interrupted ? MECHCTL_DONE : code;
        }
        if (changed && !v->live) {
            print_header(v);
        }
        // a picture at intervals; a line for each frame, unless --every is given
        if (now() - last >= every) {
            last = now();
            shown++;
            show(v, &s);
        }
    }
    return MECHCTL_DONE;
}

static int run(struct mechctl *m)
{
    struct view v = {.m = m, .unsure = true};
    v.live = !m->json && !mechctl_option(m, "follow") && isatty(STDOUT_FILENO);
    double most = INFINITY, every = v.live ? redraw : 0.;
    int code = mechctl_number(m, "count", &most);
    if (code == MECHCTL_DONE) {
        code = mechctl_number(m, "every", &every);
    }
    struct mechc_stream *stream = NULL;
    bool changed = false;
    if (code == MECHCTL_DONE) {
        code = read_channels(&v, &changed);
    }
    if (code == MECHCTL_DONE) {
        code = mechctl_result(m, mechc_stream_open(m->c, m->arguments[0], &stream));
    }
    if (code == MECHCTL_DONE) {
        // an interrupt ends the loop, and the terminal is left as it was
        (void)mechctl_on_end(interrupt);
        mechctl_on_signal(SIGQUIT, interrupt);
        if (v.live) {
            mechctl_on_signal(SIGTSTP, suspend);
        }
        // started in the background, the terminal is the shell's until fg
        v.away = v.live && !is_in_front(STDOUT_FILENO);
        if (v.live && !v.away) {
            enter_screen(&v);
        } else if (!v.live) {
            print_header(&v);
        }
        m->patient = true;
        code = follow(&v, stream, most, every);
        if (v.whole) {
            leave_screen(&v);
        }
    }
    mechc_stream_close(stream);
    free(v.values);
    mechctl_channels_free(&v.own);
    return code;
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("follow", NULL,
                   "one line per frame instead of the whole terminal (default if no terminal)"),
    MECHCTL_OPTION("count", "N", "end after N lines, or N pictures"),
    MECHCTL_OPTION("every", "S", "show at most one frame in S seconds"),
    MECHCTL_OF_COUPLING,
    {0},
};

const struct mechctl_command mechctl_watch = {
    .name = "watch",
    .group = MECHCTL_RUNS,
    .arguments = "ID",
    .summary = "show the outputs of an instance or a coupling live, from the stream",
    .details =
        "Lines are tab-separated: time, then every output; with --json an object each.\n"
        "On a terminal the outputs fill the screen with their history; q exits, and the last\n"
        "picture remains. Ctrl-C ends it, as does the end of the instance or of the server.\n"
        "Ctrl-Z suspends it, and fg continues it.\n"
        "While the stream is idle, mechctl requests the instance once a second, which restarts\n"
        "its time to live. With --follow, a line on standard error says once that it is waiting.\n"
        "After a refusal with 429 or 5xx the request is repeated, after pauses of up to 8 s.",
    .options = options,
    .synonyms = "tail follow monitor top stream",
    .least = 1,
    .most = 1,
    .run = run,
};
