/* Replies of a kept connection, one behind the other: with a length, in chunks, cut off. */
#include "tests/fuzz/session_http.h"

#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A connection whose other end has sent `bytes` and then `closes`, or stays for more. */
static struct session_connection connected(const char *bytes, size_t size, bool closes, int *server)
{
    int ends[2];
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    CU_ASSERT_FATAL(send(ends[1], bytes, size, MSG_NOSIGNAL) == (ssize_t)size);
    if (closes) {
        (void)shutdown(ends[1], SHUT_WR);
    }
    *server = ends[1];
    return (struct session_connection){.address = "nothing", .socket = ends[0]};
}

static void expect(struct session_connection *c, int status, const char *text, size_t size)
{
    struct session_reply r;
    session_http(c, "GET", "/", NULL, &r);
    CU_ASSERT_EQUAL(r.status, status);
    CU_ASSERT_EQUAL(r.size, size);
    CU_ASSERT_FATAL(r.text != NULL && r.size == size);
    CU_ASSERT_EQUAL(memcmp(r.text, text, size), 0);
    free(r.text);
}

static void a_reply_in_chunks_is_their_bytes(void)
{
    static const char bytes[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "3\r\na\0b\r\n00a;x=1\r\n\r\n\r\n\r\n0123\r\n0\r\nX: 1\r\n\r\n";
    int server = -1;
    struct session_connection c = connected(bytes, sizeof bytes - 1, false, &server);
    expect(&c, 200, "a\0b\r\n\r\n\r\n0123", 13);
    CU_ASSERT(c.socket >= 0);
    session_http_end(&c);
    (void)close(server);
}

static void replies_with_a_length_and_chunks_take_turns(void)
{
    static const char bytes[] = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
                                "2\r\nhi\r\n0\r\n\r\n";
    int server = -1;
    struct session_connection c = connected(bytes, sizeof bytes - 1, false, &server);
    static const char second[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}";
    static const char third[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    static const char last[] = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    expect(&c, 200, "hi", 2);
    CU_ASSERT(send(server, second, sizeof second - 1, MSG_NOSIGNAL) > 0);
    expect(&c, 404, "{}", 2);
    CU_ASSERT(send(server, third, sizeof third - 1, MSG_NOSIGNAL) > 0);
    expect(&c, 200, "", 0);
    CU_ASSERT(send(server, last, sizeof last - 1, MSG_NOSIGNAL) > 0);
    expect(&c, 204, "", 0);
    CU_ASSERT(c.socket < 0);
    (void)close(server);
}

static void a_reply_that_is_cut_off_is_none(void)
{
    static const char *const cut[] = {
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabcde\r\n",
    };
    for (size_t k = 0; k < sizeof cut / sizeof *cut; k++) {
        struct session_reply r;
        int server = -1;
        struct session_connection c = connected(cut[k], strlen(cut[k]), true, &server);
        session_http(&c, "GET", "/", NULL, &r);
        CU_ASSERT_EQUAL(r.status, 0);
        CU_ASSERT_PTR_NULL(r.text);
        CU_ASSERT(c.socket < 0);
        (void)close(server);
    }
}

UNIT_TESTS(UNIT_TEST(a_reply_in_chunks_is_their_bytes),
           UNIT_TEST(replies_with_a_length_and_chunks_take_turns),
           UNIT_TEST(a_reply_that_is_cut_off_is_none))
