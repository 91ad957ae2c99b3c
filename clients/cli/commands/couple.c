/* mechctl couple: instances that exchange values and step together, from a file. */
#include "clients/cli/cli.h"

#include <stdio.h>

static int run(struct mechctl *m)
{
    struct mechc_json reply, id;
    m->file = m->arguments[0];
    int code = mechctl_read_json(m->file, &m->body);
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "couplings"), &m->body, &reply);
    }
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    char text[MECHC_ID] = "";
    if (mechc_json_member(reply, "id", &id)) {
        mechc_json_text(id, text, sizeof text);
    }
    printf("%s\n", text);
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_couple = {
    .name = "couple",
    .group = MECHCTL_MANY,
    .arguments = "FILE",
    .summary = "couple instances: they exchange values and step together",
    .details = "FILE, or - for standard input, holds participants, connections and a scheme:\n"
               "  {\"participants\": [{\"name\": \"a\", \"instance\": \"i-1\"}, ...],\n"
               "   \"connections\": [{\"from\": \"a.x\", \"to\": \"b.force\"}, ...],\n"
               "   \"scheme\": {\"type\": \"IQN-ILS\"}, \"stepSize\": 0.01}",
    .synonyms = "connect cosim",
    .least = 1,
    .most = 1,
    .run = run,
};
