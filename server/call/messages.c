/* Parameters by the route's template and by the operation's list. */
#include "server/call/messages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A string key as a parameter of the path. */
static void take_parameter(struct mechd_call *c, const char *name, size_t length)
{
    if (c->match.count == MECHP_MATCH_PARAMETERS || length >= sizeof c->match.parameters[0].name) {
        return;
    }
    struct mechp_match_parameter *p = &c->match.parameters[c->match.count];
    memcpy(p->name, name, length);
    p->name[length] = '\0';
    if (mechp_match_value(&c->match, p->name) != NULL) {
        return;
    }
    c->match.count++;
    const char *value = json_string_value(json_object_get(c->body, p->name));
    if (value == NULL || strlen(value) >= sizeof p->value) {
        char path[40];
        snprintf(path, sizeof path, "/%s", p->name);
        mech_diag_add(&c->diag, path, "a string is needed");
        p->value[0] = '\0';
        return;
    }
    strcpy(p->value, value);
}

static bool is_number_type(const char *type)
{
    return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
}

/* A number as it would stand in a query. */
static void write_number(const json_t *value, char *out, size_t size)
{
    const double real = json_number_value(value);
    if (json_is_integer(value)) {
        snprintf(out, size, "%lld", (long long)json_integer_value(value));
    } else if (floor(real) == real && fabs(real) <= 0x1p53) {
        snprintf(out, size, "%lld", (long long)real);
    } else {
        snprintf(out, size, "%.17g", real);
    }
}

/* The lease that the message shows. */
static void take_lease(struct mechd_call *c)
{
    int64_t lease = 0;
    if (mechp_json_integer(c->body, "lease", &c->diag, 1, INT64_MAX, &lease)) {
        c->lease = (uint64_t)lease;
    }
}

void mechd_message_parameters(struct mechd_call *c, struct mechd_message_room *room)
{
    take_lease(c);
    for (const char *at = strchr(c->match.route->path, '{'); at != NULL; at = strchr(at, '{')) {
        const size_t length = strcspn(at + 1, "}");
        take_parameter(c, at + 1, length);
        at += length;
    }
    const struct mechp_row *const row = mechd_call_row(c);
    for (int k = 0; k < mechp_query_count(row); k++) {
        const json_t *value = json_object_get(c->body, row->query[k].name);
        if (json_is_string(value)) {
            c->query[k] = json_string_value(value);
        } else if (json_is_number(value)) {
            write_number(value, room->queries[k], sizeof room->queries[k]);
            c->query[k] = room->queries[k];
        } else if (json_is_boolean(value)) {
            c->query[k] = json_is_true(value) ? "true" : "false";
        } else if (value != NULL && (json_is_object(value) || json_is_null(value) ||
                                     is_number_type(row->query[k].type))) {
            // a list may be one of those that the operation takes of the body
            char path[40];
            snprintf(path, sizeof path, "/%s", row->query[k].name);
            mech_diag_add(&c->diag, path, "a string or a number is needed");
        }
    }
}
