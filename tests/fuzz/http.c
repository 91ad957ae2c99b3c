/* Raw bytes of one HTTP connection, through the daemon's own door: whatever they are, what comes
 * back is HTTP, nothing fails inside (status 500), and another connection is served after them.
 *
 * Each input finds instance "i" of an example as new, and no other. */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/server/local.h"

#include "server/instance/table.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER = 1 << 16, NAP_MS = 3, NAPS = 20, LIMIT_MS = 20000 };

static struct mechd *served;
static uint64_t revision_as_new;

/* Instance "i" as new. */
static void reset(void)
{
    struct mechd_instance *i = mechd_table_find(&served->service.host.table, "i");
    const bool untouched = i != NULL && atomic_load(&i->revision) == revision_as_new &&
                           mechd_table_count(&served->service.host.table) == 1;
    mechd_instance_unref(i);
    if (untouched) {
        return;
    }
    if (!local_clear(served, LIMIT_MS) ||
        local_status(served, "PUT", "/v1/instances/i", "{\"example\": \"driven-oscillator\"}") !=
            201) {
        fuzz_fail("no instance can be made");
    }
    i = mechd_table_find(&served->service.host.table, "i");
    revision_as_new = i != NULL ? atomic_load(&i->revision) : 0;
    mechd_instance_unref(i);
}

static int connect_to(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    if (s < 0 || connect(s, (struct sockaddr *)&a, sizeof a) != 0) {
        fuzz_fail("no connection");
    }
    return s;
}

/* Write all, read what comes meanwhile and after, until the other side ends or has nothing to say:
 * for a moment when no call is at work, else for a while. Bytes of the answer, of which the first
 * are in `answer`. */
static size_t talk(int s, const uint8_t *data, size_t size, int patience, char *answer)
{
    size_t sent = 0;
    size_t got = 0;
    for (int naps = 0;;) {
        struct pollfd p = {.fd = s, .events = (short)(POLLIN | (sent < size ? POLLOUT : 0))};
        if (poll(&p, 1, NAP_MS) <= 0) {
            if (++naps >= patience ||
                (patience == NAPS && naps > 1 && !served->service.in_flight)) {
                return got;
            }
            continue;
        }
        naps = 0;
        if ((p.revents & POLLOUT) != 0) {
            const ssize_t n = send(s, data + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            sent = n < 0 ? size : sent + (size_t)n;
            if (sent == size) {
                (void)shutdown(s, SHUT_WR);
            }
        }
        if ((p.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            char more[4096];
            const ssize_t n = recv(s, more, sizeof more, MSG_DONTWAIT);
            if (n <= 0) {
                return got;
            }
            const size_t room = ANSWER - 1 - got;
            memcpy(answer + got, more, (size_t)n < room ? (size_t)n : room);
            got += (size_t)n < room ? (size_t)n : room;
        }
    }
}

static void check(char *answer, size_t size)
{
    answer[size] = 0;
    if (size > 0 && strncmp(answer, "HTTP/1.", size < 7 ? size : 7) != 0) {
        fuzz_fail("the answer is no HTTP");
    }
    // as a whole line: texts of a request come back in bodies, where JSON escapes the line's end
    if (strstr(answer, "HTTP/1.1 500 Internal Server Error\r\n") != NULL) {
        fuzz_fail(answer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char probe[] = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    static char answer[ANSWER];
    if (served == NULL && (served = local_start(NULL, NULL)) == NULL) {
        fuzz_fail("no daemon");
    }
    reset();
    int s = connect_to(local_socket());
    check(answer, talk(s, data, size, NAPS, answer));
    (void)close(s);

    s = connect_to(local_socket());
    check(answer, talk(s, (const uint8_t *)probe, sizeof probe - 1, LIMIT_MS / NAP_MS, answer));
    (void)close(s);
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0) {
        fuzz_fail("/livez is not answered");
    }
    return 0;
}
