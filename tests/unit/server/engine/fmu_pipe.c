/* Messages as they are sent, and what another end can do instead. */
#include "server/engine/fmu_pipe.h"

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct mechd_pipe_wait patient = {0};

static void open_pair(int ends[2])
{
    (void)signal(SIGPIPE, SIG_IGN);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
}

static void what_is_sent_is_received(void)
{
    int ends[2];
    struct mechd_pipe_message out = {0}, in = {0};
    double values[3] = {0};
    open_pair(ends);
    mechd_pipe_begin(&out, 7);
    mechd_pipe_put_u32(&out, 3);
    mechd_pipe_put_f64(&out, (const double[]){1., -0., 1e300}, 3);
    mechd_pipe_put_text(&out, "a text");
    mechd_pipe_put(&out, "xy", 2);
    CU_ASSERT_EQUAL(mechd_pipe_send(ends[0], &out, &patient), 0);
    CU_ASSERT_EQUAL(mechd_pipe_receive(ends[1], &in, &patient), 0);
    CU_ASSERT_EQUAL(in.verb, 7);
    CU_ASSERT_EQUAL(mechd_pipe_get_u32(&in), 3);
    mechd_pipe_get_f64(&in, values, 3);
    CU_ASSERT_EQUAL(values[2], 1e300);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&in), "a text");
    CU_ASSERT_FALSE(mechd_pipe_whole(&in));
    CU_ASSERT_PTR_NOT_NULL(mechd_pipe_get_bytes(&in, 2));
    CU_ASSERT(mechd_pipe_whole(&in));
    mechd_pipe_fini(&out);
    mechd_pipe_fini(&in);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* More than the socket holds, from another process. */
static void a_large_message_goes_in_parts(void)
{
    enum { LARGE = 4 << 20 };
    int ends[2], status = -1;
    struct mechd_pipe_message m = {0};
    open_pair(ends);
    const pid_t child = fork();
    if (child == 0) {
        char *const bytes = calloc(1, LARGE);
        mechd_pipe_put(&m, bytes, LARGE);
        (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
        _exit(bytes != NULL ? mechd_pipe_send(ends[0], &m, &patient) : 1);
    }
    CU_ASSERT_EQUAL(mechd_pipe_receive(ends[1], &m, &patient), 0);
    CU_ASSERT_EQUAL(m.size, LARGE);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    mechd_pipe_fini(&m);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void values_that_are_not_there_break_a_message(void)
{
    struct mechd_pipe_message m = {0};
    double values[2] = {1., 1.};
    mechd_pipe_put_f64(&m, (const double[]){5.}, 1);
    mechd_pipe_get_f64(&m, values, 2);
    CU_ASSERT_EQUAL(values[0], 0.);
    CU_ASSERT_FALSE(mechd_pipe_whole(&m));
    mechd_pipe_begin(&m, 0);
    mechd_pipe_put(&m, "no end", 6);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&m), "");
    CU_ASSERT_FALSE(mechd_pipe_whole(&m));
    mechd_pipe_begin(&m, 0);
    CU_ASSERT(mechd_pipe_whole(&m));
    CU_ASSERT_EQUAL(mechd_pipe_get_u32(&m), 0);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&m), "");
    CU_ASSERT_PTR_NULL(mechd_pipe_get_bytes(&m, 1));
    CU_ASSERT_FALSE(mechd_pipe_whole(&m));
    mechd_pipe_fini(&m);
}

static void too_much_is_not_sent(void)
{
    struct mechd_pipe_message m = {0};
    static const double value = 0.;
    mechd_pipe_put_f64(&m, &value, (size_t)-1);
    CU_ASSERT(m.failed);
    CU_ASSERT(mechd_pipe_send(-1, &m, &patient) < 0);
    mechd_pipe_fini(&m);
}

/* What comes when the other end has written these bytes, and is then closed. */
static int received(const void *bytes, size_t size)
{
    int ends[2];
    struct mechd_pipe_message m = {0};
    open_pair(ends);
    CU_ASSERT_EQUAL(write(ends[0], bytes, size), (ssize_t)size);
    (void)close(ends[0]);
    const int rc = mechd_pipe_receive(ends[1], &m, &patient);
    mechd_pipe_fini(&m);
    (void)close(ends[1]);
    return rc;
}

static void what_is_no_message_is_broken(void)
{
    static const uint32_t huge[] = {0x554d4631, 0, 0xffffffff}, cut[] = {0x554d4631, 0, 8, 0};
    static const uint32_t other[] = {0x554d4632, 0, 0};
    CU_ASSERT_EQUAL(received(other, sizeof other), MECHD_PIPE_BROKEN);
    CU_ASSERT_EQUAL(received("HTTP/1.1 200 OK\r\n", 17), MECHD_PIPE_BROKEN);
    CU_ASSERT_EQUAL(received(huge, sizeof huge), MECHD_PIPE_BROKEN);
    CU_ASSERT_EQUAL(received(cut, sizeof cut), MECHD_PIPE_CLOSED);
    CU_ASSERT_EQUAL(received(cut, 5), MECHD_PIPE_CLOSED);
    CU_ASSERT_EQUAL(received("", 0), MECHD_PIPE_CLOSED);
}

static void an_end_that_is_gone_is_an_outcome(void)
{
    int ends[2];
    struct mechd_pipe_message m = {0};
    open_pair(ends);
    (void)close(ends[1]);
    CU_ASSERT_EQUAL(mechd_pipe_send(ends[0], &m, &patient), MECHD_PIPE_CLOSED);
    (void)close(ends[0]);
}

static bool at_third(void *context)
{
    return ++*(int *)context == 3;
}

/* Nothing is ever sent: the wait ends by its time, or because it is to stop. */
static void a_wait_ends(void)
{
    int ends[2], asked = 0;
    struct mechd_pipe_message m = {0};
    open_pair(ends);
    const struct mechd_pipe_wait brief = {.ms = 1};
    CU_ASSERT_EQUAL(mechd_pipe_receive(ends[1], &m, &brief), MECHD_PIPE_LATE);
    const struct mechd_pipe_wait stopped = {.wanted = at_third, .context = &asked};
    CU_ASSERT_EQUAL(mechd_pipe_receive(ends[1], &m, &stopped), MECHD_PIPE_STOPPED);
    CU_ASSERT_EQUAL(asked, 3);
    mechd_pipe_fini(&m);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

enum { END = 100 /* ms */ };

/* A wait that is asked once in time whether to stop, and then held until its end is past. */
struct held {
    int socket;
    uint64_t end; /* ms of the clock, at the earliest */
    bool asked, in_time;
};

static uint64_t now(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool hold(void *context)
{
    struct held *const h = context;
    const struct mechd_pipe_message m = {.verb = 7};
    if (h->asked) {
        return false;
    }
    h->asked = true;
    h->in_time = now() < h->end;
    while (now() <= h->end + END) {
        // steady: that the end is past is the subject
        (void)poll(NULL, 0, END);
    }
    CU_ASSERT_EQUAL(mechd_pipe_send(h->socket, &m, &patient), 0);
    return false;
}

/* As the thread that waits may stand still for that long. */
static void what_is_there_when_it_looks_is_not_late(void)
{
    int ends[2], rc = 0;
    struct mechd_pipe_message m = {0};
    struct held h;
    do {
        open_pair(ends);
        h = (struct held){.socket = ends[0], .end = now() + END};
        const struct mechd_pipe_wait wait = {.ms = END, .wanted = hold, .context = &h};
        rc = mechd_pipe_receive(ends[1], &m, &wait);
        (void)close(ends[0]);
        (void)close(ends[1]);
    } while (!h.in_time);
    CU_ASSERT_EQUAL(rc, 0);
    CU_ASSERT_EQUAL(m.verb, 7);
    mechd_pipe_fini(&m);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

/* A message comes from another process byte by byte, in a second. */
static int received_in_drops(const struct mechd_pipe_wait *wait)
{
    enum { DROPS = 1000 };
    static const uint32_t head[] = {0x554d4631, 0, DROPS};
    int ends[2];
    struct mechd_pipe_message m = {0};
    open_pair(ends);
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[1]);
        bool sent = write(ends[0], head, sizeof head) > 0;
        for (size_t k = 0; k < DROPS && sent; k++) {
            // steady: that it takes time is the subject
            (void)poll(NULL, 0, 1);
            sent = write(ends[0], "", 1) == 1;
        }
        _exit(0);
    }
    (void)close(ends[0]);
    const int rc = mechd_pipe_receive(ends[1], &m, wait);
    (void)close(ends[1]);
    CU_ASSERT_EQUAL(waitpid(child, NULL, 0), child);
    mechd_pipe_fini(&m);
    return rc;
}

static void a_wait_ends_although_bytes_come_without_a_pause(void)
{
    const struct mechd_pipe_wait brief = {.ms = 100}, stopped = {.wanted = always};
    CU_ASSERT_EQUAL(received_in_drops(&brief), MECHD_PIPE_LATE);
    CU_ASSERT_EQUAL(received_in_drops(&stopped), MECHD_PIPE_STOPPED);
}

UNIT_TESTS(UNIT_TEST(what_is_sent_is_received), UNIT_TEST(a_large_message_goes_in_parts),
           UNIT_TEST(values_that_are_not_there_break_a_message), UNIT_TEST(too_much_is_not_sent),
           UNIT_TEST(what_is_no_message_is_broken), UNIT_TEST(an_end_that_is_gone_is_an_outcome),
           UNIT_TEST(a_wait_ends), UNIT_TEST(what_is_there_when_it_looks_is_not_late),
           UNIT_TEST(a_wait_ends_although_bytes_come_without_a_pause))
