/* mechctl log: how much the server writes into its log. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    mechc_bytes_text(&m->body, "{\"level\":");
    mechc_bytes_string(&m->body, m->arguments[0]);
    mechc_bytes_text(&m->body, "}");
    return mechctl_print_reply(m, "PUT", MECHCTL_PATH("v1", "log-level"), &m->body);
}

const struct mechctl_command mechctl_log = {
    .name = "log",
    .arguments = "LEVEL",
    .summary = "set the level of the server's log: error, warning, info or debug",
    .details = "It holds until the server starts again, or gets SIGHUP.",
    .least = 1,
    .most = 1,
    .run = run,
};
