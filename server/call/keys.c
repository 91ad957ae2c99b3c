/* Which keys a body has. Over ZeroMQ it also carries what HTTP has in its path and query; over HTTP
 * what belongs there is refused with its place. */
#include "protocol/wire/bodies_messages.h"
#include "protocol/wire/json.h"
#include "server/call/call.h"

#include <stdio.h>
#include <string.h>

/* Of a body, known ones that belong elsewhere included. */
enum { KEYS_MOST = MECHP_MEMBERS_MOST + MECHP_QUERIES + MECHP_MATCH_PARAMETERS + 12 };

/* What a message has besides: HTTP has it elsewhere. */
static const struct mechp_shape *const besides[] = {&mechp_body_message_request,
                                                    &mechp_body_message_lease};
enum { BESIDES = sizeof besides / sizeof *besides };

/* Where HTTP has what a message calls by this key, or NULL. */
static const char *place_besides(const char *key)
{
    for (int k = 0; k < BESIDES; k++) {
        for (const struct mechp_member *m = besides[k]->members; m->name != NULL; m++) {
            if (strcmp(key, m->name) == 0) {
                return m->doc;
            }
        }
    }
    return NULL;
}

/* A model document where a request that carries one is expected: reported in one sentence. */
static bool is_bare_model(const struct mechd_call *c)
{
    const struct mechp_shape *const shape = mechd_call_row(c)->body;
    const struct mechp_member *m = shape != NULL ? shape->members : NULL;
    while (m != NULL && m->name != NULL && strcmp(m->name, "model") != 0) {
        m++;
    }
    const bool carries = m != NULL && m->name != NULL;
    return carries && json_object_get(c->body, "mechd") != NULL &&
           json_object_get(c->body, "model") == NULL;
}

/* What an `id` in the body was meant for; NULL: the route knows none. */
static const char *meant_by_id(const struct mechd_call *c)
{
    const bool http = c->door == MECHD_DOOR_HTTP;
    if (mechd_call_row(c)->of_id != NULL) {
        return mechd_call_row(c)->of_id;
    }
    if (mechp_match_value(&c->match, "cid") != NULL) {
        return http ? "it belongs in the path" : "the id of the coupling is given by `cid`";
    }
    return http && c->match.count > 0 ? "it belongs in the path" : NULL;
}

/* Where a key belongs that is not taken in this body; NULL: it is none of those that have a place
 * of their own. */
static const char *place_of(const struct mechd_call *c, const char *key)
{
    const bool http = c->door == MECHD_DOOR_HTTP;
    if (strcmp(key, "id") == 0) {
        return meant_by_id(c);
    }
    if (strcmp(key, "name") == 0 && mechd_call_row(c)->of_name != NULL) {
        return mechd_call_row(c)->of_name;
    }
    for (int k = 0; k < mechp_query_count(mechd_call_row(c)); k++) {
        if (http && strcmp(key, mechd_call_row(c)->query[k].name) == 0) {
            return "it belongs in the query";
        }
    }
    for (int k = 0; k < c->match.count; k++) {
        if (http && strcmp(key, c->match.parameters[k].name) == 0) {
            return "it belongs in the path";
        }
    }
    return http ? place_besides(key) : NULL;
}

static bool is_among(const char *const *allowed, int n, const char *key)
{
    for (int k = 0; k < n; k++) {
        if (strcmp(allowed[k], key) == 0) {
            return true;
        }
    }
    return false;
}

static bool takes_all(json_t *body, const char *const *allowed, int n)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(body, key, value)
    {
        if (!is_among(allowed, n, key)) {
            return false;
        }
    }
    return true;
}

/* Faults for keys that are known and belong elsewhere; they are taken into `allowed` [n], which
 * ends with NULL, so that no second fault is found. */
static void refuse_misplaced(struct mechd_call *c, const char **allowed, int n)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(c->body, key, value)
    {
        const char *const place = is_among(allowed, n, key) ? NULL : place_of(c, key);
        if (place != NULL && n < KEYS_MOST) {
            char path[80];
            snprintf(path, sizeof path, "/%s", key);
            mech_diag_add(&c->diag, path, "'%s' is not a key of this body: %s", key, place);
            allowed[n++] = key;
        }
    }
}

/* The names of a shape's members behind the n in `allowed`; returns how many these are then. */
static int add_names(const struct mechp_shape *shape, const char **allowed, int n)
{
    for (const struct mechp_member *m = shape != NULL ? shape->members : NULL;
         m != NULL && m->name != NULL; m++) {
        allowed[n++] = m->name;
    }
    return n;
}

void mechd_call_check_keys(struct mechd_call *c)
{
    const char *allowed[KEYS_MOST + 1] = {NULL};
    int n = 0;
    if (is_bare_model(c)) {
        mech_diag_add(&c->diag, "/mechd",
                      "this is a model document: send it as {\"model\": {...}}");
        return;
    }
    const struct mechp_row *const row = mechd_call_row(c);
    n = add_names(row->body, allowed, n);
    if (c->door != MECHD_DOOR_HTTP) {
        for (int k = 0; k < BESIDES; k++) {
            n = add_names(besides[k], allowed, n);
        }
        for (int k = 0; k < c->match.count; k++) {
            allowed[n++] = c->match.parameters[k].name;
        }
        for (int k = 0; k < mechp_query_count(row); k++) {
            allowed[n++] = row->query[k].name;
        }
    }
    if (takes_all(c->body, allowed, n)) {
        return;
    }
    refuse_misplaced(c, allowed, n);
    mechp_json_only(c->body, "", allowed, &c->diag);
}
