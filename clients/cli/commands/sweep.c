/* mechctl sweep: one model, hosted FMU or coupling over many sets of parameters. */
#include "clients/cli/cli.h"
#include "protocol/wire/bodies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const long shortest = 2000000, longest = 200000000; /* ns between two looks */

/* One axis of the grid from A,B,… or FROM:TO:COUNT. MECHCTL_DONE or MECHCTL_USAGE. */
static int add_axis(struct mechctl *m, const char *name, const char *text)
{
    static const char *const keys[] = {"{\"from\":", ",\"to\":", ",\"count\":"};
    struct mechc_bytes *const b = &m->body;
    const bool range = strchr(text, ':');
    mechc_bytes_text(b, range ? "" : "[");
    int n = 0;
    for (const char *at = text; *at || n == 0; n++) {
        char *end = NULL;
        const double value = strtod(at, &end);
        if (end == at || (*end && *end != (range ? ':' : ',')) || (range && n > 2)) {
            return mechctl_usage("'%s=%s': must be NAME=A,B,... or NAME=FROM:TO:COUNT", name, text);
        }
        if (!isfinite(value)) {
            return mechctl_usage("'%s=%s': %g is not a finite number", name, text, value);
        }
        mechc_bytes_text(b, range ? keys[n] : n > 0 ? "," : "");
        mechc_bytes_number(b, value);
        at = end + (*end != 0);
    }
    mechc_bytes_text(b, range ? "}" : "]");
    return range && n != 3 ? mechctl_usage("'%s=%s': expected FROM:TO:COUNT", name, text)
                           : MECHCTL_DONE;
}

/* "parameters" from the arguments after the first-th. */
static int add_grid(struct mechctl *m, int first)
{
    int code = MECHCTL_DONE;
    mechc_bytes_text(&m->body, ",\"parameters\":{\"grid\":{");
    for (int k = first; k < m->count && code == MECHCTL_DONE; k++) {
        char *const equals = strchr(m->arguments[k], '=');
        if (!equals || equals == m->arguments[k]) {
            return mechctl_usage("'%s': expected NAME=VALUES", m->arguments[k]);
        }
        *equals = 0;
        mechc_bytes_text(&m->body, k > first ? "," : "");
        mechc_bytes_string(&m->body, m->arguments[k]);
        mechc_bytes_text(&m->body, ":");
        code = add_axis(m, m->arguments[k], equals + 1);
        *equals = '=';
    }
    mechc_bytes_text(&m->body, "}}");
    return code;
}

/* until, count, outputs and record. */
static int add_end(struct mechctl *m)
{
    int code = mechctl_add_keys(m, NULL);
    if (code == MECHCTL_DONE && mechctl_option(m, "every")) {
        mechc_bytes_text(&m->body, ",\"record\":{");
        code = mechctl_add_keys(m, &mechp_body_sweep_record);
        mechc_bytes_text(&m->body, "}");
    }
    mechc_bytes_text(&m->body, "}");
    return code;
}

static double number(struct mechc_json object, const char *name)
{
    struct mechc_json v;
    double x = 0.;
    return mechc_json_member(object, name, &v) && mechc_json_number(v, &x) ? x : 0.;
}

/* Until all points are over; *failed says how many failed. */
static int wait_for(struct mechctl *m, const char *id, double *failed)
{
    const bool shown = isatty(STDERR_FILENO) && !m->json;
    char state[32] = "running";
    struct mechc_json reply, v;
    for (struct timespec nap = {.tv_nsec = shortest};; nanosleep(&nap, NULL)) {
        const int code = mechctl_get(m, MECHCTL_PATH("v1", "sweeps", id), &reply);
        if (code != MECHCTL_DONE || !mechc_json_member(reply, "state", &v)) {
            return code;
        }
        mechc_json_text(v, state, sizeof state);
        if (strcmp(state, "running") != 0 || mechctl_noted() != 0) {
            break;
        }
        if (shown) {
            mechctl_bar(number(reply, "done") / number(reply, "points"), -1.);
        }
        nap.tv_nsec = nap.tv_nsec < longest / 2 ? 2 * nap.tv_nsec : longest;
    }
    fputs(shown ? "\r\033[K" : "", stderr);
    *failed = number(reply, "failed");
    if (*failed > 0. && mechc_json_member(reply, "errors", &v)) {
        for (struct mechc_json_walk w = mechc_json_walk(v); mechc_json_next(&w);) {
            char text[256] = "";
            struct mechc_json message;
            if (mechc_json_member(w.value, "message", &message)) {
                mechc_json_text(message, text, sizeof text);
            }
            fprintf(stderr, "point %.0f: %s\n", number(w.value, "point"), text);
        }
    }
    return MECHCTL_DONE;
}

int mechctl_print_sweep(struct mechctl *m, const char *id, const char *format)
{
    char path[MECHC_PATH + 64];
    const int result = mechc_path(m->c, MECHCTL_PATH("v1", "sweeps", id, "results"), path);
    if (result != MECHC_OK) {
        return mechctl_result(m, result);
    }
    mechctl_query(path, sizeof path, "format", format);
    const int code = mechctl_query_keys(m, path, sizeof path);
    return code != MECHCTL_DONE ? code : mechctl_print_path(m, path);
}

/* The request, from the command line. */
static int form_request(struct mechctl *m)
{
    const char *const example = mechctl_option(m, "example");
    const char *const fmu = mechctl_option(m, "fmu");
    const bool coupled = mechctl_option(m, "coupling");
    if ((!example && !fmu && m->count < 1) || (example && fmu)) {
        return mechctl_usage("sweep: give one of FILE, --example and --fmu");
    }
    if ((example || fmu) && coupled) {
        return mechctl_usage("sweep: --coupling needs a FILE, not --example or --fmu");
    }
    int code = MECHCTL_DONE;
    if (fmu) {
        mechc_bytes_text(&m->body, "{\"fmu\":");
        mechc_bytes_string(&m->body, fmu);
    } else {
        code = coupled ? mechctl_add_document(m, "coupling", "/coupling")
                       : mechctl_add_model(m, example);
    }
    code = code == MECHCTL_DONE ? add_grid(m, example || fmu ? 0 : 1) : code;
    return code == MECHCTL_DONE ? add_end(m) : code;
}

/* Wait for the points, print the table and delete the sweep; Ctrl-C deletes it at once. */
static int wait_and_print(struct mechctl *m, const char *id)
{
    const char *const given = mechctl_option(m, "format");
    const char *const format = given ? given : m->json ? "json" : "csv";
    struct mechc_json reply;
    double failed = 0.;
    int code = wait_for(m, id, &failed);
    if (code == MECHCTL_DONE && mechctl_noted() == 0) {
        code = mechctl_print_sweep(m, id, format);
    }
    const int freed = mechctl_send(m, "DELETE", MECHCTL_PATH("v1", "sweeps", id), NULL, &reply);
    if (freed == MECHCTL_DONE && mechctl_noted() != 0) {
        fprintf(stderr, "mechctl: interrupted; the sweep %s has been stopped and deleted\n", id);
    }
    code = code == MECHCTL_DONE ? freed : code;
    return code == MECHCTL_DONE && failed > 0. ? MECHCTL_REFUSED : code;
}

static int run(struct mechctl *m)
{
    struct mechc_json reply, v;
    char id[MECHC_ID] = "";
    int code = form_request(m);
    if (code != MECHCTL_DONE) {
        return code;
    }
    // Ctrl-C waits for the id of what it ends
    const sigset_t held = mechctl_hold_ends();
    const struct mechctl_ends before = mechctl_note_ends();
    code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "sweeps"), &m->body, &reply);
    mechctl_release_ends(&held);
    if (code == MECHCTL_DONE && mechctl_option(m, "keep")) {
        code = mechctl_print_id(m, reply);
    } else if (code == MECHCTL_DONE && mechc_json_member(reply, "id", &v)) {
        mechc_json_text(v, id, sizeof id);
        code = wait_and_print(m, id);
    }
    mechctl_obey_ends(&before);
    return code;
}

static const struct mechctl_option options[] = {
    {.key = "example",
     .argument = "NAME",
     .apart = true,
     .doc = "use this example in place of a file"},
    {.key = "fmu",
     .argument = "ID",
     .apart = true,
     .doc = "sweep an uploaded FMU over its parameters and inputs"},
    {.key = "coupling", .apart = true, .doc = "FILE holds a coupling of models"},
    {.key = "format",
     .argument = "FORMAT",
     .apart = true,
     .doc = "format of the table (default csv; json with --json)"},
    {.of = &mechp_body_sweep_record,
     .key = "every",
     .doc = "a row every N internal steps or windows, not only at the end"},
    MECHCTL_OPTION("keep", NULL,
                   "do not wait: print the sweep's id; its results stay in the server"),
    {0},
};

const struct mechctl_command mechctl_sweep = {
    .name = "sweep",
    .group = MECHCTL_MANY,
    .arguments = "[FILE] NAME=A,B,...|NAME=FROM:TO:COUNT ...",
    .summary = "simulate a model for every combination of parameter values, and print one table",
    .details =
        "  mechctl sweep --example driven-oscillator k=50,100 d=0:10:11 --until 1\n"
        "With --coupling, FILE is as for couple, with a \"model\" or an \"example\" for each\n"
        "participant; names are PARTICIPANT/PARAMETER, or pointers to its numbers:\n"
        "  mechctl sweep --coupling pair.json left/k=50,100 /stepSize=0.01,0.02 --count 10\n"
        "A bar shows the progress where standard error is a terminal. The exit status is 1\n"
        "when some points failed: their rows are empty, and standard error has the reasons.",
    .body = &mechp_row_SWEEP,
    .query = &mechp_row_SWEEP_RESULTS,
    .options = options,
    .synonyms = "scan study",
    .least = 0,
    .most = -1,
    .run = run,
};
