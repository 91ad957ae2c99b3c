/* mechctl list: all instances. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"id", "ID", false},     {"name", "NAME", false},       {"time", "TIME", true},
        {"step", "STEPS", true}, {"running", "RUNNING", false}, {0},
    };
    struct mechc_json reply, items;
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "instances"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no instances; mechctl create --example NAME");
    }
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_list = {
    .name = "list",
    .arguments = "",
    .summary = "list the instances",
    .run = run,
};
