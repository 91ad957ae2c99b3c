/* mechctl operation: a request that the server answers later. */
#include "clients/cli/cli.h"
#include "solver/base/odd.h"

#include <stdio.h>

/* One that had failed, with the problem in its description. */
static int tell_failed(const char *id, struct mechc_json reply)
{
    struct mechc_json problem, v;
    char detail[512] = "", code[64] = "", shown[1024];
    if (mechc_json_member(reply, "answer", &problem)) {
        (void)(mechc_json_member(problem, "detail", &v) &&
               mechc_json_text(v, detail, sizeof detail));
        (void)(mechc_json_member(problem, "code", &v) && mechc_json_text(v, code, sizeof code));
    }
    mech_text_show(shown, sizeof shown, detail);
    fprintf(stderr, "mechctl: %s had failed before it could be cancelled: %s (%s)\n", id, shown,
            code);
    return MECHCTL_REFUSED;
}

/* One that was over, or had had its effect, before it could be cancelled, as the reply says. */
static int tell_done(const struct mechctl *m, struct mechc_json reply)
{
    const char *const id = m->arguments[0];
    struct mechc_json v;
    char made[128] = "";
    double status = 0.;
    (void)(mechc_json_member(reply, "status", &v) && mechc_json_number(v, &status));
    if (status >= 400.) {
        return tell_failed(id, reply);
    }
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
    MECHCTL_OPTION("cancel", NULL, "stop it, or discard its answer if it has finished"),
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
