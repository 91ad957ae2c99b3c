/* Where lines go that may find no room: a pipe or a terminal that is not read, a full disk, a
 * reader that has gone. Writing never waits: a line without room is dropped and counted, and when
 * there is room again the next line is that of `report`, with the number.
 *
 *   static struct mechd_sink sink = MECHD_SINK(STDERR_FILENO, report);
 *   mechd_sink_write(&sink, "a line\n", 7);
 *
 * A line that had room in part is completed before anything else, so that no line is torn. While
 * lines have been dropped a thread of its own waits for room, so that the number is reported though
 * no other line comes; it ends then. shared, locked by m. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a line; a pipe takes as many at once or none (PIPE_BUF is 4,096). */
enum { MECHD_SINK_LINE = 1024 };

/* How a descriptor is written to without waiting. */
enum mechd_sink_way {
    MECHD_SINK_UNKNOWN, /* nothing has been written yet */
    MECHD_SINK_DIRECT,  /* a file: write(2) */
    MECHD_SINK_SOCKET,  /* send(2) with MSG_DONTWAIT */
    MECHD_SINK_OWN,     /* a pipe or terminal, opened once more: O_NONBLOCK on an open file would
                         * hold for all processes that share it */
    MECHD_SINK_POLLED   /* one that cannot be opened: asked before each line */
};

struct mechd_sink {
    pthread_mutex_t m;
    int descriptor;
    size_t (*report)(char line[MECHD_SINK_LINE], uint64_t dropped); /* its length, with \n */
    enum mechd_sink_way way;
    bool waits;             /* a thread waits for room */
    uint64_t dropped;       /* not reported yet */
    _Atomic uint64_t total; /* dropped since the start; partner: /metrics */
    size_t length;          /* of the end of a line that has begun */
    char rest[MECHD_SINK_LINE];
};

#define MECHD_SINK(to, reporter)                                                                   \
    {                                                                                              \
        .m = PTHREAD_MUTEX_INITIALIZER, .descriptor = (to), .report = (reporter)                   \
    }

/* Write a line of at most MECHD_SINK_LINE bytes, or drop it. Any thread; SIGPIPE is ignored. */
void mechd_sink_write(struct mechd_sink *s, const char *line, size_t length);
/* Lines dropped since the start. Any thread. */
uint64_t mechd_sink_dropped(struct mechd_sink *s);
