/* mechctl run: let the server step an instance on its own. */
#include "clients/cli/cli.h"

#include <stdio.h>

static int run(struct mechctl *m)
{
    struct mechc_run_settings r = {.pace = mechctl_option(m, "fast") ? 0. : 1.};
    int code = mechctl_number(m, "pace", &r.pace);
    if (code == MECHCTL_DONE) {
        code = mechctl_number(m, "period", &r.period);
    }
    if (code == MECHCTL_DONE) {
        code = mechctl_number(m, "until", &r.until);
    }
    if (code != MECHCTL_DONE) {
        return code;
    }
    char id[MECHC_ID];
    const int result = mechc_run(m->c, m->arguments[0], &r, id);
    if (result == MECHC_OK && mechctl_option(m, "wait")) {
        return mechctl_wait(m, m->arguments[0], id);
    }
    if (result == MECHC_OK) {
        printf(m->json ? "{\"id\":\"%s\"}\n" : "%s\n", id);
    }
    return mechctl_result(m, result);
}

static const struct mechctl_option options[] = {
    {"pace", "P", "simulated seconds per second (default 1: real time)"},
    {"fast", NULL, "as fast as it goes; needs --until"},
    {"period", "H", "communication step, in seconds"},
    {"until", "T", "end time, in seconds (default: until it is stopped)"},
    {"wait", NULL, "until it is over, with a bar on a terminal"},
    {0},
};

const struct mechctl_command mechctl_run = {
    .name = "run",
    .arguments = "ID",
    .summary = "let the server step an instance in real time or freely; prints the run's id",
    .details = "mechctl stop ID ends it, mechctl watch ID shows it.",
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
