/* mechctl step: one communication step, with inputs if given. */
#include "clients/cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The member of the request with the size of the step. */
static int add_distance(struct mechctl *m, struct mechc_bytes *b)
{
    double size = NAN, until = NAN, count = NAN;
    int code = mechctl_number(m, "size", &size);
    if (code == MECHCTL_DONE) {
        code = mechctl_number(m, "until", &until);
    }
    if (code == MECHCTL_DONE) {
        code = mechctl_number(m, "count", &count);
    }
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!isnan(size) + !isnan(until) + !isnan(count) > 1) {
        return mechctl_usage("step: give one of --size, --until and --count");
    }
    // without any of them: one internal step
    const char *const key = !isnan(size) ? "size" : !isnan(until) ? "until" : "count";
    const double value = !isnan(size) ? size : !isnan(until) ? until : isnan(count) ? 1. : count;
    mechc_bytes_string(b, key);
    mechc_bytes_text(b, ":");
    mechc_bytes_number(b, value);
    return MECHCTL_DONE;
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
    mechc_bytes_text(&m->body, "{");
    if (code == MECHCTL_DONE) {
        code = add_distance(m, &m->body);
    }
    if (code == MECHCTL_DONE && m->count > 1) {
        mechc_bytes_text(&m->body, ",\"inputs\":");
        code = mechctl_assignments(m, 1, &m->body);
    }
    const char *const want = mechctl_option(m, "want");
    if (want && code == MECHCTL_DONE) {
        mechc_bytes_text(&m->body, ",\"want\":");
        code = mechctl_add_items("want", want, &m->body);
    }
    code = code == MECHCTL_DONE ? mechctl_add_expected(m) : code;
    mechc_bytes_text(&m->body, mechctl_option(m, "trial") ? ",\"commit\":false}" : "}");
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
    {"size", "H", "step H seconds"},
    {"until", "T", "step to the time T"},
    {"count", "N", "take N internal steps (default 1)"},
    {"trial", NULL, "do not change the instance; mechctl commit commits the result"},
    MECHCTL_EXPECTED,
    {"repeat", "N", "repeat the step N times"},
    {"want", "NAMES", WITH_JSON
#include "protocol/wire/wants.def"
    },
    {0},
};
#undef MECHP_WANT

const struct mechctl_command mechctl_step = {
    .name = "step",
    .group = MECHCTL_STEPS,
    .arguments = "ID [NAME=VALUE ...]",
    .summary = "step an instance and print its outputs",
    .details = "Values given by name are inputs; they hold until they are set again.\n"
               "  mechctl step i-1 --size 0.01 force=20",
    .options = options,
    .synonyms = "advance next tick",
    .least = 1,
    .most = -1,
    .run = run,
};
