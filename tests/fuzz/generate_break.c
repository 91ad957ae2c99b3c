#include "tests/fuzz/generate.h"

#include "solver/sim/mech.h"

#include <math.h>

/* --- models broken on purpose --- */

static size_t nodes_of(json_t *tree)
{
    size_t n = 1, k = 0;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(tree, key, value)
    {
        n += nodes_of(value);
    }
    json_array_foreach(tree, k, value)
    {
        n += nodes_of(value);
    }
    return n;
}

/* Another value in place of `old`, often of its type. */
static json_t *other_value(struct generate *g, const json_t *old)
{
    if (json_is_number(old) && generate_often(g, 70)) {
        return json_real(generate_wild(g));
    }
    switch (generate_below(g, 9)) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(generate_often(g, 50));
    case 2:
        return json_integer(generate_often(g, 50) ? -1 : INT32_MAX);
    case 3:
        return json_real(generate_wild(g));
    case 4:
        return json_string("i0");
    case 5:
        return json_string("=1/0");
    case 6:
        return json_array();
    case 7:
        return json_object();
    default:
        return json_string("nothing");
    }
}

/* Change the value at the `at`-th place below `tree`; what is left of `at`. */
static size_t change(struct generate *g, json_t *tree, size_t at)
{
    size_t k = 0;
    const char *key = NULL;
    json_t *value = NULL;
    json_array_foreach(tree, k, value)
    {
        if (at-- == 0) {
            switch (generate_below(g, 4)) {
            case 0:
                json_array_remove(tree, k);
                break;
            case 1:
                json_array_insert_new(tree, k, json_deep_copy(value));
                break;
            default:
                json_array_set_new(tree, k, other_value(g, value));
            }
            return SIZE_MAX;
        }
        at = change(g, value, at);
        if (at == SIZE_MAX) {
            return at;
        }
    }
    json_object_foreach(tree, key, value)
    {
        if (at-- == 0) {
            switch (generate_below(g, 6)) {
            case 0:
                json_object_del(tree, key);
                break;
            case 1:
                json_object_set_new(tree, "unknown", json_integer(1));
                break;
            default:
                json_object_set_new(tree, key, other_value(g, value));
            }
            return SIZE_MAX;
        }
        at = change(g, value, at);
        if (at == SIZE_MAX) {
            return at;
        }
    }
    return at;
}

void generate_break(struct generate *g, json_t *tree)
{
    for (uint32_t n = 1 + generate_below(g, 3); n > 0; n--) {
        const size_t places = nodes_of(tree) - 1;
        if (places > 0) {
            (void)change(g, tree, generate_below(g, (uint32_t)places));
        }
    }
}

/* --- problems that stand alone --- */

enum { ROWS = 6 };

static json_t *vector_of(struct generate *g, uint32_t n)
{
    json_t *const list = json_array();
    for (uint32_t k = 0; k < n; k++) {
        json_array_append_new(list, json_real(generate_real(g)));
    }
    return list;
}

/* Dense rows: symmetric and positive definite mostly, else anything, or nothing but zeros. */
static json_t *dense_of(struct generate *g, uint32_t n)
{
    double L[ROWS][ROWS] = {{0.}};
    const bool plain = generate_often(g, 70), zero = generate_often(g, 5);
    json_t *const rows = json_array();
    for (uint32_t i = 0; i < n && !zero; i++) {
        for (uint32_t j = 0; j < n; j++) {
            L[i][j] = plain && j > i ? 0. : generate_real(g) + (plain && i == j ? 5. : 0.);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        json_t *const row = json_array();
        for (uint32_t j = 0; j < n; j++) {
            double a = plain ? 0. : L[i][j];
            for (uint32_t k = 0; plain && k < n; k++) {
                a += L[i][k] * L[j][k];
            }
            json_array_append_new(row, json_real(a));
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

/* A few entries by place, mostly off the diagonal. */
static json_t *sparse_of(struct generate *g, uint32_t n)
{
    json_t *const entries = json_array();
    for (uint32_t k = 1 + generate_below(g, 2 * n); k > 0; k--) {
        const double value = generate_often(g, 40) ? generate_wild(g) : generate_real(g);
        json_array_append_new(entries, json_pack("[i,i,f]", (int)generate_below(g, n),
                                                 (int)generate_below(g, n), value));
    }
    return json_pack("{s:[i,i],s:o}", "shape", (int)n, (int)n, "coo", entries);
}

json_t *generate_problem(struct generate *g)
{
    g->wild = generate_often(g, 15);
    const bool friction = generate_often(g, 40);
    const uint32_t n = friction ? 3 * (1 + generate_below(g, 2)) : 1 + generate_below(g, ROWS);
    json_t *const problem = json_object();
    json_object_set_new(problem, "N", generate_often(g, 30) ? sparse_of(g, n) : dense_of(g, n));
    json_object_set_new(problem, "r", vector_of(g, n));
    if (friction) {
        json_t *const mu = json_array();
        for (uint32_t k = 0; k < n / 3; k++) {
            json_array_append_new(mu, json_real(fabs(generate_real(g)) / 4.));
        }
        json_object_set_new(problem, "mu", mu);
    }
    const char *doc = NULL;
    size_t solvers = 0;
    while (mech_vi_solver(solvers, &doc) != NULL) {
        solvers++;
    }
    if (generate_often(g, 50)) {
        json_object_set_new(
            problem, "solver",
            json_pack("{s:s}", "type", mech_vi_solver(generate_below(g, (uint32_t)solvers), &doc)));
    }
    return json_pack("{s:o}", "problem", problem);
}
