/* mechctl show: one instance. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    return mechctl_show_path(m, MECHCTL_PATH("v1", "instances", m->arguments[0]));
}

const struct mechctl_command mechctl_show = {
    .name = "show",
    .group = MECHCTL_MODELS,
    .arguments = "ID",
    .summary = "show one instance",
    .synonyms = "get inspect describe status",
    .least = 1,
    .most = 1,
    .run = run,
};
