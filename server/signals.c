/* Waits with a deadline and again, so that no wait is without one. */
#include "server/signals.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static sigset_t ours(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return set;
}

void mechd_signals_block(void)
{
    const sigset_t set = ours();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    struct sigaction ignore = {.sa_flags = 0};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, NULL);
}

int mechd_signals_wait(void)
{
    const sigset_t set = ours();
    const struct timespec nap = {.tv_sec = 1};
    int signal = -1;
    while (signal < 0) {
        signal = sigtimedwait(&set, NULL, &nap);
    }
    return signal;
}
