/* mechctl runs: the last runs of an instance. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"id", "RUN", false},
        {"state", "STATE", false},
        {"start", "FROM", true},
        {"time", "TIME", true},
        {"until", "UNTIL", true},
        {"periods", "PERIODS", true},
        {"overruns", "LATE", true},
        {"elapsed", "SECONDS", true},
        {"recorded", "ROWS", true},
        {"reason", "REASON", false},
        {0},
    };
    struct mechc_json reply, items;
    const int code =
        mechctl_get(m, MECHCTL_PATH("v1", mechctl_kind(m), m->arguments[0], "runs"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no runs yet; mechctl run ID --until T --record 1");
    }
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {MECHCTL_OF_COUPLING, {0}};

const struct mechctl_command mechctl_runs = {
    .name = "runs",
    .group = MECHCTL_RUNS,
    .arguments = "ID",
    .summary = "list the last runs of an instance or a coupling, newest first",
    .options = options,
    .synonyms = "history jobs",
    .least = 1,
    .most = 1,
    .run = run,
};
