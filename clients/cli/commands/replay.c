/* mechctl replay: the recorded inputs of a run played again, in a new instance here or on another
 * server, and the hashes of the states compared, step by step. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 128 };

/* Rows of a run, and the instance in which they are played again. */
struct replay {
    struct mechctl *m;
    struct mechc *source, *target; /* two handles, also for one server */
    char id[MECHC_ID];             /* of that instance; "": there is none */
    struct mechc_json columns;     /* names */
    uint64_t played;               /* steps */
};

/* --- columns ---------------------------------------------------------------------------------- */

/* The k-th element of an array; false: there is none. */
static bool element(struct mechc_json array, size_t k, struct mechc_json *out)
{
    struct mechc_json_walk w = mechc_json_walk(array);
    while (mechc_json_next(&w)) {
        if (k-- == 0) {
            *out = w.value;
            return true;
        }
    }
    return false;
}

/* The name of the k-th column's input, without its index; false: it is no input's. */
static bool input_of(const struct replay *r, size_t k, char out[NAME])
{
    static const char prefix[] = "input:";
    char text[NAME];
    struct mechc_json column;
    if (!element(r->columns, k, &column)) {
        return false;
    }
    mechc_json_text(column, text, sizeof text);
    const bool is = strncmp(text, prefix, sizeof prefix - 1) == 0;
    snprintf(out, NAME, "%.*s", (int)strcspn(text, "["), is ? text + sizeof prefix - 1 : "");
    out[strcspn(out, "[")] = '\0';
    return is;
}

static bool is_scalar(const struct replay *r, size_t k)
{
    struct mechc_json column;
    return element(r->columns, k, &column) &&
           !memchr(column.at, '[', (size_t)(column.end - column.at));
}

/* Columns of the input that begins at the k-th one. */
static size_t width_of(const struct replay *r, size_t k)
{
    char name[NAME], next[NAME];
    size_t n = 1;
    input_of(r, k, name);
    while (input_of(r, k + n, next) && strcmp(name, next) == 0) {
        n++;
    }
    return n;
}

static bool differ(struct mechc_json a, struct mechc_json b, size_t k)
{
    struct mechc_json x, y;
    return !element(a, k, &x) || !element(b, k, &y) || x.end - x.at != y.end - y.at ||
           memcmp(x.at, y.at, (size_t)(x.end - x.at)) != 0;
}

/* --- requests to the new instance ------------------------------------------------------------- */

static void add_value(struct replay *r, struct mechc_json row, size_t k, size_t n)
{
    struct mechc_bytes *const b = &r->m->body;
    struct mechc_json value;
    char name[NAME];
    input_of(r, k, name);
    mechc_bytes_text(b, b->length > 1 ? "," : "");
    mechc_bytes_string(b, name);
    mechc_bytes_text(b, ":");
    // one that was not set is given back to the model
    const bool set = element(row, k, &value) && mechc_json_kind(value) != 'n';
    if (!set) {
        mechc_bytes_text(b, "null");
        return;
    }
    mechc_bytes_text(b, is_scalar(r, k) ? "" : "[");
    for (size_t j = 0; j < n && element(row, k + j, &value); j++) {
        mechc_bytes_text(b, j > 0 ? "," : "");
        mechc_bytes_add(b, value.at, (size_t)(value.end - value.at));
    }
    mechc_bytes_text(b, is_scalar(r, k) ? "" : "]");
}

/* Set what has changed since the row before. */
static int set_inputs(struct replay *r, struct mechc_json last, struct mechc_json row)
{
    struct mechctl *const m = r->m;
    struct mechc_json reply;
    char name[NAME];
    const size_t count = mechc_json_count(r->columns);
    mechc_bytes_clear(&m->body);
    mechc_bytes_text(&m->body, "{");
    for (size_t k = 0; k < count;) {
        const size_t n = input_of(r, k, name) ? width_of(r, k) : 1;
        bool changed = false;
        for (size_t j = 0; j < n && input_of(r, k, name); j++) {
            changed = changed || differ(last, row, k + j);
        }
        if (changed) {
            add_value(r, row, k, n);
        }
        k += n;
    }
    if (m->body.length == 1) {
        return MECHCTL_DONE;
    }
    mechc_bytes_text(&m->body, "}");
    return mechctl_send(m, "PUT", MECHCTL_PATH("v1", "instances", r->id, "inputs"), &m->body,
                        &reply);
}

/* Step until the row's time. */
static int step_to(struct replay *r, struct mechc_json row)
{
    struct mechctl *const m = r->m;
    struct mechc_json time, reply;
    if (!element(row, 0, &time)) {
        return MECHCTL_FAILED;
    }
    mechc_bytes_clear(&m->body);
    mechc_bytes_text(&m->body, "{\"outputs\":[],\"until\":");
    mechc_bytes_add(&m->body, time.at, (size_t)(time.end - time.at));
    mechc_bytes_text(&m->body, "}");
    r->played++;
    return mechctl_send(m, "POST", MECHCTL_PATH("v1", "instances", r->id, "step"), &m->body,
                        &reply);
}

/* Compare the state's hash with the row's, the last two of its values. */
static int compare(struct replay *r, struct mechc_json row, bool *same)
{
    struct mechc_json reply, hash;
    const size_t count = mechc_json_count(r->columns);
    const int code = mechctl_get(r->m, MECHCTL_PATH("v1", "instances", r->id, "hash"), &reply);
    *same = code == MECHCTL_DONE && count > 2 && mechc_json_member(reply, "hash", &hash);
    for (size_t k = 0; *same && k < 2; k++) {
        struct mechc_json there, here;
        double a = 0., b = 1.;
        *same = element(row, count - 2 + k, &there) && element(hash, k, &here) &&
                mechc_json_number(there, &a) && mechc_json_number(here, &b) && a == b;
    }
    return code;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int report(struct replay *r, struct mechc_json row, bool same)
{
    struct mechc_json time;
    char text[64] = "";
    if (element(row, 0, &time)) {
        mechc_json_text(time, text, sizeof text);
    }
    if (r->m->json) {
        printf("{\"same\":%s,\"steps\":%llu,\"time\":%s}\n", same ? "true" : "false",
               (unsigned long long)r->played, text);
    } else if (same) {
        printf("%llu steps until %s s: no hash differs\n", (unsigned long long)r->played, text);
    } else if (r->played == 0) {
        printf("the snapshot is not the state at the start of the run (%s s)\n", text);
    } else {
        printf("step %llu, at %s s, is the first whose hash differs\n",
               (unsigned long long)r->played, text);
    }
    return same ? MECHCTL_DONE : MECHCTL_REFUSED;
}

/* The signal that came while there is an instance to delete. */
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    stopped = signal;
}

/* Every row in turn, as long as the hashes agree. */
static int play(struct replay *r, struct mechc_json rows)
{
    struct mechc_json last = {0};
    bool same = true;
    int code = MECHCTL_DONE;
    for (struct mechc_json_walk w = mechc_json_walk(rows); mechc_json_next(&w);) {
        if (last.at) {
            code = set_inputs(r, last, w.value);
            code = code == MECHCTL_DONE ? step_to(r, w.value) : code;
        }
        code = code == MECHCTL_DONE ? compare(r, w.value, &same) : code;
        last = w.value;
        code = code == MECHCTL_DONE && stopped ? MECHCTL_FAILED : code;
        if (code != MECHCTL_DONE || !same) {
            break;
        }
    }
    return code == MECHCTL_DONE ? report(r, last, same) : code;
}

int mechctl_open_on(struct mechctl *m, struct mechc **out)
{
    struct mechc *const mine = m->c;
    const char *token = mechctl_option(m, "on-token");
    int code = mechctl_open(m, mechctl_option(m, "on"), out);
    if (code != MECHCTL_DONE) {
        return code;
    }
    const bool same = strcmp(mechc_base(*out), mechc_base(mine)) == 0;
    if (!token && !same) {
        token = getenv("MECHD_ON_TOKEN");
        token = token && *token != '\0' ? token : NULL;
    }
    if (token || !same) {
        m->c = *out; // whose errors are printed
        code = mechctl_result(m, mechc_set_token(m->c, token));
        m->c = mine;
    }
    return code;
}

/* Delete the new instance, also after a signal, which may end this request too. */
static int remove_instance(struct replay *r)
{
    int result = mechc_delete(r->target, r->id);
    result = result == MECHC_INTERRUPTED ? mechc_delete(r->target, r->id) : result;
    return mechctl_result(r->m, result);
}

/* Create the new instance from the snapshot, in r->m->body, play in it, and delete it. */
static int play_in_new(struct replay *r, struct mechc_json rows)
{
    struct mechctl *const m = r->m;
    const struct mechctl_ends before = mechctl_on_end(stop);
    const sigset_t held = mechctl_hold_ends();
    int code = mechctl_result(m, mechc_create_snapshot(m->c, m->body.at, m->body.length, r->id));
    mechctl_release_ends(&held);
    code = code == MECHCTL_DONE ? play(r, rows) : code;
    if (r->id[0] != '\0') {
        const int gone = remove_instance(r);
        code = code == MECHCTL_DONE ? gone : code;
    }
    mechctl_on_end_restore(&before);
    if (stopped) {
        raise(stopped);
    }
    return code;
}

/* The rows, held. */
static int read_rows(struct mechctl *m, struct mechc_json *columns, struct mechc_json *rows)
{
    struct mechc_json reply;
    int code = mechctl_get(
        m, MECHCTL_PATH("v1", "instances", m->arguments[0], "runs", m->arguments[1], "results"),
        &reply);
    code = code == MECHCTL_DONE ? mechctl_hold(m, &reply) : code;
    if (code == MECHCTL_DONE && (!mechc_json_member(reply, "columns", columns) ||
                                 !mechc_json_member(reply, "rows", rows))) {
        code = MECHCTL_FAILED;
    }
    return code;
}

static bool is_true(struct mechc_json object, const char *path)
{
    struct mechc_json v;
    return mechc_json_member(object, path, &v) && mechc_json_kind(v) == 't';
}

/* An id as the server assigns them to couplings, c-1 or c-k3f9xm-1: no instance has it. */
static bool names_coupling(const char *id)
{
    const char *const last = strrchr(id, '-');
    const size_t digits = last ? strspn(last + 1, "0123456789") : 0;
    return strncmp(id, "c-", 2) == 0 && (last == id + 1 || last == id + 8) && digits > 0 &&
           last[1 + digits] == '\0';
}

/* Whether the run has recorded its hashes, of every step, and the inputs if there are any. */
static int check_run(struct mechctl *m)
{
    struct mechc_json reply, every, inputs;
    double periods = 0.;
    int code = mechctl_get(
        m, MECHCTL_PATH("v1", "instances", m->arguments[0], "runs", m->arguments[1]), &reply);
    if (code == MECHCTL_REFUSED && mechc_last_error(m->c)->status == 404 &&
        names_coupling(m->arguments[0])) {
        fputs("mechctl: the run of a coupling is replayed with --coupling\n", stderr);
    }
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!is_true(reply, "record/hash") || !mechc_json_member(reply, "record/every", &every) ||
        !mechc_json_number(every, &periods) || periods != 1.) {
        return mechctl_usage("replay: the run has not recorded the hash of every step: "
                             "mechctl run ID --replay does");
    }
    if (is_true(reply, "record/inputs")) {
        return MECHCTL_DONE;
    }
    code = mechctl_get(m, MECHCTL_PATH("v1", "instances", m->arguments[0], "inputs"), &reply);
    if (code == MECHCTL_DONE && mechc_json_member(reply, "inputs", &inputs) &&
        mechc_json_count(inputs) > 0) {
        return mechctl_usage("replay: the run has not recorded the inputs, which may have changed: "
                             "mechctl run ID --replay does");
    }
    return code;
}

/* The bytes of the snapshot into m->body. */
static int read_snapshot(struct mechctl *m, const char *sid)
{
    struct mechc_reply bytes;
    const int code = mechctl_result(m, mechc_snapshot_bytes(m->c, m->arguments[0], sid, &bytes));
    if (code == MECHCTL_DONE) {
        mechc_bytes_clear(&m->body);
        mechc_bytes_add(&m->body, bytes.body, bytes.size);
    }
    return code;
}

static int run(struct mechctl *m)
{
    struct replay r = {.m = m, .source = m->c};
    struct mechc_json rows = {0};
    if (mechctl_option(m, "coupling")) {
        return mechctl_replay_coupling(m);
    }
    int code = check_run(m);
    code = code == MECHCTL_DONE ? read_snapshot(m, m->arguments[2]) : code;
    code = code == MECHCTL_DONE ? read_rows(m, &r.columns, &rows) : code;
    code = code == MECHCTL_DONE ? mechctl_open_on(m, &r.target) : code;
    m->c = code == MECHCTL_DONE ? r.target : m->c;
    m->lane = NULL; // of the run's server
    code = code == MECHCTL_DONE ? play_in_new(&r, rows) : code;
    m->c = r.source;
    mechc_close(r.target);
    return code;
}

static const struct mechctl_option options[] = {
    MECHCTL_OF_COUPLING,
    MECHCTL_OPTION("on", "URL", "replay it on this server instead of the one of the run"),
    MECHCTL_OPTION("on-token", "TOKEN",
                   "its token (default MECHD_ON_TOKEN); --token is not sent there"),
    {0},
};

const struct mechctl_command mechctl_replay = {
    .name = "replay",
    .group = MECHCTL_RUNS,
    .arguments = "ID RUN SNAPSHOT",
    .summary = "play the recorded inputs of a run again and compare the states' hashes",
    .details =
        "  mechctl snapshot i-1                               s-1: the state before the run\n"
        "  mechctl run i-1 --until 1 --replay                 r-1\n"
        "  mechctl replay i-1 r-1 s-1 --on http://other:8080\n"
        "Names the first step whose hash differs, and exits with 1, or says that none does.\n"
        "SNAPSHOT is the state from which the run began. Extrapolated inputs, stamped forces\n"
        "and parameters that are not inputs are not recorded, and so not played. The record does\n"
        "not show that an input was set to another value and back within one period; the hash\n"
        "does, so that such a step differs.\n"
        "  mechctl replay --coupling c-1 r-1 s-1\n"
        "repeats the run in the coupling itself from its snapshot s-1 on, names the first period\n"
        "that differs and what differs in it, and restores the state before the replay. Inputs\n"
        "that no connection drives keep their values of the snapshot. With --on it is repeated on\n"
        "another server, in a coupling of copies, which is deleted afterwards; the snapshot must "
        "be\n"
        "of window 0, because what a scheme keeps of earlier windows is not part of an instance.",
    .options = options,
    .least = 3,
    .most = 3,
    .run = run,
};
