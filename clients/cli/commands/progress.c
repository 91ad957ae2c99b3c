/* mechctl progress: the progress of a run. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    return mechctl_option(m, "wait")
               ? mechctl_wait(m, m->arguments[0], m->arguments[1])
               : mechctl_show_path(m, MECHCTL_PATH("v1", mechctl_kind(m), m->arguments[0], "runs",
                                                   m->arguments[1]));
}

static const struct mechctl_option options[] = {
    MECHCTL_OF_COUPLING,
    {"wait", NULL, "wait until the run is over"},
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
