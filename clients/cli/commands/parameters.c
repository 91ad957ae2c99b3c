/* mechctl parameters: print them, or set some. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    const char *const *const path = MECHCTL_PATH("v1", "instances", m->arguments[0], "parameters");
    struct mechc_json reply, values;
    int code = MECHCTL_DONE;
    if (m->count > 1) {
        mechc_bytes_text(&m->body, "{\"parameters\":");
        code = mechctl_assignments(m, 1, &m->body);
        mechc_bytes_text(&m->body, "}");
        if (code == MECHCTL_DONE) {
            code = mechctl_send(m, "PUT", path, &m->body, &reply);
        }
    }
    if (code == MECHCTL_DONE) {
        code = mechctl_get(m, path, &reply);
    }
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "parameters", &values)) {
        mechctl_print_values(m, values, NULL);
    }
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_parameters = {
    .name = "parameters",
    .group = MECHCTL_STEPS,
    .arguments = "ID [NAME=VALUE ...]",
    .summary = "print the parameters of an instance, or set some",
    .details = "  mechctl parameters i-1 k=4200",
    .synonyms = "params",
    .least = 1,
    .most = -1,
    .run = run,
};
