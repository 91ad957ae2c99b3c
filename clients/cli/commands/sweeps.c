/* mechctl sweeps: running sweeps and those whose results are stored. */
#include "clients/cli/cli.h"

static int list(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"id", "ID", false},
        {"name", "NAME", false},
        {"state", "STATE", false},
        {"points", "POINTS", true},
        {"done", "DONE", true},
        {"failed", "FAILED", true},
        {"stored", "STORED", false},
        {"parameters", "PARAMETERS", false},
        {0},
    };
    struct mechc_json reply, items;
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "sweeps"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no sweeps");
    }
    return MECHCTL_DONE;
}

static int run(struct mechctl *m)
{
    const char *const format = mechctl_option(m, "results");
    if (m->count == 0) {
        return list(m);
    }
    const char *const *const path = MECHCTL_PATH("v1", "sweeps", m->arguments[0]);
    struct mechc_json reply;
    int code = MECHCTL_DONE;
    if (format) {
        code = mechctl_print_sweep(m, m->arguments[0], format);
    } else if (!mechctl_option(m, "delete")) {
        code = mechctl_print_reply(m, "GET", path, NULL);
    }
    return code == MECHCTL_DONE && mechctl_option(m, "delete")
               ? mechctl_send(m, "DELETE", path, NULL, &reply)
               : code;
}

static const struct mechctl_option options[] = {
    {.name = "results",
     .argument = "FORMAT",
     .key = "format",
     .apart = true,
     .doc = "print its rows in this format"},
    MECHCTL_OPTION("delete", NULL, "stop the sweep if it is running, and delete its rows"),
    {0},
};

const struct mechctl_command mechctl_sweeps = {
    .name = "sweeps",
    .group = MECHCTL_MANY,
    .arguments = "[ID]",
    .summary = "list the sweeps, or show one, print its results, delete it",
    .query = &mechp_row_SWEEP_RESULTS,
    .options = options,
    .least = 0,
    .most = 1,
    .run = run,
};
