/* The datagram: sockets that begin with @ or / (a name in the abstract namespace, or a path). */
#include "server/os/notify.h"

#include "server/os/ticks.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool mechd_unix_address(struct sockaddr_un *a, socklen_t *size, const char *path)
{
    const size_t n = strlen(path);
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (n == 0 || n >= sizeof a->sun_path) {
        return false;
    }
    memcpy(a->sun_path, path, n);
    if (path[0] == '@') {
        a->sun_path[0] = '\0';
    }
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (path[0] == '/'));
    return true;
}

void mechd_notify(const char *lines)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to;
    socklen_t size = 0;
    if (path == NULL || (path[0] != '/' && path[0] != '@') ||
        !mechd_unix_address(&to, &size, path)) {
        return;
    }
    const int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s >= 0) {
        const ssize_t sent = sendto(s, lines, strlen(lines), MSG_DONTWAIT | MSG_NOSIGNAL,
                                    (const struct sockaddr *)&to, size);
        (void)sent; // a manager that does not listen is no fault of ours
        close(s);
    }
}

void mechd_notify_reloading(void)
{
    char lines[80];
    snprintf(lines, sizeof lines, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, mechd_now() / 1000);
    mechd_notify(lines);
}
