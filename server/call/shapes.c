/* Pieces of replies and requests. */
#include "server/call/shapes.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "protocol/wire/problem.h"
#include "server/instance/runs.h"
#include "server/instance/traits.h"
#include "server/os/ticks.h"
#include "solver/sim/analysis.h"
#include "solver/sim/edit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mech_item *mechd_item(struct mechd_call *c, enum mech_category category,
                                   const char *name)
{
    const struct mech_document *const d = mech_sim_document(c->job.instance->sim);
    const struct mech_items *const items =
        mech_document_items((struct mech_document *)(uintptr_t)d, category);
    for (size_t k = 0; k < items->n; k++) {
        if (strcmp(items->at[k].name, name) == 0) {
            return &items->at[k];
        }
    }
    struct mech_guess g;
    mechd_fail(c, MECHP_NOT_FOUND, "there is no %.64s in %s%s", name, mech_category_name(category),
               mech_items_hint(&g, name, items));
    return NULL;
}

void mechd_need(struct mechd_call *c, const char *path, const char *text)
{
    bool known = false;
    for (size_t k = 0; k < c->diag.count; k++) {
        known = known || strcmp(c->diag.entries[k].path, path) == 0;
    }
    if (!known) {
        mech_diag_add(&c->diag, path, "%s", text);
    }
}

double *mechd_doubles(struct mechd_call *c, size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    if (x == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for %zu numbers", n);
    }
    return x;
}

double *mechd_read_numbers(struct mechd_call *c, const json_t *given, const char *path, int32_t n)
{
    double *const x = given != NULL ? mechd_doubles(c, (size_t)n) : NULL;
    size_t count = 0;
    if (x != NULL && mechp_json_numbers(given, path, &c->diag, (size_t)n, x, &count) &&
        count != (size_t)n) {
        mech_diag_add(&c->diag, path, "expected %d numbers, found %zu", (int)n, count);
    }
    return x;
}

static void write_names(const struct mechd_engine *engine, enum mech_causality causality,
                        struct mechp_text *w)
{
    mechp_text_array(w);
    for (size_t k = 0; k < mechd_engine_variable_count(engine, causality); k++) {
        struct mech_variable v;
        mechd_engine_variable(engine, causality, k, &v);
        mechp_text_string(w, v.name);
    }
    mechp_text_end(w);
}

static void write_inputs(const void *engine, struct mechp_text *w)
{
    write_names(engine, MECH_INPUT, w);
}

static void write_outputs(const void *engine, struct mechp_text *w)
{
    write_names(engine, MECH_OUTPUT_VARIABLE, w);
}

static void write_parameters(const void *engine, struct mechp_text *w)
{
    write_names(engine, MECH_PARAMETER, w);
}

static void write_run(const void *instance, struct mechp_text *w)
{
    const struct mechd_instance *const i = instance;
    if (i->run != NULL && atomic_load(&i->running)) {
        mechd_run_write(i->run, w);
    } else {
        mechp_text_null(w);
    }
}

static void write_durability(const void *settings, struct mechp_text *w)
{
    mechd_durability_write(settings, w);
}

static void write_warnings(const void *told, struct mechp_text *w)
{
    mechp_problem_list_warnings(told, w);
}

/* A label is a text by its name. */
static void write_labels(const void *of, struct mechp_text *w)
{
    json_t *const *const labels = of;
    const char *key = NULL;
    json_t *value = NULL;
    mechp_text_object(w);
    json_object_foreach(*labels, key, value)
    {
        mechp_text_key(w, key);
        mechp_text_string(w, json_string_value(value));
    }
    mechp_text_end(w);
}

/* What only the owner may read. */
static void add_whole(const struct mechd_instance *i, struct mechp_body_sizes *sizes,
                      struct mechp_body_instance *out)
{
    if (i->sim != NULL) {
        const struct mech_sizes n = mech_sim_sizes(i->sim);
        *sizes = (struct mechp_body_sizes){
            .q = n.q, .v = n.v, .x = n.x, .lambda = n.lambda, .z = n.z, .impulse = n.impulse};
        out->integrator = mech_sim_integrator(i->sim);
        out->sizes = MECHP_INNER(sizes, sizes);
        out->memory = mechd_engine_memory(&i->engine);
    }
    out->inputs = (struct mechp_written){write_inputs, &i->engine};
    out->outputs = (struct mechp_written){write_outputs, &i->engine};
    out->parameters = (struct mechp_written){write_parameters, &i->engine};
    out->run = (struct mechp_written){write_run, i};
}

void mechd_write_instance(struct mechd_instance *i, bool whole, const bool *reproducible,
                          struct mechp_text *w)
{
    struct mechd_published now;
    char etag[48];
    mechd_instance_peek(i, &now, NULL);
    mechd_instance_etag(i, etag);
    etag[strlen(etag) - 1] = '\0';
    json_t *const labels = mechd_instance_labels(i);
    const uint64_t ends = mechd_instance_ends(i), at = ends != 0 ? mechd_now() : 0;
    struct mechp_body_instance body = {
        .id = i->id,
        .name = i->name,
        .engine = i->engine.ops->apart ? i->engine.ops->name : NULL,
        .time = now.time,
        .step = now.steps,
        .step_size = i->step_size,
        .running = atomic_load(&i->running),
        .busy = mechd_instance_busy(i),
        .revision = etag + 1,
        .durability = {write_durability, &i->durable.settings},
        .labels = {labels != NULL ? write_labels : NULL, &labels},
        .ttl = ends != 0 ? mechd_instance_ttl(i) : (double)NAN,
        .ttl_left = ends == 0   ? (double)NAN
                    : ends > at ? 1e-3 * floor(1e-6 * (double)(ends - at))
                                : 0.,
        .warnings = {i->warnings.warning_count > 0 ? write_warnings : NULL, &i->warnings},
        .memory = MECHP_ABSENT,
        .reproducible = reproducible};
    struct mechp_body_sizes sizes;
    if (whole) {
        add_whole(i, &sizes, &body);
    }
    MECHP_WRITE(instance, &body, w);
    mechd_instance_labels_unref(i, labels);
}

void mechd_write_value(const struct mech_variable *v, const double *values, struct mechp_text *w)
{
    if (v->scalar) {
        mechp_text_number(w, values[0]);
    } else {
        mechp_text_numbers(w, values, (size_t)v->size);
    }
}

void mechd_write_values(const struct mechd_engine *engine, enum mech_causality causality,
                        const double *packed, struct mechp_text *w)
{
    mechp_text_object(w);
    for (size_t k = 0; k < mechd_engine_variable_count(engine, causality); k++) {
        struct mech_variable v;
        mechd_engine_variable(engine, causality, k, &v);
        mechp_text_key(w, v.name);
        mechd_write_value(&v, packed + v.offset, w);
    }
    mechp_text_end(w);
}

void mechd_write_packed(const void *packed, struct mechp_text *w)
{
    const struct mechd_packed *const p = packed;
    mechd_write_values(p->engine, p->causality, p->values, w);
}

bool mechd_has_taken(const struct mechd_instance *i)
{
    const double *impulse = NULL;
    int32_t row = 0, n = 0;
    return i->sim != NULL && mech_sim_taken_next(i->sim, &row, &impulse, &n) >= 0;
}

void mechd_write_taken(const void *instance, struct mechp_text *w)
{
    const struct mechd_instance *const i = instance;
    const double *impulse = NULL;
    int32_t row = 0, n = 0;
    mechp_text_object(w);
    for (int32_t object = 0; i->sim != NULL && object >= 0;) {
        object = mech_sim_taken_next(i->sim, &row, &impulse, &n);
        if (object >= 0) {
            mechp_text_key(w, mech_sim_document(i->sim)->objects.at[object].name);
            mechp_text_numbers(w, impulse, (size_t)n);
        }
    }
    mechp_text_end(w);
}

void mechd_fail_reason(struct mechd_call *c, int outcome, const char *reason)
{
    if (reason[0] == '\0' || outcome < 0) {
        mechd_fail_outcome(c, outcome);
    } else if (outcome == MECH_UNSUPPORTED || outcome == MECH_INVALID) {
        mech_diag_add(&c->diag, "", "%s", reason);
    } else {
        mechd_fail(c, mechp_code_of_outcome(outcome), "%s", reason);
    }
}

void mechd_write_matrix(const void *matrix, struct mechp_text *w)
{
    const struct mechd_matrix *const m = matrix;
    mechp_text_array(w);
    for (int32_t r = 0; r < m->rows; r++) {
        mechp_text_numbers(w, m->values + (size_t)r * (size_t)m->cols, (size_t)m->cols);
    }
    mechp_text_end(w);
}

static void write_numbers(const void *numbers, struct mechp_text *w)
{
    const struct mechp_numbers *const list = numbers;
    mechp_text_numbers(w, list->at, list->count);
}

struct mechp_part mechd_numbers_part(const struct mechp_numbers *numbers)
{
    return (struct mechp_part){.written = {numbers->at != NULL ? write_numbers : NULL, numbers}};
}

void mechd_write_entries(const void *entries, struct mechp_text *w)
{
    const struct mechd_entries *const e = entries;
    mechp_text_array(w);
    for (size_t k = 0; k < e->count; k++) {
        const struct mech_triplet *const t = &e->at[k];
        mechp_text_numbers(w, (const double[]){t->row, t->col, t->value}, 3);
    }
    mechp_text_end(w);
}

void mechd_write_label(const struct mech_variable *v, struct mechp_text *w)
{
    for (int32_t i = 0; i < v->size; i++) {
        char component[16];
        snprintf(component, sizeof component, "/%d", (int)i);
        mechp_text_string_of(w, (const char *const[]){v->name, component}, v->scalar ? 1 : 2);
    }
}

void mechd_write_labels(const void *labels, struct mechp_text *w)
{
    const struct mechd_labels *const l = labels;
    const struct mechd_engine *const engine = &l->instance->engine;
    mechp_text_array(w);
    for (size_t k = 0; k < mechd_engine_variable_count(engine, l->causality); k++) {
        struct mech_variable v;
        mechd_engine_variable(engine, l->causality, k, &v);
        if (!l->parameters && mechd_engine_input_is_parameter(engine, (int32_t)k)) {
            continue;
        }
        mechd_write_label(&v, w);
    }
    mechp_text_end(w);
}

static void check_labels(struct mechd_call *c, const json_t *labels)
{
    if (labels == NULL || json_is_null(labels)) {
        return;
    }
    if (!json_is_object(labels)) {
        mech_diag_add(&c->diag, "/labels", "must be an object");
        return;
    }
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)labels, key, value)
    {
        struct mech_path path = {.text = "/labels", .length = 7};
        (void)mech_path_push(&path, key);
        if (!mech_name_valid(key)) {
            mech_diag_add(&c->diag, path.text,
                          "the name of a label must have 1 to 64 characters of A-Z a-z 0-9 . _ -");
        }
        if (!json_is_string(value)) {
            mech_diag_add(&c->diag, path.text, "must be a string");
        } else if (json_string_length(value) > MECHD_LABEL_MOST) {
            mech_diag_add(&c->diag, path.text, "at most %d bytes, has %zu", MECHD_LABEL_MOST,
                          json_string_length(value));
        }
    }
    if (json_object_size(labels) > MECHD_LABELS_MOST) {
        mech_diag_add(&c->diag, "/labels", "at most %d labels", MECHD_LABELS_MOST);
    }
}

void mechd_check_traits(struct mechd_call *c, const json_t *labels, const json_t *ttl)
{
    check_labels(c, labels);
    const double seconds = json_number_value(ttl);
    if (ttl == NULL || json_is_null(ttl)) {
        return;
    }
    if (!json_is_number(ttl) || !isfinite(seconds)) {
        mech_diag_add(&c->diag, "/ttl", "must be a number");
    } else if (!(seconds > 0. && seconds <= mechd_ttl_most)) {
        mech_diag_add(&c->diag, "/ttl", "must be seconds from 0 to %g, or null", mechd_ttl_most);
    }
}

void mechd_set_extent(struct mechd_call *c, struct mechd_extent given,
                      struct mech_step_request *out)
{
    const bool sized = !isnan(given.size), until = !isnan(given.until), counted = given.count > 0;
    if (!mech_diag_clean(&c->diag)) {
        return;
    }
    if (sized + until + counted != 1) {
        mech_diag_add(&c->diag, "", "exactly one of size, until and count is needed");
    } else if (sized && !(given.size > 0.)) {
        mech_diag_add(&c->diag, "/size", "must be greater than 0");
    } else if (counted) {
        out->kind = MECH_STEP_COUNT;
        out->count = (uint64_t)given.count;
    } else {
        out->kind = until ? MECH_STEP_UNTIL : MECH_STEP_SIZE;
        out->size = until ? 0. : given.size;
        out->until = until ? given.until : 0.;
    }
}
