/* Derivatives of outputs; see output_slopes.h. */
#include "solver/analysis/output_slopes.h"

#include "solver/analysis/quotient.h"
#include "solver/step/tangent.h"

/* How far a state moves along column j, inputs included. */
static double length_of(const struct mech_tangent *t, int32_t j, const double *inputs)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    const struct mech_columns *const c = &t->columns;
    const size_t nv = (size_t)n->v, v = (size_t)j * (nv + 1);
    const size_t x = (size_t)j * ((size_t)n->x + 1), rows = (size_t)j * ((size_t)n->lambda + 1);
    double most = mech_tangent_largest(c->q + v, nv, 0.);

    most = mech_tangent_largest(c->v + v, nv, most);
    most = mech_tangent_largest(c->vdot + v, nv, most);
    most = mech_tangent_largest(c->x + x, (size_t)n->x, most);
    most = mech_tangent_largest(c->lambda + rows, (size_t)n->lambda, most);
    return mech_tangent_largest(inputs, (size_t)n->input, most);
}

static void sample(struct mech_tangent *t, int32_t j, const double *inputs, double step,
                   double *out)
{
    struct mech_state *const to = &t->other;

    mech_tangent_displace(t, j, step, to);
    for (int32_t i = 0; inputs && i < mech_model_sizes(t->model)->input; i++) {
        to->input[4 * (size_t)i] += step * inputs[i];
    }
    for (size_t i = 0; i < mech_model_outputs(t->model); i++) {
        mech_model_output_values(t->model, to, i, out + mech_model_output(t->model, i)->offset);
    }
}

void mech_output_slopes(struct mech_tangent *t, int32_t j, const double *inputs, double *samples,
                        double *out, size_t stride)
{
    const size_t n = (size_t)mech_model_output_size(t->model);
    const double unit = mech_tangent_unit(length_of(t, j, inputs));
    struct mech_quotient q = {.step = {mech_quotient_wide * unit, mech_quotient_narrow * unit}};

    for (int k = 0; k < 2; k++) {
        double *const plus = samples + (size_t)(2 * k) * n, *const minus = plus + n;

        sample(t, j, inputs, q.step[k], plus);
        sample(t, j, inputs, -q.step[k], minus);
        q.plus[k] = plus;
        q.minus[k] = minus;
    }
    /* over the first samples, each of which is read before it is written */
    mech_quotient(&q, n, samples);
    for (size_t k = 0; k < n; k++) {
        out[k * stride] += samples[k];
    }
}
