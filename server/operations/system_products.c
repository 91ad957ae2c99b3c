/* POST …/system/product, …/schur-product, …/project and …/feasibility: what is asked of a
 * descriptor without any matrix. Vectors are those of the active rows, in the order of …/blocks. */
#include "protocol/wire/bodies_system.h"
#include "server/operations/system.h"

#include "protocol/wire/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A vector of the body that is needed; NULL: not there, or no memory. */
static double *read_vector(struct mechd_call *c, const json_t *given, const char *path, size_t n)
{
    if (given == NULL) {
        mech_diag_add(&c->diag, path, "%zu numbers are needed", n);
    }
    return mechd_read_numbers(c, given, path, (int32_t)n);
}

/* The mask of rows; NULL: all, or refused. */
static bool *read_enabled(struct mechd_call *c, const json_t *given, size_t n)
{
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

/* Given numbers may be finite and what is made of them not: refused, by the name of the member. */
static bool all_finite(struct mechd_call *c, const char *key, const double *x, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(x[k])) {
            mechd_fail(c, MECHP_NOT_FINITE, "number %zu of \"%s\" is beyond the range of doubles",
                       k, key);
            return false;
        }
    }
    return true;
}

static void write_product(struct mechd_call *c, const struct mech_sim_system_info *info,
                          const double *x, size_t n)
{
    const struct mechp_body_system_product_reply body = {
        info->time, mechd_system_level(info), {x, n}};
    if (all_finite(c, "product", x, n)) {
        MECHP_WRITE(system_product_reply, &body, &c->text);
    }
}

/* What the routes below do with the descriptor and their body. */
typedef void use(struct mechd_call *c, struct mech_sim_system *s,
                 const struct mech_sim_system_info *info, const void *in);

static enum mechd_progress with_system(struct mechd_call *c,
                                       const struct mechp_system_options *options,
                                       const json_t *frozen, use *work, const void *in)
{
    const struct mechd_system_choice choice = {.options = options, .names = frozen};
    struct mech_sim_system *const s = mechd_system_open(c, &choice);
    struct mech_sim_system_info info;
    if (s != NULL) {
        struct mechd_effort effort;
        mech_sim_system_info(s, &info);
        mechd_call_watch(c, &effort);
        work(c, s, &info, in);
        mechd_call_unwatch(c, &effort);
    }
    mech_sim_system_destroy(s);
    return MECHD_DONE;
}

/* --- product ---------------------------------------------------------------------------------- */

static void multiply(struct mechd_call *c, struct mech_sim_system *s,
                     const struct mech_sim_system_info *info, const void *given)
{
    const struct mechp_body_system_product_request *const in = given;
    const size_t n = (size_t)info->size.velocities + (size_t)info->size.rows;
    double *x = read_vector(c, in->x, "/x", n), *out = mechd_doubles(c, n);
    if (clean(c)) {
        mech_sim_system_product(s, in->symmetric, x, out);
        write_product(c, info, out, n);
    }
    free(x);
    free(out);
}

static enum mechd_progress run_product(struct mechd_call *c)
{
    struct mechp_body_system_product_request in;
    MECHP_READ(system_product_request, c->body, &c->diag, &in);
    return with_system(c, &in.options, in.frozen, multiply, &in);
}

const struct mechd_operation mechd_operation_SYSTEM_PRODUCT = {.run = run_product};

/* --- Schur product ---------------------------------------------------------------------------- */

static void multiply_schur(struct mechd_call *c, struct mech_sim_system *s,
                           const struct mech_sim_system_info *info, const void *given)
{
    const struct mechp_body_system_schur_request *const in = given;
    const size_t n = (size_t)info->size.rows;
    enum mech_system_through through = MECH_THROUGH_CHOSEN;
    if (in->through_stiffness != NULL) {
        through = *in->through_stiffness ? MECH_THROUGH_H : MECH_THROUGH_MASSES;
    }
    double *l = read_vector(c, in->l, "/l", n), *out = mechd_doubles(c, n);
    bool *enabled = read_enabled(c, in->enabled, n);
    if (clean(c)) {
        const int outcome = mech_sim_system_schur(s, through, enabled, l, out);
        if (outcome == MECH_UNSUPPORTED) {
            mech_diag_add(&c->diag, "/throughStiffness",
                          "must be true: H is not block-diagonal with these factors");
        } else if (outcome == MECH_SINGULAR) {
            mechd_fail(c, MECHP_SINGULAR, "H is singular");
        } else if (outcome != 0) {
            mechd_fail_outcome(c, outcome);
        } else {
            write_product(c, info, out, n);
        }
    }
    free(l);
    free(out);
    free(enabled);
}

static enum mechd_progress run_schur(struct mechd_call *c)
{
    struct mechp_body_system_schur_request in;
    MECHP_READ(system_schur_request, c->body, &c->diag, &in);
    return with_system(c, &in.options, in.frozen, multiply_schur, &in);
}

const struct mechd_operation mechd_operation_SYSTEM_SCHUR_PRODUCT = {.run = run_schur};

/* --- projection ------------------------------------------------------------------------------- */

static void project(struct mechd_call *c, struct mech_sim_system *s,
                    const struct mech_sim_system_info *info, const void *given)
{
    const struct mechp_body_system_project_request *const in = given;
    const size_t w = (size_t)info->size.velocities, n = (size_t)info->size.rows;
    const bool whole = in->unknowns != NULL;
    double *x =
        whole ? read_vector(c, in->unknowns, "/unknowns", w + n) : read_vector(c, in->l, "/l", n);
    bool *enabled = read_enabled(c, in->enabled, n);
    if (whole && in->l != NULL) {
        mech_diag_add(&c->diag, "/l", "give l or unknowns, not both");
    }
    if (clean(c)) {
        mech_sim_system_project(s, enabled, x + (whole ? w : 0));
        const size_t all = n + (whole ? w : 0);
        const struct mechp_body_system_project_reply body = {.time = info->time,
                                                             .level = mechd_system_level(info),
                                                             .l = {whole ? NULL : x, all},
                                                             .unknowns = {whole ? x : NULL, all}};
        if (all_finite(c, whole ? "unknowns" : "l", x, all)) {
            MECHP_WRITE(system_project_reply, &body, &c->text);
        }
    }
    free(x);
    free(enabled);
}

static enum mechd_progress run_project(struct mechd_call *c)
{
    struct mechp_body_system_project_request in;
    MECHP_READ(system_project_request, c->body, &c->diag, &in);
    return with_system(c, &in.options, in.frozen, project, &in);
}

const struct mechd_operation mechd_operation_SYSTEM_PROJECT = {.run = run_project};

/* --- feasibility ------------------------------------------------------------------------------ */

static void write_check(struct mechd_call *c, const struct mech_sim_system_info *info,
                        const struct mech_system_check *check)
{
    const struct mechp_body_system_feasibility body = {.time = info->time,
                                                       .level = mechd_system_level(info),
                                                       .violation = check->violation,
                                                       .complementarity = check->complementarity,
                                                       .balance = check->balance,
                                                       .residual = check->residual};
    MECHP_WRITE(system_feasibility, &body, &c->text);
}

static void judge(struct mechd_call *c, struct mech_sim_system *s,
                  const struct mech_sim_system_info *info, const void *given)
{
    const struct mechp_body_system_feasibility_request *const in = given;
    struct mech_system_check check;
    double *w = read_vector(c, in->w, "/w", (size_t)info->size.velocities);
    double *l = read_vector(c, in->l, "/l", (size_t)info->size.rows);
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
    struct mechp_body_system_feasibility_request in;
    MECHP_READ(system_feasibility_request, c->body, &c->diag, &in);
    return with_system(c, &in.options, in.frozen, judge, &in);
}

const struct mechd_operation mechd_operation_SYSTEM_FEASIBILITY = {.run = run_feasibility};
