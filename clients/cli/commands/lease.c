/* mechctl lease: which client may change an instance; take, renew, release, break a lease. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <string.h>

/* Append {"role", "channels", "seconds", "name"}, as far as given. */
static int compose(struct mechctl *m)
{
    struct mechc_bytes *const b = &m->body;
    mechc_bytes_text(b, "{");
    if (m->count > 1) {
        mechc_bytes_text(b, "\"role\":");
        mechc_bytes_string(b, m->arguments[1]);
    }
    if (m->count > 2) {
        mechc_bytes_text(b, ",\"channels\":[");
        for (int k = 2; k < m->count; k++) {
            mechc_bytes_text(b, k > 2 ? "," : "");
            mechc_bytes_string(b, m->arguments[k]);
        }
        mechc_bytes_text(b, "]");
    }
    const int code = mechctl_add_keys(m, NULL);
    mechc_bytes_text(b, "}");
    return code;
}

static int list(struct mechctl *m, const char *const *path)
{
    static const struct mechctl_column columns[] = {
        {"role", "ROLE", false},
        {"name", "NAME", false},
        {"channels", "CHANNELS", false},
        {"seconds", "SECONDS", true},
        {"left", "LEFT", true},
        {"expires", "EXPIRES", false},
        {0},
    };
    struct mechc_json reply, items;
    const int code = mechctl_get(m, path, &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "items", &items)) {
        mechctl_print_table(m, items, columns, "no leases: any client may change the instance");
    }
    return MECHCTL_DONE;
}

/* The number alone, for MECHD_LEASE. */
static int take(struct mechctl *m, const char *const *path)
{
    struct mechc_json reply, number;
    int code = compose(m);
    if (code == MECHCTL_DONE) {
        code = mechctl_send(m, "POST", path, &m->body, &reply);
    }
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    return mechc_json_member(reply, "lease", &number) ? mechctl_print_raw(number) : MECHCTL_FAILED;
}

static int run(struct mechctl *m)
{
    const char *const *const path = MECHCTL_PATH("v1", "instances", m->arguments[0], "lease");
    const char *const other = mechctl_option(m, "break");
    const bool renew = mechctl_option(m, "renew"), release = mechctl_option(m, "release");
    if ((other != NULL) + renew + release > 1) {
        return mechctl_usage("lease: give one of --renew, --release and --break");
    }
    if ((other || release) && m->count > 1) {
        return mechctl_usage("lease: a ROLE is for taking a lease and for --renew");
    }
    struct mechc_json reply;
    if (other) {
        char text[MECHC_PATH];
        const int result = mechc_path(m->c, path, text);
        if (result != MECHC_OK) {
            return mechctl_result(m, result);
        }
        mechctl_query(text, sizeof text, "of", other);
        struct mechc_reply r;
        return mechctl_request(m, &(struct mechc_request){.method = "DELETE", .path = text}, &r);
    }
    if (release) {
        return mechctl_send(m, "DELETE", path, NULL, &reply);
    }
    if (renew) {
        const int code = compose(m);
        return code == MECHCTL_DONE ? mechctl_print_reply(m, "PATCH", path, &m->body) : code;
    }
    return m->count > 1 ? take(m, path) : list(m, path);
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("renew", NULL, "renew the lease of --lease, with the other options given"),
    MECHCTL_OPTION("release", NULL, "release the lease of --lease"),
    {.name = "break",
     .argument = "ROLE",
     .row = &mechp_row_DROP_LEASE,
     .key = "of",
     .doc = "end the leases of others in this role; needs the scope admin"},
    {0},
};

static const struct mechctl_words words[] = {{"ROLE", .row = &mechp_row_TAKE_LEASE, .key = "role"},
                                             {0}};

const struct mechctl_command mechctl_lease = {
    .name = "lease",
    .group = MECHCTL_SERVER,
    .arguments = "ID [ROLE [CHANNEL ...]]",
    .summary = "list the leases of an instance, or take one and print its number",
    .details =
        "  mechctl lease i-1                              its leases\n"
        "  export MECHD_LEASE=$(mechctl lease i-1 owner)  no other client can change it\n"
        "  mechctl lease i-1 co-driver force torque       sets these inputs beside an owner\n"
        "  mechctl lease i-1 --release                    release it\n"
        "A lease ends when its holder is inactive for the time of --seconds.",
    .body = &mechp_row_TAKE_LEASE,
    .without = "role channels",
    .options = options,
    .words = words,
    .least = 1,
    .most = -1,
    .run = run,
};
