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

/* A matrix as {"shape": [rows, columns], "coo": [[row, column, value], …]}. */
static void write_sparse(struct mechd_call *c, const struct mech_point *at, enum mech_want want)
{
    struct mech_sim *sim = c->job.instance->sim;
    struct mech_arena arena;
    struct mech_triplet *t = NULL;
    size_t count = 0;
    int32_t rows = 0;
    int32_t cols = 0;
    mech_sim_want_shape(sim, want, &rows, &cols);
    mech_arena_init(&arena, 0);
    const int outcome = mech_sim_evaluate_sparse(sim, at, want, &arena, &t, &count);
    if (outcome != 0) {
        mechd_fail_outcome(c, outcome);
    } else if (3 * count > answer_most) {
        mechd_fail(c, MECHP_LIMIT_REACHED, "%s has %zu entries", mech_want_names[want], count);
    } else {
        const double shape[] = {rows, cols};
        mechp_text_key(&c->text, mech_want_names[want]);
        mechp_text_object(&c->text);
        mechp_text_key(&c->text, "shape");
        mechp_text_numbers(&c->text, shape, 2);
        mechp_text_key(&c->text, "coo");
        mechp_text_array(&c->text);
        for (size_t k = 0; k < count; k++) {
            mechp_text_numbers(&c->text, (const double[]){t[k].row, t[k].col, t[k].value}, 3);
        }
        mechp_text_end(&c->text);
        mechp_text_end(&c->text);
    }
    mech_arena_fini(&arena);
}

static bool is_sparse(enum mech_want want)
{
    return want == MECH_WANT_MASS || want == MECH_WANT_DFDQ || want == MECH_WANT_DFDV ||
           want == MECH_WANT_CONSTRAINT_JACOBIAN;
}

/* One quantity into the reply. */
static void write_want(struct mechd_call *c, const struct mech_point *at, enum mech_want want)
{
    struct mech_sim *sim = c->job.instance->sim;
    int32_t rows = 0;
    int32_t cols = 0;
    mech_sim_want_shape(sim, want, &rows, &cols);
    const size_t n = (size_t)rows * (size_t)cols;
    if (n > answer_most) {
        mechd_fail(c, MECHP_LIMIT_REACHED, "%s has %zu values", mech_want_names[want], n);
        return;
    }
    double *values = mechd_doubles(c, n);
    if (values == NULL) {
        return;
    }
    const int outcome = mech_sim_evaluate(sim, at, want, values);
    mechp_text_key(&c->text, mech_want_names[want]);
    if (outcome != 0) {
        mechd_fail_outcome(c, outcome);
    } else if (cols == 1 && !is_sparse(want) && want != MECH_WANT_RHS_JACOBIAN) {
        mechp_text_numbers(&c->text, values, n);
    } else {
        mechp_text_array(&c->text);
        for (int32_t r = 0; r < rows; r++) {
            mechp_text_numbers(&c->text, values + (size_t)r * (size_t)cols, (size_t)cols);
        }
        mechp_text_end(&c->text);
    }
    free(values);
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
        mechp_text_object(&c->text);
        mechp_text_key(&c->text, "time");
        mechp_text_number(&c->text, isnan(at.time) ? mech_sim_time(sim) : at.time);
        struct mechd_effort effort;
        mechd_call_watch(c, &effort);
        for (unsigned k = 0; k < MECH_WANT_COUNT && c->code == MECHP_OK; k++) {
            if (mechd_effort_ends(c->job.instance)) {
                mechd_fail_outcome(c, MECH_CANCELLED);
            } else if ((mask & 1u << k) != 0 && in.sparse && is_sparse((enum mech_want)k)) {
                write_sparse(c, &at, (enum mech_want)k);
            } else if ((mask & 1u << k) != 0) {
                write_want(c, &at, (enum mech_want)k);
            }
        }
        mechd_call_unwatch(c, &effort);
        mechp_text_end(&c->text);
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
