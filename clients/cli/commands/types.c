/* mechctl types: the types of a model's parts. */
#include "clients/cli/cli.h"

#include <stdio.h>

static void print_type(const struct mechctl *m, struct mechc_json type)
{
    static const struct mechctl_column columns[] = {
        {"name", "FIELD", false},
        {"kind", "KIND", false},
        {"of", "OF", false},
        {"unit", "UNIT", false},
        {"required", "REQUIRED", false},
        {"default", "DEFAULT", false},
        {"doc", "ABOUT", false},
        {0},
    };
    struct mechc_json v;
    struct mechc_bytes text = {0};
    mechc_bytes_text(&text, mechctl_ink(m, MECHCTL_BOLD));
    if (mechc_json_member(type, "type", &v)) {
        mechctl_inline(v, &text);
    }
    mechc_bytes_text(&text, mechctl_ink_off(m));
    if (mechc_json_member(type, "category", &v)) {
        mechc_bytes_text(&text, " (");
        mechctl_inline(v, &text);
        mechc_bytes_text(&text, ")");
    }
    if (mechc_json_member(type, "doc", &v)) {
        mechc_bytes_text(&text, ": ");
        mechctl_inline(v, &text);
    }
    printf("%s\n", text.failed ? "" : text.at);
    if (mechc_json_member(type, "fields", &v)) {
        putchar('\n');
        mechctl_print_table(m, v, columns, "no fields");
    }
    if (mechc_json_member(type, "outputs", &v)) {
        fputs("\noutput variables:", stdout);
        for (struct mechc_json_walk w = mechc_json_walk(v); mechc_json_next(&w);) {
            mechc_bytes_clear(&text);
            mechctl_inline(w.value, &text);
            printf(" %s", text.failed ? "" : text.at);
        }
        putchar('\n');
    }
    mechc_bytes_fini(&text);
}

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"type", "TYPE", false}, {"category", "CATEGORY", false}, {"doc", "ABOUT", false}, {0}};
    struct mechc_json reply, items;
    const int code = m->count > 0
                         ? mechctl_get(m, MECHCTL_PATH("v1", "types", m->arguments[0]), &reply)
                         : mechctl_get(m, MECHCTL_PATH("v1", "types"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (m->count > 0) {
        print_type(m, reply);
    } else if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no types");
    }
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_types = {
    .name = "types",
    .group = MECHCTL_MODELS,
    .arguments = "[TYPE]",
    .summary = "list the types that models can use, or the fields of one type",
    .most = 1,
    .run = run,
};
