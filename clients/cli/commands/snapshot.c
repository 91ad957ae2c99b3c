/* mechctl snapshot: take one, and save it to a file if asked to. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <string.h>

static int save(struct mechctl *m, const char *snapshot, const char *path)
{
    struct mechc_reply r;
    int code = mechctl_result(m, mechc_snapshot_bytes(m->c, m->arguments[0], snapshot, &r));
    if (code == MECHCTL_DONE) {
        code = mechctl_write_file(path, r.body, r.size);
    }
    if (code == MECHCTL_DONE && strcmp(path, "-") != 0 && !m->json) {
        printf("%s: %zu bytes\n", path, r.size);
    }
    return code;
}

static int run(struct mechctl *m)
{
    const char *const path = mechctl_option(m, "save"), *const old = mechctl_option(m, "delete");
    if (old) {
        return mechctl_result(m, mechc_delete_snapshot(m->c, m->arguments[0], old));
    }
    char id[MECHC_ID];
    const int result = mechc_snapshot(m->c, m->arguments[0], id);
    if (result != MECHC_OK) {
        return mechctl_result(m, result);
    }
    if (path) {
        // the file is what was asked for: the server need not keep its copy
        const int code = save(m, id, path);
        const int freed = mechctl_result(m, mechc_delete_snapshot(m->c, m->arguments[0], id));
        return code != MECHCTL_DONE ? code : freed;
    }
    printf(m->json ? "{\"id\":\"%s\"}\n" : "%s\n", id);
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    {"save", "FILE", "write it to a file, model included, instead of keeping it in the server"},
    {"delete", "SNAPSHOT", "forget this one"},
    {0},
};

const struct mechctl_command mechctl_snapshot = {
    .name = "snapshot",
    .arguments = "ID",
    .summary = "take a snapshot of an instance; prints its id",
    .details =
        "  mechctl snapshot i-1                 kept by the server: mechctl restore i-1 s-1\n"
        "  mechctl snapshot i-1 --save s.mechd  a file: mechctl create --snapshot s.mechd",
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
