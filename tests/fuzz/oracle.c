#include "tests/fuzz/oracle.h"

#include <math.h>
#include <string.h>

enum { ROWS = 16 };

/* m/s², and kg m² about each axis of a body of a scene */
static const double gravity = 9.81, inertia = 0.1;

/* N dense, from rows or places; false: another form, or too large. */
static bool matrix(const json_t *N, size_t n, double a[ROWS][ROWS])
{
    const json_t *const places = json_object_get(N, "coo");
    const json_t *const shape = json_object_get(N, "shape");
    if (json_is_array(N) ? json_array_size(N) != n
                         : !json_is_array(places) || json_array_size(shape) != 2 ||
                               json_integer_value(json_array_get(shape, 0)) != (json_int_t)n) {
        return false;
    }
    memset(a, 0, sizeof(double[ROWS][ROWS]));
    for (size_t k = 0; k < json_array_size(places); k++) {
        const json_t *const e = json_array_get(places, k);
        const json_int_t i = json_integer_value(json_array_get(e, 0)),
                         j = json_integer_value(json_array_get(e, 1));
        if (i < 0 || j < 0 || i >= (json_int_t)n || j >= (json_int_t)n) {
            return false;
        }
        a[i][j] += json_number_value(json_array_get(e, 2));
    }
    for (size_t i = 0; json_is_array(N) && i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            a[i][j] = json_number_value(json_array_get(json_array_get(N, i), j));
        }
    }
    return true;
}

/* What a tolerance is of: the largest of what N ties together, or that is in one contact. */
static void spread(size_t n, size_t block, double a[ROWS][ROWS], double *scale)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t k = 0; k < n * n; k++) {
            double *const x = &scale[k / n], *const y = &scale[k % n];
            if ((a[k / n][k % n] != 0. || k / n / block == k % n / block) && *x != *y) {
                *x = *y = fmax(*x, *y);
                again = true;
            }
        }
    }
}

const char *oracle_solution(const json_t *request, const json_t *reply)
{
    // what a relative tolerance of 1e-10 leaves by far
    static const double small = 1e-5;
    const json_t *const p = json_object_get(request, "problem");
    const json_t *const r = json_object_get(p, "r"), *const mu = json_object_get(p, "mu");
    const json_t *const answer = json_object_get(reply, "l");
    const size_t n = json_array_size(r), block = json_array_size(mu) > 0 ? 3 : 1;
    double a[ROWS][ROWS], l[ROWS], u[ROWS], scale[ROWS], largest = 0.;
    if (!json_is_true(json_object_get(json_object_get(reply, "report"), "converged")) || n == 0 ||
        n > ROWS || n % block != 0 || json_object_get(p, "sets") != NULL ||
        json_object_get(p, "friction") != NULL ||
        json_object_get(json_object_get(p, "solver"), "tolerance") != NULL ||
        json_object_get(json_object_get(p, "solver"), "onFailure") != NULL ||
        !matrix(json_object_get(p, "N"), n, a) || json_array_size(answer) != n) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        l[i] = json_number_value(json_array_get(answer, i));
        largest = fmax(largest, fabs(l[i]));
    }
    for (size_t i = 0; i < n; i++) {
        u[i] = json_number_value(json_array_get(r, i));
        scale[i] = fabs(u[i]);
        for (size_t j = 0; j < n; j++) {
            u[i] += a[i][j] * l[j];
            scale[i] += fabs(a[i][j] * l[j]);
        }
        // beyond what anything is scaled by, sums lose what matters
        if (!(scale[i] < 1e18) || !(largest < 1e18)) {
            return NULL;
        }
    }
    spread(n, block, a, scale);
    for (size_t i = 0; i < n; i += block) {
        const double m = block == 3 ? json_number_value(json_array_get(mu, i / 3)) : 0.;
        const double push = block == 3 ? hypot(l[i + 1], l[i + 2]) : 0.;
        if (u[i] < -small * scale[i]) {
            return "\"converged\", but u is negative";
        }
        if (l[i] < -small * largest || push > m * l[i] + small * largest) {
            return "\"converged\", but l is outside its set";
        }
        if (l[i] > small * largest && u[i] > small * scale[i]) {
            return "\"converged\", but neither l nor u is 0";
        }
        // what slides is held by all of the friction, against the slip
        for (size_t k = i + 1; k < i + block && l[i] > small * largest; k++) {
            const double slip = hypot(u[i + 1], u[i + 2]);
            if (slip > small * (scale[i + 1] + scale[i + 2]) &&
                fabs(l[k] * slip + m * l[i] * u[k]) > 1e-3 * slip * (m * l[i] + largest)) {
                return "\"converged\", but friction is not against the slip";
            }
        }
    }
    return NULL;
}

/* Whether the symmetric part of N is positive definite, by pivots that are no small part of it. */
static bool is_definite(size_t n, double a[ROWS][ROWS])
{
    double s[ROWS][ROWS], largest = 0.;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            s[i][j] = 0.5 * (a[i][j] + a[j][i]);
        }
        largest = fmax(largest, s[i][i]);
    }
    for (size_t k = 0; k < n; k++) {
        if (!(s[k][k] > 1e-3 * largest)) {
            return false;
        }
        for (size_t i = k + 1; i < n; i++) {
            for (size_t j = k + 1; j < n; j++) {
                s[i][j] -= s[i][k] * s[k][j] / s[k][k];
            }
        }
    }
    return true;
}

/* Whether N is symmetric and mu times its condition is below 1, by the discs of Gershgorin. Then
 * there is one solution: with what friction adds to the approach, s = μ ‖u_T‖, held fixed there is
 * one l(s) (De Saxcé and Feng 1998), ‖Δu‖ ≤ λ_max / λ_min ‖Δs‖, and so s is the fixed point of a
 * contraction. */
static bool is_rough_but_one(size_t n, double a[ROWS][ROWS], const json_t *mu)
{
    double least = HUGE_VAL, most = 0., largest = 0.;
    for (size_t i = 0; i < n; i++) {
        double off = 0.;
        for (size_t j = 0; j < n; j++) {
            off += i != j ? fabs(a[i][j]) : 0.;
            if (a[i][j] != a[j][i]) {
                return false;
            }
        }
        least = fmin(least, a[i][i] - off);
        most = fmax(most, a[i][i] + off);
    }
    for (size_t k = 0; k < json_array_size(mu); k++) {
        const double value = json_number_value(json_array_get(mu, k));
        largest = value >= 0. ? fmax(largest, value) : HUGE_VAL;
    }
    return least > 0. && largest * most < 0.8 * least;
}

const char *oracle_agrees(const json_t *request, const json_t *one, const json_t *other)
{
    const json_t *const p = json_object_get(request, "problem"), *const r = json_object_get(p, "r");
    const json_t *const first = json_object_get(one, "l"), *second = json_object_get(other, "l");
    const json_t *const mu = json_object_get(p, "mu");
    const size_t n = json_array_size(r);
    double a[ROWS][ROWS], largest = 0., apart = 0., approach = 0., heaviest = 0.;
    if (!json_is_true(json_object_get(json_object_get(one, "report"), "converged")) ||
        !json_is_true(json_object_get(json_object_get(other, "report"), "converged")) || n == 0 ||
        n > ROWS || json_object_get(p, "friction") != NULL || json_object_get(p, "sets") != NULL ||
        json_object_get(json_object_get(p, "solver"), "tolerance") != NULL ||
        json_object_get(json_object_get(p, "solver"), "onFailure") != NULL ||
        !matrix(json_object_get(p, "N"), n, a) || !is_definite(n, a) ||
        (mu != NULL && !is_rough_but_one(n, a, mu))) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const double x = json_number_value(json_array_get(first, i));
        const double y = json_number_value(json_array_get(second, i));
        largest = fmax(largest, fmax(fabs(x), fabs(y)));
        apart = fmax(apart, fabs(x - y));
        approach = fmax(approach, fabs(json_number_value(json_array_get(r, i))));
        heaviest = fmax(heaviest, a[i][i]);
    }
    if (mu != NULL) {
        // what nearly opens is as near as the data are, of which this is the l
        largest = fmax(largest, approach / heaviest);
    }
    // a tolerance of 1e-10, times what the least pivots make of it
    return apart > 1e-4 * largest ? "two solvers do not agree" : NULL;
}

json_t *oracle_problem(struct generate *g)
{
    const size_t contacts = 1 + generate_below(g, 4), n = 3 * contacts;
    double a[ROWS][ROWS];
    json_t *const N = json_array(), *const r = json_array(), *const mu = json_array();
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            // discs of a half at most
            a[i][j] = a[j][i] = i == j ? 1. + 0.25 * generate_below(g, 3)
                                       : ((double)generate_below(g, 33) - 16.) / (32. * (double)n);
        }
    }
    for (size_t i = 0; i < n; i++) {
        json_t *const row = json_array();
        for (size_t j = 0; j < n; j++) {
            json_array_append_new(row, json_real(a[i][j]));
        }
        json_array_append_new(N, row);
        json_array_append_new(r, json_real(generate_real(g)));
        if (i % 3 == 0) {
            json_array_append_new(mu, json_real(generate_below(g, 16) / 100.));
        }
    }
    return json_pack("{s:{s:o,s:o,s:o}}", "problem", "N", N, "r", r, "mu", mu);
}

/* A shape of any type, which touches all others. */
static json_t *shape_of(struct generate *g, double mu)
{
    json_t *const shape = generate_shape(g);
    json_object_del(shape, "category");
    json_object_del(shape, "group");
    json_object_del(shape, "mask");
    json_object_set_new(shape, "material", json_pack("{s:f}", "friction", mu));
    return shape;
}

/* The node and the body of number k, at place x, with its six velocities. */
static void add_body(json_t *scene, struct generate *g, int k, const double *x, const double *v,
                     double mu)
{
    static const char *const nodes[] = {"n0", "n1", "n2"}, *const bodies[] = {"b0", "b1", "b2"};
    json_array_append_new(json_object_get(scene, "nodes"),
                          json_pack("{s:s,s:s,s:[f,f,f,f,f,f],s:[f,f,f,f,f,f]}", "name", nodes[k],
                                    "type", "NodeRigidBodyRotVecLG", "referenceCoordinates", x[0],
                                    x[1], x[2], 0., 0., 0., "initialVelocities", v[0], v[1], v[2],
                                    v[3], v[4], v[5]));
    json_array_append_new(json_object_get(scene, "objects"),
                          json_pack("{s:s,s:s,s:s,s:f,s:[f,f,f,f,f,f],s:[o]}", "name", bodies[k],
                                    "type", "RigidBody", "node", nodes[k], "physicsMass", 1. + k,
                                    "physicsInertia", inertia, inertia, inertia, 0., 0., 0.,
                                    "geometry", shape_of(g, mu)));
}

/* A joint halfway between two places. */
static void add_joint(json_t *scene, double x[3][3])
{
    static const char *const markers[] = {"m0", "m1"}, *const bodies[] = {"b0", "b1"};
    json_t *const list = json_array();
    for (int k = 0; k < 2; k++) {
        const double side = k > 0 ? -0.5 : 0.5;
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s,s:[f,f,f]}", "name", markers[k], "type",
                                        "MarkerBodyRigid", "object", bodies[k], "localPosition",
                                        side * (x[1][0] - x[0][0]), side * (x[1][1] - x[0][1]),
                                        side * (x[1][2] - x[0][2])));
    }
    json_object_set_new(scene, "markers", list);
    json_array_append_new(json_object_get(scene, "objects"),
                          json_pack("{s:s,s:s,s:[s,s]}", "name", "joint", "type", "SphericalJoint",
                                    "markers", markers[0], markers[1]));
}

json_t *oracle_scene(struct generate *g, enum oracle_scene kind, double mu)
{
    static const double steps[] = {1e-3, 5e-3, 1e-2, 2e-2};
    static const double thetas[] = {0.5, 0.75, 1.};
    static const int bodies[] = {
        [ORACLE_FALL] = 1, [ORACLE_PAIR] = 2, [ORACLE_JOINED] = 2, [ORACLE_STACK] = 3};
    const bool joined = kind == ORACLE_JOINED;
    const bool thrown = joined || (kind == ORACLE_PAIR && generate_often(g, 60));
    const double h = steps[generate_below(g, 4)], theta = thetas[generate_below(g, 3)];
    json_t *const scene =
        json_pack("{s:i,s:[f,f,f],s:[],s:[{s:s,s:s,s:[{s:s,s:[f,f,f],s:{s:f}}]}],"
                  "s:{s:s,s:f,s:f,s:{s:f}}}",
                  "mechd", 1, "gravity", 0., 0., -gravity, "nodes", "objects", "name", "ground",
                  "type", "Ground", "geometry", "shape", "Plane", "normal", 0., 0., 1., "material",
                  "friction", mu, "solver", "integrator", "MoreauJean", "stepSize", h, "theta",
                  theta, "vi", "tolerance", 1e-10);
    const double height = 0.4 + generate_below(g, 9) / 16.;
    double x[3][3], v[6] = {0.};
    for (int k = 0; k < bodies[kind]; k++) {
        memcpy(x[k],
               (const double[]){(thrown ? 0.5 : 0.02) * k, 0.03 * k,
                                height + (thrown ? 0.1 : 0.5) * k},
               sizeof x[k]);
        // what hangs together begins with one velocity
        for (size_t i = 0; thrown && i < (joined ? 3 : 6) && !(joined && k > 0); i++) {
            v[i] = generate_real(g) / (i < 3 ? 4. : 2.);
        }
        if (thrown && !joined) {
            v[0] = (k > 0 ? -1. : 1.) * (1. + generate_below(g, 3));
        }
        add_body(scene, g, k, x[k], v, mu);
    }
    if (joined) {
        add_joint(scene, x);
    }
    return scene;
}

json_t *oracle_free(const json_t *scene)
{
    json_t *const copy = json_deep_copy(scene);
    size_t k = 0;
    json_t *object = NULL;
    json_array_foreach(json_object_get(copy, "objects"), k, object)
    {
        json_object_del(object, "geometry");
    }
    return copy;
}

double oracle_kinetic(const double *v, size_t count, double h)
{
    double sum = 0.;
    for (size_t i = 0; i < count; i++) {
        const double mass = i % 6 < 3 ? 1. + (double)(i / 6) : inertia;
        const double u = i % 6 == 2 ? v[i] - h * gravity : v[i];
        sum += 0.5 * mass * u * u;
    }
    return sum;
}

double oracle_rise(const json_t *scene, double span)
{
    const json_t *const solver = json_object_get(scene, "solver");
    const double recovery_speed = 0.6; // the scene has the default
    const double h = json_number_value(json_object_get(solver, "stepSize"));
    const bool ends = json_number_value(json_object_get(solver, "theta")) >= 1.;
    const size_t bodies = json_array_size(json_object_get(scene, "nodes"));
    const double weight = (bodies > 1 ? 3. : 1.) * gravity;
    return weight * span * ((double)bodies * recovery_speed + (ends ? 0. : 0.5 * gravity * h));
}
