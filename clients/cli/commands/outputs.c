/* mechctl outputs: names, values and units of an instance's outputs. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    const char *const id = m->arguments[0];
    struct mechc_json reply, variables, values;
    int code = mechctl_get(m, MECHCTL_PATH("v1", "instances", id, "outputs"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    code = mechctl_hold(m, &reply);
    if (code == MECHCTL_DONE) {
        code = mechctl_get(m, MECHCTL_PATH("v1", "instances", id, "variables"), &variables);
    }
    if (code != MECHCTL_DONE) {
        return code;
    }
    const bool units = mechc_json_member(variables, "items", &variables);
    if (mechc_json_member(reply, "outputs", &values)) {
        mechctl_print_values(m, values, units ? &variables : NULL);
    }
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_outputs = {
    .name = "outputs",
    .arguments = "ID",
    .summary = "print the outputs of an instance",
    .least = 1,
    .most = 1,
    .run = run,
};
