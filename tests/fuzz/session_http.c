#include "tests/fuzz/session_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { LIMIT_S = 60, FIRST = 1 << 14, CHUNK_MOST = 1 << 30 };

static bool connect_to(struct session_connection *c)
{
    const struct timeval limit = {.tv_sec = LIMIT_S};
    struct sockaddr_in a = {.sin_family = AF_INET};
    char host[64] = "";
    const char *const colon = strrchr(c->address, ':');
    if (colon == NULL) {
        return false;
    }
    (void)snprintf(host, sizeof host, "%.*s", (int)(colon - c->address), c->address);
    a.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    if (inet_pton(AF_INET, host, &a.sin_addr) != 1) {
        return false;
    }
    c->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->socket < 0 || connect(c->socket, (struct sockaddr *)&a, sizeof a) != 0) {
        session_http_end(c);
        return false;
    }
    (void)setsockopt(c->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return true;
}

void session_http_end(struct session_connection *c)
{
    if (c->socket >= 0) {
        (void)close(c->socket);
    }
    c->socket = -1;
}

static bool send_all(int s, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t n = send(s, data, size, MSG_NOSIGNAL);
        if (n <= 0) {
            return false;
        }
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* Value of a header among the first lines, or NULL. */
static const char *header(const char *head, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = strstr(head, "\r\n"); p != NULL && p[2] != '\r';
         p = strstr(p + 2, "\r\n")) {
        if (strncasecmp(p + 2, name, n) == 0 && p[2 + n] == ':') {
            return p + 3 + n;
        }
    }
    return NULL;
}

/* What has come of a reply. */
struct incoming {
    char *text;        /* [size], and a NUL behind it */
    size_t size, room; /* bytes */
};

/* Wait for more of it. False: nothing more comes, or no memory. */
static bool more(const struct session_connection *c, struct incoming *in)
{
    if (in->size == in->room) {
        const size_t room = in->room > 0 ? 2 * in->room : FIRST;
        char *const text = realloc(in->text, room + 1);
        if (text == NULL) {
            return false;
        }
        in->text = text;
        in->room = room;
    }
    const ssize_t n = recv(c->socket, in->text + in->size, in->room - in->size, 0);
    if (n <= 0) {
        return false;
    }
    in->size += (size_t)n;
    in->text[in->size] = 0;
    return true;
}

/* Where `mark` begins, at `from` or behind it, in text without a NUL up to there. */
static bool find(const struct session_connection *c, struct incoming *in, size_t from,
                 const char *mark, size_t *at)
{
    const char *found = NULL;
    while (found == NULL) {
        found = in->size > from ? strstr(in->text + from, mark) : NULL;
        if (found == NULL && !more(c, in)) {
            return false;
        }
    }
    *at = (size_t)(found - in->text);
    return true;
}

/* The first `size` bytes of it have come. */
static bool wait_for(const struct session_connection *c, struct incoming *in, size_t size)
{
    while (in->size < size) {
        if (!more(c, in)) {
            return false;
        }
    }
    return true;
}

/* The chunks from `body` on, up to the last one (RFC 9112, 7.1), become one text of `size` bytes
 * there. */
static bool join_chunks(const struct session_connection *c, struct incoming *in, size_t body,
                        size_t *size)
{
    size_t from = body, end = 0;
    *size = 0;
    while (find(c, in, from, "\r\n", &end)) {
        const size_t n = (size_t)strtoull(in->text + from, NULL, 16);
        from = end + 2;
        // the last one is empty, and trailers end with an empty line
        if (n == 0) {
            while (find(c, in, from, "\r\n", &end) && end > from) {
                from = end + 2;
            }
            return in->size >= from + 2;
        }
        if (n > CHUNK_MOST || !wait_for(c, in, from + n + 2)) {
            return false;
        }
        memmove(in->text + body + *size, in->text + from, n);
        *size += n;
        from += n + 2;
    }
    return false;
}

/* A reply with a length, or in chunks. False: there is none whole. */
static bool receive(struct session_connection *c, struct session_reply *reply)
{
    struct incoming in = {.text = NULL};
    size_t body = 0, size = 0;
    bool whole = find(c, &in, 0, "\r\n\r\n", &body), ends = false;
    if (whole) {
        body += 4;
        const char *const length = header(in.text, "Content-Length"),
                          *const coding = header(in.text, "Transfer-Encoding"),
                          *const connection = header(in.text, "Connection");
        ends = connection != NULL && strncasecmp(connection, " close", 6) == 0;
        size = length != NULL ? (size_t)strtoull(length, NULL, 10) : 0;
        whole = coding != NULL && strncasecmp(coding, " chunked", 8) == 0
                    ? join_chunks(c, &in, body, &size)
                    : size < SIZE_MAX - body && wait_for(c, &in, body + size);
    }
    if (!whole) {
        free(in.text);
        return false;
    }
    if (ends) {
        session_http_end(c);
    }
    reply->status = (int)strtol(in.text + sizeof "HTTP/1.1", NULL, 10);
    reply->size = size;
    reply->text = in.text;
    memmove(in.text, in.text + body, size);
    in.text[size] = 0;
    return true;
}

void session_http(void *context, const char *method, const char *path, const char *body,
                  struct session_reply *reply)
{
    struct session_connection *const c = context;
    char head[1024];
    const size_t size = body != NULL ? strlen(body) : 0;
    const int n = snprintf(head, sizeof head,
                           "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n%s%s\r\n",
                           method, path, size, size > 0 ? "Content-Type: application/json\r\n" : "",
                           reply->later ? "Prefer: respond-async\r\n" : "");
    *reply = (struct session_reply){.status = 0};
    if ((c->socket < 0 && !connect_to(c)) || !send_all(c->socket, head, (size_t)n) ||
        !send_all(c->socket, body, size) || !receive(c, reply)) {
        session_http_end(c);
    }
}
