/* The log: one line per event on stderr, key=value, in the style of logfmt.
 *
 *   mechd_log(MECHD_INFO, "listening", "http=%s", address);
 *   time=2026-01-02T03:04:05.678Z level=info event=listening http=127.0.0.1:8080
 *
 * Any thread; a line is written by one call and is never torn. Lines longer than 1 KiB are cut. No
 * thread waits: without room lines are dropped, and event=log-dropped says how many, whatever the
 * level.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mechd_level { MECHD_ERROR = 3, MECHD_WARNING = 4, MECHD_INFO = 6, MECHD_DEBUG = 7 };

/* Lines above this level are dropped; MECHD_INFO at start. */
void mechd_log_set_level(enum mechd_level level);
/* True if a line of that level would be written. */
bool mechd_log_wants(enum mechd_level level);
/* Its name, as below. */
const char *mechd_log_level_name(void);
/* "error", "warning", "info", "debug"; negative: no such level. */
int mechd_log_level_find(const char *name);

/* `format` gives further key=value pairs, or "". */
void mechd_log(enum mechd_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Lines that had no room since the start. */
uint64_t mechd_log_dropped(void);

/* A text as a quoted value: control characters, quotes and backslashes escaped; cut to fit. */
const char *mechd_log_quote(char *out, size_t size, const char *text);
