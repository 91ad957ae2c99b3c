/* mechctl reset: set instances back to their initial state. */
#include "clients/cli/cli.h"

#include <stdio.h>

static int run(struct mechctl *m)
{
    // each is tried; the first failure is the exit code
    int code = MECHCTL_DONE;
    for (int i = 0; i < m->count; i++) {
        struct mechc_json reply;
        const int now = mechctl_send(
            m, "POST", MECHCTL_PATH("v1", "instances", m->arguments[i], "reset"), NULL, &reply);
        code = code == MECHCTL_DONE ? now : code;
        if (now == MECHCTL_DONE && !m->json) {
            printf("%s reset\n", m->arguments[i]);
        }
    }
    return code;
}

const struct mechctl_command mechctl_reset = {
    .name = "reset",
    .group = MECHCTL_STEPS,
    .arguments = "ID ...",
    .summary = "reset instances to their initial state",
    .least = 1,
    .most = -1,
    .run = run,
};
