/* mechctl contacts: where bodies touched in the last step. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"bodies", "BODIES", false},
        {"shapes", "SHAPES", false},
        {"gap", "GAP", true},
        {"normalForce", "NORMAL", true},
        {"force", "FORCE", false},
        {"point", "POINT", false},
        {0},
    };
    struct mechc_json reply, items;
    const int code =
        mechctl_get(m, MECHCTL_PATH("v1", "instances", m->arguments[0], "contacts"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no contacts");
    }
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_contacts = {
    .name = "contacts",
    .group = MECHCTL_ANALYSES,
    .arguments = "ID",
    .summary = "list the contacts between bodies in the last step",
    .least = 1,
    .most = 1,
    .run = run,
};
