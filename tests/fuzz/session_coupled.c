/* Two instances of a model that are coupled, and the same once more beside them: what is asked of
 * both couplings, step after step, gives the same bytes. Any scheme and any connections, fitting or
 * not; a coupling that is refused leaves its instances as they were. */
#include "tests/fuzz/session_part.h"

#include "protocol/wire/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 2, PARTS = 2, TURNS = 6, MENDED = 5, ID = 100 };

struct copy {
    char parts[PARTS][ID]; /* ids of the instances */
    char path[ID];         /* of the coupling */
};

/* --- the request ------------------------------------------------------------------------------ */

/* "a.output", perhaps "a.output[1]": of a participant, one of the model's inputs or outputs. */
static json_t *channel(struct session *s, const json_t *model, const char *list, const char *part)
{
    const json_t *const all = json_object_get(model, list);
    const json_t *const one =
        json_array_get(all, generate_below(&s->g, (uint32_t)json_array_size(all)));
    const json_t *const value = json_object_get(one, "name");
    const char *const name = json_is_string(value) ? json_string_value(value) : "nothing";
    return generate_often(&s->g, 50)
               ? json_sprintf("%s.%s", part, name)
               : json_sprintf("%s.%s[%d]", part, name, (int)generate_below(&s->g, 3));
}

static json_t *connections(struct session *s, const json_t *model)
{
    static const char *const parts[] = {"a", "b"};
    json_t *const list = json_array();
    for (uint32_t k = generate_below(&s->g, 4); k > 0; k--) {
        const uint32_t from = generate_below(&s->g, PARTS);
        json_t *const one = json_object();
        json_object_set_new(one, "from", channel(s, model, "outputs", parts[from]));
        json_object_set_new(one, "to", channel(s, model, "inputs", parts[1 - from]));
        if (generate_often(&s->g, 90)) {
            json_object_set_new(one, "factor", json_real(generate_real(&s->g) / 100.));
        }
        json_array_append_new(list, one);
    }
    return list;
}

/* All but the participants. */
static json_t *document(struct session *s, const json_t *model)
{
    const struct mechp_shape *const shape = mechp_shape_named("@CoupleRequest");
    json_t *const body = generate_often(&s->g, 30) ? session_shape(s, shape) : json_object();
    json_t *const scheme = session_shape(s, mechp_shape_named("@CouplingScheme"));
    json_object_set_new(body, "connections", connections(s, model));
    json_object_set_new(body, "scheme", scheme);
    json_object_set_new(body, "stepSize", json_real((1. + generate_below(&s->g, 8)) / 1000.));
    if (generate_often(&s->g, s->broken / 2)) {
        generate_break(&s->g, body);
    }
    // their product is work, and not a fault
    session_bound(body);
    return body;
}

/* --- both of them ----------------------------------------------------------------------------- */

/* Whether a server that is full, or someone else of its clients, may be the reason. */
static bool by_chance(int status)
{
    return status == 429 || status == 503;
}

/* The same of both, and their instances are in the same states. The status. */
static int both(struct session *s, const struct copy copies[COPIES], const char *method,
                const char *end, const json_t *body)
{
    struct session_reply r[COPIES];
    char *const text = body != NULL ? json_dumps(body, 0) : NULL;
    char path[SESSION_PATH];
    for (int k = 0; k < COPIES; k++) {
        (void)snprintf(path, sizeof path, "%s%s", copies[k].path, end);
        r[k] = session_ask(s, method, path, text);
    }
    if (r[0].status != r[1].status && !by_chance(r[0].status) && !by_chance(r[1].status)) {
        session_fault(s, "two couplings answer %d and %d: %s %s: %.300s / %.300s", r[0].status,
                      r[1].status, end, text != NULL ? text : "", r[0].text, r[1].text);
    }
    if (r[0].status == 200 && r[1].status == 200 && !session_same(&r[0], &r[1])) {
        session_fault(s, "two couplings answer otherwise: %s %s: %.300s / %.300s", end,
                      text != NULL ? text : "", r[0].text, r[1].text);
    }
    for (int k = 0; k < COPIES; k++) {
        free(r[k].text);
    }
    free(text);
    return r[0].status;
}

static void compare(struct session *s, const struct copy *one, const struct copy *other,
                    const char *what)
{
    for (int k = 0; k < PARTS; k++) {
        struct session_reply a, b;
        session_state(s, one->parts[k], &a);
        session_state(s, other->parts[k], &b);
        if (a.status == 200 && b.status == 200 && !session_same(&a, &b)) {
            session_fault(s, "%s: %s: %.300s / %.300s", what, one->parts[k], a.text, b.text);
        }
        free(a.text);
        free(b.text);
    }
}

/* --- what is done with them ------------------------------------------------------------------- */

static json_t *windows(struct session *s)
{
    json_t *const body = json_pack("{s:i}", "count", 1 + (int)generate_below(&s->g, 4));
    if (generate_often(&s->g, 30)) {
        json_object_set_new(body, "want", json_pack("[s,s]", "energy", "interface"));
    }
    if (generate_often(&s->g, s->broken / 2)) {
        generate_break(&s->g, body);
    }
    session_bound(body);
    return body;
}

/* A trial of one changes nothing, and committed it is the step of the other. */
static void try_windows(struct session *s, const struct copy copies[COPIES])
{
    const int count = 1 + (int)generate_below(&s->g, 3);
    int status = 0, other = 0;
    json_t *const trial =
        session_call(s, "POST", json_pack("{s:i,s:b}", "count", count, "commit", 0), &status,
                     "%s/step", copies[0].path);
    compare(s, &copies[0], &copies[1], "a trial of a coupling changed a state");
    if (status == 200) {
        json_decref(session_call(s, "POST",
                                 json_pack("{s:O}", "trial", json_object_get(trial, "trial")),
                                 &status, "%s/commit", copies[0].path));
        json_decref(session_call(s, "POST", json_pack("{s:i}", "count", count), &other, "%s/step",
                                 copies[1].path));
        if (status == 200 && other == 200) {
            compare(s, &copies[0], &copies[1], "a trial that was committed is not the step");
        }
    }
    json_decref(trial);
}

/* Steps from a snapshot, and back to it. */
static void go_back(struct session *s, const struct copy copies[COPIES])
{
    char sid[ID];
    int status = 0;
    json_t *const taken = session_call(s, "POST", NULL, &status, "%s/snapshots", copies[0].path);
    (void)snprintf(sid, sizeof sid, "%.60s", session_word(taken, "id"));
    json_decref(taken);
    if (status != 201) {
        return;
    }
    json_decref(session_call(s, "POST", json_pack("{s:i}", "count", 2), &status, "%s/step",
                             copies[0].path));
    json_decref(
        session_call(s, "POST", NULL, &status, "%s/snapshots/%s/restore", copies[0].path, sid));
    if (status != 200) {
        session_fault(s, "a snapshot of a coupling is not restored: %d", status);
    }
    compare(s, &copies[0], &copies[1], "a restored snapshot of a coupling is another state");
    json_decref(session_call(s, "GET", NULL, &status, "%s/snapshots/%s", copies[0].path, sid));
    json_decref(session_call(s, "DELETE", NULL, &status, "%s/snapshots/%s", copies[0].path, sid));
}

/* A run of each, to its end. */
static void run(struct session *s, const struct copy copies[COPIES])
{
    const int count = 1 + (int)generate_below(&s->g, 5);
    bool finished = true;
    for (int k = 0; k < COPIES; k++) {
        char path[SESSION_PATH];
        int status = 0;
        json_t *const reply =
            session_call(s, "POST", json_pack("{s:i,s:{}}", "count", count, "record"), &status,
                         "%s/runs", copies[k].path);
        (void)snprintf(path, sizeof path, "%s/runs/%.60s", copies[k].path,
                       session_word(reply, "id"));
        finished = status == 202 && session_wait(s, path, false) && finished;
        json_decref(reply);
        json_decref(session_call(s, "GET", NULL, &status, "%s/results", path));
        json_decref(session_call(s, "DELETE", NULL, &status, "%s/results", path));
    }
    if (finished) {
        compare(s, &copies[0], &copies[1], "two runs of couplings end elsewhere");
    }
}

/* Whether both are as one again: what did not end well for one of them may have gone on. */
static bool turn(struct session *s, const struct copy copies[COPIES])
{
    static const char *const readers[] = {
        "/stability", "/stability?size=0.001", "", "/runs", "/snapshots", "/ssp", "/streams"};
    const uint32_t slow = s->slow;
    const uint32_t reader = generate_below(&s->g, sizeof readers / sizeof *readers);
    // a read leaves no trace, but that windows are warned of after a report of stability
    const int asked = reader < 2 ? COPIES : 1;
    json_t *body = NULL;
    int status = 200;
    switch (generate_below(&s->g, 8)) {
    case 0:
        try_windows(s, copies);
        break;
    case 1:
        go_back(s, copies);
        break;
    case 2:
        run(s, copies);
        if (s->slow != slow) {
            return false; // each was stopped where it was
        }
        break;
    case 3:
        status = both(s, copies, "POST", "/reset", NULL);
        break;
    case 4:
        for (int k = 0; k < asked; k++) {
            json_decref(
                session_call(s, "GET", NULL, &status, "%s%s", copies[k].path, readers[reader]));
        }
        status = 200;
        break;
    default:
        body = windows(s);
        status = both(s, copies, "POST", "/step", body);
        json_decref(body);
    }
    compare(s, &copies[0], &copies[1], "two couplings are in other states");
    return !by_chance(status) && s->faults == 0;
}

/* --- from the beginning to the end ------------------------------------------------------------ */

static bool make_parts(struct session *s, struct copy *c, int which, const char *model)
{
    bool made = true;
    for (int k = 0; k < PARTS; k++) {
        char path[SESSION_PATH];
        (void)snprintf(c->parts[k], ID, "%.60s-%c%d", s->id, "ab"[k], which);
        (void)snprintf(path, sizeof path, "/v1/instances/%s", c->parts[k]);
        made = session_status(s, "PUT", path, model) == 201 && made;
    }
    return made;
}

/* Leave out the place at a pointer, if it is there. */
static void leave_out(json_t *body, const char *pointer)
{
    json_t *at = body;
    while (pointer[0] == '/') {
        char key[ID];
        const size_t n = strcspn(++pointer, "/");
        (void)snprintf(key, sizeof key, "%.*s", (int)n, pointer);
        pointer += n;
        const size_t k = json_is_array(at) ? (size_t)strtoul(key, NULL, 10) : 0;
        json_t *const next = json_is_array(at) ? json_array_get(at, k) : json_object_get(at, key);
        if (next == NULL || pointer[0] != '/') {
            (void)(json_is_array(at) ? json_array_remove(at, k) : json_object_del(at, key));
            return;
        }
        at = next;
    }
}

/* What a refusal names is left out; the scheme and the window cannot be. */
static void mend(json_t *rest, const json_t *reply)
{
    const json_t *const errors = json_object_get(reply, "errors");
    for (size_t k = json_array_size(errors); k > 0; k--) {
        leave_out(rest, session_word(json_array_get(errors, k - 1), "pointer"));
    }
    json_t *const scheme = json_object_get(rest, "scheme");
    if (!json_is_object(scheme) || json_object_get(scheme, "type") == NULL) {
        json_object_set_new(rest, "scheme", json_pack("{s:s}", "type", "JacobiIterated"));
    }
    if (json_object_get(rest, "stepSize") == NULL) {
        json_object_set_new(rest, "stepSize", json_real(0.002));
    }
}

/* Whether it is coupled; if not, the document is mended. */
static bool couple(struct session *s, struct copy *c, json_t *rest, int *status)
{
    json_t *const body = json_deep_copy(rest);
    json_object_set_new(body, "participants",
                        json_pack("[{s:s,s:s},{s:s,s:s}]", "name", "a", "instance", c->parts[0],
                                  "name", "b", "instance", c->parts[1]));
    json_t *const reply = session_call(s, "POST", body, status, "/v1/couplings");
    (void)snprintf(c->path, ID, "/v1/couplings/%.60s", session_word(reply, "id"));
    if (*status != 201) {
        mend(rest, reply);
    }
    json_decref(reply);
    return *status == 201;
}

static void end(struct session *s, const struct copy *c, bool coupled)
{
    int status = 0;
    if (coupled) {
        json_decref(session_call(s, "DELETE", NULL, &status, "%s", c->path));
        if (status != 204) {
            session_fault(s, "a coupling is not deleted: %d", status);
        }
    }
    for (int k = 0; k < PARTS; k++) {
        json_decref(session_call(s, "DELETE", NULL, &status, "/v1/instances/%s", c->parts[k]));
        if (status != 204 && status != 404) {
            session_fault(s, "an instance that was coupled is not deleted: %d", status);
        }
    }
}

/* The same with models in place of instances: points of their parameter. */
static void sweep(struct session *s, const json_t *model, const json_t *rest)
{
    json_t *const of = json_deep_copy(rest);
    json_object_set_new(of, "participants",
                        json_pack("[{s:s,s:O},{s:s,s:O}]", "name", "a", "model", model, "name", "b",
                                  "model", model));
    session_sweep(s, "coupling", of, generate_often(&s->g, 70) ? "a/p0" : "/stepSize");
    json_decref(of);
}

void session_coupled(struct session *s, const json_t *model)
{
    struct copy copies[COPIES] = {0};
    bool coupled[COPIES] = {false}, made = true;
    int status[COPIES] = {0};
    char *const creation = session_creation(model);
    json_t *const rest = document(s, model);
    for (int k = 0; k < COPIES; k++) {
        made = make_parts(s, &copies[k], k, creation) && made;
    }
    for (int k = 0; k < MENDED && made && !coupled[0]; k++) {
        coupled[0] = couple(s, &copies[0], rest, &status[0]);
    }
    if (coupled[0]) {
        coupled[1] = couple(s, &copies[1], rest, &status[1]);
    }
    if (coupled[0] && status[0] != status[1] && !by_chance(status[0]) && !by_chance(status[1])) {
        session_fault(s, "two couplings of the same are answered %d and %d", status[0], status[1]);
    }
    // the first were refused before, which has changed nothing
    compare(s, &copies[0], &copies[1], "instances that were coupled are in other states");
    s->coupled = coupled[0] && coupled[1];
    for (int k = 0; s->coupled && k < TURNS && turn(s, copies); k++) {
    }
    for (int k = 0; k < COPIES; k++) {
        end(s, &copies[k], coupled[k]);
    }
    if (generate_often(&s->g, 30)) {
        sweep(s, model, rest);
    }
    json_decref(rest);
    free(creation);
}
