/* mechctl restore: back to a snapshot that the server keeps. */
#include "clients/cli/cli.h"

#include <stdio.h>

static int run(struct mechctl *m)
{
    const char *const *const path =
        MECHCTL_PATH("v1", "instances", m->arguments[0], "snapshots", m->arguments[1], "restore");
    struct mechc_json reply;
    const int code = mechctl_send(m, "POST", path, NULL, &reply);
    if (code == MECHCTL_DONE && !m->json) {
        printf("%s restored to %s\n", m->arguments[0], m->arguments[1]);
    }
    return code;
}

const struct mechctl_command mechctl_restore = {
    .name = "restore",
    .arguments = "ID SNAPSHOT",
    .summary = "restore an instance to one of its snapshots",
    .details = "  mechctl restore i-1 s-1\n"
               "SNAPSHOT is the id that mechctl snapshot printed.\n"
               "A snapshot in a file becomes a new instance: mechctl create --snapshot FILE.",
    .least = 2,
    .most = 2,
    .run = run,
};
