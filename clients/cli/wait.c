/* Waiting for a run, with a bar on standard error where that is a terminal. */
#include "clients/cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const long shortest = 5000000, longest = 200000000; /* ns between two looks */

/* A number of the reply, NaN where it has none. */
static double number(struct mechc_json reply, const char *name)
{
    struct mechc_json v;
    double x = NAN;
    return mechc_json_member(reply, name, &v) && mechc_json_number(v, &x) ? x : (double)NAN;
}

const char *mechctl_kind(const struct mechctl *m)
{
    return mechctl_option(m, "coupling") ? "couplings" : "instances";
}

/* What becomes of a run whose end is not awaited any more. */
static int leave(struct mechctl *m, const char *id, const char *run, bool own)
{
    struct mechc_json reply;
    if (!own) {
        fprintf(stderr, "mechctl: interrupted; the run %s continues in the server\n", run);
        return MECHCTL_FAILED;
    }
    const int code = mechctl_send(m, "DELETE", MECHCTL_PATH("v1", mechctl_kind(m), id, "runs", run),
                                  NULL, &reply);
    if (code == MECHCTL_DONE) {
        fprintf(stderr, "mechctl: interrupted; the run %s has been stopped at %g s\n", run,
                number(reply, "time"));
    }
    return code == MECHCTL_DONE ? MECHCTL_FAILED : code;
}

int mechctl_wait(struct mechctl *m, const char *id, const char *run, bool own)
{
    const bool shown = isatty(STDERR_FILENO) && !m->json;
    struct mechc_json reply, v;
    char state[32] = "";
    int code = MECHCTL_DONE;
    bool drawn = false;
    for (struct timespec nap = {.tv_nsec = shortest};; nanosleep(&nap, NULL)) {
        code = mechctl_get(m, MECHCTL_PATH("v1", mechctl_kind(m), id, "runs", run), &reply);
        if (code != MECHCTL_DONE || !mechc_json_member(reply, "state", &v)) {
            break;
        }
        mechc_json_text(v, state, sizeof state);
        if (strcmp(state, "running") != 0 || mechctl_noted() != 0) {
            break;
        }
        const double fraction = number(reply, "fraction");
        if (shown && fraction >= 0.) {
            mechctl_bar(fraction, number(reply, "remaining"));
            drawn = true;
        }
        nap.tv_nsec = nap.tv_nsec < longest / 2 ? 2 * nap.tv_nsec : longest;
    }
    fputs(drawn ? "\r\033[K" : "", stderr);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (strcmp(state, "running") == 0 && mechctl_noted() != 0) {
        return leave(m, id, run, own);
    }
    if (m->json) {
        mechctl_print_raw(reply);
    } else {
        mechctl_print_tree(m, reply);
    }
    return strcmp(state, "failed") == 0 ? MECHCTL_REFUSED : MECHCTL_DONE;
}
