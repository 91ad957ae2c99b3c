/* Sockets to listen on: the first address of a place that can be bound, or a path. */
#include "server/os/listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Close s and keep errno. */
static int give_up(int s)
{
    const int why = errno;
    if (s >= 0) {
        close(s);
    }
    errno = why;
    return -1;
}

/* True if `a` is the socket of a process that has ended: it refuses. One that is merely busy does
 * not answer at once, and counts as alive. */
static bool is_dead(const struct sockaddr_un *a)
{
    struct stat info;
    if (lstat(a->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode)) {
        return false;
    }
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool dead =
        s >= 0 && connect(s, (const struct sockaddr *)a, sizeof *a) != 0 && errno == ECONNREFUSED;
    if (s >= 0) {
        close(s);
    }
    return dead;
}

int mechd_listen_unix(const char *path, unsigned mode)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (*path == '\0' || strlen(path) >= sizeof a.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(a.sun_path, path, strlen(path) + 1);
    if (is_dead(&a)) {
        unlink(path);
    }
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) {
        return -1;
    }

    // no client can connect before the mode is set
    const mode_t before = umask(0777);
    const bool bound = bind(s, (struct sockaddr *)&a, sizeof a) == 0;
    umask(before);
    if (!bound) {
        return give_up(s);
    }
    if (chmod(path, mode) != 0 || listen(s, SOMAXCONN) != 0) {
        unlink(path);
        return give_up(s);
    }
    return s;
}

int mechd_listen_tcp(const struct mechd_hostport *p, char port[MECHD_PORT])
{
    struct addrinfo *found = NULL;
    if (mechd_hostport_find(p, &found) != 0) {
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
            s = give_up(s);
        }
    }
    freeaddrinfo(found);

    // the port as it really is
    struct sockaddr_storage real;
    socklen_t size = sizeof real;
    port[0] = '\0';
    if (s >= 0 && getsockname(s, (struct sockaddr *)&real, &size) == 0) {
        getnameinfo((struct sockaddr *)&real, size, NULL, 0, port, MECHD_PORT, NI_NUMERICSERV);
    }
    return s;
}
