/* Listening sockets, and a libmicrohttpd daemon (epoll, pool of threads) on each. */
#include "server/http/http.h"

#include "server/daemon.h"
#include "server/http/door.h"
#include "server/http/exchange.h"
#include "solver/base/err.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { CONNECTION_MEMORY = 48 << 10, CONNECTIONS = 4096, IDLE_SECONDS = 60, THREADS_MOST = 4 };

struct mechd_http {
    struct mechd *daemon;
    char address[MECHD_ADDRESS + 16]; /* of the first listener; const once it serves */
    int count;
    struct listener {
        struct MHD_Daemon *mhd;
        int closing; /* socket after quiescing, or -1 */
        char address[MECHD_ADDRESS + 16];
        char path[MECHD_ADDRESS]; /* of a Unix socket, to be removed */
    } at[MECHD_LISTEN_MOST];
};

const char *mechd_http_address(const struct mechd_http *h)
{
    return h != NULL ? h->address : "";
}

/* A Unix socket; a dead one of an earlier process is replaced, a live one is not. */
static int listen_unix(struct listener *l, const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof a.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(a.sun_path, path, strlen(path) + 1);
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) {
        return -1;
    }
    struct stat info;
    if (stat(path, &info) == 0 && S_ISSOCK(info.st_mode) &&
        connect(s, (struct sockaddr *)&a, sizeof a) != 0 && errno == ECONNREFUSED) {
        unlink(path);
    }
    const mode_t before = umask(0077);
    const bool ok = bind(s, (struct sockaddr *)&a, sizeof a) == 0 && listen(s, SOMAXCONN) == 0;
    umask(before);
    if (!ok) {
        const int why = errno;
        close(s);
        errno = why;
        return -1;
    }
    snprintf(l->path, sizeof l->path, "%s", path);
    snprintf(l->address, sizeof l->address, "unix:%s", path);
    return s;
}

/* host:port or [v6]:port; the first address that can be bound. */
static int listen_tcp(struct listener *l, const char *text)
{
    char host[MECHD_ADDRESS];
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon[1] == '\0') {
        errno = EINVAL;
        return -1;
    }
    size_t n = (size_t)(colon - text);
    const bool v6 = n >= 2 && text[0] == '[' && text[n - 1] == ']';
    snprintf(host, sizeof host, "%.*s", (int)(v6 ? n - 2 : n), v6 ? text + 1 : text);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(*host != '\0' && strcmp(host, "*") != 0 ? host : NULL, colon + 1, &hints,
                    &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int s = -1;
    for (const struct addrinfo *a = found; a != NULL && s < 0; a = a->ai_next) {
        const int on = 1;
        s = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (s >= 0) {
            setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        }
        if (s >= 0 && (bind(s, a->ai_addr, a->ai_addrlen) != 0 || listen(s, SOMAXCONN) != 0)) {
            const int why = errno;
            close(s);
            errno = why;
            s = -1;
        }
    }
    freeaddrinfo(found);

    // the port as it really is
    struct sockaddr_storage real;
    socklen_t size = sizeof real;
    char port[16] = "";
    if (s >= 0 && getsockname(s, (struct sockaddr *)&real, &size) == 0) {
        getnameinfo((struct sockaddr *)&real, size, NULL, 0, port, sizeof port, NI_NUMERICSERV);
        snprintf(l->address, sizeof l->address, v6 ? "http://[%s]:%s" : "http://%s:%s",
                 *host != '\0' ? host : "0.0.0.0", port);
    }
    return s;
}

static int start_one(struct mechd_http *h, const char *text, int threads, char *fault, size_t size)
{
    struct listener *l = &h->at[h->count];
    l->closing = -1;
    const int s = strncmp(text, "unix:", 5) == 0 ? listen_unix(l, text + 5) : listen_tcp(l, text);
    if (s < 0) {
        snprintf(fault, size, "cannot listen on %s: %s", text, strerror(errno));
        return MECH_INTERNAL;
    }
    if (h->count == 0) {
        memcpy(h->address, l->address, sizeof h->address);
    }
    l->mhd = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL, NULL,
        mechd_door_handle, h->daemon, MHD_OPTION_LISTEN_SOCKET, s, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)threads, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED,
        mechd_door_completed, h->daemon, MHD_OPTION_END);
    if (l->mhd == NULL) {
        close(s);
        snprintf(fault, size, "cannot serve HTTP on %s", text);
        return MECH_INTERNAL;
    }
    h->count++;
    return 0;
}

int mechd_http_start(struct mechd *d, struct mechd_http **out, char *fault, size_t size)
{
    struct mechd_http *h = calloc(1, sizeof *h);
    if (h == NULL) {
        return MECH_NO_MEMORY;
    }
    h->daemon = d;
    *out = h;
    const int threads = d->config.workers < 2              ? 2
                        : d->config.workers > THREADS_MOST ? THREADS_MOST
                                                           : d->config.workers;
    for (int k = 0; k < d->config.listen_count; k++) {
        MECH_TRY(start_one(h, d->config.listen[k], threads, fault, size));
    }
    return 0;
}

void mechd_http_quiesce(struct mechd_http *h)
{
    for (int k = 0; h != NULL && k < h->count; k++) {
        h->at[k].closing = MHD_quiesce_daemon(h->at[k].mhd);
    }
}

void mechd_http_stop(struct mechd_http *h)
{
    for (int k = 0; h != NULL && k < h->count; k++) {
        MHD_stop_daemon(h->at[k].mhd);
        if (h->at[k].closing >= 0) {
            close(h->at[k].closing);
        }
        if (h->at[k].path[0] != '\0') {
            unlink(h->at[k].path);
        }
    }
    free(h);
}
