/* mechctl help: of the program or of one command. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    if (mechctl_option(m, "man")) {
        return mechctl_print_manual();
    }
    const struct mechctl_command *const about = m->count > 0 ? mechctl_find(m->arguments[0]) : NULL;
    if (m->count > 0 && !about) {
        return mechctl_no_command(m->arguments[0]);
    }
    mechctl_print_help(about);
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("man", NULL, "print the manual page, for man"),
    {0},
};

const struct mechctl_command mechctl_help = {
    .name = "help",
    .group = MECHCTL_SERVER,
    .arguments = "[COMMAND]",
    .summary = "explain the program or a command",
    .options = options,
    .synonyms = "man usage",
    .most = 1,
    .run = run,
};
