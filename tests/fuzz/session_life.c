#include "tests/fuzz/session_part.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POLLS = 4000, NAP_NS = 2000000, SHARED = 6 };

json_t *session_call(struct session *s, const char *method, json_t *body, int *status,
                     const char *format, ...)
{
    char path[SESSION_PATH];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(path, sizeof path, format, list);
    va_end(list);
    char *const text = body != NULL ? json_dumps(body, 0) : NULL;
    const struct session_reply r = session_ask(s, method, path, text);
    json_t *const reply = r.text != NULL ? json_loadb(r.text, r.size, 0, NULL) : NULL;
    *status = r.status;
    json_decref(body);
    free(text);
    free(r.text);
    return reply;
}

const char *session_word(const json_t *reply, const char *key)
{
    const char *const text = json_string_value(json_object_get(reply, key));
    return text != NULL ? text : "nothing";
}

/* Both instances are in the same state, byte for byte. */
static void compare(struct session *s, const char *one, const char *other, const char *what)
{
    struct session_reply a, b;
    session_state(s, one, &a);
    session_state(s, other, &b);
    if (a.status == 200 && !session_same(&a, &b)) {
        session_fault(s, "%s: %.300s / %.300s", what, a.text, b.text != NULL ? b.text : "");
    }
    free(a.text);
    free(b.text);
}

/* The state is as it was read before; `was` is freed. */
static void same_again(struct session *s, struct session_reply *was, const char *what)
{
    struct session_reply now;
    session_state(s, s->id, &now);
    if (was->status == 200 && !session_same(was, &now)) {
        session_fault(s, "%s: %.300s / %.300s", what, was->text, now.text != NULL ? now.text : "");
    }
    free(was->text);
    free(now.text);
}

static json_t *count_body(struct session *s)
{
    return json_pack("{s:i}", "count", 1 + (int)generate_below(&s->g, 5));
}

/* A snapshot, steps, and back, twice: the same steps lead to the same state. */
static void go_back(struct session *s)
{
    struct session_reply before, behind = {.status = 0};
    char sid[80];
    int status = 0;
    session_state(s, s->id, &before);
    json_t *const taken =
        session_call(s, "POST", json_object(), &status, "/v1/instances/%s/snapshots", s->id);
    (void)snprintf(sid, sizeof sid, "%s", session_word(taken, "id"));
    json_decref(taken);
    if (status != 201) {
        session_fault(s, "no snapshot of a new instance: %d", status);
        free(before.text);
        return;
    }
    json_t *const steps = count_body(s);
    for (int k = 0; k < 2; k++) {
        json_decref(
            session_call(s, "POST", json_incref(steps), &status, "/v1/instances/%s/step", s->id));
        if (k == 0) {
            session_state(s, s->id, &behind);
        } else {
            same_again(s, &behind, "from a snapshot the same steps lead elsewhere");
        }
        json_decref(session_call(s, "POST", NULL, &status, "/v1/instances/%s/snapshots/%s/restore",
                                 s->id, sid));
        if (status != 200) {
            session_fault(s, "a snapshot is not restored: %d", status);
        }
    }
    json_decref(steps);
    same_again(s, &before, "a restored snapshot is another state");
    json_decref(session_call(s, "GET", NULL, &status, "/v1/instances/%s/snapshots", s->id));
    json_decref(
        session_call(s, "DELETE", NULL, &status, "/v1/instances/%s/snapshots/%s", s->id, sid));
}

/* A trial changes nothing; kept, it is the step. */
static void try_step(struct session *s, const char *clone)
{
    struct session_reply before;
    int status = 0;
    json_t *const steps = count_body(s), *const trial = json_deep_copy(steps);
    json_object_set_new(trial, "commit", json_false());
    session_state(s, s->id, &before);
    json_t *const reply = session_call(s, "POST", trial, &status, "/v1/instances/%s/step", s->id);
    same_again(s, &before, "a trial changed the state");
    if (status == 200) {
        json_t *const number = json_object_get(reply, "trial");
        json_decref(session_call(s, "POST", json_pack("{s:O}", "trial", number), &status,
                                 "/v1/instances/%s/commit", s->id));
        json_decref(
            session_call(s, "POST", json_incref(steps), &status, "/v1/instances/%s/step", clone));
        compare(s, s->id, clone, "a trial that was kept is not the step");
    }
    json_decref(reply);
    json_decref(steps);
}

bool session_wait(struct session *s, const char *path, bool stop)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    int status = 0, polls = 0;
    json_t *reply = NULL;
    do {
        json_decref(reply);
        if (stop) {
            json_decref(session_call(s, "DELETE", NULL, &status, "%s", path));
        }
        (void)nanosleep(&nap, NULL);
        reply = session_call(s, "GET", NULL, &status, "%s", path);
    } while (strcmp(session_word(reply, "state"), "running") == 0 && polls++ < POLLS);
    if (polls > POLLS && !stop) {
        // what is only slow ends when it is stopped
        json_decref(reply);
        s->slow++;
        (void)session_wait(s, path, true);
        return false;
    }
    if (polls > POLLS) {
        session_fault(s, "it does not end: %s", path);
    }
    const bool finished = strcmp(session_word(reply, "state"), "finished") == 0;
    json_decref(reply);
    return finished;
}

/* A run, free or by the clock, until its end or until it is stopped; one that ends goes where the
 * same of a clone goes. */
static void run(struct session *s, const char *clone)
{
    const char *const ids[] = {s->id, clone};
    const bool paced = generate_often(&s->g, 40), stops = paced && generate_often(&s->g, 50);
    const bool whole = !generate_often(&s->g, s->broken / 2);
    const int count = 1 + (int)generate_below(&s->g, 5);
    bool finished = whole && !stops;
    json_t *const body = json_pack("{s:i,s:f,s:{}}", "count", count, "period", 0.01, "record");
    if (paced) {
        json_object_set_new(body, "pace", json_real(1. + generate_below(&s->g, 20)));
    }
    if (!whole) {
        generate_break(&s->g, body);
        json_object_del(body, "until");
        json_object_set_new(body, "count", json_integer(2));
    }
    for (size_t k = 0; k < 2; k++) {
        char rid[80], path[SESSION_PATH];
        int status = 0;
        json_t *const reply =
            session_call(s, "POST", json_incref(body), &status, "/v1/instances/%s/runs", ids[k]);
        (void)snprintf(rid, sizeof rid, "%s", session_word(reply, "id"));
        json_decref(reply);
        // one that was changed at random may take its time
        (void)snprintf(path, sizeof path, "/v1/instances/%.200s/runs/%s", ids[k], rid);
        finished = session_wait(s, path, stops || !whole) && finished;
        json_decref(
            session_call(s, "GET", NULL, &status, "/v1/instances/%s/runs/%s/results", ids[k], rid));
        json_decref(session_call(s, "DELETE", NULL, &status, "/v1/instances/%s/runs/%s/results",
                                 ids[k], rid));
    }
    json_decref(body);
    if (finished) {
        compare(s, s->id, clone, "two runs of the same state end elsewhere");
    }
}

/* One operation on both instances at a time. */
static void batch(struct session *s, const char *clone)
{
    int status = 0;
    json_t *const body = json_pack("{s:[s,s],s:s,s:o}", "instances", s->id, clone, "op", "step",
                                   "body", count_body(s));
    if (generate_often(&s->g, s->broken / 2)) {
        generate_break(&s->g, body);
        json_object_del(body, "body");
    }
    json_decref(session_call(s, "POST", body, &status, "/v1/batch"));
}

/* The owner alone changes its instance. Its lease is in a header that these requests lack, so
 * they are refused until it is broken. */
static void lease(struct session *s)
{
    static const char *const roles[] = {"owner", "observer", "co-driver"};
    struct session_reply before;
    int status = 0, refused = 0;
    const uint32_t role = generate_below(&s->g, 3);
    session_state(s, s->id, &before);
    json_decref(session_call(s, "POST", json_pack("{s:s}", "role", roles[role]), &status,
                             "/v1/instances/%s/lease", s->id));
    json_decref(session_call(s, "GET", NULL, &refused, "/v1/instances/%s/lease", s->id));
    if (role == 0 && status == 201) {
        json_decref(
            session_call(s, "POST", count_body(s), &refused, "/v1/instances/%s/step", s->id));
        if (refused != 409) {
            session_fault(s, "a stranger steps an instance that has an owner: %d", refused);
        }
    }
    same_again(s, &before, "a lease changed the state");
    json_decref(
        session_call(s, "DELETE", NULL, &refused, "/v1/instances/%s/lease?of=owner", s->id));
    if (role == 0 && status == 201 && refused != 204) {
        session_fault(s, "the lease of an owner is not broken: %d", refused);
    }
}

void session_sweep(struct session *s, const char *what, const json_t *of, const char *parameter)
{
    char path[SESSION_PATH];
    int status = 0;
    json_t *const body = json_pack("{s:O,s:{s:[{s:f},{s:f}]},s:i}", what, of, "parameters", "list",
                                   parameter, 1.5, parameter, 2.5, "count", 3);
    json_t *const reply = session_call(s, "POST", body, &status, "/v1/sweeps");
    (void)snprintf(path, sizeof path, "/v1/sweeps/%.80s", session_word(reply, "id"));
    json_decref(reply);
    if (status == 202) {
        (void)session_wait(s, path, false);
    }
    json_decref(session_call(s, "GET", NULL, &status, "%s/results", path));
    json_decref(session_call(s, "DELETE", NULL, &status, "%s", path));
}

void session_life(struct session *s, const json_t *model)
{
    struct session_reply first;
    char clone[SESSION_PATH / 2];
    int status = 0;
    session_state(s, s->id, &first);
    (void)snprintf(clone, sizeof clone, "%.100s-clone", s->id);
    go_back(s);
    json_decref(session_call(s, "POST", json_pack("{s:s}", "as", clone), &status,
                             "/v1/instances/%s/clone", s->id));
    if (status == 201) {
        compare(s, s->id, clone, "a clone has another state");
        batch(s, clone);
        compare(s, s->id, clone, "a clone is stepped elsewhere");
        try_step(s, clone);
        run(s, clone);
        json_decref(session_call(s, "DELETE", NULL, &status, "/v1/instances/%s", clone));
    } else {
        session_fault(s, "an instance is not cloned: %d", status);
    }
    lease(s);
    if (generate_often(&s->g, 30)) {
        session_sweep(s, "model", model, "p0");
    }
    json_decref(session_call(s, "POST", NULL, &status, "/v1/instances/%s/reset", s->id));
    if (status == 200) {
        same_again(s, &first, "reset leads elsewhere than creation");
    } else {
        session_fault(s, "an instance is not reset: %d", status);
        free(first.text);
    }
}

void session_shared(struct session *s)
{
    static const char *const examples[] = {"driven-oscillator", "four-bar", "pendulum"};
    char path[SESSION_PATH];
    int status = 0;
    json_decref(session_call(s, "PUT",
                             json_pack("{s:s}", "example", examples[generate_below(&s->g, 3)]),
                             &status, "/v1/instances/shared"));
    for (int k = 0; k < SHARED; k++) {
        json_t *body = NULL;
        const char *const method = session_request(s, NULL, "shared", NULL, path, &body);
        char *const text = body != NULL ? json_dumps(body, 0) : NULL;
        (void)session_status(s, method, path, text);
        free(text);
        json_decref(body);
    }
    // to the end of what another session is doing
    switch (generate_below(&s->g, 6)) {
    case 0:
        json_decref(session_call(s, "DELETE", NULL, &status, "/v1/instances/shared"));
        break;
    case 1:
        json_decref(session_call(s, "POST", NULL, &status, "/v1/instances/shared/stop"));
        break;
    case 2:
        json_decref(session_call(s, "POST", json_pack("{s:i,s:f}", "count", 3, "pace", 1.), &status,
                                 "/v1/instances/shared/runs"));
        break;
    case 3:
        json_decref(session_call(s, "POST", NULL, &status, "/v1/instances/shared/reset"));
        break;
    default:
        break;
    }
}
