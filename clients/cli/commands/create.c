/* mechctl create: an instance from a model file, an example, a snapshot file or an FMU. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <string.h>

/* Begins a body with the members "fmu" and "start". */
static int add_fmu(struct mechctl *m, const char *fmu)
{
    mechc_bytes_text(&m->body, "{\"fmu\":");
    mechc_bytes_string(&m->body, fmu);
    mechc_bytes_text(&m->body, ",\"start\":");
    return mechctl_assignments(m, 0, &m->body);
}

static int run(struct mechctl *m)
{
    const char *const fmu = mechctl_option(m, "fmu");
    const char *const example = mechctl_option(m, "example");
    const char *const snapshot = mechctl_option(m, "snapshot");
    const char *const id = mechctl_option(m, "id");
    const int files = fmu ? 0 : m->count;
    if ((files > 0) + (example != NULL) + (snapshot != NULL) + (fmu != NULL) != 1 || files > 1) {
        return mechctl_usage("create: give one of FILE, --example, --snapshot and --fmu");
    }
    if (snapshot && m->given_count == 1) {
        // the bytes have no place for other settings of the instance
        return mechctl_upload(m, "/v1/instances", snapshot, "application/vnd.mechd.snapshot");
    }
    int code = fmu        ? add_fmu(m, fmu)
               : snapshot ? mechctl_add_snapshot(m, snapshot)
                          : mechctl_add_model(m, example);
    if (code == MECHCTL_DONE) {
        code = mechctl_add_keys(m, NULL);
    }
    mechc_bytes_text(&m->body, "}");
    struct mechc_json reply;
    if (code == MECHCTL_DONE) {
        code = id ? mechctl_send(m, "PUT", MECHCTL_PATH("v1", "instances", id), &m->body, &reply)
                  : mechctl_send(m, "POST", MECHCTL_PATH("v1", "instances"), &m->body, &reply);
    }
    return code != MECHCTL_DONE ? code : mechctl_print_id(m, reply);
}

static const struct mechctl_option options[] = {
    {.key = "example",
     .argument = "NAME",
     .apart = true,
     .doc = "create this example (mechctl examples lists them)"},
    {.key = "snapshot",
     .argument = "FILE",
     .apart = true,
     .doc = "create from a snapshot that was saved to a file"},
    {.key = "fmu",
     .argument = "ID",
     .apart = true,
     .doc = "create from an uploaded FMU, with start values NAME=VALUE"},
    {.name = "label", .key = "labels"},
    MECHCTL_OPTION("id", "ID", "id of the new instance; refused if it is taken"),
    {0},
};

const struct mechctl_command mechctl_create = {
    .name = "create",
    .group = MECHCTL_MODELS,
    .arguments = "[FILE | NAME=VALUE ...]",
    .summary = "create an instance from a model, an example, a snapshot or an FMU; prints its id",
    .details = "  mechctl create model.json\n"
               "  mechctl create --example bouncing-ball\n"
               "  mechctl create --snapshot s.mechd --id rig --label bench=2\n"
               "  mechctl create --fmu $(mechctl fmus --upload controller.fmu) gain=2\n"
               "FILE may be - for standard input.",
    .body = &mechp_row_CREATE,
    .options = options,
    .synonyms = "new add make load import",
    .most = -1,
    .run = run,
};
