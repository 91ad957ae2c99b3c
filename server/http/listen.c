/* Sockets to listen on. */
#include "server/http/door.h"
#include "server/http/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char https[] = "https://";
static const char http[] = "http://";
static const char local[] = "unix:";

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

static int listen_unix(struct mechd_listener *l, const char *path, unsigned mode)
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

    // nobody connects before the mode is what it shall be
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
    snprintf(l->path, sizeof l->path, "%s", path);
    snprintf(l->address, sizeof l->address, "%s%s", local, path);
    return s;
}

/* The first address of a place that can be bound. */
static int listen_tcp(struct mechd_listener *l, const struct mechd_hostport *p)
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
    char port[16] = "";
    if (s >= 0 && getsockname(s, (struct sockaddr *)&real, &size) == 0) {
        getnameinfo((struct sockaddr *)&real, size, NULL, 0, port, sizeof port, NI_NUMERICSERV);
        snprintf(l->address, sizeof l->address, p->is_v6 ? "%s[%s]:%s" : "%s%s:%s",
                 l->is_tls ? https : http, p->host[0] != '\0' ? p->host : "0.0.0.0", port);
    }
    return s;
}

int mechd_listen(struct mechd_listener *l, const char *address, unsigned mode)
{
    l->is_tls = mechd_address_is_tls(address);
    l->is_tcp = strncmp(address, local, sizeof local - 1) != 0;
    l->is_local = mechd_address_is_local(address);
    struct mechd_hostport p;
    errno = EINVAL;
    if (!l->is_tcp) {
        l->socket = listen_unix(l, address + sizeof local - 1, mode);
    } else {
        const bool sound = mechd_hostport_read(&p, mechd_address_host(address)) == NULL;
        l->socket = sound ? listen_tcp(l, &p) : -1;
    }
    return l->socket < 0 ? -1 : 0;
}

enum MHD_Result mechd_door_accept(void *context, const struct sockaddr *address,
                                  socklen_t address_size)
{
    struct mechd_listener *l = context;
    (void)address_size;
    return !atomic_load(&l->closed) && mechd_links_admit(&l->links, address) ? MHD_YES : MHD_NO;
}

void mechd_door_connected(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct mechd_listener *l = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = mechd_link_open(&l->links, connection);
    } else if (*socket_context != NULL) {
        mechd_link_close(*socket_context);
        *socket_context = NULL;
    }
}
