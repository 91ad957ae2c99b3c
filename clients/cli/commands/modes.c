/* mechctl modes: eigenfrequencies about the present state. */
#include "clients/cli/cli.h"

#include <stdio.h>

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"frequency", "HZ", true}, {"damping", "DAMPING", true}, {"omega2", "OMEGA2", true},
        {"re", "RE", true},        {"im", "IM", true},           {0},
    };
    struct mechc_json reply, modes;
    char path[MECHC_PATH + 96];
    double count = 0.;
    int code = mechctl_number(m, "count", &count);
    if (code == MECHCTL_DONE) {
        code = mechctl_result(
            m, mechc_path(m->c, MECHCTL_PATH("v1", "instances", m->arguments[0], "modes"), path));
    }
    if (code == MECHCTL_DONE && !mechctl_option(m, "count")) {
        mechctl_query(path, sizeof path, "count", "10");
    }
    code = code == MECHCTL_DONE ? mechctl_query_keys(m, path, sizeof path) : code;
    if (code != MECHCTL_DONE) {
        return code;
    }
    struct mechc_reply r;
    code = mechctl_request(m, &(struct mechc_request){.method = "GET", .path = path}, &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!mechc_json_open(r.body, r.size, &reply)) {
        fputs("mechctl: the reply is not JSON\n", stderr);
        return MECHCTL_FAILED;
    }
    if (m->json) {
        return mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "modes", &modes)) {
        mechctl_print_table(m, modes, columns, "no modes");
    }
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    {.key = "count", .argument = "COUNT", .doc = "the lowest COUNT modes (10)"},
    {0},
};

const struct mechctl_command mechctl_modes = {
    .name = "modes",
    .group = MECHCTL_ANALYSES,
    .arguments = "ID",
    .summary = "list the eigenfrequencies of an instance",
    .details = "  mechctl modes i-1 --count 5 --complex\n"
               "With --json also the mode shapes.",
    .query = &mechp_row_MODES,
    .options = options,
    .synonyms = "eigenvalues eigenmodes frequencies",
    .least = 1,
    .most = 1,
    .run = run,
};
