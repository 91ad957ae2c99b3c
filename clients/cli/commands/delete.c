/* mechctl delete: delete instances. */
#include "clients/cli/cli.h"

#include <stdio.h>

static int run(struct mechctl *m)
{
    // each is tried; the first failure is the exit code
    int code = MECHCTL_DONE;
    for (int i = 0; i < m->count; i++) {
        struct mechc_json reply;
        const int now = mechctl_send(m, "DELETE", MECHCTL_PATH("v1", "instances", m->arguments[i]),
                                     NULL, &reply);
        code = code == MECHCTL_DONE ? now : code;
        if (now == MECHCTL_DONE && !m->json) {
            printf("%s deleted\n", m->arguments[i]);
        }
    }
    return code;
}

const struct mechctl_command mechctl_delete = {
    .name = "delete",
    .group = MECHCTL_MODELS,
    .arguments = "ID ...",
    .summary = "delete instances",
    .synonyms = "rm remove del destroy",
    .least = 1,
    .most = -1,
    .run = run,
};
