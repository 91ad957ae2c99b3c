#include "server/os/thread.h"

#include <sys/prctl.h>

void mechd_thread_name(const char *name)
{
    (void)prctl(PR_SET_NAME, name, 0UL, 0UL, 0UL);
}
