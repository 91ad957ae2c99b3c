/* mechctl modes: eigenfrequencies about the present state. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <string.h>

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"frequency", "HZ", true}, {"damping", "DAMPING", true}, {"omega2", "OMEGA2", true},
        {"re", "RE", true},        {"im", "IM", true},           {0},
    };
    const char *const most = mechctl_option(m, "count");
    struct mechc_json reply, modes;
    char path[MECHC_PATH + 96];
    double count = 10.;
    int code = mechctl_number(m, "count", &count);
    if (code != MECHCTL_DONE) {
        return code;
    }
    code = mechctl_result(
        m, mechc_path(m->c, MECHCTL_PATH("v1", "instances", m->arguments[0], "modes"), path));
    if (code != MECHCTL_DONE) {
        return code;
    }
    const size_t length = strlen(path);
    struct mechc_reply r;
    snprintf(path + length, sizeof path - length, "?count=%.40s&complex=%s", most ? most : "10",
             mechctl_option(m, "complex") ? "true" : "false");
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
    {"count", "COUNT", "the lowest COUNT modes (10)"},
    {"complex", NULL, "include damping: complex eigenvalues"},
    {0},
};

const struct mechctl_command mechctl_modes = {
    .name = "modes",
    .group = MECHCTL_ANALYSES,
    .arguments = "ID",
    .summary = "list the eigenfrequencies of an instance",
    .details = "  mechctl modes i-1 --count 5 --complex\n"
               "With --json also the mode shapes.",
    .options = options,
    .synonyms = "eigenvalues eigenmodes frequencies",
    .least = 1,
    .most = 1,
    .run = run,
};
