#include "tests/fuzz/oracle.h"
#include "tests/fuzz/session_part.h"

#include "protocol/wire/routes.h"
#include "solver/sim/mech.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ACTIONS = 14, PATH = SESSION_PATH, LIMIT_S = 20, SHOWN = 600, VALUES = 8 };

void session_fault(struct session *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (s->faults++ == 0) {
        (void)vsnprintf(s->fault, sizeof s->fault, format, list);
    }
    va_end(list);
}

/* --- replies ---------------------------------------------------------------------------------- */

double session_patience(void)
{
    const char *const factor = getenv("MECHD_TESTS_DEADLINE");
    return factor != NULL ? fmax(strtod(factor, NULL), 1.) : 1.;
}

struct session_reply session_ask(struct session *s, const char *method, const char *path,
                                 const char *body)
{
    struct timespec from, to;
    struct session_reply r = {.status = 0, .later = s->later};
    const char *const shown = body != NULL ? body : "";
    if (s->trace) {
        (void)fprintf(stderr, "%s %s %s\n", method, path, shown);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &from);
    s->send(s->context, method, path, body, &r);
    (void)clock_gettime(CLOCK_MONOTONIC, &to);
    s->requests++;
    if (s->trace) {
        (void)fprintf(stderr, "  %d %.*s\n", r.status, SHOWN, r.text != NULL ? r.text : "");
    }
    if (r.status == 0 || (r.status >= 500 && r.status != 503)) {
        session_fault(s, "status %d: %s %s %s: %.300s", r.status, method, path, shown,
                      r.text != NULL ? r.text : "");
    }
    if ((double)(to.tv_sec - from.tv_sec) > LIMIT_S * session_patience()) {
        session_fault(s, "%d s: %s %s %s", (int)(to.tv_sec - from.tv_sec), method, path, shown);
    }
    const char *const wrong = session_wrong(method, path, &r);
    if (wrong != NULL) {
        session_fault(s, "%s: %s %s %s: %.600s", wrong, method, path, shown,
                      r.text != NULL ? r.text : "");
    }
    return r;
}

int session_status(struct session *s, const char *method, const char *path, const char *body)
{
    const struct session_reply r = session_ask(s, method, path, body);
    free(r.text);
    return r.status;
}

static const char *const queries[] = {"", "?complex=true", "?level=velocity", "?frozen=true"};
enum { QUERIES = sizeof queries / sizeof *queries };

/* --- requests --------------------------------------------------------------------------------- */

void session_path(struct session *s, const json_t *model, const char *template, const char *id,
                  char path[PATH])
{
    static const char *const lists[] = {"nodes", "objects", "markers", "loads", "sensors"};
    static const char *const parts[] = {"M", "Cq", "Cq-t", "N", "k", "lambda", "f", "b", "H"};
    size_t n = 0;
    json_t *item = NULL;
    for (int k = 0; k < 4 && item == NULL; k++) {
        const json_t *const list = json_object_get(model, lists[generate_below(&s->g, 5)]);
        item = json_array_get(list, generate_below(&s->g, (uint32_t)json_array_size(list)));
    }
    const char *const name = json_string_value(json_object_get(item, "name"));
    for (const char *p = template; *p != 0 && n + 150 < PATH;) {
        const char *const end = *p == '{' ? strchr(p, '}') : NULL;
        char key[32] = "";
        const char *value = "1";
        if (end == NULL) {
            path[n++] = *p++;
            continue;
        }
        (void)snprintf(key, sizeof key, "%.*s", (int)(end - p - 1), p + 1);
        if (strcmp(key, "id") == 0) {
            value = id;
        } else if (strcmp(key, "name") == 0) {
            value = name != NULL ? name : "nothing";
        } else if (strcmp(key, "variable") == 0) {
            value = mech_output_name((enum mech_output)generate_below(&s->g, MECH_OUTPUT_COUNT));
        } else if (strcmp(key, "field") == 0) {
            void *at = json_object_iter(item);
            for (size_t k = generate_below(&s->g, (uint32_t)json_object_size(item)); k > 0; k--) {
                at = json_object_iter_next(item, at);
            }
            value = at != NULL ? json_object_iter_key(at) : "mass";
        } else if (strcmp(key, "what") == 0) {
            value = parts[generate_below(&s->g, sizeof parts / sizeof *parts)];
        }
        n += (size_t)snprintf(path + n, PATH - n, "%.100s", value);
        p = end + 1;
    }
    path[n] = 0;
}

static json_t *numbers(struct session *s, uint32_t n)
{
    json_t *const list = json_array();
    for (uint32_t k = 0; k < n; k++) {
        json_array_append_new(list, json_real(generate_often(&s->g, 6) ? generate_wild(&s->g)
                                                                       : generate_real(&s->g)));
    }
    return list;
}

/* The state as it is with some numbers changed, so that its lengths fit. */
static json_t *state_body(struct session *s, const char *state)
{
    static const char *const keys[] = {"q", "v", "x", "z"};
    json_t *const now = state != NULL ? json_loads(state, 0, NULL) : NULL;
    json_t *const body = json_object();
    for (size_t k = 0; k < 4; k++) {
        const size_t n = json_array_size(json_object_get(now, keys[k]));
        if (n > 0 && generate_often(&s->g, 60)) {
            json_object_set_new(body, keys[k], numbers(s, (uint32_t)n));
        }
    }
    json_decref(now);
    return body;
}

/* A number for each channel of a list, or parameter. */
static json_t *channel_body(struct session *s, const json_t *model, const char *key)
{
    json_t *const values = json_object();
    const char *name = NULL;
    json_t *value = NULL;
    size_t k = 0;
    json_object_foreach(json_object_get(model, key), name, value)
    {
        json_object_set_new(values, name, json_real(generate_real(&s->g)));
    }
    json_array_foreach(json_object_get(model, key), k, value)
    {
        const bool whole = generate_often(&s->g, 50);
        json_object_set_new(values, json_string_value(json_object_get(value, "name")),
                            whole ? json_real(generate_real(&s->g)) : numbers(s, 3));
    }
    return json_pack("{s:o}", key, values);
}

static json_t *step_body(struct session *s)
{
    json_t *const body = generate_often(&s->g, 80)
                             ? json_pack("{s:i}", "count", 1 + (int)generate_below(&s->g, 20))
                             : json_pack("{s:f}", "size", fabs(generate_real(&s->g)) / 100.);
    if (generate_often(&s->g, 15)) {
        json_object_set_new(body, "commit", json_false());
    }
    return body;
}

/* Broken bodies ask for steps without end, which are work, and not a fault: a bound on each. */
void session_bound(json_t *body)
{
    static const struct {
        const char *key;
        double most;
    } bounds[] = {{"count", 200.},   {"size", 0.1},           {"until", 0.3},   {"loadSteps", 8.},
                  {"stepSize", 0.1}, {"maxIterations", 100.}, {"patience", 0.1}};
    const char *key = NULL;
    json_t *value = NULL;
    size_t at = 0;
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
        value = json_object_get(body, bounds[k].key);
        if (json_is_number(value) && json_number_value(value) > bounds[k].most) {
            json_object_del(body, bounds[k].key);
        }
    }
    json_array_foreach(body, at, value)
    {
        session_bound(value);
    }
    json_object_foreach(body, key, value)
    {
        // a model has sizes of its own
        if (strcmp(key, "model") != 0) {
            session_bound(value);
        }
    }
}

/* The body of a route that takes one; NULL: none. */
static json_t *body_of(struct session *s, enum mechp_route_id route, const json_t *model,
                       const char *state)
{
    const uint32_t n = generate_below(&s->g, VALUES);
    uint32_t wants = 0;
    switch ((int)route) {
    case MECHP_ROUTE_STEP:
        return step_body(s);
    case MECHP_ROUTE_JVP:
        return json_pack("{s:f}", "size", 0.01);
    case MECHP_ROUTE_STATICS:
        return json_pack("{s:i}", "loadSteps", 1 + (int)generate_below(&s->g, 4));
    case MECHP_ROUTE_SET_STATE:
        return state_body(s, state);
    case MECHP_ROUTE_SET_INPUTS:
        return channel_body(s, model, "inputs");
    case MECHP_ROUTE_SET_PARAMETERS:
        return channel_body(s, model, "parameters");
    case MECHP_ROUTE_SET_FIELD:
        return json_pack("{s:f}", "value", generate_real(&s->g));
    case MECHP_ROUTE_EVALUATE:
        while (mech_want_names[wants] != NULL) {
            wants++;
        }
        return json_pack("{s:[s]}", "want", mech_want_names[generate_below(&s->g, wants)]);
    case MECHP_ROUTE_COMMIT:
        return json_pack("{s:i}", "trial", 1);
    case MECHP_ROUTE_SYSTEM_PRODUCT:
        return json_pack("{s:o}", "x", numbers(s, n));
    case MECHP_ROUTE_SYSTEM_PROJECT:
    case MECHP_ROUTE_SYSTEM_SCHUR_PRODUCT:
        return json_pack("{s:o}", "l", numbers(s, n));
    case MECHP_ROUTE_SYSTEM_FEASIBILITY:
        return json_pack("{s:o,s:o}", "w", numbers(s, n), "l", numbers(s, n));
    default:
        return NULL;
    }
}

json_t *session_body(struct session *s, enum mechp_route_id route, const json_t *model)
{
    return body_of(s, route, model, NULL);
}

bool session_usable(const struct mechp_route *r)
{
    static const enum mechp_route_id not [] = {
        MECHP_ROUTE_DELETE,     MECHP_ROUTE_CREATE_AS,      MECHP_ROUTE_CLONE,
        MECHP_ROUTE_EVENTS,     MECHP_ROUTE_DROP_LEASE,     MECHP_ROUTE_CHANGE_LEASE,
        MECHP_ROUTE_TAKE_LEASE, MECHP_ROUTE_START_RUN,      MECHP_ROUTE_RUN_EVENTS,
        MECHP_ROUTE_RESULTS,    MECHP_ROUTE_SNAPSHOT,       MECHP_ROUTE_SNAPSHOTS,
        MECHP_ROUTE_EDIT,       MECHP_ROUTE_TAKE_SNAPSHOT,  MECHP_ROUTE_STOP,
        MECHP_ROUTE_INSTANCE,   MECHP_ROUTE_LEASES,         MECHP_ROUTE_RESTORE,
        MECHP_ROUTE_STOP_RUN,   MECHP_ROUTE_DELETE_RESULTS, MECHP_ROUTE_DELETE_SNAPSHOT};
    for (size_t k = 0; k < sizeof not / sizeof *not ; k++) {
        if (r->id == not [k]) {
            return false;
        }
    }
    return strstr(r->path, "{id}") != NULL;
}

/* Steps are half of it. */
static const struct mechp_route *any_route(struct session *s)
{
    const struct mechp_route *r = NULL;
    int n = 0;
    while (mechp_route_at(n) != NULL) {
        n++;
    }
    const bool step = generate_often(&s->g, 35);
    do {
        r = mechp_route_at((int)generate_below(&s->g, (uint32_t)n));
        // the bytes of a fuzzer may end
        if (s->g.bytes != NULL && s->g.left == 0) {
            break;
        }
    } while (!step && !session_usable(r));
    for (int k = 0; step || !session_usable(r); k++) {
        r = mechp_route_at(k);
        if (r->id == MECHP_ROUTE_STEP) {
            break;
        }
    }
    return r;
}

/* --- a session -------------------------------------------------------------------------------- */

void session_state(struct session *s, const char *id, struct session_reply *out)
{
    char path[PATH];
    (void)snprintf(path, sizeof path, "/v1/instances/%.200s/state", id);
    *out = session_ask(s, "GET", path, NULL);
}

bool session_same(const struct session_reply *a, const struct session_reply *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->text, b->text, a->size) == 0);
}

/* The same path for another instance: nothing more is drawn. */
static void request_path(struct session *s, const json_t *model, const struct mechp_route *route,
                         const char *const ids[2], char path[PATH], char twins[PATH])
{
    const struct generate at = s->g;
    session_path(s, model, route->path, ids[0], path);
    const struct generate behind = s->g;
    s->g = at;
    session_path(s, model, route->path, ids[1], twins);
    s->g = behind;
    // queries are refused where there is none; a third of the readers get one
    if (strcmp(route->method, "GET") == 0) {
        const uint32_t k = generate_below(&s->g, QUERIES + 1);
        const char *const query = k > 0 ? queries[k - 1] : "";
        (void)strncat(path, query, PATH - strlen(path) - 1);
        (void)strncat(twins, query, PATH - strlen(twins) - 1);
    }
}

static json_t *request_body(struct session *s, enum mechp_route_id route, const json_t *model,
                            const char *state)
{
    json_t *const tree = body_of(s, route, model, state);
    if (tree != NULL && generate_often(&s->g, s->broken / 2)) {
        generate_break(&s->g, tree);
    }
    session_bound(tree);
    return tree;
}

const char *session_request(struct session *s, const json_t *model, const char *id,
                            const char *state, char path[SESSION_PATH], json_t **body)
{
    char twins[PATH];
    const struct mechp_route *const route = any_route(s);
    request_path(s, model, route, (const char *const[]){id, id}, path, twins);
    *body = request_body(s, route->id, model, state);
    return route->method;
}

/* What of an instance is no state, and what a refused request may not change either. */
static const char *const held[] = {"inputs", "parameters", "model"};
enum { HELD = sizeof held / sizeof *held };

/* Read anew, as a look that is no request of the session. */
static struct session_reply look_at(struct session *s, const char *what)
{
    char path[PATH];
    (void)snprintf(path, sizeof path, "/v1/instances/%.200s/%s", s->id, what);
    const struct session_reply r = session_ask(s, "GET", path, NULL);
    s->requests--;
    return r;
}

/* `was` [HELD] becomes what is there now; `kept`: it must be the same. `request`: which one it is
 * behind. */
static void look(struct session *s, struct session_reply *was, bool kept, const char *request)
{
    for (size_t k = 0; k < HELD; k++) {
        const struct session_reply now = look_at(s, held[k]);
        if (kept && !session_same(&was[k], &now)) {
            session_fault(s, "%s changed the %s: %.300s -> %.300s", request, held[k], was[k].text,
                          now.text != NULL ? now.text : "");
        }
        free(was[k].text);
        was[k] = now;
    }
}

/* One request to the instance, and to its twin. */
static void act(struct session *s, const json_t *model, const char *twin,
                struct session_reply was[HELD], json_t **lists)
{
    struct session_reply before, after, other;
    char path[PATH], twins[PATH], request[3 * PATH];
    const struct mechp_route *const route = any_route(s);
    session_state(s, s->id, &before);
    request_path(s, model, route, (const char *const[]){s->id, twin}, path, twins);
    json_t *const tree = request_body(s, route->id, model, before.text);
    char *const body = tree != NULL ? json_dumps(tree, 0) : NULL;
    const int status = session_status(s, route->method, path, body);
    session_state(s, s->id, &after);
    const bool reads = strcmp(route->method, "GET") == 0;
    const bool kept = (reads || status >= 400) && before.status == 200;
    (void)snprintf(request, sizeof request,
                   "a request that was refused or reads (%d), %s %s %.300s,", status, route->method,
                   path, body != NULL ? body : "");
    if (kept && !session_same(&before, &after)) {
        session_fault(s, "%s changed the state: %.300s -> %.300s", request, before.text,
                      after.text);
    }
    look(s, was, kept, request);
    session_lists(s, s->id, lists, kept ? request : NULL);
    if (json_object_get(tree, "trial") != NULL && !s->same_numbers) {
        s->twin = false; // the number is of another trial there, or of none
    }
    if (s->twin && !reads) {
        (void)session_status(s, route->method, twins, body);
        session_state(s, twin, &other);
        // another count of revisions would be a fault, too
        if (after.status == 200 && !session_same(&after, &other)) {
            session_fault(s, "two instances differ after %s %s %s: %.300s / %.300s", route->method,
                          path, body != NULL ? body : "", after.text,
                          other.text != NULL ? other.text : "");
        }
        free(other.text);
    }
    free(before.text);
    free(after.text);
    free(body);
    json_decref(tree);
}

/* So many requests, one after the other. */
static void act_on(struct session *s, const json_t *model, const char *twin)
{
    struct session_reply was[HELD] = {{.status = 0}};
    json_t *lists = NULL;
    look(s, was, false, "");
    session_lists(s, s->id, &lists, NULL);
    for (uint32_t k = 0; k < ACTIONS; k++) {
        act(s, model, twin, was, &lists);
    }
    json_decref(lists);
    for (size_t k = 0; k < HELD; k++) {
        free(was[k].text);
    }
}

char *session_creation(const json_t *model)
{
    json_t *const body = json_pack("{s:O}", "model", model);
    char *const text = json_dumps(body, 0);
    json_decref(body);
    return text;
}

/* The same problem by another solver; what has been drawn for the session stays as it is. */
static void solve_again(struct session *s, json_t *tree, const json_t *first)
{
    struct generate g = s->g;
    const char *doc = NULL;
    uint32_t count = 0;
    while (mech_vi_solver(count, &doc) != NULL) {
        count++;
    }
    json_t *const problem = json_object_get(tree, "problem");
    const json_t *const asked = json_object_get(problem, "solver");
    if (json_object_get(asked, "tolerance") != NULL ||
        json_object_get(asked, "onFailure") != NULL) {
        return; // the first solution was not to be as near
    }
    json_object_set_new(
        problem, "solver",
        json_pack("{s:s}", "type", mech_vi_solver(generate_below(&g, count), &doc)));
    char *const text = json_dumps(tree, 0);
    const struct session_reply r = session_ask(s, "POST", "/v1/problems/solve", text);
    json_t *const reply = r.text != NULL ? json_loads(r.text, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    const char *const wrong = r.status == 200 ? oracle_agrees(tree, first, reply) : NULL;
    if (wrong != NULL) {
        session_fault(s, "%s: %s -> %.300s", wrong, text, r.text != NULL ? r.text : "");
    }
    json_decref(reply);
    free(r.text);
    free(text);
}

/* A problem that stands alone, and whether its solution is one, and the same by another solver. */
static void solve_one(struct session *s)
{
    json_t *const tree = generate_problem(&s->g);
    if (generate_often(&s->g, s->broken)) {
        generate_break(&s->g, tree);
    }
    char *const text = json_dumps(tree, 0);
    const struct session_reply r = session_ask(s, "POST", "/v1/problems/solve", text);
    json_t *const reply = r.text != NULL ? json_loads(r.text, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    const char *const wrong = r.status == 200 ? oracle_solution(tree, reply) : NULL;
    if (wrong != NULL) {
        session_fault(s, "%s: %s -> %.300s", wrong, text, r.text != NULL ? r.text : "");
    }
    if (r.status == 200 && json_is_object(json_object_get(tree, "problem"))) {
        solve_again(s, tree, reply);
    }
    json_decref(reply);
    json_decref(tree);
    free(r.text);
    free(text);
}

/* Takes the number of the trial out of a reply: ids of others that were deleted may raise it
 * (instance/lives.h). 0: there is none. */
static long drop_number(struct session_reply *r)
{
    static const char key[] = ",\"trial\":";
    char *const at = r->text != NULL ? strstr(r->text, key) : NULL;
    long number = 0;
    if (at != NULL) {
        char *end;
        number = strtol(at + strlen(key), &end, 10);
        memmove(at, end, strlen(end) + 1);
        r->size -= (size_t)(end - at);
    }
    return number;
}

/* A trial of two steps, of which the twin's has the same reply. */
static void first_steps(struct session *s, const char *twin)
{
    static const char trial[] = "{\"count\": 2, \"commit\": false}";
    char path[PATH];
    (void)snprintf(path, sizeof path, "/v1/instances/%.200s/step", s->id);
    struct session_reply one = session_ask(s, "POST", path, trial);
    s->stepped = one.status == 200;
    const long number = drop_number(&one);
    if (s->twin) {
        (void)snprintf(path, sizeof path, "/v1/instances/%.200s/step", twin);
        struct session_reply other = session_ask(s, "POST", path, trial);
        s->same_numbers = drop_number(&other) == number && number > 0;
        if (!session_same(&one, &other)) {
            session_fault(s, "two instances answer otherwise: %.300s / %.300s", one.text,
                          other.text);
        }
        free(other.text);
    }
    free(one.text);
}

void session_run(struct session *s)
{
    char path[PATH], twin[PATH], twins[PATH];
    json_t *const model = generate_model(&s->g, s->focus);
    if (generate_often(&s->g, s->broken)) {
        generate_break(&s->g, model);
    }
    char *const body = session_creation(model);
    (void)snprintf(path, sizeof path, "/v1/instances/%.200s", s->id);
    (void)snprintf(twin, sizeof twin, "%.100s-twin", s->id);
    (void)snprintf(twins, sizeof twins, "/v1/instances/%.150s", twin);
    (void)session_status(s, "POST", "/v1/models/check", body);
    const int created = session_status(s, "PUT", path, body);
    s->accepted = created == 201;
    if (created >= 400 && session_status(s, "GET", path, NULL) == 200) {
        session_fault(s, "a creation was refused (%d) and left an instance: %s", created, body);
    }
    for (size_t k = 0; s->accepted && mech_item_types[k] != NULL && k < SESSION_TYPES; k++) {
        s->holds[k] = generate_count(model, mech_item_types[k]) > 0;
    }
    s->focused = s->accepted && s->focus != NULL && generate_count(model, s->focus) > 0;
    if (s->accepted) {
        s->twin = generate_often(&s->g, 50) && session_status(s, "PUT", twins, body) == 201;
        const bool made = s->twin;
        first_steps(s, twin);
        // trials are counted, so that a twin would have to live the same life
        if (!s->twin && generate_often(&s->g, 70)) {
            session_life(s, model);
        }
        act_on(s, model, twin);
        if (generate_often(&s->g, 50)) {
            session_far(s, model);
        }
        if (generate_often(&s->g, 40)) {
            session_coupled(s, model);
        }
        session_rows(s, model);
        if (s->served && generate_often(&s->g, 10)) {
            session_hosted(s, model);
        }
        (void)session_status(s, "DELETE", path, NULL);
        if (made) {
            (void)session_status(s, "DELETE", twins, NULL);
        }
    }
    if (s->faults > 0 && s->trace) {
        (void)fprintf(stderr, "model: %s\n", body);
    }
    free(body);
    json_decref(model);
    for (uint32_t k = generate_below(&s->g, 4); k > 0; k--) {
        solve_one(s);
    }
    session_scenes(s);
    if (s->served) {
        session_shared(s);
    }
}
