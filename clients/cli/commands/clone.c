/* mechctl clone: a new instance with the model and state of another. */
#include "clients/cli/cli.h"

#include <stdio.h>

static int run(struct mechctl *m)
{
    const char *const id = mechctl_option(m, "id");
    mechc_bytes_text(&m->body, "{");
    if (id) {
        mechc_bytes_text(&m->body, "\"as\":");
        mechc_bytes_string(&m->body, id);
    }
    mechc_bytes_text(&m->body, "}");
    struct mechc_json reply;
    const int code = mechctl_send(
        m, "POST", MECHCTL_PATH("v1", "instances", m->arguments[0], "clone"), &m->body, &reply);
    return code != MECHCTL_DONE ? code : mechctl_print_id(m, reply);
}

static const struct mechctl_option options[] = {
    {"id", "ID", "id of the new instance; refused if it is taken"},
    {0},
};

const struct mechctl_command mechctl_clone = {
    .name = "clone",
    .group = MECHCTL_MODELS,
    .arguments = "ID",
    .summary = "create an instance with the same model and state; prints its id",
    .details = "  mechctl clone i-1 --id what-if\n"
               "Labels and durability are the original's.",
    .options = options,
    .synonyms = "cp copy fork duplicate",
    .least = 1,
    .most = 1,
    .run = run,
};
