/* mechctl snapshot: take one, and on request save it to a file. */
#include "clients/cli/cli.h"

static int save(struct mechctl *m, const char *const *snapshot, const char *path)
{
    char text[MECHC_PATH];
    const int code = mechctl_result(m, mechc_path(m->c, snapshot, text));
    return code != MECHCTL_DONE ? code : mechctl_download(m, text, path);
}

static int run(struct mechctl *m)
{
    const char *const path = mechctl_option(m, "save"), *const old = mechctl_option(m, "delete");
    const char *const instance = m->arguments[0];
    struct mechc_json reply, v;
    if (old) {
        return mechctl_send(
            m, "DELETE", MECHCTL_PATH("v1", "instances", instance, "snapshots", old), NULL, &reply);
    }
    int code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "instances", instance, "snapshots"), NULL,
                            &reply);
    if (code != MECHCTL_DONE || !path) {
        return code != MECHCTL_DONE ? code : mechctl_print_id(m, reply);
    }
    // the file was requested: the server need not keep its copy
    char id[MECHC_ID] = "";
    if (mechc_json_member(reply, "id", &v)) {
        mechc_json_text(v, id, sizeof id);
    }
    const char *const *const one = MECHCTL_PATH("v1", "instances", instance, "snapshots", id);
    code = save(m, one, path);
    const int freed = mechctl_send(m, "DELETE", one, NULL, &reply);
    return code != MECHCTL_DONE ? code : freed;
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("save", "FILE",
                   "write it to a file, model included, instead of storing it in the server"),
    MECHCTL_OPTION("delete", "SNAPSHOT", "delete this snapshot"),
    {0},
};

const struct mechctl_command mechctl_snapshot = {
    .name = "snapshot",
    .group = MECHCTL_STEPS,
    .arguments = "ID",
    .summary = "take a snapshot of an instance; prints its id",
    .details =
        "  mechctl snapshot i-1                 stored in the server: mechctl restore i-1 s-1\n"
        "  mechctl snapshot i-1 --save s.mechd  a file: mechctl create --snapshot s.mechd",
    .options = options,
    .synonyms = "save backup",
    .least = 1,
    .most = 1,
    .run = run,
};
