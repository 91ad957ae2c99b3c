/* GET and PUT …/state: {time, step, q, v, vdot, a, lambda, impulse, x, z}, or these as one row. */
#include "protocol/wire/bodies_values.h"
#include "protocol/wire/json.h"
#include "server/call/query.h"
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

/* The state; after a snapshot was put whether it is reproducible, and the bytes of one as base64,
 * or NULL. */
static void write_state(struct mechd_call *c, const bool *reproducible, const char *snapshot)
{
    const struct mechd_instance *i = c->job.instance;
    const struct mech_sizes n = mech_sim_sizes(i->sim);
    struct mech_state_view s;
    mech_sim_state(i->sim, &s);
    const struct mechp_body_state body = {.time = s.time,
                                          .step = mechd_engine_step_count(&i->engine),
                                          .q = {s.q, (size_t)n.q},
                                          .v = {s.v, (size_t)n.v},
                                          .vdot = {s.vdot, (size_t)n.v},
                                          .a = {s.a, (size_t)n.v},
                                          .lambda = {s.lambda, (size_t)n.lambda},
                                          .impulse = {s.impulse, (size_t)n.impulse},
                                          .x = {s.x, (size_t)n.x},
                                          .z = {s.z, (size_t)n.z},
                                          .reproducible = reproducible,
                                          .snapshot = snapshot};
    MECHP_WRITE(state, &body, &c->text);
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

/* The bytes that PUT takes, as base64, which the caller frees. NULL: no memory. */
static char *snapshot_text(struct mechd_call *c)
{
    size_t size = 0;
    void *const bytes = mechd_container_of(c->job.instance, &size);
    char *const text = bytes != NULL ? mechd_base64_encode(bytes, size) : NULL;
    free(bytes);
    return text;
}

static enum mechd_progress run_get_state(struct mechd_call *c)
{
    struct mechp_query_state asked;
    MECHD_ASK(state, c, &asked);
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
    char *const text = asked.snapshot ? snapshot_text(c) : NULL;
    write_state(c, NULL, text);
    c->text.failed = c->text.failed || (asked.snapshot && text == NULL);
    free(text);
    if (form == MECHD_FORM_NDJSON) {
        mechp_text_plain(&c->text, "\n", 1);
    }
    return MECHD_DONE;
}

/* Faults are found by run. */
static int prepare_get_state(struct mechd_call *c)
{
    const struct mech_diag found = c->diag;
    struct mechp_query_state asked;
    c->diag = (struct mech_diag){.count = 0};
    MECHD_ASK(state, c, &asked);
    mech_diag_fini(&c->diag);
    c->diag = found;
    c->job.cost += asked.snapshot ? MODEL_COST : 0;
    return 0;
}

const struct mechd_operation mechd_operation_GET_STATE = {.run = run_get_state,
                                                          .prepare = prepare_get_state};

static enum mechd_progress run_hash(struct mechd_call *c)
{
    const struct mechd_instance *const i = c->job.instance;
    double hash[MECHD_HASH_VALUES];
    mechd_hash_values(mechd_engine_hash(&i->engine), hash);
    const struct mechp_body_state_hash body = {.time = mechd_engine_time(&i->engine),
                                               .step = mechd_engine_step_count(&i->engine),
                                               .hash = {hash, MECHD_HASH_VALUES}};
    MECHP_WRITE(state_hash, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_HASH = {.run = run_hash};

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
static void take_row(struct mechd_call *c, struct given_state *g)
{
    const struct mech_sizes n = mech_sim_sizes(c->job.instance->sim);
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

static void take_members(struct mechd_call *c, const struct mechp_body_set_state_request *in,
                         struct given_state *g)
{
    const struct mech_sizes n = mech_sim_sizes(c->job.instance->sim);
    g->time = in->time;
    g->q = mechd_read_numbers(c, in->q, "/q", n.q);
    g->v = mechd_read_numbers(c, in->v, "/v", n.v);
    g->x = mechd_read_numbers(c, in->x, "/x", n.x);
    g->z = mechd_read_numbers(c, in->z, "/z", n.z);
}

/* The vectors of the body. */
static enum mechd_progress set_members(struct mechd_call *c,
                                       const struct mechp_body_set_state_request *in)
{
    struct mech_sim *sim = c->job.instance->sim;
    struct given_state g = {.time = NAN};
    if (c->body == NULL && c->bytes == NULL) {
        return mechd_fail(c, MECHP_MALFORMED_REQUEST, "a body is needed");
    }
    if (c->bytes != NULL) {
        take_row(c, &g);
    } else {
        take_members(c, in, &g);
    }
    if (mech_diag_clean(&c->diag) && c->code == MECHP_OK) {
        const struct mech_state_view to = {.time = g.time, .q = g.q, .v = g.v, .x = g.x, .z = g.z};
        const double before = mech_sim_time(sim);
        const int set = mech_sim_set_state(sim, &to);
        const int outcome = set == 0 ? mech_sim_show_rates(sim) : set;
        if (outcome != 0) {
            mechd_fail_reason(c, outcome, mech_sim_refusal(sim));
        } else {
            mechd_instance_changed(c->job.instance,
                                   mech_sim_time(sim) < before ? MECHP_REWOUND : 0);
            write_state(c, NULL, NULL);
        }
    }
    free_given(&g);
    return MECHD_DONE;
}

/* Another member than the snapshot is given. */
static bool has_vectors(const struct mechp_body_set_state_request *in)
{
    return !isnan(in->time) || in->q != NULL || in->v != NULL || in->x != NULL || in->z != NULL;
}

static bool has_snapshot_bytes(const struct mechd_call *c)
{
    return c->bytes != NULL && strcmp(c->bytes_type, MECHD_CONTAINER_TYPE) == 0;
}

static enum mechd_progress run_set_state(struct mechd_call *c)
{
    const bool bytes = has_snapshot_bytes(c);
    bool reproducible = true;
    struct mechp_body_set_state_request in;
    MECHP_READ(set_state_request, c->body, &c->diag, &in);
    const char *const text = json_string_value(in.snapshot);
    if (!bytes && in.snapshot == NULL) {
        return set_members(c, &in);
    }
    if (!bytes && (text == NULL || has_vectors(&in))) {
        mech_diag_add(&c->diag, "/snapshot", "must be the bytes as base64, without other members");
    }
    if (mech_diag_clean(&c->diag) &&
        (bytes ? mechd_put_snapshot(c, c->bytes, c->size, &reproducible)
               : mechd_put_snapshot_text(c, text, &reproducible))) {
        write_state(c, &reproducible, NULL);
    }
    return MECHD_DONE;
}

/* Faults are found by run. */
static int prepare_set_state(struct mechd_call *c)
{
    struct mech_diag ignored = {.count = 0};
    struct mechp_body_set_state_request in;
    MECHP_READ(set_state_request, c->body, &ignored, &in);
    mech_diag_fini(&ignored);
    c->job.cost += has_snapshot_bytes(c) || in.snapshot != NULL ? MODEL_COST : 0;
    return 0;
}

const struct mechd_operation mechd_operation_SET_STATE = {.run = run_set_state,
                                                          .prepare = prepare_set_state};
