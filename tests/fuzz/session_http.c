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

enum { LIMIT_S = 60, FIRST = 1 << 14 };

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

/* A reply with a length. False: there is none whole. */
static bool receive(struct session_connection *c, struct session_reply *reply)
{
    size_t room = FIRST, got = 0;
    char *text = malloc(room + 1), *body = NULL;
    size_t want = SIZE_MAX;
    while (text != NULL && got < want) {
        if (got == room) {
            char *const more = realloc(text, 2 * room + 1);
            if (more == NULL) {
                break;
            }
            text = more;
            room *= 2;
        }
        const ssize_t n = recv(c->socket, text + got, room - got, 0);
        if (n <= 0) {
            break;
        }
        got += (size_t)n;
        text[got] = 0;
        body = strstr(text, "\r\n\r\n");
        if (body != NULL && want == SIZE_MAX) {
            const char *const length = header(text, "Content-Length");
            want = (size_t)(body + 4 - text) +
                   (length != NULL ? (size_t)strtoull(length, NULL, 10) : 0);
        }
    }
    const bool whole = text != NULL && body != NULL && got >= want;
    if (whole) {
        reply->status = (int)strtol(text + sizeof "HTTP/1.1", NULL, 10);
        reply->size = want - (size_t)(body + 4 - text);
        const char *const ends = header(text, "Connection");
        if (ends != NULL && strncasecmp(ends, " close", 6) == 0) {
            session_http_end(c);
        }
        memmove(text, body + 4, reply->size);
        text[reply->size] = 0;
        reply->text = text;
    } else {
        free(text);
    }
    return whole;
}

void session_http(void *context, const char *method, const char *path, const char *body,
                  struct session_reply *reply)
{
    struct session_connection *const c = context;
    char head[1024];
    const size_t size = body != NULL ? strlen(body) : 0;
    const int n = snprintf(
        head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n%s\r\n",
        method, path, size, size > 0 ? "Content-Type: application/json\r\n" : "");
    *reply = (struct session_reply){.status = 0};
    if ((c->socket < 0 && !connect_to(c)) || !send_all(c->socket, head, (size_t)n) ||
        !send_all(c->socket, body, size) || !receive(c, reply)) {
        session_http_end(c);
    }
}
