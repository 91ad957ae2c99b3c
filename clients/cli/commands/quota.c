/* mechctl quota: what the token may use of the server, and uses. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    return mechctl_print_reply(m, "GET", MECHCTL_PATH("v1", "quota"), NULL);
}

const struct mechctl_command mechctl_quota = {
    .name = "quota",
    .arguments = "",
    .summary = "show limits of the token, and what is used of them",
    .run = run,
};
