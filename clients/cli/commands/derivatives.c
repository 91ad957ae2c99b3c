/* mechctl derivatives: derivatives of the equations at a point. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    m->file = m->arguments[1];
    const int code = mechctl_read_json(m->file, &m->body);
    return code != MECHCTL_DONE
               ? code
               : mechctl_print_reply(
                     m, "POST", MECHCTL_PATH("v1", "instances", m->arguments[0], "derivatives"),
                     &m->body);
}

const struct mechctl_command mechctl_derivatives = {
    .name = "derivatives",
    .group = MECHCTL_ANALYSES,
    .arguments = "ID FILE",
    .summary = "compute directional or adjoint derivatives of the equations of motion at a point",
    .details =
        "  echo '{\"direction\": {\"inputs\": {\"force\": 1}}}' | mechctl derivatives i-1 -\n"
        "FILE, or - for standard input, holds a direction in the state and the inputs, a "
        "seed (weights\nof the rates and the outputs), or both; and the point, if it is not the "
        "present state.",
    .least = 2,
    .most = 2,
    .run = run,
};
