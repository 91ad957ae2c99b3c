/* mechctl run: let the server step an instance on its own. */
#include "clients/cli/cli.h"
#include "protocol/wire/bodies.h"

#include <stdio.h>
#include <string.h>

/* "name": of the next member. */
static void add_key(struct mechc_bytes *b, const char *name)
{
    const bool first = b->length > 0 && b->at[b->length - 1] == '{';
    mechc_bytes_text(b, first ? "\"" : ",\"");
    mechc_bytes_text(b, name);
    mechc_bytes_text(b, "\":");
}

/* --record N, --outputs A,B, --replay */
static int add_record(struct mechctl *m)
{
    const bool replay = mechctl_option(m, "replay");
    if (!mechctl_option(m, "outputs") && !replay && !mechctl_option(m, "record")) {
        return MECHCTL_DONE;
    }
    add_key(&m->body, "record");
    mechc_bytes_text(&m->body, "{");
    const int code = mechctl_add_keys(m, &mechp_body_run_record);
    if (replay) {
        add_key(&m->body, "inputs");
        mechc_bytes_text(&m->body, "true");
        add_key(&m->body, "hash");
        mechc_bytes_text(&m->body, "true");
    }
    mechc_bytes_text(&m->body, "}");
    return code;
}

static int add_settings(struct mechctl *m)
{
    mechc_bytes_clear(&m->body);
    mechc_bytes_text(&m->body, "{");
    if (!mechctl_option(m, "pace") && !mechctl_option(m, "fast")) {
        add_key(&m->body, "pace");
        mechc_bytes_number(&m->body, 1.);
    }
    int code = mechctl_add_keys(m, NULL);
    if (code == MECHCTL_DONE) {
        code = add_record(m);
    }
    mechc_bytes_text(&m->body, "}");
    return code;
}

/* Start the run and wait for its end. Ctrl-C waits for the id of the run that it stops. */
static int run_and_wait(struct mechctl *m, const char *const *path)
{
    struct mechc_json reply, value;
    char id[MECHC_ID] = "";
    const sigset_t held = mechctl_hold_ends();
    const struct mechctl_ends before = mechctl_note_ends();
    int code = mechctl_send(m, "POST", path, &m->body, &reply);
    mechctl_release_ends(&held);
    if (code == MECHCTL_DONE && mechc_json_member(reply, "id", &value)) {
        mechc_json_text(value, id, sizeof id);
        code = mechctl_wait(m, m->arguments[0], id, true);
    }
    mechctl_obey_ends(&before);
    return code;
}

static int run(struct mechctl *m)
{
    const char *const path[] = {"v1", mechctl_kind(m), m->arguments[0], "runs", NULL};
    struct mechc_json reply;
    int code = add_settings(m);
    if (code == MECHCTL_DONE && mechctl_option(m, "wait")) {
        return run_and_wait(m, path);
    }
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "POST", path, &m->body, &reply);
    }
    return code == MECHCTL_DONE ? mechctl_print_id(m, reply) : code;
}

static const struct mechctl_option options[] = {
    {.key = "pace", .doc = "simulated seconds per second (default 1: real time)"},
    MECHCTL_OPTION("fast", NULL, "as fast as possible; needs --until or --count"),
    {.name = "record",
     .argument = "N",
     .of = &mechp_body_run_record,
     .key = "every",
     .doc = "record the outputs of every Nth period for mechctl results; needs an end"},
    {.of = &mechp_body_run_record, .key = "outputs"},
    MECHCTL_OPTION("replay", NULL, "record inputs and hashes too, for mechctl replay"),
    MECHCTL_OPTION("wait", NULL, "wait until it is over, with a progress bar on a terminal"),
    MECHCTL_OF_COUPLING,
    {0},
};

const struct mechctl_command mechctl_run = {
    .name = "run",
    .group = MECHCTL_RUNS,
    .arguments = "ID",
    .summary = "let the server step an instance or a coupling, in real time or as fast as "
               "possible; prints the run's id",
    .details =
        "mechctl stop ID ends it, mechctl watch ID shows it, mechctl runs ID lists the last ones.\n"
        "  mechctl run i-1 --fast --until 10 --record 1 --wait",
    .body = &mechp_row_START_RUN,
    .options = options,
    .synonyms = "start play execute simulate",
    .least = 1,
    .most = 1,
    .run = run,
};
