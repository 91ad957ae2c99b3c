/* Derivatives of outputs; see output_slopes.h. */
#include "solver/analysis/output_slopes.h"

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

void mech_output_rows_values(const struct mech_model *m, const struct mech_state *s,
                             const struct mech_output_rows *rows, double *values)
{
    const size_t count = rows->channels ? rows->count : mech_model_outputs(m);

    for (size_t i = 0; i < count; i++) {
        const size_t channel = rows->channels ? (size_t)rows->channels[i] : i;

        mech_model_output_values(m, s, channel, values);
        values += mech_model_output(m, channel)->size;
    }
}

static void sample(struct mech_tangent *t, int32_t j, const double *inputs, double step,
                   const struct mech_output_rows *rows, double *out)
{
    struct mech_state *const to = &t->other;

    mech_tangent_displace(t, j, step, to);
    for (int32_t i = 0; inputs && i < mech_model_sizes(t->model)->input; i++) {
        to->input[4 * (size_t)i] += step * inputs[i];
    }
    mech_output_rows_values(t->model, to, rows, out);
}

void mech_output_slopes(struct mech_tangent *t, int32_t j, const double *inputs,
                        const struct mech_output_rows *rows, double *out, size_t stride)
{
    struct mech_quotient q;

    mech_quotient_begin(&q, rows->size, rows->samples, mech_tangent_unit(length_of(t, j, inputs)));
    do {
        for (int k = 0; k < 4; k++) {
            const double step = q.step[k / 2];

            sample(t, j, inputs, k % 2 ? -step : step, rows, q.sample[k]);
        }
    } while (!mech_quotient_take(&q));
    for (size_t k = 0; k < rows->size; k++) {
        out[k * stride] += q.best[k];
    }
}
