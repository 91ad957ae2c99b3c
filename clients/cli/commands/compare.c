/* mechctl compare: what differs between two snapshots of an instance. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {{"kind", "KIND", false},
                                                    {"name", "NAME", false},
                                                    {"index", "INDEX", true},
                                                    {"from", "FROM", true},
                                                    {"to", "TO", true},
                                                    {"difference", "DIFFERENCE", true},
                                                    {0}};
    struct mechc_json reply, items;
    mechc_bytes_text(&m->body, "{\"to\":");
    mechc_bytes_string(&m->body, m->arguments[2]);
    int code = mechctl_add_keys(m, NULL);
    if (code != MECHCTL_DONE) {
        return code;
    }
    mechc_bytes_text(&m->body, "}");
    code = mechctl_send(
        m, "POST",
        MECHCTL_PATH("v1", "instances", m->arguments[0], "snapshots", m->arguments[1], "compare"),
        &m->body, &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no difference");
    }
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    {.name = "absolute",
     .key = "absoluteTolerance",
     .doc = "numbers differ if their difference exceeds this (default 0)"},
    {.name = "relative",
     .key = "relativeTolerance",
     .doc = "plus this times the larger of the two (default 0)"},
    {0},
};

const struct mechctl_command mechctl_compare = {
    .name = "compare",
    .group = MECHCTL_STEPS,
    .arguments = "ID SNAPSHOT SNAPSHOT",
    .summary = "show what differs between two snapshots of an instance",
    .details = "  mechctl compare i-1 s-1 s-2 --absolute 1e-9",
    .body = &mechp_row_COMPARE,
    .without = "to",
    .options = options,
    .synonyms = "diff",
    .least = 3,
    .most = 3,
    .run = run,
};
