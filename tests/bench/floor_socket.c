/* What a Unix socket costs without a daemon around it: messages behind their length, as on the lane
 * (server/lane), which one thread reads and sends back, a read and a write each. One connection at
 * a time.
 *
 *     floor-socket READY-FILE SOCKET
 *
 * Serves SOCKET until SIGTERM.
 */
#include "tests/bench/floor_life.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST = 4096 };

/* Send back what comes, until the connection ends. */
static void echo(int fd)
{
    unsigned char bytes[MOST];
    size_t have = 0;
    for (;;) {
        const ssize_t got = read(fd, bytes + have, sizeof bytes - have);
        if (got <= 0) {
            return;
        }
        have += (size_t)got;
        uint32_t length = 0;
        memcpy(&length, bytes, sizeof length);
        if (have < sizeof length || have < sizeof length + length) {
            continue;
        }
        if (write(fd, bytes, have) != (ssize_t)have) {
            return;
        }
        have = 0;
    }
}

static void *serve(void *listener)
{
    for (;;) {
        const int fd = accept(*(const int *)listener, NULL, NULL);
        if (fd >= 0) {
            echo(fd);
            close(fd);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: floor-socket READY-FILE SOCKET\n");
        return 2;
    }
    floor_begin();
    struct sockaddr_un where = {.sun_family = AF_UNIX};
    (void)snprintf(where.sun_path, sizeof where.sun_path, "%s", argv[2]);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pthread_t server;
    if (listener < 0 || bind(listener, (const struct sockaddr *)&where, sizeof where) != 0 ||
        listen(listener, 16) != 0 || pthread_create(&server, NULL, serve, &listener) != 0) {
        perror(argv[2]);
        return 2;
    }
    return floor_live_on(argv[1], "{}");
}
