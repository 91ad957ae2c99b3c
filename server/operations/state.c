/* GET and PUT …/state: {time, step, q, v, vdot, a, lambda, impulse, x, z}, or these as one row. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/call/rows.h"
#include "server/call/shapes.h"
#include "server/instance/container.h"
#include "server/operations/put_snapshot.h"

#include "protocol/frame/frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ns: what reads a model does not run on a carrying thread. */
enum { MODEL_COST = 10000000 };

static void write_vector(struct mechp_text *w, const char *key, const double *x, int32_t n)
{
    mechp_text_key(w, key);
    mechp_text_numbers(w, x, (size_t)n);
}

/* As one JSON object, which the caller ends. */
static void write_state(struct mechd_call *c)
{
    const struct mechd_instance *i = c->job.instance;
    const struct mech_sizes n = mech_sim_sizes(i->sim);
    struct mech_state_view s;
    mech_sim_state(i->sim, &s);
    struct mechp_text *w = &c->text;
    mechp_text_object(w);
    mechp_text_key(w, "time");
    mechp_text_number(w, s.time);
    mechp_text_key(w, "step");
    mechp_text_unsigned(w, mechd_engine_step_count(&i->engine));
    write_vector(w, "q", s.q, n.q);
    write_vector(w, "v", s.v, n.v);
    write_vector(w, "vdot", s.vdot, n.v);
    write_vector(w, "a", s.a, n.v);
    write_vector(w, "lambda", s.lambda, n.lambda);
    write_vector(w, "impulse", s.impulse, n.impulse);
    write_vector(w, "x", s.x, n.x);
    write_vector(w, "z", s.z, n.z);
}

/* As a table of one row: the same numbers in the same order. */
static enum mechd_progress write_row(struct mechd_call *c, enum mechd_form form)
{
    const struct mechd_instance *i = c->job.instance;
    const struct mech_sizes n = mech_sim_sizes(i->sim);
    struct mech_state_view s;
    mech_sim_state(i->sim, &s);
    const struct mechd_column columns[] = {
        {"time", 1, true, NULL},           {"step", 1, true, NULL},
        {"q", n.q, false, NULL},           {"v", n.v, false, NULL},
        {"vdot", n.v, false, NULL},        {"a", n.v, false, NULL},
        {"lambda", n.lambda, false, NULL}, {"impulse", n.impulse, false, NULL},
        {"x", n.x, false, NULL},           {"z", n.z, false, NULL},
    };
    const double step = (double)mechd_engine_step_count(&i->engine);
    const double *const parts[] = {&s.time, &step,    s.q,       s.v, s.vdot,
                                   s.a,     s.lambda, s.impulse, s.x, s.z};
    struct mechd_rows r = {.form = form,
                           .text = &c->text,
                           .columns = columns,
                           .count = sizeof columns / sizeof *columns};
    mechd_rows_begin(&r, 1);
    double *row = mechd_doubles(c, r.width);
    if (row == NULL) {
        return MECHD_DONE;
    }
    double *at = row;
    for (size_t k = 0; k < r.count; k++) {
        for (int32_t j = 0; j < columns[k].size; j++) {
            *at++ = parts[k][j];
        }
    }
    mechd_rows_add(&r, row);
    mechd_rows_end(&r);
    free(row);
    return MECHD_DONE;
}

/* Whether the query asks for the bytes of a snapshot. */
static bool wants_snapshot(struct mechd_call *c)
{
    const char *const text = mechd_call_query(c, "snapshot");
    const bool yes = text != NULL && strcmp(text, "true") == 0;
    if (text != NULL && !yes && strcmp(text, "false") != 0) {
        mech_diag_add(&c->diag, "/snapshot", "expected true or false");
    }
    return yes;
}

/* Member "snapshot": the bytes that PUT takes. */
static void write_snapshot(struct mechd_call *c)
{
    size_t size = 0;
    void *const bytes = mechd_container_of(c->job.instance, &size);
    char *const text = bytes != NULL ? mechd_base64_encode(bytes, size) : NULL;
    mechp_text_key(&c->text, "snapshot");
    mechp_text_string(&c->text, text);
    c->text.failed = c->text.failed || text == NULL;
    free(text);
    free(bytes);
}

static enum mechd_progress run_get_state(struct mechd_call *c)
{
    const bool snapshot = wants_snapshot(c);
    const int form = mechd_form(c, mechd_forms_of_rows);
    if (form < 0 || !mechd_form_begin(c, (enum mechd_form)form)) {
        return MECHD_DONE;
    }
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    if (form != MECHD_FORM_JSON && form != MECHD_FORM_NDJSON) {
        return write_row(c, (enum mechd_form)form);
    }
    write_state(c);
    if (snapshot) {
        write_snapshot(c);
    }
    mechp_text_end(&c->text);
    if (form == MECHD_FORM_NDJSON) {
        mechp_text_plain(&c->text, "\n", 1);
    }
    return MECHD_DONE;
}

static int prepare_get_state(struct mechd_call *c)
{
    c->job.cost += mechd_call_query(c, "snapshot") != NULL ? MODEL_COST : 0;
    return 0;
}

const struct mechd_operation mechd_operation_GET_STATE = {.run = run_get_state,
                                                          .prepare = prepare_get_state};

static enum mechd_progress run_hash(struct mechd_call *c)
{
    const struct mechd_instance *const i = c->job.instance;
    double hash[MECHD_HASH_VALUES];
    mechd_hash_values(mech_sim_state_hash(i->sim), hash);
    const struct mechp_body_state_hash body = {.time = mechd_engine_time(&i->engine),
                                               .step = mechd_engine_step_count(&i->engine),
                                               .hash = {hash, MECHD_HASH_VALUES}};
    MECHP_WRITE(state_hash, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_HASH = {.run = run_hash};

/* One vector of the body into fresh memory; NULL when absent or refused. */
static double *read_vector(struct mechd_call *c, const char *key, int32_t n)
{
    const json_t *given = json_object_get(c->body, key);
    char path[16] = "/";
    path[1] = key[0];
    if (given == NULL) {
        return NULL;
    }
    double *x = mechd_doubles(c, (size_t)n);
    size_t count = 0;
    if (x == NULL) {
        return NULL;
    }
    const bool read = mechp_json_numbers(given, path, &c->diag, (size_t)n, x, &count);
    if (read && count == (size_t)n) {
        return x;
    }
    if (read) {
        mech_diag_add(&c->diag, path, "expected %d numbers, found %zu", n, count);
    }
    free(x);
    return NULL;
}

/* What a request sets; what it leaves out is NULL. */
struct given_state {
    double *q, *v, *x, *z;
    double *row; /* all of it, where it came as a row; or NULL */
    double time;
};

static void free_given(struct given_state *g)
{
    if (g->row == NULL) {
        free(g->q);
        free(g->v);
        free(g->x);
        free(g->z);
    }
    free(g->row);
}

/* From a row as write_row has it. */
static void take_row(struct mechd_call *c, struct mech_sizes n, struct given_state *g)
{
    const size_t q = 2, v = q + (size_t)n.q,
                 x = v + 3 * (size_t)n.v + (size_t)n.lambda + (size_t)n.impulse,
                 z = x + (size_t)n.x, width = z + (size_t)n.z;
    double *const row = mechd_doubles(c, width);
    if (row == NULL || !mechd_rows_read(c, width, row)) {
        free(row);
        return;
    }
    *g = (struct given_state){row + q, row + v, row + x, row + z, row, row[0]};
}

static void take_members(struct mechd_call *c, struct mech_sizes n, struct given_state *g)
{
    mechp_json_number(c->body, "time", &c->diag, &g->time);
    g->q = read_vector(c, "q", n.q);
    g->v = read_vector(c, "v", n.v);
    g->x = read_vector(c, "x", n.x);
    g->z = read_vector(c, "z", n.z);
}

/* The vectors of the body. */
static enum mechd_progress set_members(struct mechd_call *c)
{
    struct mech_sim *sim = c->job.instance->sim;
    struct given_state g = {.time = NAN};
    if (c->body == NULL && c->bytes == NULL) {
        return mechd_fail(c, MECHP_MALFORMED_REQUEST, "a body is needed");
    }
    (c->bytes != NULL ? take_row : take_members)(c, mech_sim_sizes(sim), &g);
    if (mech_diag_clean(&c->diag) && c->code == MECHP_OK) {
        const struct mech_state_view in = {.time = g.time, .q = g.q, .v = g.v, .x = g.x, .z = g.z};
        const double before = mech_sim_time(sim);
        const int outcome = mech_sim_set_state(sim, &in);
        if (outcome != 0) {
            mechd_fail_reason(c, outcome, mech_sim_refusal(sim));
        } else {
            mechd_instance_changed(c->job.instance,
                                   mech_sim_time(sim) < before ? MECHP_REWOUND : 0);
            write_state(c);
            mechp_text_end(&c->text);
        }
    }
    free_given(&g);
    return MECHD_DONE;
}

/* The snapshot of the body as base64, or NULL. */
static const char *snapshot_of(const struct mechd_call *c)
{
    return json_string_value(json_object_get(c->body, "snapshot"));
}

/* Another member than the snapshot is given. */
static bool has_vectors(const struct mechd_call *c)
{
    bool has = false;
    for (const struct mechp_member *m = mechd_call_row(c)->body->members; m->name != NULL; m++) {
        has =
            has || (strcmp(m->name, "snapshot") != 0 && json_object_get(c->body, m->name) != NULL);
    }
    return has;
}

static bool has_snapshot_bytes(const struct mechd_call *c)
{
    return c->bytes != NULL && strcmp(c->bytes_type, MECHD_CONTAINER_TYPE) == 0;
}

static enum mechd_progress run_set_state(struct mechd_call *c)
{
    const bool bytes = has_snapshot_bytes(c);
    bool reproducible = true;
    if (!bytes && json_object_get(c->body, "snapshot") == NULL) {
        return set_members(c);
    }
    if (!bytes && (snapshot_of(c) == NULL || has_vectors(c))) {
        mech_diag_add(&c->diag, "/snapshot", "the bytes as base64, and no other member");
        return MECHD_DONE;
    }
    if (bytes ? mechd_put_snapshot(c, c->bytes, c->size, &reproducible)
              : mechd_put_snapshot_text(c, snapshot_of(c), &reproducible)) {
        write_state(c);
        mechp_text_key(&c->text, "reproducible");
        mechp_text_bool(&c->text, reproducible);
        mechp_text_end(&c->text);
    }
    return MECHD_DONE;
}

static int prepare_set_state(struct mechd_call *c)
{
    c->job.cost += has_snapshot_bytes(c) || snapshot_of(c) != NULL ? MODEL_COST : 0;
    return 0;
}

const struct mechd_operation mechd_operation_SET_STATE = {.run = run_set_state,
                                                          .prepare = prepare_set_state};
