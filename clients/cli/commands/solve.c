/* mechctl solve: a complementarity or friction problem from a file. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    struct mechc_json reply;
    m->file = m->arguments[0];
    m->prefix = "/problem";
    mechc_bytes_text(&m->body, "{\"problem\":");
    m->lead = (int)m->body.length;
    int code = mechctl_read_json(m->file, &m->body);
    mechc_bytes_text(&m->body, "}");
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "problems", "solve"), &m->body, &reply);
    }
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    mechctl_print_tree(m, reply);
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_solve = {
    .name = "solve",
    .group = MECHCTL_ANALYSES,
    .arguments = "FILE",
    .summary = "solve a complementarity or friction problem without a model",
    .details = "FILE, or - for standard input, holds N and r (c = N l + r), and sets or mu:\n"
               "  echo '{\"N\": [[2, 1], [1, 2]], \"r\": [-5, -6]}' | mechctl solve -",
    .least = 1,
    .most = 1,
    .run = run,
};
