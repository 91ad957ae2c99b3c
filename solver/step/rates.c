/* Rates of change; see rates.h for the equations. Cost: products of C and K, a solve with M. */
#include "solver/step/rates.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/balance.h"
#include "solver/step/event_driven_rows.h"
#include "solver/step/pins.h"
#include "solver/step/saddle.h"
#include "solver/step/sided.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The matrix of the start, with joints. */
static int init_joints(struct mech_rates *r, const char *linear, struct mech_step_result *result)
{
    const size_t rows = (size_t)mech_model_joints(r->model)->count;
    const size_t n = (size_t)mech_model_linear(r->model)->nv + rows + 1;

    r->joints = calloc(1, sizeof *r->joints);
    r->x = calloc(n + 5 * (rows + 1), sizeof *r->x);
    if (!r->joints || !r->x) {
        return MECH_NO_MEMORY;
    }
    r->gt = r->x + n;
    r->bias = r->gt + rows + 1;
    r->limit = r->bias + rows + 1;
    r->size = r->limit + rows + 1;
    MECH_TRY(mech_saddle_init(r->joints, r->model, linear, false, result));
    mech_saddle_form(r->joints, (const double[3]){1., 0., 0.});
    return 0;
}

/* Coordinates held by constraints, when the joints are nothing else. A mass matrix that depends on
 * q keeps their rows. */
static int init_pins(struct mech_rates *r, const char *linear, struct mech_step_result *result)
{
    r->pins = calloc(1, sizeof *r->pins);
    if (!r->pins) {
        return MECH_NO_MEMORY;
    }
    const bool constant = !mech_model_inertia(r->model);

    MECH_TRY(mech_pins_init(r->pins, r->model, linear, constant, result));
    if (r->pins->count == 0) {
        mech_pins_fini(r->pins);
        free(r->pins);
        r->pins = NULL;
    }
    return 0;
}

/* M + M_q at the point */
static void form_mass(struct mech_rates *r, const struct mech_eval *e)
{
    const struct mech_mat *const terms[] = {mech_model_linear(r->model)->M,
                                            mech_model_inertia_pattern(r->model)};

    mech_mat_sum_again(2, (const double[]){1., 0.}, terms, &r->M);
    mech_model_inertia_add(r->model, e, r->inertia, r->M.values);
}

/* A matrix for M + M_q, at the initial point. */
static int init_mass(struct mech_rates *r)
{
    const struct mech_mat *const terms[] = {mech_model_linear(r->model)->M,
                                            mech_model_inertia_pattern(r->model)};
    const struct mech_eval e =
        mech_model_point(r->model, NULL, 0., mech_model_reference(r->model), r->f);

    MECH_TRY(mech_mat_sum(&r->arena, 2, (const double[]){1., 1.}, terms, &r->M));
    /* one more place: what belongs to the ground */
    r->M.values = mech_arena_alloc(&r->arena, mech_mat_stored(&r->M) + 1, sizeof(double));
    if (!r->M.values) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(mech_model_inertia_places(r->model, &r->arena, &r->M, &r->inertia));
    form_mass(r, &e);
    return 0;
}

int mech_rates_init(struct mech_rates *r, const struct mech_model *m, const char *linear,
                    struct mech_step_result *result)
{
    const struct mech_linear_part *const part = mech_model_linear(m);
    const size_t n = (size_t)part->nv + 1;

    *r = (struct mech_rates){.model = m};
    mech_arena_init(&r->arena, 0);
    r->u = calloc(3 * n, sizeof *r->u);
    if (!r->u) {
        return MECH_NO_MEMORY;
    }
    r->f = r->u + n;
    r->g = r->u + 2 * n;
    if (part->nv == 0) {
        return 0;
    }
    const struct mech_mat *M = part->M;
    if (mech_model_inertia(m)) {
        MECH_TRY(init_mass(r));
        M = &r->M;
    }
    int code = mech_lsol_create(linear, M, &r->mass);
    /* a requested solver need not suit M */
    if (code == MECH_UNSUPPORTED && linear) {
        code = mech_lsol_create(NULL, M, &r->mass);
    }
    if (code == MECH_SINGULAR) {
        mech_singular_reason(m, "mass matrix", 0, result);
    }
    MECH_TRY(code);
    mech_lsol_listen(r->mass, mech_model_interrupt(m));
    MECH_TRY(mech_linear_outcome(m, "mass matrix", r->mass, mech_lsol_factor(r->mass, M), result));
    if (mech_model_joints(m)->count == 0) {
        return 0;
    }
    const struct mech_joint_rows *const rows = mech_model_joints(m);

    r->push = mech_arena_alloc(&r->arena, (size_t)rows->start[rows->count], sizeof *r->push);
    if (!r->push) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(init_pins(r, linear, result));
    return r->pins && !r->inertia ? 0 : init_joints(r, linear, result);
}

void mech_rates_fini(struct mech_rates *r)
{
    mech_lsol_destroy(r->mass);
    if (r->pins) {
        mech_pins_fini(r->pins);
        free(r->pins);
    }
    if (r->model) {
        mech_arena_fini(&r->arena);
    }
    if (r->joints) {
        mech_saddle_fini(r->joints);
        free(r->joints);
    }
    free(r->x);
    free(r->u);
    *r = (struct mech_rates){0};
}

int mech_rates_force_with(struct mech_rates *r, const struct mech_rate_point *at,
                          const double *lambda, double *f, struct mech_step_result *result)
{
    struct mech_eval e = mech_model_point(r->model, at->s, at->t, at->q, at->v);

    MECH_TRY(mech_step_force(r->model, at->s, at->t, f, result));
    e.lambda = lambda;
    e.vdot = at->vdot;
    mech_model_resist(r->model, &e, r->u, f);
    return 0;
}

int mech_rates_force(struct mech_rates *r, const struct mech_rate_point *at, double *f,
                     struct mech_step_result *result)
{
    return mech_rates_force_with(r, at, NULL, f, result);
}

/* v̇ and −λ of the start system, with f in r->f and the poses of the point */
static int joint_vdot(struct mech_rates *r, const struct mech_rate_point *at, double *vdot,
                      struct mech_step_result *result)
{
    const struct mech_eval e = mech_model_point(r->model, at->s, at->t, at->q, at->v);
    const int32_t nv = mech_model_linear(r->model)->nv, rows = mech_model_joints(r->model)->count;

    MECH_TRY(mech_saddle_factor(r->joints, &e, NULL, result));
    mech_model_joint_rate(r->model, &e, r->gt, r->bias);
    memcpy(r->x, r->f, (size_t)nv * sizeof *r->x);
    for (int32_t i = 0; i < rows; i++) {
        r->x[nv + i] = at->s && at->s->open[i] != 0. ? 0. : -r->bias[i];
    }
    MECH_TRY(mech_saddle_solve(r->joints, r->x, result));
    memcpy(vdot, r->x, (size_t)nv * sizeof *vdot);
    return 0;
}

static int free_vdot(struct mech_rates *r, const struct mech_rate_point *at, double *vdot,
                     struct mech_step_result *result)
{
    MECH_TRY(mech_rates_force(r, at, r->f, result));
    if (r->joints) {
        return joint_vdot(r, at, vdot, result);
    }
    if (r->pins) {
        const struct mech_eval e = mech_model_point(r->model, at->s, at->t, at->q, at->v);

        return mech_pins_solve(r->pins, &e, r->f, vdot, result);
    }
    if (r->inertia) {
        const struct mech_eval e = mech_model_point(r->model, at->s, at->t, at->q, at->v);

        form_mass(r, &e);
        MECH_TRY(mech_linear_outcome(r->model, "mass matrix", r->mass,
                                     mech_lsol_factor(r->mass, &r->M), result));
    }
    memcpy(vdot, r->f, (size_t)mech_model_linear(r->model)->nv * sizeof *vdot);
    if (r->mass) {
        return mech_linear_outcome(r->model, "mass matrix", r->mass,
                                   mech_lsol_solve(r->mass, vdot, 1), result);
    }
    return 0;
}

int mech_rates_vdot(struct mech_rates *r, const struct mech_rate_point *at, double *vdot,
                    struct mech_step_result *result)
{
    MECH_TRY(free_vdot(r, at, vdot, result));
    if (r->held) {
        mech_event_rows_apply(r->held, vdot);
    }
    return 0;
}

void mech_rates_hold(const struct mech_rates *r, const struct mech_state *s, double t, double *q,
                     double *v)
{
    if (r->pins) {
        mech_pins_hold(r->pins, s, t, q, v);
    }
}

void mech_rates_reactions(const struct mech_rates *r, const double *vdot, double *lambda)
{
    const int32_t nv = mech_model_linear(r->model)->nv;

    if (r->pins && !r->joints) {
        mech_pins_reactions(r->pins, r->f, vdot, lambda);
    }
    for (int32_t i = 0; r->joints && i < mech_model_joints(r->model)->count; i++) {
        lambda[i] = -r->x[nv + i];
    }
}

int mech_rates_push(struct mech_rates *r, const struct mech_rate_point *at, double share,
                    double *dv, struct mech_step_result *result)
{
    const struct mech_joint_rows *const rows = mech_model_joints(r->model);
    const struct mech_eval e = mech_model_point(r->model, at->s, at->t, at->q, at->v);
    const int32_t nv = mech_model_linear(r->model)->nv;
    double *const g = r->push;

    if (rows->count == 0) {
        memset(dv, 0, (size_t)nv * sizeof *dv);
        return 0;
    }
    double *const gt = r->joints ? r->gt : r->pins->gt;

    mech_model_pose(r->model, &e);
    mech_model_joint_rate(r->model, &e, gt, r->joints ? r->bias : r->pins->bias);
    mech_model_joint_jacobian(r->model, g);
    for (int32_t i = 0; i < rows->count; i++) {
        for (int32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            gt[i] += g[k] * at->v[rows->column[k]];
        }
        gt[i] *= share;
    }
    return mech_rates_answer(r, at, gt, dv, result);
}

int mech_rates_answer(struct mech_rates *r, const struct mech_rate_point *at, const double *dg,
                      double *dv, struct mech_step_result *result)
{
    const struct mech_eval e = mech_model_point(r->model, at->s, at->t, at->q, at->v);
    const size_t nv = (size_t)mech_model_linear(r->model)->nv;
    const size_t rows = (size_t)mech_model_joints(r->model)->count;

    if (!r->joints) {
        return mech_pins_push(r->pins, dg, dv, result);
    }
    mech_model_pose(r->model, &e);
    memset(r->x, 0, nv * sizeof *r->x);
    memcpy(r->x + nv, dg, rows * sizeof *r->x);
    MECH_TRY(mech_saddle_factor(r->joints, &e, NULL, result));
    MECH_TRY(mech_saddle_solve(r->joints, r->x, result));
    memcpy(dv, r->x, nv * sizeof *dv);
    return 0;
}

int mech_rates_xdot(struct mech_rates *r, const struct mech_state *s, double t, const double *x,
                    double *xdot, struct mech_step_result *result)
{
    MECH_TRY(mech_step_rate(r->model, s, t, xdot, result));
    if (mech_model_first_order(r->model)->kind != MECH_MAT_ZERO) {
        mech_mat_mul(mech_model_first_order(r->model), 1., x, 1., xdot);
    }
    mech_model_first_order_push(r->model, s->impulse, xdot);
    return 0;
}

void mech_rates_joint_speed(struct mech_rates *r, const struct mech_eval *e, double *speed)
{
    const struct mech_joint_rows *const rows = mech_model_joints(r->model);
    double *const G = r->joints->g;

    mech_model_joint_rate(r->model, e, r->gt, r->bias);
    mech_model_joint_jacobian(r->model, G);
    for (int32_t k = 0; k < rows->count; k++) {
        double sum = r->gt[k];

        for (int32_t i = rows->start[k]; i < rows->start[k + 1]; i++) {
            sum += G[i] * e->v[rows->column[i]];
        }
        speed[k] = sum;
    }
}

double mech_rates_joint_speeds(const struct mech_rates *r, int32_t row, const double *v)
{
    const struct mech_joint_rows *const rows = mech_model_joints(r->model);
    double sum = fabs(r->gt[row]);

    for (int32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
        sum += fabs(r->joints->g[i] * v[rows->column[i]]);
    }
    return sum;
}

int mech_rates_project(struct mech_rates *r, const struct mech_state *s,
                       struct mech_step_result *result)
{
    const struct mech_eval e = mech_model_point(r->model, s, s->at->time, s->q, s->v);
    const int32_t nv = mech_model_linear(r->model)->nv, rows = mech_model_joints(r->model)->count;
    double *const x = r->x;

    mech_model_pose(r->model, &e);
    mech_rates_joint_speed(r, &e, x + nv);
    MECH_TRY(mech_saddle_factor(r->joints, &e, NULL, result));
    memset(x, 0, (size_t)nv * sizeof *x);
    for (int32_t k = 0; k < rows; k++) {
        x[nv + k] = s->open[k] != 0. ? 0. : -x[nv + k];
    }
    return mech_saddle_solve(r->joints, x, result);
}

/* Speeds and accelerations beside their terms, by which a row that was left out does not follow
 * from the others: six written digits; and far more, for v̇ is of a solve. And velocities that fit.
 * What accelerations do in a step is a term of speeds: those of two drives that are the same are 0
 * and 6e-17 m/s where they turn. */
static const double of_speeds = 5e-6, of_accelerations = 1e-3, fit = 1e-9;

/* The row that is off by most at the velocities r->u, of what it may be, over *most; or −1. */
static int32_t find_contradiction(struct mech_rates *r, const struct mech_state *s,
                                  struct mech_balance *b, double *most)
{
    const struct mech_joint_rows *const rows = mech_model_joints(r->model);
    struct mech_eval e = mech_model_point(r->model, s, s->at->time, s->q, r->u);
    const double h = mech_model_settings(r->model)->step_size;
    int32_t worst = -1;
    bool fits = true;

    e.vdot = s->vdot;
    e.lambda = s->lambda;
    mech_balance_all(b, &e);
    memcpy(b->S, b->all, (size_t)b->blocks * sizeof *b->S);
    mech_balance_motion(b, r->u, s->vdot, (const double[3]){1., h, h});
    for (int32_t i = 0; i < b->nv; i++) {
        fits = fits && fabs(r->x[i]) <= fit * b->way[i];
    }
    mech_model_pose(r->model, &e);
    mech_rates_joint_speed(r, &e, r->x);
    for (int32_t k = 0; k < rows->count; k++) {
        mech_balance_row(b, k, r->joints->g);
        r->limit[k] = of_speeds * (b->S_row[k] + fabs(r->gt[k]) + h * fabs(r->bias[k]));
    }
    mech_balance_motion(b, s->vdot, NULL, (const double[3]){1., 0., 1.});
    for (int32_t k = 0; k < rows->count; k++) {
        const bool released = rows->released && rows->released[k];
        double rate = r->bias[k];

        for (int32_t i = rows->start[k]; i < rows->start[k + 1]; i++) {
            rate += r->joints->g[i] * s->vdot[rows->column[i]];
        }
        mech_balance_row(b, k, r->joints->g);
        /* v̇ belongs to velocities that fit */
        const double may = fits ? of_accelerations * (b->S_row[k] + fabs(r->bias[k])) : HUGE_VAL;
        const double off = fmax(fabs(r->x[k]) / r->limit[k], fabs(rate) / may);

        if (rows->dropped[k] && !released && off > *most) {
            *most = off;
            worst = k;
        }
    }
    return worst;
}

int32_t mech_rates_contradiction(struct mech_rates *r, const struct mech_state *s)
{
    const struct mech_joint_rows *const rows = mech_model_joints(r->model);
    struct mech_step_result ignored = {.iterations = 0};
    struct mech_balance balance;
    struct mech_arena arena;
    double most = 1.;
    int32_t worst = -1;

    if (!r->joints || !rows->dropped) {
        return -1;
    }
    mech_arena_init(&arena, 0);
    if (mech_balance_init(&balance, r->model, &arena) == 0 &&
        mech_rates_project(r, s, &ignored) == 0) {
        /* velocities that the other rows allow must suit the dropped ones; then accelerations */
        for (int32_t i = 0; i < balance.nv; i++) {
            r->u[i] = s->v[i] + r->x[i];
        }
        worst = find_contradiction(r, s, &balance, &most);
    }
    mech_arena_fini(&arena);
    return worst;
}

int mech_rates_start(struct mech_rates *r, struct mech_state *s, struct mech_step_result *result)
{
    const size_t n = (size_t)mech_model_linear(r->model)->nv;
    const struct mech_rate_point now = {s, s->at->time, s->q, s->v, NULL};
    const bool sided = r->joints && mech_model_joints(r->model)->one_sided;

    if (sided) {
        mech_sided_classify(r, s);
    }
    do {
        MECH_TRY(mech_rates_vdot(r, &now, s->vdot, result));
        mech_rates_reactions(r, s->vdot, s->lambda);
    } while (sided && mech_sided_release(r->model, 0., s));
    for (size_t i = 0; i < n && !mech_model_is_linear(r->model); i++) {
        if (!isfinite(s->vdot[i])) {
            const struct mech_eval e = mech_model_point(r->model, s, now.t, s->q, s->v);

            mech_model_tell_infinite(r->model, &e, result->reason, sizeof result->reason);
            return MECH_NOT_FINITE;
        }
    }
    memcpy(s->a, s->vdot, n * sizeof *s->a);
    return 0;
}
