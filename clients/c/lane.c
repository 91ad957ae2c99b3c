/* A connection of the lane: a Unix socket or TCP, without blocking; each wait ends at a time. */
#include "clients/c/line.h"
#include "protocol/frame/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    LENGTH = 4,            /* bytes of the length before a message */
    MESSAGE_MOST = 1 << 30 /* a longer one is no answer of a server */
};

static int lost(struct mechc_line *l, const char *why)
{
    return mechc_fail(l->c, MECHC_UNREACHABLE, "the lane: %s", why);
}

static const double slice = 0.1; /* s between looks for an interruption */

/* Wait until the descriptor is ready for `events`. */
static int await_ready(struct mechc_line *l, short events, double end)
{
    struct pollfd p = {.fd = l->lane, .events = events};
    for (;;) {
        const double left = end - mechc_now();
        const double wait = l->returns && left > slice ? slice : left;
        const int ready = poll(&p, 1, mechc_milliseconds(wait > 0. ? wait : 0.));
        if (ready > 0) {
            return MECHC_OK;
        }
        if (l->returns && atomic_exchange(&l->c->interrupted, false)) {
            return mechc_fail(l->c, MECHC_INTERRUPTED, "the lane: interrupted");
        }
        if (ready == 0 && wait == left) {
            return mechc_fail(l->c, MECHC_TIMEOUT, "no answer on the lane in time");
        }
        if (ready < 0 && errno != EINTR) {
            return lost(l, strerror(errno));
        }
    }
}

/* --- connection ------------------------------------------------------------------------------- */

static int connect_to(struct mechc_line *l, const struct sockaddr *address, socklen_t size,
                      double end)
{
    if (l->lane >= 0) {
        close(l->lane);
    }
    l->lane = socket(address->sa_family, SOCK_STREAM, 0);
    if (l->lane < 0 || fcntl(l->lane, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(l->lane, F_SETFL, O_NONBLOCK) != 0) {
        return lost(l, strerror(errno));
    }
    int fault = connect(l->lane, address, size) == 0 ? 0 : errno;
    if (fault == EINPROGRESS) {
        const int result = await_ready(l, POLLOUT, end);
        socklen_t n = sizeof fault;
        if (result != MECHC_OK) {
            return result;
        }
        (void)getsockopt(l->lane, SOL_SOCKET, SO_ERROR, &fault, &n);
    }
    if (fault != 0) {
        close(l->lane);
        l->lane = -1;
        return lost(l, strerror(fault));
    }
    const int on = 1;
    (void)setsockopt(l->lane, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return MECHC_OK;
}

static int open_unix(struct mechc_line *l, const char *path, double end)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return mechc_fail(l->c, MECHC_BAD_ARGUMENT, "the path of the lane is too long");
    }
    strcpy(address.sun_path, path);
    return connect_to(l, (const struct sockaddr *)&address, sizeof address, end);
}

/* host:port or [host]:port; each address of the host in turn. */
static int open_tcp(struct mechc_line *l, const char *where, double end)
{
    char host[256];
    const bool brackets = where[0] == '[';
    const char *const port = strrchr(where, ':');
    const size_t skip = brackets ? 1 : 0;
    const size_t length = port ? (size_t)(port - where) : 0;
    if (length <= 2 * skip || length >= sizeof host || (brackets && where[length - 1] != ']')) {
        return mechc_fail(l->c, MECHC_BAD_ARGUMENT,
                          "tcp://%s is not an address of a lane: tcp://host:port", where);
    }
    snprintf(host, sizeof host, "%.*s", (int)(length - 2 * skip), where + skip);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const int fault = getaddrinfo(host, port + 1, &hints, &found);
    if (fault != 0) {
        return lost(l, gai_strerror(fault));
    }
    int result = MECHC_UNREACHABLE;
    for (const struct addrinfo *a = found; a && result == MECHC_UNREACHABLE; a = a->ai_next) {
        result = connect_to(l, a->ai_addr, a->ai_addrlen, end);
    }
    freeaddrinfo(found);
    return result;
}

int mechc_lane_open(struct mechc_line *l, const char *endpoint, double end)
{
    if (strncmp(endpoint, "unix:", 5) == 0) {
        return open_unix(l, endpoint + 5, end);
    }
    if (strncmp(endpoint, "tcp://", 6) == 0) {
        return open_tcp(l, endpoint + 6, end);
    }
    return endpoint[0] == '\0' || strcmp(endpoint, "none") == 0
               ? mechc_fail(l->c, MECHC_BAD_ARGUMENT,
                            "this server has no lane: start it with --lane")
               : mechc_fail(l->c, MECHC_BAD_ARGUMENT,
                            "%s is not an address of a lane: unix:PATH or tcp://host:port",
                            endpoint);
}

/* --- messages --------------------------------------------------------------------------------- */

int mechc_lane_send(struct mechc_line *l, double end)
{
    if (l->lane < 0) {
        return lost(l, "the connection has ended");
    }
    for (size_t sent = 0; sent < l->out.length;) {
        const ssize_t n = send(l->lane, l->out.at + sent, l->out.length - sent, MSG_NOSIGNAL);
        if (n >= 0) {
            sent += (size_t)n;
            continue;
        }
        const int fault = errno;
        const int result = fault == EAGAIN || fault == EWOULDBLOCK ? await_ready(l, POLLOUT, end)
                           : fault == EINTR                        ? MECHC_OK
                                                                   : lost(l, strerror(fault));
        if (result != MECHC_OK) {
            // the server would take the next message for the rest of this one
            close(l->lane);
            l->lane = -1;
            return result;
        }
    }
    return MECHC_OK;
}

/* Until `count` bytes are there behind l->from. What has come is kept if it ends early. */
static int need(struct mechc_line *l, size_t count, double end)
{
    while (l->in.length - l->from < count) {
        char piece[1 << 14];
        const ssize_t n = recv(l->lane, piece, sizeof piece, 0);
        if (n == 0) {
            return lost(l, "the server has closed it");
        }
        if (n > 0) {
            mechc_bytes_add(&l->in, piece, (size_t)n);
            if (l->in.failed) {
                return mechc_fail(l->c, MECHC_NO_MEMORY, "out of memory");
            }
            continue;
        }
        const int fault = errno;
        const int result = fault == EAGAIN || fault == EWOULDBLOCK ? await_ready(l, POLLIN, end)
                           : fault == EINTR                        ? MECHC_OK
                                                                   : lost(l, strerror(fault));
        if (result != MECHC_OK) {
            return result;
        }
    }
    return MECHC_OK;
}

/* The message at l->from + at, whole: *begin after its length, *size. */
static int whole(struct mechc_line *l, size_t at, size_t *begin, size_t *size, double end)
{
    int result = need(l, at + LENGTH, end);
    if (result != MECHC_OK) {
        return result;
    }
    const unsigned char *const length = (const unsigned char *)l->in.at + l->from + at;
    *begin = at + LENGTH;
    *size = (size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 |
            (size_t)length[3] << 24;
    return *size > MESSAGE_MOST ? mechc_fail(l->c, MECHC_BAD_REPLY, "a message of %zu bytes", *size)
                                : need(l, *begin + *size, end);
}

int mechc_lane_receive(struct mechc_line *l, double end)
{
    if (l->lane < 0) {
        return lost(l, "the connection has ended");
    }
    // what has been read goes: a reply is as long as the next one
    if (l->from == l->in.length) {
        mechc_bytes_clear(&l->in);
    } else if (l->from > 0) {
        memmove(l->in.at, l->in.at + l->from, l->in.length - l->from);
        l->in.length -= l->from;
    }
    l->from = 0;
    size_t first = 0, second = 0;
    l->extra_size = 0;
    int result = whole(l, 0, &first, &l->size, end);
    if (result != MECHC_OK) {
        return result;
    }
    size_t all = first + l->size;
    struct mechp_frame f;
    const bool is_frame = mechp_frame_read(l->in.at + first, l->size, &f) == 0;
    if (is_frame && (f.kind == MECHP_HELLO || f.kind == MECHP_ERROR)) {
        result = whole(l, all, &second, &l->extra_size, end);
        if (result != MECHC_OK) {
            return result;
        }
        all = second + l->extra_size;
    }
    l->frame = l->in.at + first;
    l->extra = second > 0 ? l->in.at + second : NULL;
    l->from = all;
    return MECHC_OK;
}
