/* What blocks and what does not: pipe(7), tty_ioctl(4), open(2) on the links of proc(5). */
#include "server/os/sink.h"

#include "server/os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 100 };

/* Find out what the descriptor is. Under m. */
static void look(struct mechd_sink *s)
{
    struct stat info;
    char path[32];
    if (fstat(s->descriptor, &info) != 0 || S_ISREG(info.st_mode) ||
        (S_ISCHR(info.st_mode) && !isatty(s->descriptor))) {
        s->way = MECHD_SINK_DIRECT;
        return;
    }
    if (S_ISSOCK(info.st_mode)) {
        s->way = MECHD_SINK_SOCKET;
        return;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", s->descriptor);
    const int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_APPEND | O_CLOEXEC);
    s->way = own >= 0 ? MECHD_SINK_OWN : MECHD_SINK_POLLED;
    s->descriptor = own >= 0 ? own : s->descriptor;
}

/* Bytes written, as many as there is room for; negative: none, and errno says why. Under m. */
static ssize_t put(const struct mechd_sink *s, const char *bytes, size_t size)
{
    ssize_t n = 0;
    do {
        struct pollfd asked = {.fd = s->descriptor, .events = POLLOUT};
        if (s->way == MECHD_SINK_POLLED && poll(&asked, 1, 0) == 0) {
            errno = EAGAIN;
            return -1;
        }
        n = s->way == MECHD_SINK_SOCKET
                ? send(s->descriptor, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                : write(s->descriptor, bytes, size);
    } while (n < 0 && errno == EINTR);
    return n;
}

/* Write a line, its end at least into s->rest. False: nothing of it had room. Under m. */
static bool put_line(struct mechd_sink *s, const char *line, size_t length)
{
    const ssize_t n = put(s, line, length);
    if (n <= 0) {
        return false;
    }
    s->length = length - (size_t)n;
    memcpy(s->rest, line + n, s->length);
    return true;
}

/* What is due before the next line: the end of the last one, and the number of those dropped.
 * False: there is no room for all of it. Under m. */
static bool put_due(struct mechd_sink *s)
{
    char line[MECHD_SINK_LINE];
    if (s->length > 0) {
        const ssize_t n = put(s, s->rest, s->length);
        const size_t done = n > 0 ? (size_t)n : 0;
        s->length -= done;
        memmove(s->rest, s->rest + done, s->length);
    }
    if (s->length == 0 && s->dropped > 0 && put_line(s, line, s->report(line, s->dropped))) {
        s->dropped = 0;
    }
    return s->length == 0 && s->dropped == 0;
}

/* True if what has failed with this reason may go on by itself. */
static bool may_pass(int reason)
{
    return reason == EAGAIN || reason == EWOULDBLOCK || reason == ENOBUFS || reason == ENOSPC ||
           reason == EDQUOT || reason == EFBIG;
}

/* A thread of its own: until there is room for what is due. */
static void *wait_for_room(void *context)
{
    struct mechd_sink *const s = context;
    mechd_thread_name("mechd-sink");
    // where poll says room and there is none (a full disk), it is asked now and then
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    bool done = false;
    while (!done) {
        struct pollfd asked = {.fd = s->descriptor, .events = POLLOUT};
        nanosleep(&nap, NULL);
        (void)poll(&asked, 1, -1);
        pthread_mutex_lock(&s->m);
        errno = EAGAIN;
        done = put_due(s) || !may_pass(errno);
        s->waits = !done;
        pthread_mutex_unlock(&s->m);
    }
    return NULL;
}

/* Let a thread wait for room; without one the next line tries. Under m. */
static void wait_aside(struct mechd_sink *s)
{
    pthread_attr_t detached;
    pthread_t thread;
    if (s->waits || pthread_attr_init(&detached) != 0) {
        return;
    }
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    s->waits = pthread_create(&thread, &detached, wait_for_room, s) == 0;
    pthread_attr_destroy(&detached);
}

void mechd_sink_write(struct mechd_sink *s, const char *line, size_t length)
{
    pthread_mutex_lock(&s->m);
    if (s->way == MECHD_SINK_UNKNOWN) {
        look(s);
    }
    errno = 0;
    const bool written = put_due(s) && put_line(s, line, length);
    const int reason = errno;
    if (!written) {
        s->dropped++;
        atomic_fetch_add_explicit(&s->total, 1, memory_order_relaxed);
    }
    if ((s->length > 0 || s->dropped > 0) && (reason == 0 || may_pass(reason))) {
        wait_aside(s);
    }
    pthread_mutex_unlock(&s->m);
}

uint64_t mechd_sink_dropped(struct mechd_sink *s)
{
    return atomic_load_explicit(&s->total, memory_order_relaxed);
}
