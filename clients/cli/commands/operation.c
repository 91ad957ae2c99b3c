/* mechctl operation: a request that the server answers later. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    const char *const *const path = MECHCTL_PATH("v1", "operations", m->arguments[0]);
    struct mechc_json reply;
    return mechctl_option(m, "cancel") ? mechctl_send(m, "DELETE", path, NULL, &reply)
                                       : mechctl_print_reply(m, "GET", path, NULL);
}

static const struct mechctl_option options[] = {
    {"cancel", NULL, "stop it if possible, and discard its answer"},
    {0},
};

const struct mechctl_command mechctl_operation = {
    .name = "operation",
    .group = MECHCTL_MANY,
    .arguments = "ID",
    .summary = "show an asynchronous request, with its answer once it is done",
    .details = "These are requests with the header Prefer: respond-async.",
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
