/* epoll_wait in place of the C library's, for this program and the libraries that it loads: after a
 * call that has filled its array, the next one of the thread does not sleep.
 *
 * libmicrohttpd 0.9.75 collects what is ready until a call does not fill its array of 128
 * (MHD_epoll) and passes the same time limit to each call: a thread that found exactly 128 of its
 * connections ready slept beside them until there was a 129th, as long as a connection may be idle.
 * No events in less time than allowed are an answer that the loops of libmicrohttpd, ZeroMQ and the
 * lane take as a turn without news.
 */
#define _GNU_SOURCE /* epoll_pwait */
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>

__attribute__((visibility("default"))) int epoll_wait(int epoll, struct epoll_event *events,
                                                      int most, int patience)
{
    static _Thread_local bool was_full;
    const int n = epoll_pwait(epoll, events, most, was_full ? 0 : patience, NULL);
    was_full = n == most;
    return n;
}
