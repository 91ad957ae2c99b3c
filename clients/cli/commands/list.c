/* mechctl list: all instances, or those with some labels, page by page. */
#include "clients/cli/cli.h"

#include <stdio.h>

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"id", "ID", false},         {"name", "NAME", false},       {"time", "TIME", true},
        {"step", "STEPS", true},     {"running", "RUNNING", false}, {"busy", "BUSY", false},
        {"labels", "LABELS", false}, {"ttlLeft", "TTL LEFT", true}, {0},
    };
    struct mechc_json reply, items;
    char path[MECHC_PATH] = "/v1/instances";
    if (!mechctl_option(m, "limit")) {
        mechctl_query(path, sizeof path, "limit", "1000");
    }
    int code = mechctl_query_keys(m, path, sizeof path);
    if (code != MECHCTL_DONE) {
        return code;
    }
    struct mechc_reply r;
    code = mechctl_request(m, &(struct mechc_request){.method = "GET", .path = path}, &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!mechc_json_open(r.body, r.size, &reply)) {
        return MECHCTL_FAILED;
    }
    if (m->json) {
        return mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no instances; mechctl create --example NAME");
    }
    char next[32];
    struct mechc_json more;
    if (mechc_json_member(reply, "next", &more) && mechc_json_kind(more) == '"') {
        (void)mechc_json_text(more, next, sizeof next);
        printf("there are more: --after %s\n", next);
    }
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    {.key = "limit", .doc = "number of instances to show at most"},
    {.key = "after",
     .argument = "NUMBER",
     .doc = "continue after the NUMBER that the last line of a page shows"},
    {.key = "label",
     .argument = "NAME=VALUE",
     .doc = "only those with this label, or with all of several separated by commas"},
    {0},
};

const struct mechctl_command mechctl_list = {
    .name = "list",
    .group = MECHCTL_MODELS,
    .arguments = "",
    .summary = "list the instances",
    .details = "Without --limit at most 1000 are shown; the last line shows how to continue.\n"
               "A value with a comma is written in double quotes:\n"
               "  mechctl list --label 'rig=\"left,right\"'",
    .query = &mechp_row_INSTANCES,
    .options = options,
    .synonyms = "ls ps dir instances",
    .run = run,
};
