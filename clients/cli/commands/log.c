/* mechctl log: how much the server writes into its log. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    mechc_bytes_text(&m->body, "{\"level\":");
    mechc_bytes_string(&m->body, m->arguments[0]);
    mechc_bytes_text(&m->body, "}");
    return mechctl_print_reply(m, "PUT", MECHCTL_PATH("v1", "log-level"), &m->body);
}

static const struct mechctl_words words[] = {{"LEVEL", .row = &mechp_row_LOG_LEVEL, .key = "level"},
                                             {0}};

const struct mechctl_command mechctl_log = {
    .name = "log",
    .group = MECHCTL_SERVER,
    .arguments = "LEVEL",
    .summary = "set the level of the server's log",
    .details = "It holds until the server is restarted or receives SIGHUP.",
    .words = words,
    .least = 1,
    .most = 1,
    .run = run,
};
