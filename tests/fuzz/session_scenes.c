/* Scenes of falling bodies, and problems with one solution; see session_part.h. */
#include "tests/fuzz/oracle.h"
#include "tests/fuzz/session_part.h"

#include "solver/sim/mech.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = SESSION_PATH, ROUNDS = 24, TWINS = 8, MOST = 18 };

/* one step, and the steps from one that is looked at to the next; their time, s */
static const char one_step[] = "{\"count\": 1}";
static const char between[] = "{\"size\": 0.03, \"want\": [\"energy\"]}";
static const double lead = 0.03;

/* Whether a request was refused for what it says, and not because the daemon has much to do. */
static bool is_refused(int status)
{
    return status >= 400 && status < 500 && status != 429;
}

/* An instance of a scene. */
struct placed {
    char path[PATH], step[PATH], state[PATH];
    bool there;
};

/* `sure`: it may not be refused, as one may whose solver does not suit it. */
static struct placed place(struct session *s, const json_t *scene, bool sure, const char *name)
{
    struct placed p = {.there = false};
    char *const body = session_creation(scene);
    (void)snprintf(p.path, PATH, "/v1/instances/%.200s-%s", s->id, name);
    (void)snprintf(p.step, PATH, "%.250s/step", p.path);
    (void)snprintf(p.state, PATH, "%.250s/state", p.path);
    const int status = session_status(s, "PUT", p.path, body);
    if (sure && is_refused(status)) {
        session_fault(s, "a scene was refused: %d %s", status, body);
    }
    free(body);
    p.there = status == 201;
    return p;
}

/* The JSON of a reply (decref); NULL: it is a refusal. */
static json_t *answer(struct session *s, const char *method, const char *path, const char *body)
{
    const struct session_reply r = session_ask(s, method, path, body);
    json_t *const tree = r.status == 200 && r.text != NULL
                             ? json_loads(r.text, JSON_DECODE_INT_AS_REAL, NULL)
                             : NULL;
    free(r.text);
    return tree;
}

/* v [*count]; false: there is none. */
static bool velocities(const json_t *state, double v[MOST], size_t *count)
{
    const json_t *const list = json_object_get(state, "v");
    *count = json_array_size(list);
    for (size_t k = 0; k < *count && k < MOST; k++) {
        v[k] = json_number_value(json_array_get(list, k));
    }
    return *count > 0 && *count <= MOST;
}

static bool velocities_of(struct session *s, const struct placed *p, double v[MOST], size_t *count)
{
    json_t *const state = answer(s, "GET", p->state, NULL);
    const bool found = velocities(state, v, count);
    json_decref(state);
    return found;
}

/* Energy after some steps; NAN: they failed, or it is not known. */
static double energy_after(struct session *s, const struct placed *p)
{
    json_t *const reply = answer(s, "POST", p->step, between);
    const json_t *const energy = json_object_get(reply, "energy");
    const double value = json_is_number(energy) ? json_number_value(energy) : (double)NAN;
    json_decref(reply);
    return value;
}

/* The state of one instance becomes that of another. */
static bool set_state(struct session *s, const json_t *state, const struct placed *p)
{
    const json_t *const q = json_object_get(state, "q"), *const v = json_object_get(state, "v");
    if (q == NULL || v == NULL) {
        return false;
    }
    json_t *const body = json_pack("{s:O,s:O}", "q", q, "v", v);
    char *const text = json_dumps(body, 0);
    const int status = session_status(s, "PUT", p->state, text);
    json_decref(body);
    free(text);
    return status == 200;
}

/* Kinetic energy behind one step without contacts from the present state: that of a free fall, or
 * of the same bodies without shapes. NAN: not known. */
static double free_energy(struct session *s, const struct placed *p, const struct placed *bare,
                          double h)
{
    double v[MOST], energy = NAN;
    size_t n = 0;
    json_t *const state = answer(s, "GET", p->state, NULL);
    if (bare == NULL) {
        energy = velocities(state, v, &n) ? oracle_kinetic(v, n, h) : (double)NAN;
    } else if (set_state(s, state, bare) &&
               session_status(s, "POST", bare->step, one_step) == 200 &&
               velocities_of(s, bare, v, &n)) {
        energy = oracle_kinetic(v, n, 0.);
    }
    json_decref(state);
    return energy;
}

/* How much more kinetic energy one step leaves than it would without contacts, in parts of that. */
static double gain_of_step(struct session *s, const struct placed *p, const struct placed *bare,
                           double h)
{
    double v[MOST];
    size_t n = 0;
    const double free = free_energy(s, p, bare, h);
    if (isnan(free) || session_status(s, "POST", p->step, one_step) != 200 ||
        !velocities_of(s, p, v, &n)) {
        return 0.;
    }
    return (oracle_kinetic(v, n, 0.) - free) / fmax(free, 1e-3);
}

/* A scene is stepped: what is lost does not come back, and impulses add nothing. */
static void fall(struct session *s, enum oracle_scene kind, double mu)
{
    static const char *const names[] = {"falls", "pair", "joined", "stack"};
    const bool joined = kind == ORACLE_JOINED;
    json_t *const scene = oracle_scene(&s->g, kind, mu), *const other = oracle_free(scene);
    const double h =
        json_number_value(json_object_get(json_object_get(scene, "solver"), "stepSize"));
    // impacts in joints take and add energy of order h
    const double most =
        joined || kind == ORACLE_STACK ? (double)INFINITY : oracle_rise(scene, lead + h);
    const struct placed p = place(s, scene, true, names[kind]);
    const struct placed bare =
        joined ? place(s, other, true, "bare") : (struct placed){.there = true};
    const int rounds = joined ? ROUNDS / 2 : ROUNDS;
    double energy = NAN, scale = 0.;
    bool rises = false;
    for (int k = 0; k < rounds && p.there && bare.there && !rises; k++) {
        const double now = energy_after(s, &p);
        const double gain = gain_of_step(s, &p, joined ? &bare : NULL, h);
        scale = isfinite(now) ? fmax(scale, fabs(now)) : scale;
        // what a tolerance of 1e-10 leaves by far
        rises = now - energy > most + 1e-9 * scale || gain > 1e-6;
        if (rises) {
            char *const text = json_dumps(scene, 0);
            session_fault(s,
                          "energy from nowhere, round %d: %g J to %g J, at most %g J more; a step "
                          "adds %g of its kinetic energy: %s",
                          k, energy, now, most, gain, text);
            free(text);
        }
        energy = now;
    }
    (void)session_status(s, "DELETE", p.path, NULL);
    if (joined) {
        (void)session_status(s, "DELETE", bare.path, NULL);
    }
    json_decref(scene);
    json_decref(other);
}

static const char *any_solver(struct generate *g)
{
    const char *doc = NULL;
    uint32_t count = 0;
    while (mech_vi_solver(count, &doc) != NULL) {
        count++;
    }
    return mech_vi_solver(generate_below(g, count), &doc);
}

/* The state of the first becomes that of both. It is set in the first, too: both then have no
 * impulses of earlier steps. */
static bool set_out(struct session *s, const struct placed *one, const struct placed *two)
{
    json_t *const state = answer(s, "GET", one->state, NULL);
    const bool both = set_state(s, state, one) && set_state(s, state, two);
    json_decref(state);
    return both;
}

/* How far apart one step from a state leaves two instances, in parts of the largest speed. `both`
 * becomes false where one of them fails. */
static double apart_by(struct session *s, const struct placed *one, const struct placed *two,
                       bool *both)
{
    double v[MOST], w[MOST], apart = 0., largest = 1.;
    size_t n = 0, m = 0;
    *both = session_status(s, "POST", one->step, between) == 200 && set_out(s, one, two) &&
            session_status(s, "POST", one->step, one_step) == 200 &&
            session_status(s, "POST", two->step, one_step) == 200 && velocities_of(s, one, v, &n) &&
            velocities_of(s, two, w, &m) && n == m;
    for (size_t i = 0; i < n && *both; i++) {
        largest = fmax(largest, fabs(v[i]));
        apart = fmax(apart, fabs(v[i] - w[i]));
    }
    return apart / largest;
}

/* Bodies without friction, whose speeds behind a step are one: from each state of one instance
 * another steps by another solver. */
static void step_by_two(struct session *s)
{
    json_t *const scene = oracle_scene(&s->g, ORACLE_PAIR, 0.), *const other =
                                                                    json_deep_copy(scene);
    const char *const solver = any_solver(&s->g);
    json_object_set_new(json_object_get(json_object_get(other, "solver"), "vi"), "type",
                        json_string(solver));
    const struct placed one = place(s, scene, true, "one"), two = place(s, other, false, "two");
    bool both = one.there && two.there;
    for (int k = 0; k < TWINS && both; k++) {
        const double apart = apart_by(s, &one, &two, &both);
        // a residual of 1e-10 leaves 1e-5 of speeds, its root, where N is singular: of a flush face
        if (apart > 1e-4) {
            char *const text = json_dumps(scene, 0);
            session_fault(s,
                          "steps by two solvers, one of them %s, differ by %g of the speed at "
                          "round %d: %s",
                          solver, apart, k, text);
            free(text);
            both = false;
        }
    }
    (void)session_status(s, "DELETE", one.path, NULL);
    (void)session_status(s, "DELETE", two.path, NULL);
    json_decref(scene);
    json_decref(other);
}

/* A problem with one solution, by the default and by two other solvers. */
static void solve_by_three(struct session *s)
{
    json_t *const tree = oracle_problem(&s->g), *first = NULL;
    for (int k = 0; k < 3; k++) {
        if (k > 0) {
            json_object_set_new(json_object_get(tree, "problem"), "solver",
                                json_pack("{s:s}", "type", any_solver(&s->g)));
        }
        char *const text = json_dumps(tree, 0);
        const struct session_reply r = session_ask(s, "POST", "/v1/problems/solve", text);
        json_t *const reply =
            r.text != NULL ? json_loads(r.text, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
        const char *wrong = NULL;
        if (k == 0 && is_refused(r.status)) {
            wrong = "a problem with one solution was not solved";
        } else if (r.status == 200) {
            wrong = oracle_solution(tree, reply);
            wrong = wrong == NULL && k > 0 ? oracle_agrees(tree, first, reply) : wrong;
        }
        if (wrong != NULL) {
            session_fault(s, "%s: %s -> %.300s", wrong, text, r.text != NULL ? r.text : "");
        }
        first = k == 0 ? json_incref(reply) : first;
        json_decref(reply);
        free(r.text);
        free(text);
    }
    json_decref(first);
    json_decref(tree);
}

void session_scenes(struct session *s)
{
    static const double frictions[] = {0.1, 0.3, 0.5, 1.};
    const bool wild = s->g.wild;
    s->g.wild = false; // what is right is known of everyday numbers
    fall(s, ORACLE_FALL, 0.);
    fall(s, ORACLE_PAIR, frictions[generate_below(&s->g, 4)]);
    fall(s, ORACLE_JOINED, frictions[generate_below(&s->g, 4)]);
    step_by_two(s);
    solve_by_three(s);
    fall(s, ORACLE_STACK, frictions[generate_below(&s->g, 4)]);
    s->g.wild = wild;
}
