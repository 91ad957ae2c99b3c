/* The life of a connection: what is closed has no more events, even if its socket is open
 * elsewhere. */
#include "server/lane/internal.h"

#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A thread of a door without a listener, whose turns the tests make. */
struct bench {
    struct mechd_service *service;
    struct mechd_lane_door *door;
    struct mechd_lane_thread *thread;
};

static struct bench bench_create(void)
{
    struct bench b = {.service = calloc(1, sizeof *b.service), .door = calloc(1, sizeof *b.door)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.service);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.door);
    b.thread = b.door->threads;
    b.door->service = b.service;
    b.thread->door = b.door;
    pthread_mutex_init(&b.thread->m, NULL);
    b.thread->epoll = epoll_create1(EPOLL_CLOEXEC);
    CU_ASSERT_FATAL(b.thread->epoll >= 0);
    return b;
}

static void bench_destroy(struct bench *b)
{
    close(b->thread->epoll);
    pthread_mutex_destroy(&b->thread->m);
    free(b->door);
    free(b->service);
}

/* A connection with its other end. */
static struct mechd_lane_link *connect_one(struct bench *b, int *peer)
{
    int ends[2] = {-1, -1};
    struct mechd_lane_link *const link = calloc(1, sizeof *link);
    CU_ASSERT_PTR_NOT_NULL_FATAL(link);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
                          0);
    link->socket = ends[0];
    *peer = ends[1];
    atomic_fetch_add(&b->door->open, 1);
    mechd_lane_meet(b->thread, link);
    return link;
}

static int events_of(const struct bench *b)
{
    struct epoll_event event;
    return epoll_wait(b->thread->epoll, &event, 1, 0);
}

static void a_peer_that_leaves_is_an_event(void)
{
    struct bench b = bench_create();
    int peer = -1;
    struct mechd_lane_link *const link = connect_one(&b, &peer);
    CU_ASSERT_EQUAL(events_of(&b), 0);
    close(peer);
    CU_ASSERT_EQUAL(events_of(&b), 1);
    mechd_lane_serve(link, EPOLLIN | EPOLLRDHUP | EPOLLHUP);
    CU_ASSERT_EQUAL(link->phase, MECHD_LANE_DEAD);
    mechd_lane_bury(b.thread);
    CU_ASSERT_EQUAL(events_of(&b), 0);
    CU_ASSERT_EQUAL(atomic_load(&b.door->open), 0);
    bench_destroy(&b);
}

/* The process of a hosted FMU has all descriptors between its fork and its exec. */
static void a_closed_one_has_no_events_while_a_new_process_has_its_socket(void)
{
    struct bench b = bench_create();
    int peer = -1, hold[2] = {-1, -1};
    char byte = 0;
    struct mechd_lane_link *const link = connect_one(&b, &peer);
    CU_ASSERT_EQUAL_FATAL(pipe(hold), 0);
    close(peer); // the new process does not have this end
    const pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0) {
        close(hold[1]);
        (void)!read(hold[0], &byte, 1); // until the test has seen what it looks for
        _exit(0);
    }
    mechd_lane_close(link);
    CU_ASSERT_EQUAL(link->phase, MECHD_LANE_DEAD);
    mechd_lane_bury(b.thread);
    CU_ASSERT_EQUAL(events_of(&b), 0);
    close(hold[0]);
    close(hold[1]);
    CU_ASSERT_EQUAL(waitpid(child, NULL, 0), child);
    bench_destroy(&b);
}

static void one_with_a_request_in_progress_is_freed_after_its_answer(void)
{
    struct bench b = bench_create();
    int peer = -1;
    struct mechd_lane_link *const link = connect_one(&b, &peer);
    link->works = true;
    close(peer);
    mechd_lane_serve(link, EPOLLRDHUP | EPOLLHUP);
    CU_ASSERT_EQUAL(link->phase, MECHD_LANE_GONE);
    CU_ASSERT_EQUAL(mechd_stop_reason(&link->gone), MECHD_STOP_GONE);
    CU_ASSERT_PTR_NULL(b.thread->dead);
    CU_ASSERT_EQUAL(events_of(&b), 0);
    mechd_lane_serve(link, EPOLLIN); // an event of the same turn
    CU_ASSERT_EQUAL(link->phase, MECHD_LANE_GONE);
    link->works = false;
    mechd_lane_close(link);
    CU_ASSERT_PTR_EQUAL(b.thread->dead, link);
    mechd_lane_bury(b.thread);
    bench_destroy(&b);
}

UNIT_TESTS(UNIT_TEST(a_peer_that_leaves_is_an_event),
           UNIT_TEST(a_closed_one_has_no_events_while_a_new_process_has_its_socket),
           UNIT_TEST(one_with_a_request_in_progress_is_freed_after_its_answer))
