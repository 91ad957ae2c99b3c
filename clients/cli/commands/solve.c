/* mechctl solve: a complementarity or friction problem from a file. */
#include "clients/cli/cli.h"

#include <string.h>

/* The key of this member of the problem is written as `name`, of one letter as well, unless the
 * problem has that one. */
static void rename_key(struct mechc_bytes *body, struct mechc_json problem, char key, char name)
{
    const char text[] = {key, 0}, other[] = {name, 0};
    struct mechc_json v;
    if (mechc_json_member(problem, other, &v)) {
        return;
    }
    for (struct mechc_json_walk w = mechc_json_walk(problem); mechc_json_next(&w);) {
        if (w.object && mechc_json_is(w.key, text) && w.key.end - w.key.at == 3) {
            body->at[w.key.at + 1 - body->at] = name;
            return;
        }
    }
}

/* M z + q, as books on complementarity write it: the same as N l + r. Neither has one of the two
 * alone, and what is missing is named as the file would name it. */
static int read_names(struct mechctl *m)
{
    struct mechc_json body, problem, v;
    if (m->body.failed || !mechc_json_open(m->body.at, m->body.length, &body) ||
        !mechc_json_member(body, "problem", &problem) || mechc_json_kind(problem) != '{') {
        return MECHCTL_DONE;
    }
    const bool matrix = mechc_json_member(problem, "M", &v);
    const bool vector = mechc_json_member(problem, "q", &v);
    if (matrix != vector && !mechc_json_member(problem, matrix ? "r" : "N", &v) &&
        !mechc_json_member(problem, "H", &v)) {
        return mechctl_usage("%s: %s without %s (w = M z + q)", m->file, matrix ? "M" : "q",
                             matrix ? "q" : "M");
    }
    rename_key(&m->body, problem, 'M', 'N');
    rename_key(&m->body, problem, 'q', 'r');
    return MECHCTL_DONE;
}

static int run(struct mechctl *m)
{
    struct mechc_json reply;
    m->file = m->arguments[0];
    m->prefix = "/problem";
    mechc_bytes_text(&m->body, "{\"problem\":");
    m->lead = (int)m->body.length;
    int code = mechctl_read_json(m->file, &m->body);
    mechc_bytes_text(&m->body, "}");
    if (code == MECHCTL_DONE) {
        code = read_names(m);
    }
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "problems", "solve"), &m->body, &reply);
    }
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    mechctl_print_tree(m, reply);
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_solve = {
    .name = "solve",
    .group = MECHCTL_ANALYSES,
    .arguments = "FILE",
    .summary = "solve a complementarity or friction problem without a model",
    .details = "FILE, or - for standard input, holds N and r (c = N l + r), and sets or mu:\n"
               "  echo '{\"N\": [[2, 1], [1, 2]], \"r\": [-5, -6]}' | mechctl solve -\n"
               "M and q (w = M z + q) are other names of N and r; l is z then, and c is w.",
    .least = 1,
    .most = 1,
    .run = run,
};
