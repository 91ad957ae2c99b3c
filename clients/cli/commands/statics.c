/* mechctl statics: move an instance to its static equilibrium, or only show it. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    const char *const *const path = MECHCTL_PATH("v1", "instances", m->arguments[0], "statics");
    struct mechc_json reply, part;
    mechc_bytes_text(&m->body,
                     mechctl_option(m, "show") ? "{\"commit\":false" : "{\"commit\":true");
    int code = mechctl_add_keys(m, NULL);
    mechc_bytes_text(&m->body, "}");
    code = code == MECHCTL_DONE ? mechctl_send(m, "POST", path, &m->body, &reply) : code;
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "outputs", &part)) {
        mechctl_print_values(m, part, NULL);
    }
    if (mechc_json_member(reply, "report", &part)) {
        mechctl_print_tree(m, part);
    }
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    {.name = "show",
     .key = "commit",
     .apart = true,
     .doc = "print the equilibrium and do not move the instance"},
    {0},
};

const struct mechctl_command mechctl_statics = {
    .name = "statics",
    .group = MECHCTL_ANALYSES,
    .arguments = "ID",
    .summary = "move an instance to its static equilibrium",
    .details = "  mechctl statics i-1 --load-steps 10",
    .body = &mechp_row_STATICS,
    .options = options,
    .synonyms = "equilibrium",
    .least = 1,
    .most = 1,
    .run = run,
};
