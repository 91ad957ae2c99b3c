/* Models for tests, written as JSON with ' for ". The caller destroys the simulation.
 *
 *     struct mech_sim *s = model_of("{'mechd': 1, 'nodes': …}");
 */
#pragma once

#include "protocol/bind/bind.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read a model; 0 and *out, or the code of the first that refused it. Faults stay in diag. */
static inline int model_read(const char *text, struct mech_diag *diag, struct mech_sim **out)
{
    char *const json = strdup(text);
    struct mech_document *document = NULL;
    json_error_t error;

    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *const value = json_loads(json, 0, &error);
    free(json);
    *out = NULL;
    if (!value) {
        fprintf(stderr, "%s (column %d)\n", error.text, error.column);
        return MECH_INTERNAL;
    }
    int code = mechp_bind_read(value, "", diag, &document);
    json_decref(value);
    if (code == 0) {
        code = mech_sim_create(document, diag, out);
        if (code) {
            mech_document_destroy(document);
        }
    }
    return code;
}

/* A model that must be good. */
static inline struct mech_sim *model_of(const char *text)
{
    struct mech_diag diag;
    struct mech_sim *s = NULL;

    mech_diag_init(&diag);
    const int code = model_read(text, &diag, &s);
    for (size_t i = 0; i < diag.count; i++) {
        fprintf(stderr, "%s: %s\n", diag.entries[i].path, diag.entries[i].text);
    }
    mech_diag_fini(&diag);
    CU_ASSERT_EQUAL_FATAL(code, 0);
    return s;
}

/* True when the model is refused and some fault has this path and contains these words. */
static inline bool model_refused(const char *text, const char *path, const char *words)
{
    struct mech_diag diag;
    struct mech_sim *s = NULL;
    bool found = false;

    mech_diag_init(&diag);
    const int code = model_read(text, &diag, &s);
    for (size_t i = 0; i < diag.count; i++) {
        found = found ||
                (strcmp(diag.entries[i].path, path) == 0 && strstr(diag.entries[i].text, words));
    }
    for (size_t i = 0; i < diag.count && !found; i++) {
        fprintf(stderr, "%s: %s\n", diag.entries[i].path, diag.entries[i].text);
    }
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
    return code == MECH_INVALID && found;
}

static inline int model_steps(struct mech_sim *s, uint64_t count)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = count};
    struct mech_step_report report;
    const int code = mech_sim_step(s, &r, &report);

    if (code) {
        fprintf(stderr, "step: %s\n", report.reason);
    }
    return code;
}

static inline int model_step(struct mech_sim *s, double H)
{
    const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = H};
    struct mech_step_report report;

    return mech_sim_step(s, &r, &report);
}

static inline struct mech_state_view model_state(const struct mech_sim *s)
{
    struct mech_state_view view;

    mech_sim_state(s, &view);
    return view;
}

/* √Σ (a − b)² of n numbers. */
static inline double model_distance(const double *a, const double *b, int n)
{
    double sum = 0.;

    for (int i = 0; i < n; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

/* First value of an item's output in the current configuration. */
static inline double model_value(const struct mech_sim *s, enum mech_category category,
                                 const char *name, enum mech_output variable)
{
    double values[16] = {NAN};
    size_t count = 0;

    CU_ASSERT_EQUAL(mech_sim_item_output(
                        s, &(struct mech_item_query){category, name, variable, MECH_CURRENT, NULL},
                        16, values, &count),
                    0);
    return values[0];
}

/* Up to 9 values of an item's output at a local origin, in the current configuration. */
static inline void model_values(const struct mech_sim *s, enum mech_category category,
                                const char *name, enum mech_output variable, double *values)
{
    size_t count = 0;

    CU_ASSERT_EQUAL(mech_sim_item_output(
                        s, &(struct mech_item_query){category, name, variable, MECH_CURRENT, NULL},
                        9, values, &count),
                    0);
}

/* A mass on Node1D "n" and a connector or more between "g" and "x"; `solver` and `more` are members
 * of the document that follow. %s order: node fields, mass, connectors, loads, rest. */
#define MODEL_OSCILLATOR(node, mass, connectors, loads, rest)                                      \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'" node "}],"                             \
    "'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': " mass "}" connectors \
    "], 'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'},"                              \
    "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}],"                \
    "'loads': [" loads "]" rest "}"

/* the committed state */
static inline struct mech_state_view view_of(const struct mech_sim *s)
{
    struct mech_state_view view;

    mech_sim_state(s, &view);
    return view;
}
