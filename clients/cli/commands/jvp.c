/* mechctl jvp: directional derivatives of a step. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    m->file = m->arguments[1];
    const int code = mechctl_read_json(m->file, &m->body);
    return code != MECHCTL_DONE
               ? code
               : mechctl_print_reply(
                     m, "POST", MECHCTL_PATH("v1", "instances", m->arguments[0], "jvp"), &m->body);
}

const struct mechctl_command mechctl_jvp = {
    .name = "jvp",
    .group = MECHCTL_ANALYSES,
    .arguments = "ID FILE",
    .summary = "compute directional derivatives of a step",
    .details = "  echo '{\"size\": 0.01, \"inputs\": {\"force\": 1}}' | mechctl jvp i-1 -\n"
               "FILE, or - for standard input, holds the step and the direction.",
    .least = 2,
    .most = 2,
    .run = run,
};
