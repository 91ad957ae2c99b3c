/* mechctl ssp: a coupling as a system structure package in a file. */
#include "clients/cli/cli.h"

#include <stdio.h>

enum { NAME_ROOM = 512 };

static int run(struct mechctl *m)
{
    char path[MECHC_PATH], name[NAME_ROOM];
    const char *const given = mechctl_option(m, "output");
    snprintf(name, sizeof name, "%s.ssp", m->arguments[0]);
    const char *const file = given ? given : name;
    const int code = mechctl_result(
        m, mechc_path(m->c, MECHCTL_PATH("v1", "couplings", m->arguments[0], "ssp"), path));
    return code != MECHCTL_DONE ? code : mechctl_download(m, path, file);
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("output", "FILE",
                   "where to write it, also -o FILE; - for standard output (ID.ssp)"),
    {0},
};

const struct mechctl_command mechctl_ssp = {
    .name = "ssp",
    .group = MECHCTL_MANY,
    .arguments = "ID",
    .summary = "write a coupling as a system structure package (SSP)",
    .details = "  mechctl ssp c-1 -o drive.ssp\n"
               "The package holds the models as FMUs with the solver, parameters and connections;\n"
               "other tools and mechctl couple open it. It starts from the initial state of the\n"
               "models, not from the state of the coupling.",
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
