/* What the parts of a session share; one thread. */
#pragma once

#include "protocol/wire/row.h"
#include "tests/fuzz/session.h"

enum { SESSION_PATH = 400 };

/* Something is wrong: counted, and the first is kept. */
__attribute__((format(printf, 2, 3))) void session_fault(struct session *s, const char *format,
                                                         ...);
/* One request; the caller frees the text. A reply that must not be is a fault of the session. */
struct session_reply session_ask(struct session *s, const char *method, const char *path,
                                 const char *body);
/* The same, of which the status alone is wanted. */
int session_status(struct session *s, const char *method, const char *path, const char *body);
/* One request with a path by format; `body` is taken over. The reply's JSON (decref; NULL: none),
 * and its status. */
__attribute__((format(printf, 5, 6))) json_t *session_call(struct session *s, const char *method,
                                                           json_t *body, int *status,
                                                           const char *format, ...);
/* A member of a reply that is a string, or "nothing". */
const char *session_word(const json_t *reply, const char *key);
/* Until the run or sweep of this path, a GET, is in progress no more; `stop`: by DELETE. What takes
 * long is stopped, too, and counted in s->slow. Whether it went to its end. */
bool session_wait(struct session *s, const char *path, bool stop);
/* A sweep of two points of a parameter, of a "model" or a "coupling". */
void session_sweep(struct session *s, const char *what, const json_t *of, const char *parameter);
/* GET …/state; the caller frees out->text. */
void session_state(struct session *s, const char *id, struct session_reply *out);
bool session_same(const struct session_reply *a, const struct session_reply *b);
/* `*was` (decref; NULL at first) becomes the instances that there are, and the snapshots and leases
 * of `id`; `request`: what it is behind, which may have changed none of these; NULL: it may. */
void session_lists(struct session *s, const char *id, json_t **was, const char *request);
/* The body that creates an instance of a model; the caller frees. */
char *session_creation(const json_t *model);

/* Replace {name} of a route's template by something that fits, mostly. */
void session_path(struct session *s, const json_t *model, const char *template, const char *id,
                  char path[SESSION_PATH]);
/* The body of a route that takes one, to decref; NULL: none. */
json_t *session_body(struct session *s, enum mechp_route_id route, const json_t *model);
/* Whether a route is of an instance, and not for its life, leases and what runs beside requests. */
bool session_usable(const struct mechp_route *r);
/* What is wrong with a reply, or NULL: JSON has null only where the route's row does, and numbers
 * in other forms are finite. */
const char *session_wrong(const char *method, const char *path, const struct session_reply *r);
/* States far away, and every reader there. The instance is not as it was. */
void session_far(struct session *s, const json_t *model);

/* A body of these members, and bounds for what would be endless work. */
json_t *session_shape(struct session *s, const struct mechp_shape *shape);
void session_bound(json_t *body);
/* So many requests of any routes, from their rows, mostly about an instance; it is deleted. */
void session_any(struct session *s, const char *own, json_t *model, int count);
/* The same of a new instance of the model. */
void session_rows(struct session *s, json_t *model);
/* The model as an FMU, hosted by the daemon. */
void session_hosted(struct session *s, json_t *model);
/* Two couplings of instances of the model, side by side. */
void session_coupled(struct session *s, const json_t *model);
/* Snapshots, clones, trials, runs, batches, leases, sweeps: the instance is new, and is as new
 * afterwards, but for its counts and its last trial. */
void session_life(struct session *s, const json_t *model);
/* Scenes that nothing drives, whose energy does not rise, by two solvers too; and a problem with
 * friction that has one solution. */
void session_scenes(struct session *s);
/* Requests to an instance that all sessions share; nothing is known of its state. */
void session_shared(struct session *s);
/* A random request of a route of an instance: method, path and body (decref; may be NULL). */
const char *session_request(struct session *s, const json_t *model, const char *id,
                            const char *state, char path[SESSION_PATH], json_t **body);
