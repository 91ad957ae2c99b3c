/* A request of HTTP as a message of the lane: its operation, and the parameters of its path and of
 * its query, in front of the members of its body. */
#include "clients/cli/cli.h"
#include "protocol/wire/routes.h"

#include <stdio.h>
#include <string.h>

static void member(struct mechc_bytes *b, const char *key, const char *value)
{
    mechc_bytes_text(b, b->length > 1 ? "," : "");
    mechc_bytes_string(b, key);
    mechc_bytes_text(b, ":");
    mechc_bytes_string(b, value);
}

/* key=value&… False: not decodable. */
static bool add_query(struct mechc_bytes *b, const char *query)
{
    while (*query) {
        char key[64], value[MECHC_PATH];
        const size_t pair = strcspn(query, "&"), name = strcspn(query, "=&");
        const size_t skip = name < pair ? name + 1 : pair;
        if (!mechp_percent_decode(query, name, key, sizeof key) ||
            !mechp_percent_decode(query + skip, pair - skip, value, sizeof value)) {
            return false;
        }
        member(b, key, value);
        query += pair + (query[pair] ? 1 : 0);
    }
    return true;
}

/* The members of a body, which is an object or NULL. False: another value. */
static bool add_body(struct mechc_bytes *b, const char *body, size_t size)
{
    struct mechc_json object;
    if (!body || size == 0) {
        return true;
    }
    if (!mechc_json_open(body, size, &object) || mechc_json_kind(object) != '{') {
        return false;
    }
    for (struct mechc_json_walk w = mechc_json_walk(object); mechc_json_next(&w);) {
        mechc_bytes_text(b, ",");
        mechc_bytes_add(b, w.key.at, (size_t)(w.key.end - w.key.at));
        mechc_bytes_text(b, ":");
        mechc_bytes_add(b, w.value.at, (size_t)(w.value.end - w.value.at));
    }
    return true;
}

int mechctl_lane_call(struct mechctl *m, const struct mechc_request *r, struct mechc_reply *out)
{
    struct mechp_match match;
    char path[MECHC_PATH];
    *out = (struct mechc_reply){.body = ""};
    const size_t length = strcspn(r->path, "?");
    snprintf(path, sizeof path, "%.*s", (int)(length < sizeof path ? length : sizeof path - 1),
             r->path);
    struct mechc_bytes text = {0};
    bool possible = mechp_route_match(r->method, path, &match) == 0 &&
                    match.route->operation[0] != '\0' && !r->type;
    if (possible) {
        mechc_bytes_text(&text, "{");
        member(&text, "op", match.route->operation);
        for (int k = 0; k < match.count; k++) {
            member(&text, match.parameters[k].name, match.parameters[k].value);
        }
        possible = add_query(&text, r->path + length + (r->path[length] ? 1 : 0)) &&
                   add_body(&text, r->body, r->size);
        mechc_bytes_text(&text, "}");
    }
    int code = MECHCTL_DONE;
    if (!possible) {
        code = mechctl_usage("%s %s cannot be sent over the lane: use HTTP, without --lane",
                             r->method, r->path);
    } else if (text.failed) {
        fputs("mechctl: out of memory\n", stderr);
        code = MECHCTL_FAILED;
    } else {
        code = mechctl_answer(m, mechc_ask(m->c, text.at, out), out);
    }
    mechc_bytes_fini(&text);
    return code;
}
