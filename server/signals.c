/* A handler writes the signal's number into a pipe that main reads.
 *
 * To block the signals and to wait for them is not enough: OpenBLAS starts threads when it is
 * loaded, before main can block anything, and when such a thread takes a signal, its default action
 * ends the process. Our own threads block them, so that no wait of theirs is cut short. */
#include "server/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int caught[] = {SIGTERM, SIGINT, SIGHUP};
enum { CAUGHT = sizeof caught / sizeof *caught };

/* to read, to write; const once caught */
static int ends[2] = {-1, -1};

static void tell(int number)
{
    const int before = errno;
    const unsigned char byte = (unsigned char)number;
    // a full pipe holds reasons enough
    const ssize_t written = write(ends[1], &byte, 1);
    (void)written;
    errno = before;
}

int mechd_signals_catch(void)
{
    if (pipe(ends) != 0) {
        return -1;
    }
    for (int k = 0; k < 2; k++) {
        if (fcntl(ends[k], F_SETFD, FD_CLOEXEC) != 0 || fcntl(ends[k], F_SETFL, O_NONBLOCK) != 0) {
            return -1;
        }
    }

    // blocked here and in the threads to come, until main waits
    struct sigaction act = {.sa_flags = SA_RESTART};
    act.sa_handler = tell;
    sigemptyset(&act.sa_mask);
    sigset_t set;
    sigemptyset(&set);
    for (int k = 0; k < CAUGHT; k++) {
        sigaddset(&set, caught[k]);
        if (sigaction(caught[k], &act, NULL) != 0) {
            return -1;
        }
    }
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) {
        return -1;
    }
    // a file that may not grow is an error of its write
    act.sa_handler = SIG_IGN;
    return sigaction(SIGXFSZ, &act, NULL) != 0 ? -1 : sigaction(SIGPIPE, &act, NULL);
}

int mechd_signals_wait(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int k = 0; k < CAUGHT; k++) {
        sigaddset(&set, caught[k]);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    struct pollfd reading = {.fd = ends[0], .events = POLLIN};
    unsigned char byte = 0;
    while (read(ends[0], &byte, 1) != 1) {
        // with a deadline, as every wait
        (void)poll(&reading, 1, 1000);
    }
    return byte;
}
