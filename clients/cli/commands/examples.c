/* mechctl examples: the ready models of the server, or one of them. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"name", "NAME", false}, {"title", "TITLE", false}, {"description", "ABOUT", false}, {0}};
    struct mechc_json reply, items;
    if (m->count > 0) {
        const int code = mechctl_get(m, MECHCTL_PATH("v1", "examples", m->arguments[0]), &reply);
        if (code == MECHCTL_DONE) {
            // the bare model is what create takes
            mechc_json_member(reply, "model", &reply);
            mechctl_print_json(reply);
        }
        return code;
    }
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "examples"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no examples");
    }
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_examples = {
    .name = "examples",
    .group = MECHCTL_MODELS,
    .arguments = "[NAME]",
    .summary = "list the example models of the server, or print one as JSON",
    .details = "  mechctl examples bouncing-ball > ball.json",
    .synonyms = "demo demos samples",
    .most = 1,
    .run = run,
};
