/* mechctl field: change a field of a live item. */
#include "clients/cli/cli.h"

#include <string.h>

/* JSON as given; anything that does not look like it is a text: a name, or "=expression". */
static void add_value(const char *text, struct mechc_bytes *out)
{
    const bool word =
        strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || strcmp(text, "null") == 0;
    if (word || (*text != 0 && strchr("-0123456789[{\"", *text))) {
        mechc_bytes_text(out, text);
    } else {
        mechc_bytes_string(out, text);
    }
}

static int run(struct mechctl *m)
{
    struct mechc_json reply;
    mechc_bytes_text(&m->body, "{\"value\":");
    add_value(m->arguments[3], &m->body);
    int code = mechctl_add_keys(m, NULL);
    mechc_bytes_text(&m->body, "}");
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "PUT",
                            MECHCTL_PATH("v1", "instances", m->arguments[0], "objects",
                                         m->arguments[1], "fields", m->arguments[2]),
                            &m->body, &reply);
    }
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    mechctl_print_tree(m, reply);
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_field = {
    .name = "field",
    .group = MECHCTL_STEPS,
    .arguments = "ID ITEM FIELD VALUE",
    .summary = "change a field of an item in the model of an instance",
    .details = "  mechctl field i-1 spring stiffness 8000\n"
               "  mechctl field i-1 spring stiffness =2*k\n"
               "  mechctl field i-1 system K '[[2,-1],[-1,2]]'",
    .body = &mechp_row_SET_FIELD,
    .query = &mechp_row_SET_FIELD,
    .least = 4,
    .most = 4,
    .run = run,
};
