/* mechctl model: the document that an instance was made of. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    struct mechc_json reply;
    const int code =
        mechctl_get(m, MECHCTL_PATH("v1", "instances", m->arguments[0], "model"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    mechctl_print_json(reply);
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_model = {
    .name = "model",
    .group = MECHCTL_MODELS,
    .arguments = "ID",
    .summary = "print the model document of an instance",
    .synonyms = "cat export",
    .least = 1,
    .most = 1,
    .run = run,
};
