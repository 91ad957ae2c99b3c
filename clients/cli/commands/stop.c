/* mechctl stop: end the run of an instance. */
#include "clients/cli/cli.h"

#include <stdio.h>

/* The id of the run in progress: named by the instance. */
static int find_run(struct mechctl *m, char *out)
{
    struct mechc_json reply, v;
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "instances", m->arguments[0]), &reply);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (mechc_json_member(reply, "run", &v)) {
        mechc_json_member(v, "id", &v);
        if (mechc_json_kind(v) == '"') {
            mechc_json_text(v, out, MECHC_ID);
            return MECHCTL_DONE;
        }
    }
    fprintf(stderr, "mechctl: %s has no run in progress\n", m->arguments[0]);
    return MECHCTL_REFUSED;
}

static int run(struct mechctl *m)
{
    char id[MECHC_ID];
    struct mechc_json reply;
    const int code = m->count > 1 ? MECHCTL_DONE : find_run(m, id);
    const char *const *const path = MECHCTL_PATH("v1", "instances", m->arguments[0], "runs",
                                                 m->count > 1 ? m->arguments[1] : id);
    return code == MECHCTL_DONE ? mechctl_send(m, "DELETE", path, NULL, &reply) : code;
}

const struct mechctl_command mechctl_stop = {
    .name = "stop",
    .arguments = "ID [RUN]",
    .summary = "end the run of an instance at a step boundary",
    .least = 1,
    .most = 2,
    .run = run,
};
