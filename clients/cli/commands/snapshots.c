/* mechctl snapshots: the snapshots that the server keeps of an instance. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {{"id", "SNAPSHOT", false},
                                                    {"parent", "PARENT", false},
                                                    {"time", "TIME", true},
                                                    {"bytes", "BYTES", true},
                                                    {0}};
    struct mechc_json reply, items;
    const int code =
        mechctl_get(m, MECHCTL_PATH("v1", "instances", m->arguments[0], "snapshots"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no snapshots yet; mechctl snapshot ID");
    }
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_snapshots = {
    .name = "snapshots",
    .group = MECHCTL_STEPS,
    .arguments = "ID",
    .summary = "list the snapshots of an instance, oldest first",
    .least = 1,
    .most = 1,
    .run = run,
};
