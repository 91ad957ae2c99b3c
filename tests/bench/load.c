/* Sending, receiving and counting of load.h. */
#define _GNU_SOURCE /* memmem */
#include "tests/bench/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

void load_open(struct load *l, const struct served *s, bool local, int count)
{
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->count = count;
    for (int k = 0; k < count; k++) {
        l->at[k] = (struct load_connection){.fd = served_connect(s, local)};
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &l->at[k]};
        if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->at[k].fd, &event) != 0) {
            served_fail("epoll", strerror(errno));
        }
    }
}

void load_close(struct load *l)
{
    for (int k = 0; k < l->count; k++) {
        (void)close(l->at[k].fd);
        free(l->at[k].request);
    }
    (void)close(l->epoll);
}

void load_request(struct load *l, int k, const char *method, const char *path, const char *body)
{
    struct load_connection *const c = &l->at[k];
    const size_t room = strlen(path) + strlen(body) + 256;
    c->request = realloc(c->request, room);
    if (c->request == NULL) {
        served_fail(path, "no memory");
    }
    const int n = snprintf(c->request, room,
                           "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           method, path, strlen(body), body);
    if (n < 0 || (size_t)n >= room) {
        served_fail(path, "the request is too long");
    }
    c->size = (size_t)n;
}

static void send_request(struct load_connection *c)
{
    if (send(c->fd, c->request, c->size, MSG_NOSIGNAL) != (ssize_t)c->size) {
        served_fail("send", strerror(errno));
    }
    c->got = 0;
    c->whole = 0;
}

/* The size of the whole reply, once its head is there. */
static void read_head(struct load_connection *c)
{
    static const char name[] = "\r\nContent-Length: ";
    c->reply[c->got] = '\0';
    const char *const end = memmem(c->reply, c->got, "\r\n\r\n", 4);
    const char *const length = end != NULL ? strstr(c->reply, name) : NULL;
    if (end == NULL) {
        return;
    }
    if (memcmp(c->reply + 8, " 200 ", 5) != 0 || length == NULL || length > end) {
        served_fail("not the answer expected", c->reply);
    }
    c->whole = (size_t)(end + 4 - c->reply) + strtoul(length + sizeof name - 1, NULL, 10);
}

/* Take what has come. True: the reply is whole. */
static bool receive(struct load *l, struct load_connection *c)
{
    const bool head = c->whole == 0;
    char *const to = head ? c->reply + c->got : l->rest;
    const size_t room = head ? sizeof c->reply - 1 - c->got : sizeof l->rest;
    const ssize_t n = recv(c->fd, to, room, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) {
        return false;
    }
    if (n <= 0) {
        served_fail("recv", n < 0 ? strerror(errno) : "the server has closed");
    }
    c->got += (size_t)n;
    if (head) {
        read_head(c);
    }
    return c->whole > 0 && c->got >= c->whole;
}

void load_run(void *load, uint64_t count)
{
    struct load *const l = load;
    uint64_t sent = 0, done = 0;
    for (; sent < count && sent < (uint64_t)l->count; sent++) {
        send_request(&l->at[sent]);
    }
    while (done < count) {
        struct epoll_event events[LOAD_MOST];
        const int n = epoll_wait(l->epoll, events, LOAD_MOST, 60000);
        if (n <= 0 && errno != EINTR) {
            served_fail("epoll_wait", n == 0 ? "no answer for a minute" : strerror(errno));
        }
        for (int k = 0; k < n; k++) {
            struct load_connection *const c = events[k].data.ptr;
            if (!receive(l, c)) {
                continue;
            }
            done++;
            if (sent < count) {
                send_request(c);
                sent++;
            }
        }
    }
}
