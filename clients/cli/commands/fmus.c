/* mechctl fmus: FMUs that have been uploaded. */
#include "clients/cli/cli.h"

static int list(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"id", "ID", false},       {"modelName", "MODEL", false}, {"fmiVersion", "FMI", false},
        {"owner", "OWNER", false}, {"bytes", "BYTES", true},      {0},
    };
    struct mechc_json reply, items;
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "fmus"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no FMUs");
    }
    return MECHCTL_DONE;
}

static int run(struct mechctl *m)
{
    const char *const file = mechctl_option(m, "upload");
    const bool removes = mechctl_option(m, "delete");
    if ((file && m->count > 0) || (removes && m->count == 0)) {
        return mechctl_usage(removes ? "fmus: --delete needs an ID" : "fmus: --upload takes no ID");
    }
    if (file) {
        return mechctl_upload(m, "/v1/fmus", file, "application/vnd.fmi");
    }
    if (m->count == 0) {
        return list(m);
    }
    const char *const *const path = MECHCTL_PATH("v1", "fmus", m->arguments[0]);
    struct mechc_json reply;
    return removes ? mechctl_send(m, "DELETE", path, NULL, &reply)
                   : mechctl_print_reply(m, "GET", path, NULL);
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("upload", "FILE", "upload this .fmu; prints its id"),
    MECHCTL_OPTION("delete", NULL, "delete it; its instances continue"),
    {0},
};

const struct mechctl_command mechctl_fmus = {
    .name = "fmus",
    .group = MECHCTL_MODELS,
    .arguments = "[ID]",
    .summary = "list uploaded FMUs, or show one, upload one, delete it",
    .details = "  id=$(mechctl fmus --upload controller.fmu)\n"
               "  mechctl create --fmu $id gain=2\n"
               "The server accepts FMUs if it was started with --fmus on.",
    .options = options,
    .least = 0,
    .most = 1,
    .run = run,
};
