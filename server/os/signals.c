/* The kernel keeps a signal that every thread blocks until main asks for it; no handler runs.
 *
 * To block them in main is too late: OpenBLAS starts threads when it is loaded. Such a thread would
 * take the signal, and its default action ends the process, or a handler runs in a thread that
 * hardly ever leaves its wait. What .preinit_array names runs before any library's constructor. */
#define _DEFAULT_SOURCE /* syscall */
#include "server/os/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int taken[] = {SIGTERM, SIGINT, SIGHUP};
enum { TAKEN = sizeof taken / sizeof *taken };

#ifdef __clang__
#define BARE __attribute__((disable_sanitizer_instrumentation))
#else
#define BARE __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

/* Nothing of libc but the system call: it may not be ready. The kernel's set is 64 bits. */
BARE static void block_first(void)
{
    uint64_t set = 0;
    for (size_t k = 0; k < TAKEN; k++) {
        set |= (uint64_t)1 << (taken[k] - 1);
    }
    (void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, sizeof set);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = block_first;

static sigset_t set_of_taken(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t k = 0; k < TAKEN; k++) {
        sigaddset(&set, taken[k]);
    }
    return set;
}

void mechd_signals_open(void)
{
    const sigset_t set = set_of_taken();
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int mechd_signals_catch(void)
{
    const sigset_t set = set_of_taken();
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) {
        return -1;
    }
    // a shell that starts us in the background, or nohup, has them ignored
    for (size_t k = 0; k < TAKEN; k++) {
        if (signal(taken[k], SIG_DFL) == SIG_ERR) {
            return -1;
        }
    }
    // SIGTTOU: a line of the log from the background would stop us where the terminal says tostop
    static const int errors[] = {SIGXFSZ, SIGPIPE, SIGTTOU};
    for (size_t k = 0; k < sizeof errors / sizeof *errors; k++) {
        if (signal(errors[k], SIG_IGN) == SIG_ERR) {
            return -1;
        }
    }
    return 0;
}

int mechd_signals_wait(void)
{
    const sigset_t set = set_of_taken();
    int number;
    do {
        number = sigwaitinfo(&set, NULL);
    } while (number < 0 && errno == EINTR);
    return number;
}
