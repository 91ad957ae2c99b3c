/* mechctl about: version, build, libraries and limits of the server. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    struct mechc_json reply;
    const int code = mechctl_get(m, MECHCTL_PATH("v1"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    mechctl_print_tree(m, reply);
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_about = {
    .name = "about",
    .arguments = "",
    .summary = "version, build, libraries and limits of the server",
    .run = run,
};
