/* Formats a line on the stack and hands it to the kernel in one write. */
#include "server/os/log.h"

#include "server/os/sink.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic int log_level = MECHD_INFO;

static const struct level_name {
    int level;
    const char *name;
} level_names[] = {
    {MECHD_ERROR, "error"},
    {MECHD_WARNING, "warning"},
    {MECHD_INFO, "info"},
    {MECHD_DEBUG, "debug"},
};

void mechd_log_set_level(enum mechd_level level)
{
    atomic_store(&log_level, (int)level);
}

bool mechd_log_wants(enum mechd_level level)
{
    return (int)level <= atomic_load(&log_level);
}

int mechd_log_level_find(const char *name)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        if (strcmp(level_names[i].name, name) == 0) {
            return level_names[i].level;
        }
    }
    return -1;
}

static const char *level_text(enum mechd_level level)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        if (level_names[i].level == (int)level) {
            return level_names[i].name;
        }
    }
    return "info";
}

const char *mechd_log_level_name(void)
{
    return level_text((enum mechd_level)atomic_load(&log_level));
}

const char *mechd_log_quote(char *out, size_t size, const char *text)
{
    size_t n = 0;
    if (size < 3) {
        return "";
    }
    out[n++] = '"';
    for (; *text != '\0' && n + 4 < size; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = (char)c;
        } else {
            out[n++] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
        }
    }
    out[n++] = '"';
    out[n] = '\0';
    return out;
}

/* The head of a line: time in UTC, level, event. Its length. */
static int begin(char *line, size_t size, enum mechd_level level, const char *event)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    struct tm utc;
    gmtime_r(&t.tv_sec, &utc);
    char stamp[32];
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    return snprintf(line, size, "time=%s.%03ldZ level=%s event=%s ", stamp, t.tv_nsec / 1000000,
                    level_text(level), event);
}

static size_t report(char line[MECHD_SINK_LINE], uint64_t dropped)
{
    const int n = begin(line, MECHD_SINK_LINE, MECHD_WARNING, "log-dropped");
    const int more =
        snprintf(line + n, MECHD_SINK_LINE - (size_t)n, "lines=%" PRIu64 "\n", dropped);
    return (size_t)n + (size_t)more;
}

static struct mechd_sink sink = MECHD_SINK(STDERR_FILENO, report);

uint64_t mechd_log_dropped(void)
{
    return mechd_sink_dropped(&sink);
}

void mechd_log(enum mechd_level level, const char *event, const char *format, ...)
{
    if (!mechd_log_wants(level)) {
        return;
    }
    char line[MECHD_SINK_LINE];
    int n = begin(line, sizeof line, level, event);

    // what the caller adds
    va_list args;
    va_start(args, format);
    const int more = vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    va_end(args);
    n = more < 0 ? n : n + more;
    if ((size_t)n > sizeof line - 1) {
        n = (int)sizeof line - 1;
    }
    while (n > 0 && line[n - 1] == ' ') {
        n--;
    }
    line[n++] = '\n';
    mechd_sink_write(&sink, line, (size_t)n);
}
