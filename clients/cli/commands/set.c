/* mechctl set: inputs of an instance. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    mechc_bytes_text(&m->body, "{\"inputs\":");
    int code = mechctl_assignments(m, 1, &m->body);
    mechc_bytes_text(&m->body, "}");
    struct mechc_json reply;
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "PUT", MECHCTL_PATH("v1", "instances", m->arguments[0], "inputs"),
                            &m->body, &reply);
    }
    return code == MECHCTL_DONE && m->json ? mechctl_print_raw(reply) : code;
}

const struct mechctl_command mechctl_set = {
    .name = "set",
    .group = MECHCTL_STEPS,
    .arguments = "ID NAME=VALUE ...",
    .summary = "set inputs; they hold until they are set again",
    .details = "  mechctl set i-1 force=12.5\n  mechctl set i-1 force=0,0,-9.81",
    .least = 2,
    .most = -1,
    .run = run,
};
