/* mechctl restore: back to a snapshot that the server keeps, or to one in a file. */
#include "clients/cli/cli.h"

#include <stdio.h>

/* The bytes of a file, of an instance of the same model, become the state. */
static int put(struct mechctl *m, const char *file)
{
    struct mechc_json reply;
    int code = mechctl_add_snapshot(m, file);
    if (code != MECHCTL_DONE) {
        return code;
    }
    mechc_bytes_text(&m->body, "}");
    code = mechctl_send(m, "PUT", MECHCTL_PATH("v1", "instances", m->arguments[0], "state"),
                        &m->body, &reply);
    return code != MECHCTL_DONE || !m->json ? code : mechctl_print_raw(reply);
}

static int run(struct mechctl *m)
{
    const char *const file = mechctl_option(m, "file");
    const char *const sid = m->count > 1 ? m->arguments[1] : NULL;
    if ((file == NULL) == (sid == NULL)) {
        return mechctl_usage("restore: give a SNAPSHOT or --file FILE, and not both");
    }
    struct mechc_json reply;
    const int code = file ? put(m, file)
                          : mechctl_send(m, "POST",
                                         MECHCTL_PATH("v1", "instances", m->arguments[0],
                                                      "snapshots", sid, "restore"),
                                         NULL, &reply);
    if (code == MECHCTL_DONE && !m->json) {
        printf("%s restored to %s\n", m->arguments[0], file ? file : sid);
    }
    return code;
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("file", "FILE", "a snapshot in a file, of an instance of the same model"),
    {0},
};

const struct mechctl_command mechctl_restore = {
    .name = "restore",
    .group = MECHCTL_STEPS,
    .arguments = "ID [SNAPSHOT]",
    .summary = "restore an instance to one of its snapshots",
    .details = "  mechctl restore i-1 s-1\n"
               "  mechctl restore i-1 --file s.mechd\n"
               "SNAPSHOT is the id that mechctl snapshot printed.\n"
               "A snapshot in a file also becomes a new instance: mechctl create --snapshot FILE.",
    .options = options,
    .synonyms = "undo rollback revert",
    .least = 1,
    .most = 2,
    .run = run,
};
