/* POST …/evaluate: the equations at any point; vectors as lists, matrices as nested rows. Nothing
 * changes, but scratch of the simulation is used, so it is run as its owner. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/call/shapes.h"
#include "solver/base/guess.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most numbers in one answer: 16 million, 128 MiB before they are written. */
static const size_t answer_most = 16u << 20;

static int find_want(const char *name)
{
    for (int k = 0; name != NULL && k < MECH_WANT_COUNT; k++) {
        if (strcmp(mech_want_names[k], name) == 0) {
            return k;
        }
    }
    return -1;
}

/* A quantity of the reply. */
struct wanted {
    struct mechd_call *call;
    const struct mech_point *at;
    enum mech_want want;
    bool sparse;
};

/* Rows and columns of a matrix. */
static void write_shape(const void *of, struct mechp_text *w)
{
    const int32_t *const shape = of;
    mechp_text_numbers(w, (const double[]){shape[0], shape[1]}, 2);
}

static void write_sparse(const struct wanted *q, struct mechp_text *w)
{
    struct mech_sim *sim = q->call->job.instance->sim;
    struct mech_arena arena;
    struct mech_triplet *t = NULL;
    struct mechd_entries e = {.count = 0};
    int32_t shape[2];
    mech_sim_want_shape(sim, q->want, &shape[0], &shape[1]);
    mech_arena_init(&arena, 0);
    const int outcome = mech_sim_evaluate_sparse(sim, q->at, q->want, &arena, &t, &e.count);
    e.at = t;
    if (outcome != 0) {
        mechd_fail_outcome(q->call, outcome);
    } else if (3 * e.count > answer_most) {
        mechd_fail(q->call, MECHP_LIMIT_REACHED, "%s has %zu entries, too many for an answer",
                   mech_want_names[q->want], e.count);
    } else {
        const struct mechp_body_coo body = {.shape = {write_shape, shape},
                                            .coo = {mechd_write_entries, &e}};
        MECHP_WRITE(coo, &body, w);
    }
    mech_arena_fini(&arena);
}

static bool is_sparse(enum mech_want want)
{
    return want == MECH_WANT_MASS || want == MECH_WANT_DFDQ || want == MECH_WANT_DFDV ||
           want == MECH_WANT_CONSTRAINT_JACOBIAN;
}

static void write_dense(const struct wanted *q, struct mechp_text *w)
{
    struct mech_sim *sim = q->call->job.instance->sim;
    struct mechd_matrix m = {.values = NULL};
    mech_sim_want_shape(sim, q->want, &m.rows, &m.cols);
    const size_t n = (size_t)m.rows * (size_t)m.cols;
    if (n > answer_most) {
        mechd_fail(q->call, MECHP_LIMIT_REACHED, "%s has %zu values, too many for an answer",
                   mech_want_names[q->want], n);
        return;
    }
    double *values = mechd_doubles(q->call, n);
    if (values == NULL) {
        return;
    }
    const int outcome = mech_sim_evaluate(sim, q->at, q->want, values);
    m.values = values;
    if (outcome != 0) {
        mechd_fail_outcome(q->call, outcome);
    } else if (m.cols == 1 && !is_sparse(q->want) && q->want != MECH_WANT_RHS_JACOBIAN) {
        mechp_text_numbers(w, values, n);
    } else {
        mechd_write_matrix(&m, w);
    }
    free(values);
}

/* Nothing once the call is refused: its text is void then. */
static void write_wanted(const void *of, struct mechp_text *w)
{
    const struct wanted *const q = of;
    if (q->call->code != MECHP_OK) {
        return;
    }
    if (mechd_effort_ends(q->call->job.instance)) {
        mechd_fail_outcome(q->call, MECH_CANCELLED);
    } else if (q->sparse && is_sparse(q->want)) {
        write_sparse(q, w);
    } else {
        write_dense(q, w);
    }
}

/* The quantities of the mask, in the order of the reply's row. */
static void write_reply(struct mechd_call *c, const struct mech_point *at, uint32_t mask,
                        bool sparse)
{
    struct wanted wanted[MECH_WANT_COUNT];
    struct mechp_written of[MECH_WANT_COUNT];
    for (unsigned k = 0; k < MECH_WANT_COUNT; k++) {
        wanted[k] = (struct wanted){c, at, (enum mech_want)k, sparse};
        of[k] = (struct mechp_written){(mask & 1u << k) != 0 ? write_wanted : NULL, &wanted[k]};
    }
    const struct mechp_body_evaluate_reply body = {
        .time = isnan(at->time) ? mechd_engine_time(&c->job.instance->engine) : at->time,
        .lhs = of[MECH_WANT_LHS],
        .rhs = of[MECH_WANT_RHS],
        .forces = of[MECH_WANT_FORCES],
        .mass = of[MECH_WANT_MASS],
        .dFdq = of[MECH_WANT_DFDQ],
        .dFdv = of[MECH_WANT_DFDV],
        .first_order = of[MECH_WANT_FIRST_ORDER],
        .rhs_jacobian = of[MECH_WANT_RHS_JACOBIAN],
        .constraints = of[MECH_WANT_CONSTRAINTS],
        .constraint_jacobian = of[MECH_WANT_CONSTRAINT_JACOBIAN]};
    MECHP_WRITE(evaluate_reply, &body, &c->text);
}

/* The names in `want`, checked. */
static uint32_t read_want(struct mechd_call *c, const json_t *want)
{
    uint32_t mask = 0;
    if (want == NULL) {
        mech_diag_add(&c->diag, "/want", "a list of quantities is needed");
        return 0;
    }
    for (size_t k = 0; k < json_array_size(want); k++) {
        const char *name = json_string_value(json_array_get(want, k));
        const int found = find_want(name);
        if (found >= 0) {
            mask |= 1u << (unsigned)found;
            continue;
        }
        char path[32];
        snprintf(path, sizeof path, "/want/%zu", k);
        const char *close = name != NULL ? mech_closest(name, mech_want_names) : NULL;
        mech_diag_add(&c->diag, path, "no such quantity '%.64s'%s%s", name != NULL ? name : "",
                      close != NULL ? "; did you mean " : "", close != NULL ? close : "");
    }
    return mask;
}

static enum mechd_progress run_evaluate(struct mechd_call *c)
{
    const struct mech_sim *sim = c->job.instance->sim;
    const struct mech_sizes n = mech_sim_sizes(sim);
    struct mechp_body_evaluate_request in;
    MECHP_READ(evaluate_request, c->body, &c->diag, &in);
    const uint32_t mask = read_want(c, in.want.of);
    double *const q = mechd_read_numbers(c, in.q, "/q", n.q);
    double *const v = mechd_read_numbers(c, in.v, "/v", n.v);
    double *const x = mechd_read_numbers(c, in.x, "/x", n.x);
    double *const z = mechd_read_numbers(c, in.z, "/z", n.z);
    const struct mech_point at = {.time = in.time, .q = q, .v = v, .x = x, .z = z};
    if (mech_diag_clean(&c->diag) && c->code == MECHP_OK) {
        struct mechd_effort effort;
        mechd_call_watch(c, &effort);
        write_reply(c, &at, mask, in.sparse);
        mechd_call_unwatch(c, &effort);
    }
    free(q);
    free(v);
    free(x);
    free(z);
    return MECHD_DONE;
}

static int prepare_evaluate(struct mechd_call *c)
{
    // a matrix of n × n is filled and written
    const uint64_t n = (uint64_t)c->job.instance->size;
    c->job.cost = 1000 + 500 * n * n;
    return 0;
}

const struct mechd_operation mechd_operation_EVALUATE = {.run = run_evaluate,
                                                         .prepare = prepare_evaluate};
