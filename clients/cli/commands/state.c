/* mechctl state: time, coordinates, velocities and the rest; or set some of it. */
#include "clients/cli/cli.h"

#include <stdio.h>

/* One part a line; long vectors are wrapped. */
static void print_part(const struct mechctl *m, struct mechc_json key, struct mechc_json value)
{
    char name[32], number[32];
    double x;
    mechc_json_text(key, name, sizeof name);
    printf("%s%-8s%s", mechctl_ink(m, MECHCTL_DIM), name, mechctl_ink_off(m));
    if (mechc_json_number(value, &x)) {
        printf("%14s\n", mechctl_human(x, number));
        return;
    }
    int column = 0;
    for (struct mechc_json_walk w = mechc_json_walk(value); mechc_json_next(&w);) {
        if (column == 5) {
            printf("\n%8s", "");
            column = 0;
        }
        printf("%14s", mechc_json_number(w.value, &x) ? mechctl_human(x, number) : "-");
        column++;
    }
    putchar('\n');
}

static int run(struct mechctl *m)
{
    const char *const *const path = MECHCTL_PATH("v1", "instances", m->arguments[0], "state");
    struct mechc_json reply;
    int code = MECHCTL_DONE;
    if (mechctl_option(m, "hash")) {
        return mechctl_print_reply(m, "GET",
                                   MECHCTL_PATH("v1", "instances", m->arguments[0], "hash"), NULL);
    }
    if (m->count > 1) {
        code = mechctl_assignments(m, 1, &m->body);
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
    for (struct mechc_json_walk w = mechc_json_walk(reply); mechc_json_next(&w);) {
        if (mechc_json_kind(w.value) == '0' || mechc_json_count(w.value) > 0) {
            print_part(m, w.key, w.value);
        }
    }
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("hash", NULL, "instead print a hash of everything that the next step reads"),
    {0},
};

const struct mechctl_command mechctl_state = {
    .name = "state",
    .group = MECHCTL_STEPS,
    .arguments = "ID [PART=VALUE,... ...]",
    .summary = "print the state of an instance, or set parts of it",
    .details = "  mechctl state i-1 q=0.1,0.2 v=0,0\n"
               "Parts that can be set: time, q, v, x, z.",
    .options = options,
    .least = 1,
    .most = -1,
    .run = run,
};
