/* mechctl streams: streams that clients have chosen: list, show, choose and delete them. */
#include "clients/cli/cli.h"

/* Append {"name", "outputs", "every"}, as far as given. */
static int compose(struct mechctl *m)
{
    struct mechc_bytes *const b = &m->body;
    mechc_bytes_text(b, "{\"name\":");
    mechc_bytes_string(b, m->arguments[1]);
    const int code = mechctl_add_keys(m, NULL);
    mechc_bytes_text(b, "}");
    return code;
}

static int list(struct mechctl *m, const char *const *path)
{
    static const struct mechctl_column columns[] = {
        {"name", "NAME", false},
        {"topic", "TOPIC", false},
        {"every", "EVERY", true},
        {"watched", "WATCHED", false},
        {0},
    };
    struct mechc_json reply, items;
    const int code = mechctl_get(m, path, &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns,
                            "no stream is chosen; the topic state/ID/ has all outputs");
    }
    return MECHCTL_DONE;
}

static int run(struct mechctl *m)
{
    const char *const id = m->arguments[0];
    const char *const *const all = MECHCTL_PATH("v1", mechctl_kind(m), id, "streams");
    const bool chooses = mechctl_option(m, "outputs") || mechctl_option(m, "every");
    const bool deletes = mechctl_option(m, "delete");
    if ((chooses || deletes) && m->count < 2) {
        return mechctl_usage("streams: the NAME of a stream is needed");
    }
    if (chooses && deletes) {
        return mechctl_usage("streams: --delete cannot be combined with --outputs and --every");
    }
    if (m->count < 2) {
        return list(m, all);
    }
    const char *const *const one =
        MECHCTL_PATH("v1", mechctl_kind(m), id, "streams", m->arguments[1]);
    if (chooses) {
        const int code = compose(m);
        return code == MECHCTL_DONE ? mechctl_print_reply(m, "POST", all, &m->body) : code;
    }
    struct mechc_json reply;
    return deletes ? mechctl_send(m, "DELETE", one, NULL, &reply)
                   : mechctl_print_reply(m, "GET", one, NULL);
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("delete", NULL, "end the stream"),
    MECHCTL_OF_COUPLING,
    {0},
};

const struct mechctl_command mechctl_streams = {
    .name = "streams",
    .group = MECHCTL_RUNS,
    .arguments = "ID [NAME]",
    .summary = "list the chosen streams of an instance or a coupling, or choose one",
    .details =
        "  mechctl streams i-1                                all\n"
        "  mechctl streams i-1 slow --outputs x,v --every 10  choose one: its topic and layout\n"
        "  mechctl streams i-1 slow --delete                  end it",
    .body = &mechp_row_CHOOSE_STREAM,
    .without = "name",
    .options = options,
    .least = 1,
    .most = 2,
    .run = run,
};
