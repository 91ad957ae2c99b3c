/* mechctl couplings: the couplings of the server, and their steps. */
#include "clients/cli/cli.h"

static int list(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"id", "ID", false},        {"name", "NAME", false},
        {"time", "TIME", true},     {"windows", "WINDOWS", true},
        {"busy", "BUSY", false},    {"scheme", "SCHEME", false},
        {"stepSize", "STEP", true}, {0},
    };
    struct mechc_json reply, items;
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "couplings"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no couplings");
    }
    return MECHCTL_DONE;
}

/* Options of a step: its keys, and --trial. */
static bool is_of_step(const struct mechctl_option *o)
{
    return o->key && !o->row;
}

static bool has_end(const struct mechctl *m)
{
    return mechctl_option(m, "count") || mechctl_option(m, "size") || mechctl_option(m, "until");
}

/* Options that do not go together: none of them is left out silently. */
static int check(const struct mechctl *m)
{
    const int steps = (mechctl_option(m, "count") != NULL) + (mechctl_option(m, "size") != NULL) +
                      (mechctl_option(m, "until") != NULL);
    if (m->count == 0 && m->given_count > 0) {
        return mechctl_usage("couplings: --%.*s needs the ID of a coupling", m->given[0].length,
                             m->given[0].name);
    }
    if (steps > 1) {
        return mechctl_usage("couplings: give one of --count, --size and --until");
    }
    if ((mechctl_option(m, "reset") != NULL) + (mechctl_option(m, "restore") != NULL) +
            (mechctl_option(m, "load") != NULL) >
        1) {
        return mechctl_usage("couplings: give one of --reset, --restore and --load");
    }
    if (mechctl_option(m, "commit") && (steps > 0 || mechctl_option(m, "trial"))) {
        return mechctl_usage("couplings: --commit cannot be combined with a step");
    }
    for (const struct mechctl_option *o = mechctl_options(m->command); o->name; o++) {
        if (steps == 0 && is_of_step(o) && mechctl_option(m, o->name)) {
            return mechctl_usage("couplings: --%s needs --count, --size or --until", o->name);
        }
    }
    return MECHCTL_DONE;
}

/* --reset, --restore SID, --load FILE: where it is to begin. */
static int begin(struct mechctl *m, const char *id)
{
    const char *const sid = mechctl_option(m, "restore"), *const file = mechctl_option(m, "load");
    if (mechctl_option(m, "reset")) {
        return mechctl_print_reply(m, "POST", MECHCTL_PATH("v1", "couplings", id, "reset"), NULL);
    }
    if (sid) {
        return mechctl_print_reply(
            m, "POST", MECHCTL_PATH("v1", "couplings", id, "snapshots", sid, "restore"), NULL);
    }
    int code = file ? mechctl_add_snapshot(m, file) : MECHCTL_DONE;
    if (code == MECHCTL_DONE && file) {
        mechc_bytes_text(&m->body, "}");
        code =
            mechctl_print_reply(m, "PUT", MECHCTL_PATH("v1", "couplings", id, "state"), &m->body);
        mechc_bytes_clear(&m->body);
    }
    return code;
}

/* --commit N */
static int commit(struct mechctl *m, const char *id)
{
    double trial = 0.;
    const int code = mechctl_number(m, "commit", &trial);
    if (code != MECHCTL_DONE) {
        return code;
    }
    mechc_bytes_text(&m->body, "{\"trial\":");
    mechc_bytes_number(&m->body, trial);
    mechc_bytes_text(&m->body, "}");
    return mechctl_print_reply(m, "POST", MECHCTL_PATH("v1", "couplings", id, "commit"), &m->body);
}

static int step(struct mechctl *m, const char *id)
{
    struct mechc_json reply;
    mechc_bytes_text(&m->body, "{");
    int code = mechctl_add_keys(m, NULL);
    mechc_bytes_text(&m->body, mechctl_option(m, "trial") ? ",\"commit\":false}" : "}");
    if (code == MECHCTL_DONE) {
        code =
            mechctl_send(m, "POST", MECHCTL_PATH("v1", "couplings", id, "step"), &m->body, &reply);
    }
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    mechctl_print_step(m, reply);
    return MECHCTL_DONE;
}

/* --save FILE */
static int save(struct mechctl *m, const char *id, const char *file)
{
    char path[MECHC_PATH];
    const int code =
        mechctl_result(m, mechc_path(m->c, MECHCTL_PATH("v1", "couplings", id, "state"), path));
    return code != MECHCTL_DONE ? code : mechctl_download(m, path, file);
}

/* --forget SID, --snapshot, --snapshots, --stability, --save FILE */
static int end(struct mechctl *m, const char *id)
{
    const char *const sid = mechctl_option(m, "forget"), *const file = mechctl_option(m, "save");
    struct mechc_json reply;
    int code = MECHCTL_DONE;
    if (sid) {
        code = mechctl_send(m, "DELETE", MECHCTL_PATH("v1", "couplings", id, "snapshots", sid),
                            NULL, &reply);
    }
    if (code == MECHCTL_DONE && mechctl_option(m, "snapshot")) {
        code =
            mechctl_print_reply(m, "POST", MECHCTL_PATH("v1", "couplings", id, "snapshots"), NULL);
    }
    if (code == MECHCTL_DONE && mechctl_option(m, "snapshots")) {
        code =
            mechctl_print_reply(m, "GET", MECHCTL_PATH("v1", "couplings", id, "snapshots"), NULL);
    }
    if (code == MECHCTL_DONE && mechctl_option(m, "stability")) {
        code =
            mechctl_print_reply(m, "GET", MECHCTL_PATH("v1", "couplings", id, "stability"), NULL);
    }
    if (code == MECHCTL_DONE && file) {
        code = save(m, id, file);
    }
    return code;
}

static int run(struct mechctl *m)
{
    const char *const id = m->arguments[0];
    struct mechc_json reply;
    int code = check(m);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (m->count == 0) {
        return list(m);
    }
    code = begin(m, id);
    if (code == MECHCTL_DONE && mechctl_option(m, "commit")) {
        code = commit(m, id);
    } else if (code == MECHCTL_DONE && has_end(m)) {
        code = step(m, id);
    } else if (code == MECHCTL_DONE && m->given_count == 0) {
        code = mechctl_print_reply(m, "GET", MECHCTL_PATH("v1", "couplings", id), NULL);
    }
    code = code == MECHCTL_DONE ? end(m, id) : code;
    return code == MECHCTL_DONE && mechctl_option(m, "delete")
               ? mechctl_send(m, "DELETE", MECHCTL_PATH("v1", "couplings", id), NULL, &reply)
               : code;
}

static const struct mechctl_option options[] = {
    {.name = "trial",
     .key = "commit",
     .apart = true,
     .doc = "make the step a trial, which changes nothing until it is committed"},
    {.name = "commit",
     .argument = "N",
     .row = &mechp_row_COMMIT_COUPLING,
     .key = "trial",
     .doc = "commit trial N instead of a step"},
    MECHCTL_OPTION("reset", NULL, "first reset all its instances"),
    MECHCTL_OPTION("restore", "SID", "first return to a snapshot"),
    MECHCTL_OPTION("load", "FILE",
                   "first set the state from a file that --save wrote, here or on another server"),
    MECHCTL_OPTION("snapshot", NULL, "at the end save its state and those of its instances"),
    MECHCTL_OPTION("snapshots", NULL, "at the end list its snapshots"),
    MECHCTL_OPTION("forget", "SID", "delete a snapshot"),
    MECHCTL_OPTION(
        "stability", NULL,
        "at the end print the spectral radius of a window and the largest stable window"),
    MECHCTL_OPTION(
        "save", "FILE",
        "at the end write its state to a file, models and states of its instances included"),
    MECHCTL_OPTION("delete", NULL, "delete the coupling; its instances are released"),
    {0},
};

const struct mechctl_command mechctl_couplings = {
    .name = "couplings",
    .group = MECHCTL_MANY,
    .arguments = "[ID]",
    .summary = "list the couplings, or show one, step, reset, save, restore, delete it",
    .body = &mechp_row_STEP_COUPLING,
    .options = options,
    .least = 0,
    .most = 1,
    .run = run,
};
