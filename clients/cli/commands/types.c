/* mechctl types: what a model may be made of. */
#include "clients/cli/cli.h"

#include <stdio.h>

static void print_type(const struct mechctl *m, struct mechc_json type)
{
    static const struct mechctl_column columns[] = {
        {"name", "FIELD", false},
        {"kind", "KIND", false},
        {"unit", "UNIT", false},
        {"default", "DEFAULT", false},
        {"required", "REQUIRED", false},
        {"doc", "ABOUT", false},
        {0},
    };
    struct mechc_json v;
    struct mechc_bytes text = {0};
    if (mechc_json_member(type, "name", &v)) {
        mechctl_inline(v, &text);
    }
    if (mechc_json_member(type, "doc", &v)) {
        mechc_bytes_text(&text, ": ");
        mechctl_inline(v, &text);
    }
    printf("%s\n\n", text.at && !text.failed ? text.at : "");
    mechc_bytes_fini(&text);
    if (mechc_json_member(type, "fields", &v)) {
        mechctl_print_table(m, v, columns, "no fields");
    }
}

/* A heading and a table for each list of named things. */
static void print_lists(const struct mechctl *m, struct mechc_json reply)
{
    static const struct mechctl_column columns[] = {
        {"name", "NAME", false}, {"doc", "ABOUT", false}, {0}};
    for (struct mechc_json_walk w = mechc_json_walk(reply); mechc_json_next(&w);) {
        if (mechc_json_kind(w.value) != '[' || mechc_json_count(w.value) == 0) {
            continue;
        }
        char key[64];
        mechc_json_text(w.key, key, sizeof key);
        printf("%s%s%s\n", mechctl_ink(m, MECHCTL_BLUE), key, mechctl_ink_off(m));
        mechctl_print_table(m, w.value, columns, "");
        putchar('\n');
    }
}

static int run(struct mechctl *m)
{
    struct mechc_json reply;
    const int code = m->count > 0
                         ? mechctl_get(m, MECHCTL_PATH("v1", "types", m->arguments[0]), &reply)
                         : mechctl_get(m, MECHCTL_PATH("v1", "types"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (m->count > 0) {
        print_type(m, reply);
    } else {
        print_lists(m, reply);
    }
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_types = {
    .name = "types",
    .arguments = "[TYPE]",
    .summary = "list the types a model is made of, or the fields of one",
    .most = 1,
    .run = run,
};
