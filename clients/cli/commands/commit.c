/* mechctl commit: the end of the last trial, or of one that is kept. */
#include "clients/cli/cli.h"

#include <stdlib.h>

static int run(struct mechctl *m)
{
    char *end;
    const long trial = strtol(m->arguments[1], &end, 10);
    mechc_bytes_text(&m->body, "{\"trial\":");
    if (end == m->arguments[1] || *end != 0) {
        mechc_bytes_string(&m->body, m->arguments[1]);
    } else {
        mechc_bytes_number(&m->body, (double)trial);
    }
    mechc_bytes_text(&m->body, "}");
    return mechctl_print_reply(
        m, "POST", MECHCTL_PATH("v1", "instances", m->arguments[0], "commit"), &m->body);
}

const struct mechctl_command mechctl_commit = {
    .name = "commit",
    .group = MECHCTL_STEPS,
    .arguments = "ID TRIAL",
    .summary = "commit a trial step: its end state becomes the state of the instance",
    .details =
        "  mechctl step i-1 --size 0.01 --trial\n"
        "  mechctl commit i-1 1\n"
        "TRIAL is the number that the step printed, if it is the last trial or a kept one, or the\n"
        "name of a kept one (mechctl trials ID --keep NAME).",
    .least = 2,
    .most = 2,
    .run = run,
};
