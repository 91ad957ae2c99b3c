/* mechctl call: any route, as it is. */
#include "clients/cli/cli.h"

#include <string.h>

static int run(struct mechctl *m)
{
    if (m->count > 2) {
        m->file = m->arguments[2];
        const int read = mechctl_read_file(m->file, &m->body);
        if (read != MECHCTL_DONE) {
            return read;
        }
    }
    struct mechc_reply r;
    const int code = mechctl_request(m,
                                     &(struct mechc_request){.method = m->arguments[0],
                                                             .path = m->arguments[1],
                                                             .body = m->body.at,
                                                             .size = m->body.length},
                                     &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    // json is laid out for people, everything else goes through untouched
    struct mechc_json value;
    if (!m->json && mechc_json_open(r.body, r.size, &value)) {
        mechctl_print_json(value);
        return MECHCTL_DONE;
    }
    return mechctl_write_file("-", r.body, r.size);
}

const struct mechctl_command mechctl_call = {
    .name = "call",
    .group = MECHCTL_SERVER,
    .arguments = "METHOD PATH [FILE]",
    .summary = "send any request and print the answer",
    .details = "FILE is the JSON body, - for standard input:\n"
               "  echo '{\"want\": [\"mass\"]}' | mechctl call POST /v1/instances/i-1/evaluate -\n"
               "  mechctl call GET /metrics",
    .synonyms = "curl request",
    .least = 2,
    .most = 3,
    .run = run,
};
