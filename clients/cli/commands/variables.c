/* mechctl variables: inputs, outputs and parameters in FMI's terms. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"name", "NAME", false},
        {"causality", "CAUSALITY", false},
        {"variability", "VARIABILITY", false},
        {"unit", "UNIT", false},
        {"shape", "SHAPE", false},
        {"start", "START", true},
        {"reference", "REFERENCE", true},
        {0},
    };
    struct mechc_json reply, items;
    const int code =
        mechctl_get(m, MECHCTL_PATH("v1", "instances", m->arguments[0], "variables"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no variables");
    }
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_variables = {
    .name = "variables",
    .group = MECHCTL_MODELS,
    .arguments = "ID",
    .summary = "list inputs, outputs and parameters",
    .synonyms = "vars",
    .least = 1,
    .most = 1,
    .run = run,
};
