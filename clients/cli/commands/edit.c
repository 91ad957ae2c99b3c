/* mechctl edit: labels and time to live of an instance. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    const bool keep = mechctl_option(m, "keep");
    if (keep && mechctl_option(m, "ttl")) {
        return mechctl_usage("edit: give one of --ttl and --keep");
    }
    if (!keep && m->given_count == 0) {
        return mechctl_usage("edit: give --label, --ttl or --keep");
    }
    mechc_bytes_text(&m->body, keep ? "{\"ttl\":null" : "{");
    const int code = mechctl_add_keys(m, NULL);
    mechc_bytes_text(&m->body, "}");
    return code != MECHCTL_DONE
               ? code
               : mechctl_print_reply(m, "PATCH", MECHCTL_PATH("v1", "instances", m->arguments[0]),
                                     &m->body);
}

static const struct mechctl_option options[] = {
    {.name = "label",
     .key = "labels",
     .doc = "replace all labels, several separated by commas; \"\" removes them"},
    MECHCTL_OPTION("keep", NULL, "remove the time to live: the instance is not deleted when idle"),
    {0},
};

const struct mechctl_command mechctl_edit = {
    .name = "edit",
    .group = MECHCTL_MODELS,
    .arguments = "ID",
    .summary = "change labels and time to live of an instance",
    .details = "  mechctl edit i-1 --label rig=a,shift=night --ttl 3600",
    .body = &mechp_row_EDIT,
    .options = options,
    .synonyms = "update patch rename label",
    .least = 1,
    .most = 1,
    .run = run,
};
