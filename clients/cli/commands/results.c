/* mechctl results: the recorded outputs of a run. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    char path[MECHC_PATH + 64];
    const int result = mechc_path(
        m->c, MECHCTL_PATH("v1", "instances", m->arguments[0], "runs", m->arguments[1], "results"),
        path);
    if (result != MECHC_OK) {
        return mechctl_result(m, result);
    }
    mechctl_query(path, sizeof path, "format", mechctl_option(m, "format"));
    return mechctl_print_path(m, path);
}

static const struct mechctl_option options[] = {
    {"format", "FORMAT", "json, ndjson, csv, npy or raw (json)"},
    {0},
};

const struct mechctl_command mechctl_results = {
    .name = "results",
    .arguments = "ID RUN",
    .summary = "print the recorded outputs of a run",
    .details = "  mechctl results i-1 r-1 --format csv >out.csv",
    .options = options,
    .least = 2,
    .most = 2,
    .run = run,
};
