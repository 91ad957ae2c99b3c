/* Matrices of small motions; see slopes.h. */
#include "solver/step/slopes.h"

#include "solver/base/err.h"
#include "solver/model/balance.h"
#include "solver/model/reach.h"

#include <math.h>
#include <string.h>

/* Central differences over steps h/2^k, k < LEVELS, extrapolated to 0. The longest is an eighth to
 * a sixteenth of a row's reach: of 1/(1 − x) that leaves Π (h/2^k)² = 2^-36. */
enum { LEVELS = 4 };
static const double longest = 0x1p-3;

/* base + tangents in the form that holds both */
static int own_matrix(struct mech_slopes *s, int which, const struct mech_mat *base)
{
    const struct mech_mat *const terms[] = {base, mech_model_pattern(s->model)};
    struct mech_mat *const out = &s->own[which];

    MECH_TRY(mech_mat_sum(&s->arena, 2, (const double[]){1., 1.}, terms, out));
    out->symmetric = false; /* tangents need not be */
    /* one more for what belongs to the ground */
    out->values = mech_arena_alloc(&s->arena, mech_mat_stored(out) + 1, sizeof *out->values);
    return out->values ? mech_model_places(s->model, &s->arena, out, &s->places[which])
                       : MECH_NO_MEMORY;
}

int mech_slopes_init(struct mech_slopes *s, const struct mech_model *m)
{
    const struct mech_linear_part *const part = mech_model_linear(m);
    const struct mech_joint_rows *const rows = mech_model_joints(m);

    *s = (struct mech_slopes){.model = m, .K = part->K, .C = part->C, .M = part->M};
    mech_arena_init(&s->arena, 0);
    const size_t q = (size_t)mech_model_sizes(m)->q + 1, v = (size_t)part->nv + 1;
    const size_t entries = (size_t)rows->start[rows->count] + 1, count = (size_t)rows->count + 1;
    double *at = mech_arena_alloc(&s->arena, 2 * entries + q + 3 * v + 5 * count, sizeof *at);
    if (!at) {
        return MECH_NO_MEMORY;
    }
    s->G = at, at += entries;
    s->beside = at, at += entries;
    s->q = at, at += q;
    s->v = at, at += v;
    s->d = at, at += v;
    s->size = at, at += v;
    for (int k = 0; k < 4; k++) {
        s->row[k] = at, at += count;
    }
    s->reach = at;
    if (mech_model_is_linear(m)) {
        return 0;
    }
    MECH_TRY(own_matrix(s, 0, part->K));
    MECH_TRY(own_matrix(s, 1, part->C));
    s->K = &s->own[0];
    s->C = &s->own[1];
    if (mech_model_inertia(m)) {
        MECH_TRY(own_matrix(s, 2, part->M));
        s->M = &s->own[2];
    }
    return 0;
}

void mech_slopes_fini(struct mech_slopes *s)
{
    if (s->model) {
        mech_arena_fini(&s->arena);
    }
    *s = (struct mech_slopes){0};
}

/* rows that are open ask for nothing */
static void close_out(const struct mech_slopes *s, const struct mech_eval *e)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    for (int32_t r = 0; r < rows->count && e->state; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1] && e->state->open[r] != 0.; k++) {
            s->G[k] = 0.;
        }
    }
}

void mech_slopes_at(struct mech_slopes *s, const struct mech_eval *e)
{
    const struct mech_linear_part *const part = mech_model_linear(s->model);
    const struct mech_mat *const base[] = {part->K, part->C, part->M};
    const struct mech_mat *const pattern = mech_model_pattern(s->model);
    struct mech_eval exact = *e;

    exact.exact = true;
    if (mech_model_is_linear(s->model)) {
        return;
    }
    for (int i = 0; i < 3 && s->places[i]; i++) {
        const struct mech_mat *const terms[] = {base[i], pattern};
        const double c[3] = {i == 0, i == 1, i == 2};

        mech_mat_sum_again(2, (const double[]){1., 0.}, terms, &s->own[i]);
        mech_model_tangent(s->model, &exact, c, s->places[i], s->own[i].values);
    }
    if (mech_model_joints(s->model)->count) {
        mech_model_joint_jacobian(s->model, s->G);
        if (mech_model_joints(s->model)->partial) {
            close_out(s, e);
        }
    }
}

static void add_product(const struct mech_mat *A, const double *x, double *out)
{
    if (x && A->kind != MECH_MAT_ZERO) {
        mech_mat_mul(A, 1., x, 1., out);
    }
}

void mech_slopes_add(const struct mech_slopes *s, const double *q, const double *v, const double *a,
                     double *out)
{
    add_product(s->K, q, out);
    add_product(s->C, v, out);
    add_product(s->M, a, out);
}

void mech_slopes_rows(const struct mech_slopes *s, const double *x, double *out)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    for (int32_t r = 0; r < rows->count; r++) {
        out[r] = 0.;
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            out[r] += s->G[k] * x[rows->column[k]];
        }
    }
}

void mech_slopes_react(const struct mech_slopes *s, double scale, const double *lambda, double *out)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            out[rows->column[k]] += scale * s->G[k] * lambda[r];
        }
    }
}

/* out = G v + g_t, and g̈, of all rows at e + step · (dq, dv); poses are those of there then */
static void rows_beside(struct mech_slopes *s, const struct mech_eval *e, const double *dq,
                        const double *dv, double step, double *const out[2])
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const double *const vdot = dq ? e->vdot : NULL; /* what velocities do not change is left out */
    struct mech_eval at = *e;

    for (int32_t i = 0; i < mech_model_sizes(s->model)->v; i++) {
        s->d[i] = dq ? step * dq[i] : 0.;
        s->v[i] = e->v[i] + (dv ? step * dv[i] : 0.);
    }
    mech_model_move(s->model, e->q, s->d, s->q);
    at.q = s->q;
    at.v = s->v;
    mech_model_pose(s->model, &at);
    mech_model_joint_rate(s->model, &at, out[0], out[1]);
    mech_model_joint_jacobian(s->model, s->beside);
    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            out[0][r] += s->beside[k] * s->v[rows->column[k]];
            out[1][r] += vdot ? s->beside[k] * vdot[rows->column[k]] : 0.;
        }
    }
}

/* What the difference over h/2^k counts in the value at 0: Π over i ≠ k of x_i/(x_i − x_k), where
 * x_i = 4^-i is what errors are series in. */
static double weight_of(int k)
{
    double weight = 1.;

    for (int i = 0; i < LEVELS; i++) {
        weight /= i == k ? 1. : 1. - ldexp(1., 2 * (i - k));
    }
    return weight;
}

/* The longest of the steps of all rows, s->reach · 2^-k, that is shorter than `before`; 0: none. */
static double next_step(const struct mech_slopes *s, double before)
{
    double next = 0.;

    for (int32_t r = 0; r < mech_model_joints(s->model)->count; r++) {
        const double first = s->reach[r], last = ldexp(first, 1 - LEVELS);
        const double step = first < before ? first : 0.5 * before;

        next = first > 0. && step >= last ? fmax(next, step) : next;
    }
    return next;
}

/* One difference of all rows: those for which the step is one of theirs take it. */
static void take_step(struct mech_slopes *s, const struct mech_eval *e, const double *dq,
                      double step, double *rate, double *acceleration)
{
    rows_beside(s, e, dq, NULL, step, s->row);
    rows_beside(s, e, dq, NULL, -step, s->row + 2);
    for (int32_t r = 0; r < mech_model_joints(s->model)->count; r++) {
        const int level = s->reach[r] >= step ? ilogb(s->reach[r] / step) : LEVELS;

        if (level < LEVELS) {
            const double scale = weight_of(level) / (2. * step);

            rate[r] += scale * (s->row[0][r] - s->row[2][r]);
            if (acceleration) {
                acceleration[r] += scale * (s->row[1][r] - s->row[3][r]);
            }
        }
    }
}

/* rate and acceleration += what a motion does */
static void by_motion(struct mech_slopes *s, const struct mech_eval *e, const double *dq,
                      double *rate, double *acceleration)
{
    mech_model_pose(s->model, e);
    mech_model_row_reach(s->model, dq, s->size, s->reach);
    for (int32_t r = 0; r < mech_model_joints(s->model)->count; r++) {
        const double step = longest * s->reach[r];

        /* powers of 2, by which coordinates move without rounding */
        s->reach[r] = step > 0. && isfinite(step) ? ldexp(1., ilogb(step)) : 0.;
    }
    for (double step = next_step(s, HUGE_VAL); step > 0.; step = next_step(s, step)) {
        take_step(s, e, dq, step, rate, acceleration);
    }
}

/* The step of differences along dv. What velocities change is of second order in them, and exact
 * with any step: one of the size of those that change rounds least. */
static double step_along(struct mech_slopes *s, const struct mech_eval *e, const double *dv)
{
    double now = 0., change = 0.;

    mech_model_pose(s->model, e);
    mech_model_turn_lengths(s->model, s->size);
    for (int32_t i = 0; i < mech_model_sizes(s->model)->v; i++) {
        now = dv[i] != 0. ? fmax(now, s->size[i] * fabs(e->v[i])) : now;
        change = fmax(change, s->size[i] * fabs(dv[i]));
    }
    const double step = (now > 0. ? now : 1.) / change;

    return isfinite(step) && step > 0. ? exp2(-ceil(-log2(step))) : 1.;
}

/* rate and acceleration += what a change of velocities does */
static void by_velocities(struct mech_slopes *s, const struct mech_eval *e, const double *dv,
                          double *rate, double *acceleration)
{
    const double step = step_along(s, e, dv);

    rows_beside(s, e, NULL, dv, step, s->row);
    rows_beside(s, e, NULL, dv, -step, s->row + 2);
    for (int32_t r = 0; r < mech_model_joints(s->model)->count; r++) {
        rate[r] += (s->row[0][r] - s->row[2][r]) / (2. * step);
        if (acceleration) {
            acceleration[r] += (s->row[1][r] - s->row[3][r]) / (2. * step);
        }
    }
}

static bool moves(const struct mech_slopes *s, const double *x)
{
    bool any = false;

    for (int32_t i = 0; i < mech_model_sizes(s->model)->v && x; i++) {
        any = any || x[i] != 0.;
    }
    return any;
}

void mech_slopes_of_rows(struct mech_slopes *s, const struct mech_eval *e, const double *dq,
                         const double *dv, double *rate, double *acceleration)
{
    const size_t rows = (size_t)mech_model_joints(s->model)->count;

    memset(rate, 0, rows * sizeof *rate);
    if (acceleration) {
        memset(acceleration, 0, rows * sizeof *acceleration);
    }
    if (moves(s, dq)) {
        by_motion(s, e, dq, rate, acceleration);
    }
    if (moves(s, dv)) {
        by_velocities(s, e, dv, rate, acceleration);
    }
}
