/* mechctl progress: the progress of a run. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    const char *const id = m->arguments[0], *const run = m->arguments[1];
    if (!mechctl_option(m, "wait")) {
        return mechctl_show_path(m, MECHCTL_PATH("v1", mechctl_kind(m), id, "runs", run));
    }
    const struct mechctl_ends before = mechctl_note_ends();
    const int code = mechctl_wait(m, id, run, false);
    mechctl_obey_ends(&before);
    return code;
}

static const struct mechctl_option options[] = {
    MECHCTL_OF_COUPLING,
    MECHCTL_OPTION("wait", NULL, "wait until the run is over"),
    {0},
};

const struct mechctl_command mechctl_progress = {
    .name = "progress",
    .group = MECHCTL_RUNS,
    .arguments = "ID RUN",
    .summary = "show the progress of a run, or wait for its end",
    .options = options,
    .synonyms = "wait",
    .least = 2,
    .most = 2,
    .run = run,
};
