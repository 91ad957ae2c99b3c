/* Requests over a stream socket that does not block. */
#include "clients/fmu/lane.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#endif

enum {
    LENGTH = 4,            /* bytes of the length before a message */
    MESSAGE_MOST = 1 << 30 /* a longer one is no answer of a server */
};

/* --- the two families of sockets -------------------------------------------------------------- */

#ifdef _WIN32
typedef SOCKET handle;
typedef int span; /* of bytes */
enum { AGAIN = WSAEWOULDBLOCK, UNDERWAY = WSAEWOULDBLOCK, INTERRUPTED = WSAEINTR, QUIET = 0 };

static int fault_of(void)
{
    return WSAGetLastError();
}

static const char *words_of(int fault, char *text, size_t size)
{
    snprintf(text, size, "error %d of Windows Sockets", fault);
    return text;
}

static void close_handle(intptr_t s)
{
    closesocket((handle)s);
}

static bool make_quick(handle s)
{
    u_long on = 1;
    return ioctlsocket(s, (long)FIONBIO, &on) == 0;
}

/* Once a connection: the library counts. */
static bool is_ready(void)
{
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data) == 0;
}

static int await(intptr_t s, short events, int milliseconds)
{
    WSAPOLLFD p = {.fd = (handle)s, .events = events};
    return WSAPoll(&p, 1, milliseconds);
}
#else
typedef int handle;
typedef size_t span; /* of bytes */
enum { AGAIN = EAGAIN, UNDERWAY = EINPROGRESS, INTERRUPTED = EINTR, QUIET = MSG_NOSIGNAL };

static int fault_of(void)
{
    return errno;
}

static const char *words_of(int fault, char *text, size_t size)
{
    snprintf(text, size, "%s", strerror(fault));
    return text;
}

static void close_handle(intptr_t s)
{
    close((int)s);
}

static bool make_quick(handle s)
{
    return fcntl(s, F_SETFD, FD_CLOEXEC) == 0 && fcntl(s, F_SETFL, O_NONBLOCK) == 0;
}

static bool is_ready(void)
{
    return true;
}

static int await(intptr_t s, short events, int milliseconds)
{
    struct pollfd p = {.fd = (int)s, .events = events};
    return poll(&p, 1, milliseconds);
}
#endif

/* --- connection ------------------------------------------------------------------------------- */

static enum mechfmu_outcome lose(struct mechfmu_lane *l, const char *why)
{
    const char *const where = l->endpoint ? l->endpoint : "the lane";

    mechfmu_lane_close(l);
    snprintf(l->text, sizeof l->text, "the server at %.160s: %.200s", where, why);
    return MECHFMU_LOST;
}

static enum mechfmu_outcome lose_by(struct mechfmu_lane *l, int fault)
{
    char words[160];
    return lose(l, words_of(fault, words, sizeof words));
}

/* Until it can be read or written. */
static enum mechfmu_outcome await_ready(struct mechfmu_lane *l, short events)
{
    const double milliseconds = l->timeout * 1e3;
    const int most = milliseconds < INT_MAX ? (int)milliseconds : INT_MAX;
    const int ready = await(l->socket, events, most);

    if (ready > 0 || (ready < 0 && fault_of() == INTERRUPTED)) {
        return MECHFMU_DONE;
    }
    if (ready < 0) {
        return lose_by(l, fault_of());
    }
    char text[80];
    snprintf(text, sizeof text, "no answer for %g s", l->timeout);
    return lose(l, text);
}

static enum mechfmu_outcome connect_to(struct mechfmu_lane *l, const struct sockaddr *address,
                                       socklen_t size)
{
    const int on = 1;

    mechfmu_lane_close(l);
    const handle s = socket(address->sa_family, SOCK_STREAM, 0);
    l->socket = (intptr_t)s;
    if (l->socket < 0 || !make_quick(s)) {
        return lose_by(l, fault_of());
    }
    int fault = connect(s, address, size) == 0 ? 0 : fault_of();
    if (fault == UNDERWAY) {
        socklen_t n = sizeof fault;

        if (await_ready(l, POLLOUT) != MECHFMU_DONE) {
            return MECHFMU_LOST;
        }
        (void)getsockopt(s, SOL_SOCKET, SO_ERROR, (void *)&fault, &n);
    }
    if (fault != 0) {
        return lose_by(l, fault);
    }
    (void)setsockopt(s, IPPROTO_TCP, TCP_NODELAY, (const void *)&on, sizeof on);
    return MECHFMU_DONE;
}

static enum mechfmu_outcome open_unix(struct mechfmu_lane *l, const char *path)
{
#ifdef _WIN32
    (void)path;
    return lose(l, "a Unix socket is not available on Windows: give tcp://host:port");
#else
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof address.sun_path) {
        return lose(l, "the path of the socket is too long");
    }
    strcpy(address.sun_path, path);
    return connect_to(l, (const struct sockaddr *)&address, sizeof address);
#endif
}

/* host:port or [host]:port; each address of the host in turn. */
static enum mechfmu_outcome open_tcp(struct mechfmu_lane *l, const char *where)
{
    const bool brackets = where[0] == '[';
    const char *const port = strrchr(where, ':');
    const size_t skip = brackets ? 1 : 0, length = port ? (size_t)(port - where) : 0;
    char host[256];

    if (length <= 2 * skip || length >= sizeof host || (brackets && where[length - 1] != ']')) {
        return lose(l, "not an address of a lane: tcp://host:port");
    }
    snprintf(host, sizeof host, "%.*s", (int)(length - 2 * skip), where + skip);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, port + 1, &hints, &found) != 0) {
        return lose(l, "there is no such host or port");
    }
    enum mechfmu_outcome outcome = MECHFMU_LOST;
    for (const struct addrinfo *a = found; a && outcome == MECHFMU_LOST; a = a->ai_next) {
        outcome = connect_to(l, a->ai_addr, (socklen_t)a->ai_addrlen);
    }
    freeaddrinfo(found);
    return outcome;
}

/* To l->endpoint. */
static enum mechfmu_outcome open_again(struct mechfmu_lane *l)
{
    if (!is_ready()) {
        return lose(l, "sockets are not available");
    }
    if (strncmp(l->endpoint, "unix:", 5) == 0) {
        return open_unix(l, l->endpoint + 5);
    }
    if (strncmp(l->endpoint, "tcp://", 6) == 0) {
        return open_tcp(l, l->endpoint + 6);
    }
    return lose(l, "not an address of a lane: unix:PATH or tcp://host:port");
}

enum mechfmu_outcome mechfmu_lane_open(struct mechfmu_lane *l, const char *endpoint,
                                       const char *token, double timeout)
{
    char *const where = mechc_copy(endpoint), *const shown = mechc_copy(token);

    mechfmu_lane_close(l);
    free(l->endpoint);
    free(l->token);
    l->endpoint = where;
    l->token = shown;
    l->timeout = timeout;
    return where && shown ? open_again(l) : lose(l, "no memory");
}

void mechfmu_lane_close(struct mechfmu_lane *l)
{
    if (l->socket >= 0) {
        close_handle(l->socket);
    }
    l->socket = -1;
}

bool mechfmu_lane_is_open(const struct mechfmu_lane *l)
{
    return l->socket >= 0;
}

void mechfmu_lane_fini(struct mechfmu_lane *l)
{
    mechfmu_lane_close(l);
    free(l->endpoint);
    free(l->token);
    l->endpoint = l->token = NULL;
    mechc_bytes_fini(&l->in);
    mechc_bytes_fini(&l->out);
}

/* --- requests --------------------------------------------------------------------------------- */

void mechfmu_lane_begin(struct mechfmu_lane *l, const char *op)
{
    static const char length[LENGTH];

    mechc_bytes_clear(&l->out);
    mechc_bytes_add(&l->out, length, LENGTH);
    mechc_bytes_text(&l->out, "{\"op\":");
    mechc_bytes_string(&l->out, op);
    if (l->token && l->token[0]) {
        mechfmu_lane_text(l, "token", l->token);
    }
}

void mechfmu_lane_key(struct mechfmu_lane *l, const char *key)
{
    mechc_bytes_text(&l->out, ",");
    mechc_bytes_string(&l->out, key);
    mechc_bytes_text(&l->out, ":");
}

void mechfmu_lane_text(struct mechfmu_lane *l, const char *key, const char *value)
{
    mechfmu_lane_key(l, key);
    mechc_bytes_string(&l->out, value);
}

void mechfmu_lane_number(struct mechfmu_lane *l, const char *key, double value)
{
    mechfmu_lane_key(l, key);
    mechc_bytes_number(&l->out, value);
}

void mechfmu_lane_plain(struct mechfmu_lane *l, const char *key, const char *json)
{
    mechfmu_lane_key(l, key);
    mechc_bytes_text(&l->out, json);
}

/* True if the server has closed it, or has sent bytes that answer no request. */
static bool has_ended(const struct mechfmu_lane *l)
{
    char byte;
    const long n = (long)recv((handle)l->socket, &byte, 1, MSG_PEEK);

    return n >= 0 || (fault_of() != AGAIN && fault_of() != INTERRUPTED);
}

static enum mechfmu_outcome send_all(struct mechfmu_lane *l)
{
    for (size_t sent = 0; sent < l->out.length;) {
        const size_t left = l->out.length - sent, piece = left < 1 << 20 ? left : 1 << 20;
        const long n = (long)send((handle)l->socket, l->out.at + sent, (span)piece, QUIET);

        if (n >= 0) {
            sent += (size_t)n;
            continue;
        }
        const int fault = fault_of();
        if (fault != AGAIN && fault != INTERRUPTED) {
            return lose_by(l, fault);
        }
        if (fault == AGAIN && await_ready(l, POLLOUT) != MECHFMU_DONE) {
            return MECHFMU_LOST;
        }
    }
    return MECHFMU_DONE;
}

/* Until `count` bytes have come, which more may follow. */
static enum mechfmu_outcome need(struct mechfmu_lane *l, size_t count)
{
    while (l->in.length < count) {
        char piece[1 << 14];
        const long n = (long)recv((handle)l->socket, piece, (span)sizeof piece, 0);

        if (n == 0) {
            return lose(l, "it has closed the connection");
        }
        if (n > 0) {
            mechc_bytes_add(&l->in, piece, (size_t)n);
            if (l->in.failed) {
                return lose(l, "no memory for its answer");
            }
            continue;
        }
        const int fault = fault_of();
        if (fault != AGAIN && fault != INTERRUPTED) {
            return lose_by(l, fault);
        }
        if (fault == AGAIN && await_ready(l, POLLIN) != MECHFMU_DONE) {
            return MECHFMU_LOST;
        }
    }
    return MECHFMU_DONE;
}

static enum mechfmu_outcome receive(struct mechfmu_lane *l, struct mechc_json *reply)
{
    mechc_bytes_clear(&l->in);
    if (need(l, LENGTH) != MECHFMU_DONE) {
        return MECHFMU_LOST;
    }
    const unsigned char *const at = (const unsigned char *)l->in.at;
    const size_t size =
        (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
    if (size > MESSAGE_MOST) {
        return lose(l, "its answer is not one of mechd");
    }
    if (need(l, LENGTH + size) != MECHFMU_DONE) {
        return MECHFMU_LOST;
    }
    if (l->in.length > LENGTH + size) {
        return lose(l, "it has sent more than one answer");
    }
    return mechc_json_open(l->in.at + LENGTH, size, reply)
               ? MECHFMU_DONE
               : lose(l, "its answer is not one of mechd");
}

/* What a problem says, as text and number. */
static enum mechfmu_outcome refuse(struct mechfmu_lane *l, struct mechc_json reply)
{
    char detail[200] = "", pointer[80] = "";
    struct mechc_json error = reply, v;
    uint64_t number = 0;

    l->number = 0;
    if (mechc_json_member(reply, "error", &error) && mechc_json_member(error, "number", &v) &&
        mechc_json_unsigned(v, &number)) {
        l->number = (int)number;
    }
    if (mechc_json_member(error, "detail", &v) || mechc_json_member(error, "title", &v)) {
        mechc_json_text(v, detail, sizeof detail);
    }
    if (mechc_json_member(error, "errors", &v)) {
        struct mechc_json_walk w = mechc_json_walk(v);

        if (mechc_json_next(&w) && mechc_json_member(w.value, "message", &v)) {
            mechc_json_text(v, detail, sizeof detail);
            if (mechc_json_member(w.value, "pointer", &v)) {
                mechc_json_text(v, pointer, sizeof pointer);
            }
        }
    }
    snprintf(l->text, sizeof l->text, "%s%s%s", pointer, pointer[0] ? ": " : "", detail);
    return MECHFMU_REFUSED;
}

enum mechfmu_outcome mechfmu_lane_send(struct mechfmu_lane *l, struct mechc_json *reply)
{
    struct mechc_json ok;

    mechc_bytes_text(&l->out, "}");
    if (l->out.failed) {
        snprintf(l->text, sizeof l->text, "no memory for the request");
        l->number = 0;
        return MECHFMU_REFUSED;
    }
    const size_t size = l->out.length - LENGTH;
    for (int k = 0; k < LENGTH; k++) {
        l->out.at[k] = (char)(unsigned char)(size >> (8 * k) & 0xffu);
    }
    if (l->socket < 0) {
        return lose(l, "there is no connection");
    }
    if (has_ended(l) && open_again(l) != MECHFMU_DONE) {
        return MECHFMU_LOST;
    }
    if (send_all(l) != MECHFMU_DONE || receive(l, reply) != MECHFMU_DONE) {
        return MECHFMU_LOST;
    }
    const bool done = mechc_json_member(*reply, "ok", &ok) && mechc_json_kind(ok) == 't';
    return done ? MECHFMU_DONE : refuse(l, *reply);
}
