/* mechd-fmu: the process that hosts one instance of an FMU. It is started by the daemon with a
 * socket as its input, confines itself, loads the library and answers questions until the socket is
 * closed. What the library does wrong ends this process: a crash, an abort, an exit. Endless loops
 * are ended by the daemon, whose waits are bounded. */
#include "server/engine/fmu_serve.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void)
{
    // the daemon's end is this one's end, also when the library has the thread
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGPIPE, SIG_IGN);
    mechd_fmu_serve(STDIN_FILENO);
    // no destructor of the library runs
    _exit(0);
}
