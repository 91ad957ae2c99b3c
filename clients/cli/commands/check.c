/* mechctl check: validate a model without creating an instance. */
#include "clients/cli/cli.h"

#include <stdio.h>

static int run(struct mechctl *m)
{
    m->file = m->arguments[0];
    m->prefix = "/model";
    mechc_bytes_text(&m->body, "{\"model\":");
    m->lead = (int)m->body.length;
    int code = mechctl_read_json(m->file, &m->body);
    mechc_bytes_text(&m->body, "}");
    struct mechc_json reply;
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "models", "check"), &m->body, &reply);
    }
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (m->json) {
        return mechctl_print_raw(reply);
    }
    mechctl_print_warnings(m, reply);
    printf("%s: %sfine%s\n", m->file, mechctl_ink(m, MECHCTL_GREEN), mechctl_ink_off(m));
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_check = {
    .name = "check",
    .group = MECHCTL_MODELS,
    .arguments = "FILE",
    .summary = "validate a model file without creating an instance",
    .details = "Every fault is printed with its place: FILE: /objects/0/stiffness: reason.\n"
               "FILE may be - for standard input.",
    .synonyms = "validate lint",
    .least = 1,
    .most = 1,
    .run = run,
};
