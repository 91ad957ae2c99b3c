/* mechctl stop: end the run of an instance, or the command in progress. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <string.h>

/* The id of the run in progress, as the instance names it; "": there is none. */
static int find_run(struct mechctl *m, char *out)
{
    struct mechc_json reply, v;
    out[0] = '\0';
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "instances", m->arguments[0]), &reply);
    if (code == MECHCTL_DONE && mechc_json_member(reply, "run", &v)) {
        mechc_json_member(v, "id", &v);
        if (mechc_json_kind(v) == '"') {
            mechc_json_text(v, out, MECHC_ID);
        }
    }
    return code;
}

/* A step or the like, whose client gets the answer `cancelled`; or *runs: there is a run
 * instead. Before all else, since it takes no place in a queue that may be full. */
static int stop_command(struct mechctl *m, bool *runs)
{
    char path[MECHC_PATH];
    struct mechc_reply r;
    struct mechc_json reply, v;
    int code = mechctl_result(
        m, mechc_path(m->c, MECHCTL_PATH("v1", "instances", m->arguments[0], "stop"), path));
    if (code != MECHCTL_DONE) {
        return code;
    }
    const int result =
        mechc_call(m->c, &(struct mechc_request){.method = "POST", .path = path}, &r);
    *runs = result == MECHC_REFUSED && strcmp(mechc_last_error(m->c)->code, "run-in-progress") == 0;
    if (*runs) {
        return MECHCTL_DONE;
    }
    code = mechctl_answer(m, result, &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!mechc_json_open(r.body, r.size, &reply) || !mechc_json_member(reply, "stopped", &v) ||
        mechc_json_kind(v) != 't') {
        fprintf(stderr, "mechctl: %s has nothing in progress\n", m->arguments[0]);
        return MECHCTL_REFUSED;
    }
    return MECHCTL_DONE;
}

static int run(struct mechctl *m)
{
    char id[MECHC_ID] = "";
    struct mechc_json reply;
    bool runs = m->count > 1;
    if (m->count == 1 && mechctl_option(m, "coupling")) {
        return mechctl_usage(
            "stop: --coupling needs the RUN as well: mechctl runs ID --coupling lists them");
    }
    int code = m->count > 1 ? MECHCTL_DONE : stop_command(m, &runs);
    if (code != MECHCTL_DONE || !runs) {
        return code;
    }
    if (m->count == 1) {
        code = find_run(m, id);
        if (code == MECHCTL_DONE && id[0] == '\0') {
            return code; // it has ended meanwhile
        }
    }
    const char *const *const path = MECHCTL_PATH("v1", mechctl_kind(m), m->arguments[0], "runs",
                                                 m->count > 1 ? m->arguments[1] : id);
    return code == MECHCTL_DONE ? mechctl_send(m, "DELETE", path, NULL, &reply) : code;
}

static const struct mechctl_option options[] = {MECHCTL_OF_COUPLING, {0}};

const struct mechctl_command mechctl_stop = {
    .name = "stop",
    .group = MECHCTL_STEPS,
    .arguments = "ID [RUN]",
    .summary = "end the run of an instance at a step boundary, or the command in progress",
    .options = options,
    .synonyms = "kill halt cancel abort pause end",
    .least = 1,
    .most = 2,
    .run = run,
};
