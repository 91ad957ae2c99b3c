/* mechctl clone: a new instance with the model and state of another. */
#include "clients/cli/cli.h"

#include <stdio.h>

static int run(struct mechctl *m)
{
    mechc_bytes_text(&m->body, "{");
    int code = mechctl_add_keys(m, NULL);
    mechc_bytes_text(&m->body, "}");
    struct mechc_json reply;
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "instances", m->arguments[0], "clone"),
                            &m->body, &reply);
    }
    return code != MECHCTL_DONE ? code : mechctl_print_id(m, reply);
}

static const struct mechctl_option options[] = {
    {.name = "id",
     .argument = "ID",
     .key = "as",
     .doc = "id of the new instance; refused if it is taken"},
    {.name = "label", .key = "labels"},
    {0},
};

const struct mechctl_command mechctl_clone = {
    .name = "clone",
    .group = MECHCTL_MODELS,
    .arguments = "ID",
    .summary = "create an instance with the same model and state; prints its id",
    .details = "  mechctl clone i-1 --id what-if\n"
               "What is not given is the original's.",
    .body = &mechp_row_CLONE,
    .options = options,
    .synonyms = "cp copy fork duplicate",
    .least = 1,
    .most = 1,
    .run = run,
};
