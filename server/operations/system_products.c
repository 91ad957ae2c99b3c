/* POST …/system/product, …/schur-product, …/project and …/feasibility: what is asked of a
 * descriptor without any matrix. Vectors are those of the active rows, in the order of …/blocks. */
#include "server/operations/system.h"

#include "protocol/wire/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A vector of the body; NULL: not there, or refused. */
static double *read_vector(struct mechd_call *c, const char *key, size_t n, bool needed)
{
    const json_t *given = json_object_get(c->body, key);
    char path[16];
    snprintf(path, sizeof path, "/%s", key);
    if (given == NULL && needed) {
        mech_diag_add(&c->diag, path, "%zu numbers are needed", n);
    }
    double *x = given != NULL ? mechd_doubles(c, n) : NULL;
    size_t count = 0;
    if (x != NULL && mechp_json_numbers(given, path, &c->diag, n, x, &count) && count != n) {
        mech_diag_add(&c->diag, path, "expected %zu numbers, found %zu", n, count);
    }
    return x;
}

/* The mask of rows; NULL: all, or refused. */
static bool *read_enabled(struct mechd_call *c, size_t n)
{
    const json_t *given = json_object_get(c->body, "enabled");
    if (given == NULL) {
        return NULL;
    }
    if (!json_is_array(given) || json_array_size(given) != n) {
        mech_diag_add(&c->diag, "/enabled", "expected %zu booleans, found %zu", n,
                      json_array_size(given));
        return NULL;
    }
    bool *const enabled = calloc(n + 1, sizeof *enabled);
    if (enabled == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the mask");
        return NULL;
    }
    for (size_t k = 0; k < n; k++) {
        const json_t *one = json_array_get(given, k);
        char path[32];
        snprintf(path, sizeof path, "/enabled/%zu", k);
        if (!json_is_boolean(one)) {
            mech_diag_add(&c->diag, path, "expected true or false");
        }
        enabled[k] = json_is_true(one);
    }
    return enabled;
}

static bool clean(const struct mechd_call *c)
{
    return mech_diag_clean(&c->diag) && c->code == MECHP_OK;
}

/* Given numbers may be finite and what is made of them not. */
static void write_answer(struct mechd_call *c, const struct mech_sim_system_info *info,
                         const char *key, const double *x, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(x[k])) {
            mechd_fail(c, MECHP_NOT_FINITE, "number %zu of \"%s\" is beyond the range of doubles",
                       k, key);
            return;
        }
    }
    mechd_system_begin(c, info);
    mechp_text_key(&c->text, key);
    mechp_text_numbers(&c->text, x, n);
    mechp_text_end(&c->text);
}

/* What the routes below do with the descriptor. */
typedef void use(struct mechd_call *c, struct mech_sim_system *s,
                 const struct mech_sim_system_info *info);

static enum mechd_progress with_system(struct mechd_call *c, use *work)
{
    struct mech_sim_system *const s = mechd_system_open(c);
    struct mech_sim_system_info info;
    if (s != NULL) {
        struct mechd_effort effort;
        mech_sim_system_info(s, &info);
        mechd_call_watch(c, &effort);
        work(c, s, &info);
        mechd_call_unwatch(c, &effort);
    }
    mech_sim_system_destroy(s);
    return MECHD_DONE;
}

/* --- product ---------------------------------------------------------------------------------- */

static void multiply(struct mechd_call *c, struct mech_sim_system *s,
                     const struct mech_sim_system_info *info)
{
    const size_t n = (size_t)info->size.velocities + (size_t)info->size.rows;
    bool symmetric = false;
    mechp_json_bool(c->body, "symmetric", &c->diag, &symmetric);
    double *x = read_vector(c, "x", n, true), *out = mechd_doubles(c, n);
    if (clean(c)) {
        mech_sim_system_product(s, symmetric, x, out);
        write_answer(c, info, "product", out, n);
    }
    free(x);
    free(out);
}

static enum mechd_progress run_product(struct mechd_call *c)
{
    return with_system(c, multiply);
}

const struct mechd_operation mechd_operation_SYSTEM_PRODUCT = {.run = run_product};

/* --- Schur product ---------------------------------------------------------------------------- */

static void multiply_schur(struct mechd_call *c, struct mech_sim_system *s,
                           const struct mech_sim_system_info *info)
{
    const size_t n = (size_t)info->size.rows;
    enum mech_system_through through = MECH_THROUGH_CHOSEN;
    bool stiff = false;
    if (mechp_json_bool(c->body, "throughStiffness", &c->diag, &stiff)) {
        through = stiff ? MECH_THROUGH_H : MECH_THROUGH_MASSES;
    }
    double *l = read_vector(c, "l", n, true), *out = mechd_doubles(c, n);
    bool *enabled = read_enabled(c, n);
    if (clean(c)) {
        const int outcome = mech_sim_system_schur(s, through, enabled, l, out);
        if (outcome == MECH_UNSUPPORTED) {
            mech_diag_add(&c->diag, "/throughStiffness",
                          "H is not block-diagonal with these factors: true is needed");
        } else if (outcome == MECH_SINGULAR) {
            mechd_fail(c, MECHP_SINGULAR, "H is singular");
        } else if (outcome != 0) {
            mechd_fail_outcome(c, outcome);
        } else {
            write_answer(c, info, "product", out, n);
        }
    }
    free(l);
    free(out);
    free(enabled);
}

static enum mechd_progress run_schur(struct mechd_call *c)
{
    return with_system(c, multiply_schur);
}

const struct mechd_operation mechd_operation_SYSTEM_SCHUR_PRODUCT = {.run = run_schur};

/* --- projection ------------------------------------------------------------------------------- */

static void project(struct mechd_call *c, struct mech_sim_system *s,
                    const struct mech_sim_system_info *info)
{
    const size_t w = (size_t)info->size.velocities, n = (size_t)info->size.rows;
    const bool whole = json_object_get(c->body, "unknowns") != NULL;
    double *x = whole ? read_vector(c, "unknowns", w + n, true) : read_vector(c, "l", n, true);
    bool *enabled = read_enabled(c, n);
    if (whole && json_object_get(c->body, "l") != NULL) {
        mech_diag_add(&c->diag, "/l", "unknowns has them");
    }
    if (clean(c)) {
        mech_sim_system_project(s, enabled, x + (whole ? w : 0));
        write_answer(c, info, whole ? "unknowns" : "l", x, n + (whole ? w : 0));
    }
    free(x);
    free(enabled);
}

static enum mechd_progress run_project(struct mechd_call *c)
{
    return with_system(c, project);
}

const struct mechd_operation mechd_operation_SYSTEM_PROJECT = {.run = run_project};

/* --- feasibility ------------------------------------------------------------------------------ */

static void write_check(struct mechd_call *c, const struct mech_sim_system_info *info,
                        const struct mech_system_check *check)
{
    const struct {
        const char *key;
        double value;
        bool nullable;
    } values[] = {{"violation", check->violation, false},
                  {"complementarity", check->complementarity, false},
                  {"balance", check->balance, false},
                  {"residual", check->residual, true}};
    mechd_system_begin(c, info);
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        mechp_text_key(&c->text, values[k].key);
        if (values[k].nullable) {
            mechp_text_number_or_null(&c->text, values[k].value);
        } else {
            mechp_text_number(&c->text, values[k].value);
        }
    }
    mechp_text_end(&c->text);
}

static void judge(struct mechd_call *c, struct mech_sim_system *s,
                  const struct mech_sim_system_info *info)
{
    struct mech_system_check check;
    double *w = read_vector(c, "w", (size_t)info->size.velocities, true);
    double *l = read_vector(c, "l", (size_t)info->size.rows, true);
    if (clean(c)) {
        const int outcome = mech_sim_system_check(s, w, l, &check);
        if (outcome != 0) {
            mechd_fail_outcome(c, outcome);
        } else {
            write_check(c, info, &check);
        }
    }
    free(w);
    free(l);
}

static enum mechd_progress run_feasibility(struct mechd_call *c)
{
    return with_system(c, judge);
}

const struct mechd_operation mechd_operation_SYSTEM_FEASIBILITY = {.run = run_feasibility};
