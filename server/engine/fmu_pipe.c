/* Waiting is by poll(2) in short turns, so that a wish to stop is seen; the time is that of the
 * whole message, not of each part of it. */
#include "server/engine/fmu_pipe.h"
#include "solver/base/err.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const uint32_t magic = 0x554d4631; /* "1FMU" */

enum { TURN = 10, /* ms between two questions whether to stop */ FIRST_ROOM = 256 };

struct head {
    uint32_t magic, verb, size;
};

void mechd_pipe_begin(struct mechd_pipe_message *m, uint32_t verb)
{
    m->verb = verb;
    m->size = m->at = 0;
    m->failed = false;
}

void mechd_pipe_fini(struct mechd_pipe_message *m)
{
    if (m != NULL) {
        free(m->bytes);
        *m = (struct mechd_pipe_message){0};
    }
}

static bool make_room(struct mechd_pipe_message *m, size_t size)
{
    if (size > MECHD_PIPE_MOST - m->size) {
        return false;
    }
    const size_t needed = m->size + size;
    if (needed > m->room) {
        const size_t room = needed + needed / 2 + FIRST_ROOM;
        unsigned char *const bytes = realloc(m->bytes, room);
        if (bytes == NULL) {
            return false;
        }
        m->bytes = bytes;
        m->room = room;
    }
    return true;
}

void mechd_pipe_put(struct mechd_pipe_message *m, const void *bytes, size_t size)
{
    m->failed = m->failed || !make_room(m, size);
    if (!m->failed && size > 0) {
        memcpy(m->bytes + m->size, bytes, size);
        m->size += size;
    }
}

void mechd_pipe_put_u32(struct mechd_pipe_message *m, uint32_t value)
{
    mechd_pipe_put(m, &value, sizeof value);
}

void mechd_pipe_put_f64(struct mechd_pipe_message *m, const double *values, size_t count)
{
    m->failed = m->failed || count > MECHD_PIPE_MOST / sizeof *values;
    mechd_pipe_put(m, values, m->failed ? 0 : count * sizeof *values);
}

void mechd_pipe_put_text(struct mechd_pipe_message *m, const char *text)
{
    const size_t length = strlen(text);
    mechd_pipe_put(m, text, length + 1);
}

const unsigned char *mechd_pipe_get_bytes(struct mechd_pipe_message *m, size_t size)
{
    if (m->failed || size > m->size - m->at) {
        m->failed = true;
        return NULL;
    }
    const unsigned char *const at = m->bytes + m->at;
    m->at += size;
    return at;
}

void mechd_pipe_get(struct mechd_pipe_message *m, void *bytes, size_t size)
{
    const unsigned char *const at = size > 0 ? mechd_pipe_get_bytes(m, size) : NULL;
    if (at != NULL) {
        memcpy(bytes, at, size);
    } else if (size > 0) {
        memset(bytes, 0, size);
    }
}

uint32_t mechd_pipe_get_u32(struct mechd_pipe_message *m)
{
    uint32_t value = 0;
    mechd_pipe_get(m, &value, sizeof value);
    return value;
}

void mechd_pipe_get_f64(struct mechd_pipe_message *m, double *values, size_t count)
{
    mechd_pipe_get(m, values, count * sizeof *values);
}

const char *mechd_pipe_get_text(struct mechd_pipe_message *m)
{
    const size_t left = m->failed ? 0 : m->size - m->at;
    const unsigned char *const end = left > 0 ? memchr(m->bytes + m->at, 0, left) : NULL;
    if (end == NULL) {
        m->failed = true;
        return "";
    }
    return (const char *)mechd_pipe_get_bytes(m, (size_t)(end - m->bytes) - m->at + 1);
}

bool mechd_pipe_whole(const struct mechd_pipe_message *m)
{
    return !m->failed && m->at == m->size;
}

/* --- the stream ------------------------------------------------------------------------------- */

struct turn {
    int socket;
    short events;
    uint64_t end;   /* ms of the clock; 0: none */
    uint64_t asked; /* ms of the clock: its begin, or the last question whether to stop */
    const struct mechd_pipe_wait *wait;
    bool moved; /* bytes of the message */
};

static uint64_t now(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct turn begin_turn(int socket, short events, const struct mechd_pipe_wait *wait)
{
    const uint64_t at = now();
    return (struct turn){socket, events, wait->ms > 0 ? at + wait->ms : 0, at, wait, false};
}

/* Until the socket can go on. 0 or an outcome: also while parts of a message come without a pause.
 * A socket that is ready before any of it has moved is not late, as the thread may be. */
static int wait_for(struct turn *t)
{
    const bool asks = t->wait->wanted != NULL;
    for (;;) {
        struct pollfd p = {t->socket, t->events, 0};
        const uint64_t before = now();
        const uint64_t left = t->end == 0 ? TURN : before < t->end ? t->end - before : 0;
        const int ms = t->end == 0 && !asks ? -1 : left < TURN ? (int)left : TURN;
        const int rc = poll(&p, 1, ms);
        const uint64_t at = now();
        if (rc < 0 && errno != EINTR) {
            return MECHD_PIPE_CLOSED;
        }
        if (asks && (rc <= 0 || at - t->asked >= TURN)) {
            t->asked = at;
            if (t->wait->wanted(t->wait->context)) {
                return MECHD_PIPE_STOPPED;
            }
        }
        if (t->end > 0 && (rc > 0 ? t->moved && at > t->end : at >= t->end)) {
            return MECHD_PIPE_LATE;
        }
        if (rc > 0) {
            return 0;
        }
    }
}

/* Whether a failed read or write is to be tried again. */
static bool again(void)
{
    return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

static int send_all(struct turn *t, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        MECH_TRY(wait_for(t));
        const ssize_t n = write(t->socket, (const char *)bytes + done, size - done);
        if (n < 0 && !again()) {
            return MECHD_PIPE_CLOSED;
        }
        done += n > 0 ? (size_t)n : 0;
        t->moved = t->moved || n > 0;
    }
    return 0;
}

static int receive_all(struct turn *t, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        MECH_TRY(wait_for(t));
        const ssize_t n = read(t->socket, (char *)bytes + done, size - done);
        if (n == 0 || (n < 0 && !again())) {
            return MECHD_PIPE_CLOSED;
        }
        done += n > 0 ? (size_t)n : 0;
        t->moved = t->moved || n > 0;
    }
    return 0;
}

int mechd_pipe_send(int socket, const struct mechd_pipe_message *m,
                    const struct mechd_pipe_wait *wait)
{
    const struct head head = {magic, m->verb, (uint32_t)m->size};
    struct turn t = begin_turn(socket, POLLOUT, wait);
    if (m->failed) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(send_all(&t, &head, sizeof head));
    return send_all(&t, m->bytes, m->size);
}

int mechd_pipe_receive(int socket, struct mechd_pipe_message *m, const struct mechd_pipe_wait *wait)
{
    struct head head;
    struct turn t = begin_turn(socket, POLLIN, wait);
    mechd_pipe_begin(m, 0);
    MECH_TRY(receive_all(&t, &head, sizeof head));
    if (head.magic != magic || head.size > MECHD_PIPE_MOST) {
        return MECHD_PIPE_BROKEN;
    }
    if (!make_room(m, head.size)) {
        return MECH_NO_MEMORY;
    }
    m->verb = head.verb;
    MECH_TRY(receive_all(&t, m->bytes, head.size));
    m->size = head.size;
    return 0;
}
