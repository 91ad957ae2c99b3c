/* mechctl scene: bodies, shapes and frames for a viewer. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    return mechctl_print_reply(m, "GET", MECHCTL_PATH("v1", "instances", m->arguments[0], "scene"),
                               NULL);
}

const struct mechctl_command mechctl_scene = {
    .name = "scene",
    .group = MECHCTL_ANALYSES,
    .arguments = "ID",
    .summary = "print bodies, shapes and frames for a viewer",
    .least = 1,
    .most = 1,
    .run = run,
};
