/* mechctl quota: limits of the token on the server, and their use. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    return mechctl_show_path(m, MECHCTL_PATH("v1", "quota"));
}

const struct mechctl_command mechctl_quota = {
    .name = "quota",
    .group = MECHCTL_SERVER,
    .arguments = "",
    .summary = "show the limits of the token and their current use",
    .synonyms = "limits",
    .run = run,
};
