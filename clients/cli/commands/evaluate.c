/* mechctl evaluate: the equations at any point. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    m->file = m->arguments[1];
    const int code = mechctl_read_json(m->file, &m->body);
    return code != MECHCTL_DONE
               ? code
               : mechctl_print_reply(m, "POST",
                                     MECHCTL_PATH("v1", "instances", m->arguments[0], "evaluate"),
                                     &m->body);
}

const struct mechctl_command mechctl_evaluate = {
    .name = "evaluate",
    .group = MECHCTL_ANALYSES,
    .arguments = "ID FILE",
    .summary = "evaluate the equations of motion at any point",
    .details = "  echo '{\"want\": [\"mass\", \"rhs\"]}' | mechctl evaluate i-1 -\n"
               "FILE, or - for standard input, holds want, the names of the quantities, and time,\n"
               "q, v, x, z of the point where they differ from the present ones.",
    .least = 2,
    .most = 2,
    .run = run,
};
