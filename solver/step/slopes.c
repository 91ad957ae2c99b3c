/* Matrices of small motions; see slopes.h. */
#include "solver/step/slopes.h"

#include "solver/base/err.h"
#include "solver/model/balance.h"

#include <math.h>
#include <string.h>

/* Step of differences, relative to lengths in the rows, and as an angle: fourth order leaves 2^-48
 * of truncation and 2^-40 of rounding. */
static const double narrow = 0x1p-12;

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
    double *at = mech_arena_alloc(&s->arena, 2 * entries + q + 3 * v + 4 * count, sizeof *at);
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

    if (mech_model_is_linear(s->model)) {
        return;
    }
    for (int i = 0; i < 3 && s->places[i]; i++) {
        const struct mech_mat *const terms[] = {base[i], pattern};
        const double c[3] = {i == 0, i == 1, i == 2};

        mech_mat_sum_again(2, (const double[]){1., 0.}, terms, &s->own[i]);
        mech_model_tangent(s->model, e, c, s->places[i], s->own[i].values);
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

/* G v + g_t, and g̈, of all rows at the point s->q, s->v */
static void rows_beside(struct mech_slopes *s, const struct mech_eval *e, double *rate,
                        double *acceleration)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    struct mech_eval at = *e;

    at.q = s->q;
    at.v = s->v;
    mech_model_pose(s->model, &at);
    mech_model_joint_rate(s->model, &at, rate, acceleration);
    mech_model_joint_jacobian(s->model, s->beside);
    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            rate[r] += s->beside[k] * s->v[rows->column[k]];
            acceleration[r] += e->vdot ? s->beside[k] * e->vdot[rows->column[k]] : 0.;
        }
    }
}

/* The largest of x beside the sizes of motions; coordinates without one beside `other`. */
static double largest(const struct mech_slopes *s, const double *x, double other)
{
    double most = 0.;

    for (int32_t i = 0; i < mech_model_sizes(s->model)->v && x; i++) {
        most = fmax(most, fabs(x[i]) / (s->size[i] > 0. ? s->size[i] : other));
    }
    return most;
}

/* The step of differences along dq and dv: short beside lengths and angles. What velocities alone
 * change is of second order in them, and exact with any step: one of their own size rounds least.
 */
static double step_of(struct mech_slopes *s, const struct mech_eval *e, const double *dq,
                      const double *dv)
{
    double other = 0.;

    mech_model_pose(s->model, e);
    mech_model_motion_sizes(s->model, true, s->size);
    for (int32_t i = 0; i < mech_model_sizes(s->model)->q; i++) {
        other = fmax(other, fabs(e->q[i]));
    }
    other = other > 0. ? other : 1.;
    const double way = largest(s, dq, other);
    const double now = largest(s, e->v, other), change = largest(s, dv, other);
    const double step = way > 0.                  ? narrow / way
                        : now > 0. && change > 0. ? now / change
                        : change > 0.             ? 1. / change
                                                  : 1.;

    return isfinite(step) && step > 0. ? exp2(-ceil(-log2(step))) : 1.;
}

void mech_slopes_of_rows(struct mech_slopes *s, const struct mech_eval *e, const double *dq,
                         const double *dv, double *rate, double *acceleration)
{
    const size_t nv = (size_t)mech_model_sizes(s->model)->v;
    const int32_t rows = mech_model_joints(s->model)->count;
    const double step = step_of(s, e, dq, dv);

    for (int k = 0; k < 4; k++) {
        const double at = (k % 2 ? -step : step) / (k < 2 ? 1. : 2.);
        /* close + (close − wide)/3 of the two differences */
        const double weight = (k % 2 ? -1. : 1.) * (k < 2 ? -1. / 6. : 4. / 3.) / step;

        for (size_t i = 0; i < nv; i++) {
            s->d[i] = dq ? at * dq[i] : 0.;
            s->v[i] = e->v[i] + (dv ? at * dv[i] : 0.);
        }
        mech_model_move(s->model, e->q, s->d, s->q);
        rows_beside(s, e, s->row[0], s->row[1]);
        for (int32_t r = 0; r < rows; r++) {
            s->row[2][r] = (k ? s->row[2][r] : 0.) + weight * s->row[0][r];
            s->row[3][r] = (k ? s->row[3][r] : 0.) + weight * s->row[1][r];
        }
    }
    for (int32_t r = 0; r < rows; r++) {
        rate[r] = s->row[2][r];
        if (acceleration) {
            acceleration[r] = s->row[3][r];
        }
    }
}
