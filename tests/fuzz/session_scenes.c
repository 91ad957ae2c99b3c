/* Scenes of falling bodies, and problems with one solution; see session_part.h. */
#include "tests/fuzz/oracle.h"
#include "tests/fuzz/session_part.h"

#include "solver/sim/mech.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = SESSION_PATH, FALLS = 100, PAIRS = 60, TWINS = 12, MOST = 64 };

static const double gravity = 9.81, period = 0.02; /* m/s², s of a step */

static double number_at(const json_t *json, const char *key, const char *inner)
{
    return json_number_value(json_object_get(json_object_get(json, key), inner));
}

static double mass_of(const json_t *scene)
{
    const json_t *const objects = json_object_get(scene, "objects");
    double mass = 0.;
    for (size_t k = 0; k < json_array_size(objects); k++) {
        mass += json_number_value(json_object_get(json_array_get(objects, k), "physicsMass"));
    }
    return mass;
}

/* What one step may lift bodies out of each other and of the floor: overlaps are closed in
 * positions, at recoverySpeed at most, which raises no kinetic energy. */
static double lift_of(const json_t *scene)
{
    const double recovery_speed = 0.6; /* the scene has the default */
    return mass_of(scene) * gravity * recovery_speed * period;
}

/* What the rule may add in one step: with weights F and impulses P of contacts without restitution
 * an internal step of h has ΔE = −h (θ − ½) F·Δv + P·½ (u⁺ + u⁻), M Δv = h F + Hᵀ P and P·u⁺ ≤ 0,
 * which is largest at M⁻¹ Hᵀ P = −θ h g. */
static double error_of(const json_t *scene)
{
    const double h = number_at(scene, "solver", "stepSize");
    const double off = 1. - number_at(scene, "solver", "theta");
    return 0.5 * mass_of(scene) * gravity * gravity * off * off * h * period;
}

/* An instance of a scene, whose path and path of steps these become. `sure`: it may not be refused,
 * as one may whose solver does not suit it. */
static bool place(struct session *s, const json_t *scene, bool sure, const char *name,
                  char path[PATH], char step[PATH])
{
    char *const body = session_creation(scene);
    (void)snprintf(path, PATH, "/v1/instances/%.200s-%s", s->id, name);
    (void)snprintf(step, PATH, "%.250s/step", path);
    const int status = session_status(s, "PUT", path, body);
    if (status != 201 && sure) {
        session_fault(s, "a scene was refused: %d %s", status, body);
    }
    free(body);
    return status == 201;
}

/* Energy after one more step, NAN: it failed. */
static double energy_after(struct session *s, const char *step)
{
    const struct session_reply r =
        session_ask(s, "POST", step, "{\"size\": 0.02, \"want\": [\"energy\"]}");
    json_t *const reply = r.text != NULL ? json_loads(r.text, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    const double now = json_number_value(json_object_get(reply, "energy"));
    json_decref(reply);
    free(r.text);
    return r.status == 200 ? now : NAN;
}

/* A scene is stepped: what is lost does not come back. */
static void fall(struct session *s, json_t *scene, int steps, bool pair)
{
    char path[PATH], step[PATH];
    const double more = lift_of(scene) + (pair ? error_of(scene) : 0.);
    double energy = NAN, scale = 0.;
    const bool placed = place(s, scene, true, pair ? "pair" : "falls", path, step);
    for (int k = 0; k < steps && placed; k++) {
        const double now = energy_after(s, step);
        scale = isfinite(now) ? fmax(scale, fabs(now)) : scale;
        const bool gained =
            pair ? now - energy > more + 1e-9 * scale : oracle_gained(energy + more, now, scale);
        if (gained) {
            char *const text = json_dumps(scene, 0);
            session_fault(s, "energy from nowhere, %g J to %g J at step %d: %s", energy, now, k,
                          text);
            free(text);
            k = steps;
        }
        energy = now;
    }
    (void)session_status(s, "DELETE", path, NULL);
    json_decref(scene);
}

/* q and v of the first, which the second gets, and v as numbers; false: there are none. */
static bool hand_over(struct session *s, const char *from, const char *to, double v[MOST],
                      size_t *count)
{
    char path[PATH];
    int status = 0;
    (void)snprintf(path, sizeof path, "%.250s/state", from);
    json_t *const state = session_call(s, "GET", NULL, &status, "%s", path);
    const json_t *const q = json_object_get(state, "q"), *const now = json_object_get(state, "v");
    *count = json_array_size(now);
    for (size_t k = 0; k < *count && k < MOST; k++) {
        v[k] = json_number_value(json_array_get(now, k));
    }
    if (to != NULL && q != NULL && now != NULL) {
        json_decref(session_call(s, "PUT", json_pack("{s:O,s:O}", "q", q, "v", now), &status,
                                 "%.250s/state", to));
    }
    const bool found = status == 200 && *count > 0 && *count <= MOST;
    json_decref(state);
    return found;
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

/* Bodies without friction, whose speeds behind a step are one: from each state of one instance
 * another steps by another solver. */
static void step_by_two(struct session *s)
{
    json_t *const scene = oracle_pair(&s->g, 0.), *const other = json_deep_copy(scene);
    char path[PATH], step[PATH], paths[PATH], steps[PATH];
    const char *const solver = any_solver(&s->g);
    json_object_set_new(json_object_get(json_object_get(other, "solver"), "vi"), "type",
                        json_string(solver));
    bool both = place(s, scene, true, "one", path, step);
    both = place(s, other, false, "two", paths, steps) && both;
    for (int k = 0; k < TWINS && both; k++) {
        double v[MOST], w[MOST], apart = 0., largest = 1.;
        size_t count = 0;
        both = hand_over(s, path, paths, v, &count) &&
               session_status(s, "POST", step, "{\"size\": 0.02}") == 200 &&
               session_status(s, "POST", steps, "{\"size\": 0.02}") == 200 &&
               hand_over(s, path, NULL, v, &count) && hand_over(s, paths, NULL, w, &count);
        for (size_t i = 0; i < count && both; i++) {
            largest = fmax(largest, fabs(v[i]));
            apart = fmax(apart, fabs(v[i] - w[i]));
        }
        if (apart > 1e-6 * largest) {
            char *const text = json_dumps(scene, 0);
            session_fault(s,
                          "steps by two solvers, one of them %s, differ by %g m/s at step %d: %s",
                          solver, apart, k, text);
            free(text);
            both = false;
        }
    }
    (void)session_status(s, "DELETE", path, NULL);
    (void)session_status(s, "DELETE", paths, NULL);
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
        if (k == 0 && r.status != 200) {
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
    fall(s, oracle_scene(&s->g), FALLS, false);
    fall(s, oracle_pair(&s->g, frictions[generate_below(&s->g, 4)]), PAIRS, true);
    step_by_two(s);
    solve_by_three(s);
}
