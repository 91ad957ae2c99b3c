/* mechctl trials: the trials that the server keeps of an instance; keep and drop one. */
#include "clients/cli/cli.h"

static int keep_last(struct mechctl *m, const char *id, const char *name)
{
    struct mechc_json reply;
    mechc_bytes_text(&m->body, "{\"name\":");
    mechc_bytes_string(&m->body, name);
    int code = mechctl_add_keys(m, NULL);
    mechc_bytes_text(&m->body, "}");
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "instances", id, "trials"), &m->body,
                            &reply);
    }
    return code != MECHCTL_DONE || !m->json ? code : mechctl_print_raw(reply);
}

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {{"name", "NAME", false},
                                                    {"trial", "TRIAL", true},
                                                    {"time", "TIME", true},
                                                    {"bytes", "BYTES", true},
                                                    {0}};
    const char *const id = m->arguments[0];
    const char *const keep = mechctl_option(m, "keep"), *const drop = mechctl_option(m, "drop");
    struct mechc_json reply, items;
    if (keep && drop) {
        return mechctl_usage("trials: give one of --keep and --drop");
    }
    if (mechctl_option(m, "trial") && !keep) {
        return mechctl_usage("trials: --trial needs --keep");
    }
    if (drop) {
        return mechctl_send(m, "DELETE", MECHCTL_PATH("v1", "instances", id, "trials", drop), NULL,
                            &reply);
    }
    if (keep) {
        return keep_last(m, id, keep);
    }
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "instances", id, "trials"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no trial is kept; mechctl trials ID --keep NAME");
    }
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    {.name = "keep",
     .argument = "NAME",
     .key = "name",
     .apart = true,
     .doc = "keep the last trial under this name, until the state changes"},
    MECHCTL_OPTION("drop", "NAME", "drop the trial of this name"),
    {0},
};

const struct mechctl_command mechctl_trials = {
    .name = "trials",
    .group = MECHCTL_STEPS,
    .arguments = "ID",
    .summary = "list the kept trials of an instance, keep the last one or drop one",
    .details = "  mechctl step i-1 --size 0.01 --trial\n"
               "  mechctl trials i-1 --keep small\n"
               "  mechctl step i-1 --size 0.02 --trial\n"
               "  mechctl commit i-1 small",
    .body = &mechp_row_KEEP_TRIAL,
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
