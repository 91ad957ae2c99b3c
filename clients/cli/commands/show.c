/* mechctl show: one instance. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    struct mechc_json reply;
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "instances", m->arguments[0]), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    mechctl_print_tree(m, reply);
    return MECHCTL_DONE;
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
