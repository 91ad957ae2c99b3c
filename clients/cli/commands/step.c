/* mechctl step: one communication step, with inputs if given. */
#include "clients/cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The members of the request; without --size, --until and --count one internal step. */
static int add_request(struct mechctl *m)
{
    const int given = (mechctl_option(m, "size") != NULL) + (mechctl_option(m, "until") != NULL) +
                      (mechctl_option(m, "count") != NULL);
    if (given > 1) {
        return mechctl_usage("step: give one of --size, --until and --count");
    }
    mechc_bytes_text(&m->body, given == 0 ? "{\"count\":1" : "{");
    int code = mechctl_add_keys(m, NULL);
    if (code == MECHCTL_DONE && m->count > 1) {
        mechc_bytes_text(&m->body, ",\"inputs\":");
        code = mechctl_assignments(m, 1, &m->body);
    }
    mechc_bytes_text(&m->body, mechctl_option(m, "trial") ? ",\"commit\":false}" : "}");
    return code;
}

static int run(struct mechctl *m)
{
    double repeat = 1.;
    if (mechctl_option(m, "repeat") && mechctl_option(m, "expect-time")) {
        return mechctl_usage("step: give one of --repeat and --expect-time");
    }
    int code = mechctl_number(m, "repeat", &repeat);
    if (code == MECHCTL_DONE && !(repeat >= 1. && repeat <= 1e9 && repeat == floor(repeat))) {
        code = mechctl_usage("--repeat takes a whole number from 1 to 1000000000");
    }
    code = code == MECHCTL_DONE ? add_request(m) : code;
    struct mechc_json reply = {0};
    for (long left = code == MECHCTL_DONE ? (long)repeat : 0; code == MECHCTL_DONE && left > 0;
         left--) {
        code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "instances", m->arguments[0], "step"),
                            &m->body, &reply);
        if (code == MECHCTL_DONE && m->json) {
            mechctl_print_raw(reply);
        }
    }
    if (code == MECHCTL_DONE && !m->json) {
        mechctl_print_step(m, reply);
    }
    return code;
}

/* What a step returns beside outputs, each name after a space. */
#define NAME_yes(name) " " name
#define NAME_no(name)
#define MECHP_WANT(symbol, name, step, frame, coupling, program, doc) NAME_##step(name)
#define WITH_JSON "with --json also print these, separated by commas:"

static const struct mechctl_option options[] = {
    {.name = "trial",
     .key = "commit",
     .apart = true,
     .doc = "do not change the instance; mechctl commit commits the result"},
    {.argument = "NAMES", .key = "want", .doc = WITH_JSON
#include "protocol/wire/wants.def"
    },
    MECHCTL_OPTION("repeat", "N", "repeat the step N times"),
    {0},
};
#undef MECHP_WANT

const struct mechctl_command mechctl_step = {
    .name = "step",
    .group = MECHCTL_STEPS,
    .arguments = "ID [NAME=VALUE ...]",
    .summary = "step an instance and print its outputs",
    .details = "Values given by name are inputs; they hold until they are set again.\n"
               "Without --size, --until and --count it is one internal step.\n"
               "  mechctl step i-1 --size 0.01 force=20",
    .body = &mechp_row_STEP,
    .options = options,
    .synonyms = "advance next tick",
    .least = 1,
    .most = -1,
    .run = run,
};
