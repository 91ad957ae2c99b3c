/* mechctl linearize: A, B, C, D about the present state. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    return mechctl_print_reply(
        m, "GET", MECHCTL_PATH("v1", "instances", m->arguments[0], "linearization"), NULL);
}

const struct mechctl_command mechctl_linearize = {
    .name = "linearize",
    .group = MECHCTL_ANALYSES,
    .arguments = "ID",
    .summary = "linearize about the present state: A, B, C, D",
    .least = 1,
    .most = 1,
    .run = run,
};
