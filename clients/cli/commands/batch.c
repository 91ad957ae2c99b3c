/* mechctl batch: one operation on many instances in one request. */
#include "clients/cli/cli.h"
#include "solver/base/odd.h"

#include <string.h>

static void add_instances(struct mechctl *m, const char *label)
{
    struct mechc_bytes *const b = &m->body;
    mechc_bytes_text(b, ",\"instances\":");
    if (label) {
        mechc_bytes_text(b, "{\"label\":");
        mechc_bytes_string(b, label);
        mechc_bytes_text(b, "}");
        return;
    }
    mechc_bytes_text(b, "[");
    for (int k = 1; k < m->count; k++) {
        mechc_bytes_text(b, k > 1 ? "," : "");
        mechc_bytes_string(b, m->arguments[k]);
    }
    mechc_bytes_text(b, "]");
}

static int run(struct mechctl *m)
{
    static const struct mechctl_column columns[] = {
        {"id", "ID", false},
        {"status", "STATUS", true},
        {"body/time", "TIME", true},
        {"body/step", "STEPS", true},
        {"body/outputs", "OUTPUTS", false},
        {"error/detail", "REASON", false},
        {0},
    };
    const char *const label = mechctl_option(m, "label"), *const body = mechctl_option(m, "body");
    if ((label != NULL) == (m->count > 1)) {
        return mechctl_usage("batch: give ids or --label, and not both");
    }
    if (body && mechctl_is_blank(body, strlen(body))) {
        return mechctl_usage("--body: it is empty");
    }
    mechc_bytes_text(&m->body, "{");
    if (body) {
        // first: places in it are counted from there
        m->file = "--body";
        m->prefix = "/body";
        mechc_bytes_text(&m->body, "\"body\":");
        m->lead = (int)m->body.length;
        mechc_bytes_text(&m->body, body + mech_text_mark(body, strlen(body)));
        mechc_bytes_text(&m->body, ",");
    }
    mechc_bytes_text(&m->body, "\"operation\":");
    mechc_bytes_string(&m->body, m->arguments[0]);
    add_instances(m, label);
    int code = mechctl_add_keys(m, NULL);
    mechc_bytes_text(&m->body, "}");
    struct mechc_json reply, results, failed;
    double count = 0.;
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "batch"), &m->body, &reply);
    }
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (m->json) {
        mechctl_print_raw(reply);
    } else if (mechc_json_member(reply, "results", &results)) {
        mechctl_print_table(m, results, columns, "no instances");
    }
    const bool told = mechc_json_member(reply, "failed", &failed);
    return told && mechc_json_number(failed, &count) && count > 0. ? MECHCTL_REFUSED : MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("label", "NAME=VALUE", "all instances with this label, in place of ids"),
    {.key = "body", .argument = "JSON", .apart = true},
    {0},
};

const struct mechctl_command mechctl_batch = {
    .name = "batch",
    .group = MECHCTL_MANY,
    .arguments = "OPERATION [ID ...]",
    .summary = "run an operation on many instances in one request",
    .details = "  mechctl batch step i-1 i-2 --body '{\"count\": 10}'\n"
               "  mechctl batch delete --label rig=7\n"
               "Operations are named as over ZeroMQ. The exit status is 1 if the operation failed\n"
               "for some instances.",
    .body = &mechp_row_BATCH,
    .without = "operation op instances results",
    .options = options,
    .least = 1,
    .most = -1,
    .run = run,
};
