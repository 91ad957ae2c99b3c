/* Requests of any route, from their rows alone (protocol/wire/row.h): a route that is added is
 * asked without a line here. Bodies have the members that the row lists, of the types that it has
 * for them, and names that are known or not. Answers are judged as all are: no 5xx, no hang, no
 * null that the row does not have. */
#include "tests/fuzz/session_part.h"

#include "protocol/wire/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE = 200, DEPTH = 5, ASKED = 10, WORDS = 64, OWN = 100, STEPS = 300 };

/* --- values by type --------------------------------------------------------------------------- */

static json_t *value_of(struct session *s, const char *types, int depth);

/* A name that something may have. */
static json_t *name_of(struct session *s)
{
    static const char *const names[] = {"p0",  "a",   "b",        "shared",
                                        "s-1", "r-1", "pendulum", "nothing"};
    const uint32_t k = generate_below(&s->g, 3 + (uint32_t)(sizeof names / sizeof *names));
    if (generate_often(&s->g, 30)) {
        return json_string(names[0]);
    }
    return json_string(k < sizeof names / sizeof *names ? names[k] : s->own);
}

static json_t *object_of(struct session *s, const struct mechp_shape *shape, int depth)
{
    json_t *const object = json_object();
    for (const struct mechp_member *m = shape->members; m->name != NULL; m++) {
        if (generate_often(&s->g, mechp_member_required(m) ? 95 : 25)) {
            json_object_set_new(object, m->name, value_of(s, m->type, depth));
        }
    }
    return object;
}

/* One of the types between "|". */
static void choose(struct session *s, const char *types, char one[TYPE])
{
    uint32_t n = 1;
    for (const char *p = strchr(types, '|'); p != NULL; p = strchr(p + 1, '|')) {
        n++;
    }
    for (uint32_t k = generate_below(&s->g, n); k > 0; k--) {
        types = strchr(types, '|') + 1;
    }
    (void)snprintf(one, TYPE, "%.*s", (int)strcspn(types, "|"), types);
}

static json_t *number_of(struct session *s)
{
    return json_real(generate_often(&s->g, 6) ? generate_wild(&s->g) : generate_real(&s->g));
}

/* What is no list. */
static json_t *plain_of(struct session *s, const char *type, int depth)
{
    const struct mechp_shape *const shape = type[0] == '@' ? mechp_shape_named(type) : NULL;
    if (type[0] == '\'') {
        return json_stringn(type + 1, strlen(type) - 2);
    }
    if (shape != NULL && depth < DEPTH) {
        return object_of(s, shape, depth + 1);
    }
    if (strncmp(type, "integer", 7) == 0) {
        // one of the range, or behind a short one
        const char *const range = strchr(type, ' ');
        const json_int_t least = range != NULL ? strtoll(range, NULL, 10) : 0;
        return json_integer(least + (json_int_t)generate_below(&s->g, 6));
    }
    if (strcmp(type, "boolean") == 0) {
        return json_boolean(generate_often(&s->g, 50));
    }
    if (strcmp(type, "null") == 0) {
        return json_null();
    }
    if (strcmp(type, "object") == 0) {
        json_t *const key = name_of(s);
        json_t *const object = json_pack("{s:o}", json_string_value(key), number_of(s));
        json_decref(key);
        return object;
    }
    if (strcmp(type, "@Model") == 0) {
        return s->model != NULL ? json_incref(s->model) : json_object();
    }
    return strcmp(type, "@Name") == 0 || strcmp(type, "string") == 0 ? name_of(s) : number_of(s);
}

static json_t *value_of(struct session *s, const char *types, int depth)
{
    char type[TYPE];
    choose(s, types, type);
    const size_t n = strlen(type);
    if (n < 2 || (strcmp(type + n - 2, "[]") != 0 && strcmp(type + n - 2, "{}") != 0)) {
        return plain_of(s, type, depth);
    }
    const bool list = type[n - 2] == '[';
    json_t *const all = list ? json_array() : json_object();
    type[n - 2] = '\0';
    for (uint32_t k = generate_below(&s->g, depth < DEPTH ? 4 : 1); k > 0; k--) {
        json_t *const one = value_of(s, type, depth + 1), *const key = name_of(s);
        if (list) {
            json_array_append(all, one);
        } else {
            json_object_set(all, json_string_value(key), one);
        }
        json_decref(one);
        json_decref(key);
    }
    return all;
}

json_t *session_shape(struct session *s, const struct mechp_shape *shape)
{
    return object_of(s, shape, 0);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Whether it may be asked of a server that others use: not for its log, for pages, or for events
 * that have no end. */
static bool is_askable(const struct mechp_route *r)
{
    return r->id != MECHP_ROUTE_LOG_LEVEL && strncmp(r->path, "/v1", 3) == 0 &&
           strstr(r->path, "/events") == NULL;
}

/* One of a group, or of any where that is NULL. */
static const struct mechp_route *any_route(struct session *s, const char *tag)
{
    int n = 0;
    while (mechp_route_at(n) != NULL) {
        n++;
    }
    // onwards from one that is drawn, as the bytes of a fuzzer may end
    const int from = (int)generate_below(&s->g, (uint32_t)n);
    const struct mechp_route *r = mechp_route_at(from);
    for (int k = 1; !is_askable(r) || (tag != NULL && strcmp(tag, r->row->tag) != 0); k++) {
        r = mechp_route_at((from + k) % n);
    }
    return r;
}

/* The path with a value for each of its names: numbers of what is the instance's own, mostly. */
static void path_of(struct session *s, const struct mechp_route *r, char path[SESSION_PATH])
{
    size_t n = 0;
    for (const char *p = r->path; *p != 0 && n + OWN + 2 < SESSION_PATH;) {
        const size_t length = *p == '{' ? strcspn(p + 1, "}") : 0;
        if (length == 0) {
            path[n++] = *p++;
            continue;
        }
        const char *value = "nothing";
        char number[OWN];
        const bool exists = generate_often(&s->g, 85);
        if (length == 2 && strncmp(p + 1, "id", 2) == 0) {
            value = exists ? s->own : value;
        } else if (length == 3 && p[2] == 'i' && p[3] == 'd') {
            // "sid" and the like: s-1, r-1 …; couplings of other sessions are left alone
            (void)snprintf(number, sizeof number, "%c-%d", p[1], 1 + (int)generate_below(&s->g, 2));
            value = p[1] == 'c' ? s->coupling : p[1] == 'o' ? s->operation : number;
        } else if (exists) {
            value = "p0";
        }
        n += (size_t)snprintf(path + n, SESSION_PATH - n, "%s", value);
        p += length + 2;
    }
    path[n] = 0;
}

/* A query, or none. */
static void query_of(struct session *s, const struct mechp_row *row, char path[SESSION_PATH])
{
    const int count = mechp_query_count(row);
    if (count == 0 || generate_often(&s->g, 50)) {
        return;
    }
    const struct mechp_parameter *const p = &row->query[generate_below(&s->g, (uint32_t)count)];
    json_t *const value = value_of(s, p->type, 0);
    char *const text = json_is_string(value) ? strdup(json_string_value(value))
                                             : json_dumps(value, JSON_ENCODE_ANY);
    const size_t n = strlen(path);
    if (text != NULL && strcspn(text, "{}[]\" %&#+") == strlen(text)) {
        (void)snprintf(path + n, SESSION_PATH - n, "?%s=%.60s", p->name, text);
    }
    free(text);
    json_decref(value);
}

/* What a request has made ends with the session. */
static void end_made(struct session *s, const struct mechp_route *r, const json_t *reply)
{
    static const struct {
        enum mechp_route_id route;
        const char *path;
    } made[] = {{MECHP_ROUTE_CREATE, "/v1/instances"},    {MECHP_ROUTE_CLONE, "/v1/instances"},
                {MECHP_ROUTE_CREATE_AS, "/v1/instances"}, {MECHP_ROUTE_SWEEP, "/v1/sweeps"},
                {MECHP_ROUTE_COUPLE, "/v1/couplings"},    {MECHP_ROUTE_UPLOAD_FMU, "/v1/fmus"}};
    const char *const id = session_word(reply, "id");
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
        int status = 0;
        if (r->id == made[k].route && strcmp(id, s->own) != 0) {
            json_decref(session_call(s, "DELETE", NULL, &status, "%s/%s", made[k].path, id));
        }
    }
}

/* `lists`: of session_lists. */
static void ask_one(struct session *s, const char *tag, json_t **lists)
{
    const struct mechp_route *const r = any_route(s, tag);
    char path[SESSION_PATH], request[2 * SESSION_PATH];
    int status = 0;
    json_t *body = NULL;
    path_of(s, r, path);
    query_of(s, r->row, path);
    if (r->row->body != NULL && (!r->row->optional || generate_often(&s->g, 50))) {
        body = generate_often(&s->g, 30) ? session_body(s, r->id, s->model) : NULL;
        body = body != NULL ? body : object_of(s, r->row->body, 0);
        if (generate_often(&s->g, s->broken / 2)) {
            generate_break(&s->g, body);
        }
        session_bound(body);
    }
    char *const text = body != NULL ? json_dumps(body, 0) : NULL;
    json_t *const reply = session_call(s, r->method, body, &status, "%s", path);
    (void)snprintf(request, sizeof request,
                   "a request that was refused or reads (%d), %s %s %.300s,", status, r->method,
                   path, text != NULL ? text : "");
    if (status == 201 || status == 202) {
        end_made(s, r, reply);
    }
    const bool reads = strcmp(r->method, "GET") == 0;
    session_lists(s, s->own, lists, reads || status >= 400 ? request : NULL);
    free(text);
    json_decref(reply);
}

/* What is refused of any instance: another one of its id, and a lease for no time. */
static void ask_in_vain(struct session *s, json_t **lists)
{
    const struct {
        const char *method, *path;
        json_t *body;
    } asked[] = {{"PUT", "", json_pack("{s:O}", "model", s->model)},
                 {"POST", "/clone", json_pack("{s:s}", "as", s->own)},
                 {"POST", "/lease", json_pack("{s:s,s:i}", "role", "observer", "seconds", 0)}};
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        char request[SESSION_PATH];
        int status = 0;
        json_decref(session_call(s, asked[k].method, asked[k].body, &status, "/v1/instances/%s%s",
                                 s->own, asked[k].path));
        (void)snprintf(request, sizeof request, "a request that was refused (%d), %s %.60s%s,",
                       status, asked[k].method, s->own, asked[k].path);
        session_lists(s, s->own, lists, status >= 400 ? request : NULL);
    }
}

/* Steps that need not be waited for, so that there is an operation, which is over. */
static void operate(struct session *s)
{
    char path[SESSION_PATH];
    int status = 0;
    (void)snprintf(s->operation, sizeof s->operation, "o-0");
    if (!generate_often(&s->g, 25)) {
        return;
    }
    s->later = true;
    json_t *const reply = session_call(s, "POST", json_pack("{s:i}", "count", STEPS), &status,
                                       "/v1/instances/%s/step", s->own);
    s->later = false;
    if (status == 202) {
        (void)snprintf(s->operation, sizeof s->operation, "%.60s", session_word(reply, "id"));
        (void)snprintf(path, sizeof path, "/v1/operations/%s", s->operation);
        (void)session_wait(s, path, false);
    }
    json_decref(reply);
}

void session_any(struct session *s, const char *own, json_t *model, int count)
{
    char coupling[OWN] = "c-0";
    int status = 0;
    if (generate_often(&s->g, 25)) {
        json_t *const reply =
            session_call(s, "POST",
                         json_pack("{s:[{s:s,s:s}],s:{s:s},s:f}", "participants", "name", "a",
                                   "instance", own, "scheme", "type", "Jacobi", "stepSize", 0.002),
                         &status, "/v1/couplings");
        if (status == 201) {
            (void)snprintf(coupling, sizeof coupling, "%.60s", session_word(reply, "id"));
        }
        json_decref(reply);
    }
    s->coupling = coupling;
    s->own = own;
    s->model = model;
    operate(s);
    // what belongs together follows each other: streams are chosen, read and ended
    const char *const tag = any_route(s, NULL)->row->tag;
    json_t *lists = NULL;
    session_lists(s, own, &lists, NULL);
    for (int k = 0; k < count; k++) {
        ask_one(s, generate_often(&s->g, 60) ? tag : NULL, &lists);
    }
    ask_in_vain(s, &lists);
    json_decref(lists);
    json_decref(session_call(s, "DELETE", NULL, &status, "/v1/couplings/%s", coupling));
    s->own = s->coupling = NULL;
    s->model = NULL;
    // it may have an owner by now
    json_decref(session_call(s, "DELETE", NULL, &status, "/v1/instances/%s/lease?of=owner", own));
    json_decref(session_call(s, "DELETE", NULL, &status, "/v1/instances/%s", own));
}

void session_rows(struct session *s, json_t *model)
{
    char own[OWN];
    int status = 0;
    (void)snprintf(own, sizeof own, "%.60s-rows", s->id);
    json_decref(session_call(s, "PUT", json_pack("{s:O}", "model", model), &status,
                             "/v1/instances/%s", own));
    session_any(s, own, model, ASKED);
}
