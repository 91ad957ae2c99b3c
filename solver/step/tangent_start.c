/* The start of derivatives of steps: how v̇ and λ, which follow from the state by one solve, change
 * with it. By states from the slopes of the equations of motion (rate_slopes.h), of forces between
 * shapes, whose slopes are not all known, by differences; by inputs they are affine. */
#include "solver/base/err.h"
#include "solver/step/rate_slopes.h"
#include "solver/step/tangent_internal.h"

#include <string.h>

/* v̇ and λ of the start at `from` + step · d into sample k: [nv], [rows] */
static int sample_start(struct mech_tangent *t, const struct mech_tangent_run *run,
                        const struct mech_direction *d, double step, int k,
                        struct mech_step_result *result)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);

    mech_tangent_shift(t, &t->base, d, step, &t->other);
    MECH_TRY(run->type->start(run->stepper, &t->other, result));
    memcpy(t->sample[k], t->other.vdot, (size_t)n->v * sizeof *t->v);
    memcpy(t->sample[k] + n->v, t->other.lambda, (size_t)n->lambda * sizeof *t->v);
    return 0;
}

/* out [nv + rows] += the derivative of v̇ and λ along d */
static int start_slope(struct mech_tangent *t, const struct mech_tangent_run *run,
                       const struct mech_direction *d, bool affine, double *out,
                       struct mech_step_result *result)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    const size_t size = (size_t)n->v + (size_t)n->lambda;
    const double step = (affine ? 0x1p20 : mech_tangent_narrow) * mech_tangent_unit_of(t, d);

    if (affine) {
        MECH_TRY(sample_start(t, run, d, step, 0, result));
        MECH_TRY(sample_start(t, run, d, 0., 1, result));
        for (size_t i = 0; i < size; i++) {
            out[i] += (t->sample[0][i] - t->sample[1][i]) / step;
        }
        return 0;
    }
    for (int k = 0; k < 4; k++) {
        const double at = k == 0 ? step : k == 1 ? -step : k == 2 ? 0.5 * step : -0.5 * step;

        MECH_TRY(sample_start(t, run, d, at, k, result));
    }
    mech_tangent_difference(t->sample, size, step, t->sample[0]);
    for (size_t i = 0; i < size; i++) {
        out[i] += t->sample[0][i];
    }
    return 0;
}

/* The matrices of t->base, and its forces by inputs, once. */
static int prepare(struct mech_tangent *t, const struct mech_eval *e, const double *inputs,
                   struct mech_step_result *result)
{
    if (t->saddle.model) {
        return 0;
    }
    MECH_TRY(inputs ? mech_tangent_forces(t, inputs) : 0);
    mech_slopes_at(&t->slopes, e);
    MECH_TRY(mech_saddle_init(&t->saddle, t->model, NULL, false, result));
    mech_saddle_form(&t->saddle, (const double[3]){1., 0., 0.});
    return mech_saddle_factor(&t->saddle, e, NULL, result);
}

/* out [nv + rows] = the derivative of v̇ and λ by the motion, velocities and inputs of column j */
static int exact_slope(struct mech_tangent *t, int32_t j, const double *inputs, double *out,
                       struct mech_step_result *result)
{
    const struct mech_state *const s = &t->base;
    const size_t nv = (size_t)mech_model_sizes(t->model)->v, at = (size_t)j * (nv + 1);
    const int32_t rows = mech_model_sizes(t->model)->lambda;
    struct mech_eval e = mech_model_point(t->model, s, s->at->time, s->q, s->v);
    const struct mech_rate_slopes rates = {&t->slopes, &t->saddle, &e, t->rows[0], NULL};

    e.vdot = s->vdot;
    e.lambda = rows > 0 ? s->lambda : NULL;
    MECH_TRY(prepare(t, &e, inputs, result));
    memset(out, 0, nv * sizeof *out);
    if (inputs) {
        memcpy(out, t->columns.force + at, nv * sizeof *out);
    }
    MECH_TRY(mech_rate_slopes(&rates, t->columns.q + at, t->columns.v + at, out, result));
    for (int32_t r = 0; r < rows; r++) {
        out[nv + (size_t)r] = -out[nv + (size_t)r];
    }
    return 0;
}

int mech_tangent_start(struct mech_tangent *t, const struct mech_tangent_run *run,
                       const struct mech_tangent_directions *directions, int32_t j,
                       struct mech_step_result *result)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    const size_t nv = (size_t)n->v + 1, nx = (size_t)n->x + 1, rows = (size_t)n->lambda + 1;
    struct mech_columns *const c = &t->columns;
    const bool linear = mech_model_is_linear(t->model);
    const struct mech_direction d = mech_tangent_direction(t, directions, j);
    const struct mech_direction state = {d.q, d.v, d.x, linear ? d.input : NULL};
    const struct mech_direction input = {.input = d.input};
    double *const slope = t->r;

    for (int32_t i = 0; i < n->v; i++) {
        const size_t at = (size_t)j * nv + (size_t)i;

        c->q[at] = d.q ? d.q[i] : 0.;
        c->v[at] = d.v ? d.v[i] : 0.;
    }
    memset(slope, 0, (nv + rows) * sizeof *slope);
    if (!linear && !mech_model_penalty(t->model)) {
        MECH_TRY(n->v > 0 ? exact_slope(t, j, directions->input, slope, result) : 0);
    } else {
        if (d.q || d.v || linear) {
            MECH_TRY(start_slope(t, run, &state, linear, slope, result));
        }
        if (d.input && !linear) {
            MECH_TRY(start_slope(t, run, &input, true, slope, result));
        }
    }
    for (int32_t i = 0; i < n->v; i++) {
        c->vdot[(size_t)j * nv + (size_t)i] = c->a[(size_t)j * nv + (size_t)i] = slope[i];
    }
    for (int32_t i = 0; i < n->x; i++) {
        c->x[(size_t)j * nx + (size_t)i] = d.x ? d.x[i] : 0.;
    }
    memcpy(c->lambda + (size_t)j * rows, slope + n->v, (size_t)n->lambda * sizeof *slope);
    return 0;
}
