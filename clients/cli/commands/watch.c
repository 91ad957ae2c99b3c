/* mechctl watch: outputs live from the stream, as an updating table or one line a frame. */
#include "clients/cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    HISTORY = 40,
    SHORT = 8, /* columns below which a history is useless */
    NUMBER = 14
};

static const double redraw = 0.05; /* s between two pictures: faster than the eye needs */
static const double silence = 1.;  /* s without a frame after which the server is queried */

struct channel {
    char name[96], unit[24];
    double past[HISTORY]; /* ring of drawn values */
};

struct view {
    struct mechctl *m;
    struct channel *channels; /* [count] one a value of the frame */
    size_t count, filled, at; /* filled: values in the rings; at: where the next goes */
    int width;                /* of the longest name */
    bool live;                /* an updating table, else lines */
    int drawn;                /* lines on the screen */
    uint64_t lost;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- channels: every value of the outputs by name --------------------------------------------- */

static size_t value_count(struct mechc_json v)
{
    return mechc_json_kind(v) == '[' ? mechc_json_count(v) : 1;
}

/* Of a coupling, from the layout that it shows: its outputs have no units. */
static int read_layout(struct view *v, const char *id)
{
    struct mechc_json reply, layout, part;
    const int code = mechctl_get(v->m, MECHCTL_PATH("v1", "couplings", id), &reply);
    if (code != MECHCTL_DONE || !mechc_json_member(reply, "layout", &layout)) {
        return code;
    }
    size_t total = 0;
    uint64_t n = 0;
    for (struct mechc_json_walk w = mechc_json_walk(layout); mechc_json_next(&w);) {
        total +=
            mechc_json_member(w.value, "count", &part) && mechc_json_unsigned(part, &n) ? n : 0;
    }
    v->channels = calloc(total ? total : 1, sizeof *v->channels);
    if (!v->channels) {
        return MECHCTL_FAILED;
    }
    for (struct mechc_json_walk w = mechc_json_walk(layout); mechc_json_next(&w);) {
        char name[80] = "";
        if (!mechc_json_member(w.value, "count", &part) || !mechc_json_unsigned(part, &n)) {
            continue;
        }
        if (mechc_json_member(w.value, "name", &part)) {
            mechc_json_text(part, name, sizeof name);
        }
        for (size_t i = 0; i < n; i++) {
            struct channel *const c = &v->channels[v->count++];
            snprintf(c->name, sizeof c->name, n > 1 ? "%s[%zu]" : "%s", name, i);
            v->width = mechctl_width(c->name) > v->width ? mechctl_width(c->name) : v->width;
        }
    }
    return MECHCTL_DONE;
}

static int read_channels(struct view *v, const char *id)
{
    if (mechctl_option(v->m, "coupling")) {
        return read_layout(v, id);
    }
    struct mechc_json reply, variables, values, unit;
    int code = mechctl_get(v->m, MECHCTL_PATH("v1", "instances", id, "variables"), &variables);
    if (code == MECHCTL_DONE) {
        code = mechctl_hold(v->m, &variables);
    }
    if (code == MECHCTL_DONE) {
        code = mechctl_get(v->m, MECHCTL_PATH("v1", "instances", id, "outputs"), &reply);
    }
    if (code != MECHCTL_DONE || !mechc_json_member(reply, "outputs", &values)) {
        return code;
    }
    mechc_json_member(variables, "items", &variables);
    size_t total = 0;
    for (struct mechc_json_walk w = mechc_json_walk(values); mechc_json_next(&w);) {
        total += value_count(w.value);
    }
    v->channels = calloc(total ? total : 1, sizeof *v->channels);
    if (!v->channels) {
        return MECHCTL_FAILED;
    }
    for (struct mechc_json_walk w = mechc_json_walk(values); mechc_json_next(&w);) {
        char name[64];
        mechc_json_text(w.key, name, sizeof name);
        const size_t n = value_count(w.value);
        for (size_t i = 0; i < n; i++) {
            struct channel *const c = &v->channels[v->count++];
            snprintf(c->name, sizeof c->name, mechc_json_kind(w.value) == '[' ? "%s[%zu]" : "%s",
                     name, i);
            if (mechctl_unit(variables, name, &unit)) {
                mechc_json_text(unit, c->unit, sizeof c->unit);
            }
            v->width = mechctl_width(c->name) > v->width ? mechctl_width(c->name) : v->width;
        }
    }
    return MECHCTL_DONE;
}

/* --- pictures --------------------------------------------------------------------------------- */

/* The newest of the ring, as eight heights between its least and its greatest value. */
static void draw_spark(const struct view *v, const struct channel *c, struct mechctl_line *l)
{
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    char text[HISTORY * 4 + 1];
    const size_t room = l->left > 2 ? (size_t)l->left - 2 : 0;
    const size_t n = v->filled < room ? v->filled : room;
    if (room < SHORT) {
        return;
    }
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < v->filled; i++) {
        least = fmin(least, c->past[i]);
        most = fmax(most, c->past[i]);
    }
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = c->past[(v->at + HISTORY - n + i) % HISTORY];
        const double part = most > least ? (x - least) / (most - least) : 0.5;
        const char *const height = heights[(int)fmin(7., fmax(0., part * 8.))];
        memcpy(text + used, height, strlen(height));
        used += strlen(height);
    }
    text[used] = 0;
    mechctl_piece(l, MECHCTL_PLAIN, "  ", true);
    mechctl_piece(l, MECHCTL_BLUE, text, true);
}

/* Channels that fit on the terminal below the first line. */
static size_t channels_shown(const struct view *v, const struct mechc_sample *s)
{
    struct winsize size = {.ws_row = 24};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) {
        size.ws_row = 24;
    }
    const size_t have = v->count < s->count ? v->count : s->count;
    const size_t room = size.ws_row > 4 ? (size_t)size.ws_row - 3 : 1;
    return have < room ? have : room;
}

/* Name, value, unit and history, as many of them as the line has room for. */
static void draw_channel(const struct view *v, const struct channel *c, double value,
                         struct mechctl_line *l)
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
    draw_spark(v, c, l);
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

static void draw(struct view *v, const struct mechc_sample *s)
{
    const int columns = mechctl_columns(STDOUT_FILENO);
    const size_t shown = channels_shown(v, s);
    // back to the first line of the last picture; each line clears its rest
    if (v->drawn > 0) {
        printf("\033[%dA\r", v->drawn);
    }
    v->drawn = 0;
    for (size_t i = 0; i < shown + 1 + (shown < s->count); i++, v->drawn++) {
        struct mechctl_line l = {.m = v->m, .to = stdout, .left = columns};
        if (i == 0) {
            draw_head(v, s, &l);
        } else if (i <= shown) {
            draw_channel(v, &v->channels[i - 1], s->values[i - 1], &l);
        } else {
            char text[96];
            snprintf(text, sizeof text, "… %zu more; a higher terminal shows them",
                     s->count - shown);
            mechctl_piece(&l, MECHCTL_DIM, text, false);
        }
        mechctl_line_end(&l);
        putchar('\n');
    }
    mechctl_flush();
}

static void remember(struct view *v, const struct mechc_sample *s)
{
    for (size_t i = 0; i < v->count && i < s->count; i++) {
        v->channels[i].past[v->at] = s->values[i];
    }
    v->at = (v->at + 1) % HISTORY;
    v->filled += v->filled < HISTORY;
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

/* An idle stream does not show whether the instance is at rest or deleted. A server that is busy,
 * or about to shut down, is queried again. */
static int ask(struct view *v)
{
    const char *const id = v->m->arguments[0];
    char path[MECHC_PATH];
    struct mechc_reply r = {.body = ""};
    int result = mechc_path(v->m->c, MECHCTL_PATH("v1", mechctl_kind(v->m), id), path);
    if (result == MECHC_OK) {
        result = mechc_call(v->m->c, &(struct mechc_request){.method = "GET", .path = path}, &r);
    }
    const int status = mechc_last_error(v->m->c)->status;
    const bool later = result == MECHC_REFUSED && (status == 429 || status >= 500);
    return interrupted || later ? MECHCTL_DONE : mechctl_answer(v->m, result, &r);
}

static int follow(struct view *v, struct mechc_stream *stream, double most, double every)
{
    double last = -INFINITY, shown = 0., heard = now();
    struct mechc_sample s;
    while (!interrupted && !ferror(stdout) && shown < most) {
        const int result = mechc_stream_next(stream, 0.25, &s);
        if (result == MECHC_TIMEOUT && !interrupted && now() - heard > silence) {
            const int code = ask(v);
            if (code != MECHCTL_DONE) {
                return code;
            }
            heard = now();
        }
        if (result == MECHC_TIMEOUT || interrupted) {
            continue;
        }
        if (result != MECHC_OK) {
            return mechctl_result(v->m, result);
        }
        heard = now();
        v->lost += s.lost;
        // a picture at intervals; a line for each frame, unless --every is given
        if (now() - last < every) {
            continue;
        }
        last = now();
        shown++;
        if (v->live) {
            remember(v, &s);
            draw(v, &s);
        } else {
            print_line(v, &s);
        }
    }
    return MECHCTL_DONE;
}

static int run(struct mechctl *m)
{
    struct view v = {.m = m};
    v.live = !m->json && !mechctl_option(m, "follow") && isatty(STDOUT_FILENO);
    double most = INFINITY, every = v.live ? redraw : 0.;
    int code = mechctl_number(m, "count", &most);
    if (code == MECHCTL_DONE) {
        code = mechctl_number(m, "every", &every);
    }
    struct mechc_stream *stream = NULL;
    if (code == MECHCTL_DONE) {
        code = read_channels(&v, m->arguments[0]);
    }
    if (code == MECHCTL_DONE) {
        code = mechctl_result(m, mechc_stream_open(m->c, m->arguments[0], &stream));
    }
    if (code == MECHCTL_DONE) {
        // an interrupt ends the loop, and the terminal is left as it was
        mechctl_on_signal(SIGINT, interrupt);
        mechctl_on_signal(SIGTERM, interrupt);
        if (v.live) {
            fputs("\033[?25l", stdout);
        } else {
            print_header(&v);
        }
        code = follow(&v, stream, most, every);
        fputs(v.live ? "\033[?25h" : "", stdout);
    }
    mechc_stream_close(stream);
    free(v.channels);
    return code;
}

static const struct mechctl_option options[] = {
    {"follow", NULL, "one line per frame instead of an updating table (default if no terminal)"},
    {"count", "N", "end after N lines, or N updates of the table"},
    {"every", "S", "show at most one frame in S seconds"},
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
        "Ctrl-C ends it, as does the end of the instance or of the server. While the stream\n"
        "is idle, the instance is requested once a second: its time to live starts again.",
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
