/* mechctl operation: a request that the server answers later. */
#include "clients/cli/cli.h"

#include <stdio.h>

/* One that had been done before it could be cancelled, as the reply says. */
static int tell_done(const struct mechctl *m, struct mechc_json reply)
{
    const char *const id = m->arguments[0];
    struct mechc_json v;
    char made[128] = "";
    (void)(mechc_json_member(reply, "location", &v) && mechc_json_text(v, made, sizeof made));
    fprintf(stderr,
            "mechctl: %s was done before it could be cancelled%s%s; 'mechctl operation %s' shows "
            "its answer\n",
            id, *made ? "; it made " : "", made, id);
    return MECHCTL_REFUSED;
}

static int run(struct mechctl *m)
{
    const char *const *const path = MECHCTL_PATH("v1", "operations", m->arguments[0]);
    struct mechc_json reply;
    if (!mechctl_option(m, "cancel")) {
        return mechctl_print_reply(m, "GET", path, NULL);
    }
    const int code = mechctl_send(m, "DELETE", path, NULL, &reply);
    return code == MECHCTL_DONE && mechc_json_kind(reply) == '{' ? tell_done(m, reply) : code;
}

static const struct mechctl_option options[] = {
    {"cancel", NULL, "stop it, or discard its answer once that is known to be there"},
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
