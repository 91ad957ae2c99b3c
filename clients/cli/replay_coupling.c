/* mechctl replay --coupling: a run of a coupling once more, from the snapshot on, as a run with the
 * same periods and record; its rows, with the hash of the states of all participants, are compared
 * with those of the first one. The coupling is then where it was before. With --on the second run
 * is that of a copy of the coupling on another server (replay_copy.c). */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT = 128 };
static const long shortest = 2000000, longest = 100000000; /* ns between two looks */

struct again {
    struct mechctl *m;
    const char *id, *run, *start;    /* of the coupling; its run and snapshot */
    char before[MECHC_ID];           /* snapshot of the state to return to; "": none yet, or done */
    char second[MECHC_ID];           /* the run that repeats it; "": none yet */
    struct mechctl_copy copy;        /* with --on: in which it does */
    struct mechc_json columns, rows; /* of the first one, held */
    uint64_t same;                   /* rows that agree */
};

/* The signal that came while the coupling is not where it was. */
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    stopped = signal;
}

static bool is_true(struct mechc_json object, const char *path)
{
    struct mechc_json v;
    return mechc_json_member(object, path, &v) && mechc_json_kind(v) == 't';
}

/* A member that is an id. */
static bool take_id(struct mechc_json reply, char id[MECHC_ID])
{
    struct mechc_json v;
    return mechc_json_member(reply, "id", &v) && mechc_json_text(v, id, MECHC_ID) < MECHC_ID;
}

static int post(struct again *a, const char *what, const char *which, const char *verb,
                struct mechc_json *reply)
{
    struct mechctl *const m = a->m;
    mechc_bytes_clear(&m->body);
    mechc_bytes_text(&m->body, "{}");
    return mechctl_send(m, "POST", MECHCTL_PATH("v1", "couplings", a->id, what, which, verb),
                        &m->body, reply);
}

/* --- the first run ---------------------------------------------------------------------------- */

/* The request that repeats it, but for its end, into m->body. */
static int read_run(struct again *a)
{
    static const char *const recorded[] = {"every", "outputs", "inputs", "hash"};
    struct mechctl *const m = a->m;
    struct mechc_json run, v;
    double every = 0.;
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "couplings", a->id, "runs", a->run), &run);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!is_true(run, "record/hash") || !is_true(run, "record/inputs") ||
        !mechc_json_member(run, "record/every", &v) || !mechc_json_number(v, &every) ||
        every != 1.) {
        return mechctl_usage("replay: the run has not recorded inputs and hash of every period: "
                             "mechctl run ID --coupling --replay does");
    }
    mechc_bytes_clear(&m->body);
    mechc_bytes_text(&m->body, "{\"pace\":0,\"record\":{");
    for (size_t k = 0; k < sizeof recorded / sizeof *recorded; k++) {
        char path[TEXT];
        snprintf(path, sizeof path, "record/%s", recorded[k]);
        if (mechc_json_member(run, path, &v)) {
            mechc_bytes_text(&m->body, k > 0 ? "," : "");
            mechc_bytes_string(&m->body, recorded[k]);
            mechc_bytes_text(&m->body, ":");
            mechc_bytes_add(&m->body, v.at, (size_t)(v.end - v.at));
        }
    }
    mechc_bytes_text(&m->body, "},\"period\":");
    if (!mechc_json_member(run, "period", &v)) {
        return MECHCTL_FAILED;
    }
    mechc_bytes_add(&m->body, v.at, (size_t)(v.end - v.at));
    return MECHCTL_DONE;
}

static int read_rows(struct again *a, const char *run, struct mechc_json *columns,
                     struct mechc_json *rows)
{
    struct mechc_json reply;
    const int code =
        mechctl_get(a->m, MECHCTL_PATH("v1", "couplings", a->id, "runs", run, "results"), &reply);
    const bool good = code == MECHCTL_DONE && mechc_json_member(reply, "rows", rows) &&
                      mechc_json_member(reply, "columns", columns);
    return code != MECHCTL_DONE ? code : good ? MECHCTL_DONE : MECHCTL_FAILED;
}

/* The first one's, held, and the time of its last one behind m->body. */
static int hold_rows(struct again *a)
{
    struct mechctl *const m = a->m;
    struct mechc_json reply, last = {0};
    int code =
        mechctl_get(m, MECHCTL_PATH("v1", "couplings", a->id, "runs", a->run, "results"), &reply);
    code = code == MECHCTL_DONE ? mechctl_hold(m, &reply) : code;
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!mechc_json_member(reply, "columns", &a->columns) ||
        !mechc_json_member(reply, "rows", &a->rows)) {
        return MECHCTL_FAILED;
    }
    for (struct mechc_json_walk w = mechc_json_walk(a->rows); mechc_json_next(&w);) {
        struct mechc_json_walk row = mechc_json_walk(w.value);
        last = mechc_json_next(&row) ? row.value : last;
    }
    if (mechc_json_count(a->rows) < 2) {
        return mechctl_usage("replay: the run has completed no period");
    }
    mechc_bytes_text(&m->body, ",\"until\":");
    mechc_bytes_add(&m->body, last.at, (size_t)(last.end - last.at));
    mechc_bytes_text(&m->body, "}");
    return MECHCTL_DONE;
}

/* --- what is found ---------------------------------------------------------------------------- */

static void name_column(const struct again *a, size_t place, char out[TEXT])
{
    struct mechc_json_walk w = mechc_json_walk(a->columns);
    for (out[0] = '\0'; mechc_json_next(&w); place--) {
        if (place == 0) {
            mechc_json_text(w.value, out, TEXT);
            return;
        }
    }
}

static void row_time(struct mechc_json row, char out[TEXT])
{
    struct mechc_json_walk w = mechc_json_walk(row);
    out[0] = '\0';
    if (mechc_json_next(&w)) {
        mechc_json_text(w.value, out, TEXT);
    }
}

static int report(const struct again *a, struct mechc_json row, bool same, size_t place)
{
    const unsigned long long periods = a->same - (same ? 1 : 0);
    char time[TEXT], column[TEXT];
    row_time(row, time);
    name_column(a, place, column);
    if (a->m->json) {
        printf("{\"same\":%s,\"periods\":%llu,\"time\":%s", same ? "true" : "false", periods, time);
        printf(same ? "}\n" : ",\"column\":\"%s\"}\n", column);
    } else if (same) {
        printf("%llu periods until %s s: no hash differs\n", periods, time);
    } else if (periods == 0) {
        printf("the snapshot is not the state at the start of the run (%s s): %s differs\n", time,
               column);
    } else {
        printf("period %llu, until %s s, is the first that differs: %s\n", periods, time, column);
    }
    return same ? MECHCTL_DONE : MECHCTL_REFUSED;
}

/* --- the second ------------------------------------------------------------------------------- */

/* Until it is over, or a signal comes. */
static int wait_for(struct again *a)
{
    char state[TEXT] = "running";
    int code = MECHCTL_DONE;
    struct timespec nap = {.tv_nsec = shortest};
    while (code == MECHCTL_DONE && !stopped && strcmp(state, "running") == 0) {
        struct mechc_json reply, v;
        nanosleep(&nap, NULL);
        nap.tv_nsec = nap.tv_nsec < longest / 2 ? 2 * nap.tv_nsec : longest;
        code = mechctl_get(a->m, MECHCTL_PATH("v1", "couplings", a->id, "runs", a->second), &reply);
        if (code == MECHCTL_DONE && mechc_json_member(reply, "state", &v)) {
            mechc_json_text(v, state, sizeof state);
        }
    }
    return stopped ? MECHCTL_FAILED : code;
}

/* The second run, with this request, in the coupling of that id on m->c's server. */
static int repeat(struct again *a, const struct mechc_bytes *request)
{
    struct mechc_json reply;
    const sigset_t before = mechctl_hold_ends();
    int code =
        mechctl_send(a->m, "POST", MECHCTL_PATH("v1", "couplings", a->id, "runs"), request, &reply);
    if (code == MECHCTL_DONE && !take_id(reply, a->second)) {
        code = MECHCTL_FAILED;
    }
    mechctl_release_ends(&before);
    return code == MECHCTL_DONE ? wait_for(a) : code;
}

/* Return to the snapshot. MECHCTL_REFUSED, reported: its time is not that of the first row. */
static int restore_start(struct again *a)
{
    struct mechc_json reply, time;
    const int code = post(a, "snapshots", a->start, "restore", &reply);
    struct mechc_json_walk first = mechc_json_walk(a->rows);
    char now[TEXT] = "", then[TEXT] = "";
    if (code == MECHCTL_DONE && mechc_json_next(&first) &&
        mechc_json_member(reply, "time", &time)) {
        mechc_json_text(time, now, sizeof now);
        row_time(first.value, then);
        return strcmp(now, then) != 0 ? report(a, first.value, false, 0) : code;
    }
    return code;
}

/* The coupling goes back to where it was when this began; the snapshot of that is deleted. Also
 * after a signal, which may end this request too. */
static int go_back(struct again *a)
{
    struct mechc_json reply;
    int back = post(a, "snapshots", a->before, "restore", &reply);
    back =
        back != MECHCTL_DONE && stopped ? post(a, "snapshots", a->before, "restore", &reply) : back;
    if (back != MECHCTL_DONE) {
        // the only copy of where the coupling was
        (void)fprintf(stderr,
                      "the coupling has not returned to its state before the replay: snapshot %s, "
                      "which is kept, has that state\n",
                      a->before);
        a->before[0] = '\0';
        return back;
    }
    const int gone =
        mechctl_send(a->m, "DELETE", MECHCTL_PATH("v1", "couplings", a->id, "snapshots", a->before),
                     NULL, &reply);
    a->before[0] = '\0';
    return gone;
}

/* --- on another server ------------------------------------------------------------------------ */

/* Whether a coupling that begins anew begins like this snapshot. */
static int check_start(struct again *a)
{
    struct mechc_json reply, window;
    uint64_t windows = 0;
    const int code =
        mechctl_get(a->m, MECHCTL_PATH("v1", "couplings", a->id, "snapshots", a->start), &reply);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!mechc_json_member(reply, "window", &window) || !mechc_json_unsigned(window, &windows)) {
        return MECHCTL_FAILED;
    }
    return windows == 0 ? MECHCTL_DONE
                        : mechctl_usage("replay: --on needs a snapshot of window 0, taken when the "
                                        "coupling was made or reset; %s is of window %llu",
                                        a->start, (unsigned long long)windows);
}

/* The coupling in the state of the snapshot is copied, and goes back; from then on the copy is
 * meant. */
static int go_there(struct again *a)
{
    int code = mechctl_copy_make(&a->copy, a->id);
    const int back = go_back(a);
    code = code == MECHCTL_DONE ? back : code;
    a->id = a->copy.coupling;
    a->m->c = a->copy.to;
    a->m->lane = NULL; // of the run's server
    return code;
}

/* --- both ------------------------------------------------------------------------------------- */

/* The first value of two rows that differs, by its place; false: they agree. */
static bool differ(struct mechc_json one, struct mechc_json other, size_t *place)
{
    struct mechc_json_walk a = mechc_json_walk(one), b = mechc_json_walk(other);
    for (*place = 0; mechc_json_next(&a); ++*place) {
        if (!mechc_json_next(&b) || a.value.end - a.value.at != b.value.end - b.value.at ||
            memcmp(a.value.at, b.value.at, (size_t)(a.value.end - a.value.at)) != 0) {
            return true;
        }
    }
    return mechc_json_next(&b);
}

static int compare(struct again *a)
{
    struct mechc_json columns, rows, row = {0};
    const int code = read_rows(a, a->second, &columns, &rows);
    if (code != MECHCTL_DONE) {
        return code;
    }
    struct mechc_json_walk first = mechc_json_walk(a->rows), second = mechc_json_walk(rows);
    size_t place = 0;
    bool same = true;
    while (same && mechc_json_next(&first)) {
        row = first.value;
        same = mechc_json_next(&second) && !differ(first.value, second.value, &place);
        a->same += same;
    }
    return report(a, row, same, place);
}

/* The second run ends, the coupling goes back to where it was, and nothing of this remains but the
 * run in the list, of a copy nothing. Also after a signal, which may end a request too. */
static int clean_up(struct again *a)
{
    struct mechc_json reply;
    int code = MECHCTL_DONE;
    if (a->second[0] != '\0') {
        const char *const path[] = {"v1", "couplings", a->id, "runs", a->second, NULL};
        code = mechctl_send(a->m, "DELETE", path, NULL, &reply);
        code = code != MECHCTL_DONE && stopped ? mechctl_send(a->m, "DELETE", path, NULL, &reply)
                                               : code;
        (void)mechctl_send(a->m, "DELETE",
                           MECHCTL_PATH("v1", "couplings", a->id, "runs", a->second, "results"),
                           NULL, &reply);
    }
    if (a->before[0] != '\0') {
        const int back = go_back(a);
        code = back != MECHCTL_DONE ? back : code;
    }
    return code;
}

/* All that has to be undone behind it. */
static int play(struct again *a, const struct mechc_bytes *request)
{
    struct mechc_json reply;
    const bool elsewhere = a->copy.to;
    int code = post(a, "snapshots", NULL, NULL, &reply);
    code = code == MECHCTL_DONE && !take_id(reply, a->before) ? MECHCTL_FAILED : code;
    code = code == MECHCTL_DONE ? restore_start(a) : code;
    code = code == MECHCTL_DONE && elsewhere ? go_there(a) : code;
    code = code == MECHCTL_DONE ? repeat(a, request) : code;
    code = code == MECHCTL_DONE ? compare(a) : code;
    const int gone = clean_up(a);
    return code == MECHCTL_DONE ? gone : code;
}

int mechctl_replay_coupling(struct mechctl *m)
{
    struct again a = {
        .m = m, .id = m->arguments[0], .run = m->arguments[1], .start = m->arguments[2]};
    struct mechc *const mine = m->c;
    struct mechc_bytes request = {0};
    const bool elsewhere = mechctl_option(m, "on");
    if (!elsewhere && mechctl_option(m, "on-token")) {
        return mechctl_usage("replay: --on-token is the token for --on, which is missing");
    }
    int code = read_run(&a);
    code = code == MECHCTL_DONE ? hold_rows(&a) : code;
    mechc_bytes_add(&request, m->body.at, m->body.length);
    code = code == MECHCTL_DONE && elsewhere ? check_start(&a) : code;
    code = code == MECHCTL_DONE && elsewhere ? mechctl_copy_open(&a.copy, m) : code;
    if (code == MECHCTL_DONE) {
        const struct mechctl_ends before = mechctl_on_end(stop);
        code = play(&a, &request);
        const int gone = elsewhere ? mechctl_copy_end(&a.copy) : MECHCTL_DONE;
        code = code == MECHCTL_DONE ? gone : code;
        mechctl_on_end_restore(&before);
    } else if (elsewhere) {
        (void)mechctl_copy_end(&a.copy);
    }
    m->c = mine;
    mechc_bytes_fini(&request);
    if (stopped) {
        raise(stopped);
    }
    return code;
}
