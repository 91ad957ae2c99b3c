/* Linearization; see linearize.h. Every column of [B; D] and of C takes four evaluations of the
 * rates and outputs at perturbed points; what is affine is exact to rounding (quotient.h). */
#include "solver/analysis/linearize.h"

#include "solver/analysis/quotient.h"
#include "solver/base/err.h"
#include "solver/step/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct linearize {
    struct mech_rates *rates;
    const struct mech_model *model;
    const struct mech_state *state;
    struct mech_state *work;
    struct mech_linearization *out;
    size_t rows;    /* states + outputs */
    double *values; /* [4 × rows] rates and outputs at the perturbed points */
    double *column; /* [rows] */
};

int32_t mech_linearize_inputs(const struct mech_model *m)
{
    int32_t n = 0;

    for (size_t i = 0; i < mech_model_inputs(m); i++) {
        const struct mech_channel_info *const c = mech_model_input(m, i);

        n += c->kind == MECH_INPUT_PARAMETER ? 0 : c->size;
    }
    return n;
}

/* [q̇; v̇; ẋ; y] of the work state, whose v̇ follows from its forces */
static int evaluate(struct linearize *l, double *to)
{
    struct mech_state *const w = l->work;
    const struct mech_state_sizes *const n = mech_model_sizes(l->model);
    struct mech_step_result result = {.iterations = 0};

    MECH_TRY(mech_rates_start(l->rates, w, &result));
    memcpy(to, w->v, (size_t)n->v * sizeof *to);
    to += n->v;
    memcpy(to, w->vdot, (size_t)n->v * sizeof *to);
    to += n->v;
    /* ẋ has a ground slot behind it, where the outputs begin; they are written afterwards */
    double *const xdot = l->column;
    MECH_TRY(mech_rates_xdot(l->rates, w, w->at->time, w->x, xdot, &result));
    memcpy(to, xdot, (size_t)n->x * sizeof *to);
    to += n->x;
    for (size_t i = 0; i < mech_model_outputs(l->model); i++) {
        mech_model_output_values(l->model, w, i, to + mech_model_output(l->model, i)->offset);
    }
    return 0;
}

/* d[rates; outputs]/d(*at) into l->column; `at` is a number of the work state */
static int derive(struct linearize *l, double *at)
{
    const double value = *at, size = fmax(1., fabs(value));
    struct mech_quotient q = {
        .step = {mech_quotient_wide * size, mech_quotient_narrow * size},
    };

    for (int k = 0; k < 2; k++) {
        double *const plus = l->values + (size_t)(2 * k) * l->rows, *const minus = plus + l->rows;

        /* the step as it comes out after rounding of the argument */
        const double above = value + q.step[k], below = value - q.step[k];
        *at = above;
        MECH_TRY(evaluate(l, plus));
        *at = below;
        MECH_TRY(evaluate(l, minus));
        *at = value;
        q.step[k] = 0.5 * (above - below);
        q.plus[k] = plus;
        q.minus[k] = minus;
    }
    mech_quotient(&q, l->rows, l->column);
    return 0;
}

/* column j of C for a state's number */
static int state_columns(struct linearize *l)
{
    const struct mech_state_sizes *const n = mech_model_sizes(l->model);
    const struct {
        double *at;
        int32_t n;
    } parts[] = {{l->work->q, n->q}, {l->work->v, n->v}, {l->work->x, n->x}};
    const size_t states = (size_t)l->out->states;
    size_t j = 0;

    for (size_t p = 0; p < 3; p++) {
        for (int32_t i = 0; i < parts[p].n; i++, j++) {
            MECH_TRY(derive(l, parts[p].at + i));
            for (size_t r = 0; r < (size_t)l->out->outputs; r++) {
                l->out->C[r * states + j] = l->column[states + r];
            }
        }
    }
    return 0;
}

/* column j of B and D for each value of a force input, held from now on */
static int input_columns(struct linearize *l)
{
    const size_t states = (size_t)l->out->states, inputs = (size_t)l->out->inputs;
    struct mech_state *const w = l->work;
    size_t j = 0;

    for (size_t i = 0; i < mech_model_inputs(l->model); i++) {
        const struct mech_channel_info *const c = mech_model_input(l->model, i);

        for (int32_t k = 0; k < c->size && c->kind != MECH_INPUT_PARAMETER; k++, j++) {
            const int32_t at = c->offset + k;
            double *const in = w->input + 4 * (size_t)at;

            mech_state_copy(l->state, w);
            in[0] = mech_model_input_value(l->model, l->state, at, i, l->state->at->time);
            in[1] = in[2] = 0.;
            in[3] = w->at->time;
            w->input_set[at] = 1.;
            MECH_TRY(derive(l, in));
            for (size_t r = 0; r < states; r++) {
                l->out->B[r * inputs + j] = l->column[r];
            }
            for (size_t r = 0; r < (size_t)l->out->outputs; r++) {
                l->out->D[r * inputs + j] = l->column[states + r];
            }
        }
    }
    return 0;
}

int mech_linearize(struct mech_rates *rates, const struct mech_state *state,
                   struct mech_state *work, struct mech_linearization *out)
{
    struct linearize l = {.rates = rates,
                          .model = rates->model,
                          .state = state,
                          .work = work,
                          .out = out,
                          .rows = (size_t)out->states + (size_t)out->outputs};

    l.values = calloc(5 * l.rows + 1, sizeof *l.values);
    if (!l.values) {
        return MECH_NO_MEMORY;
    }
    l.column = l.values + 4 * l.rows;
    mech_state_copy(state, work);
    int code = state_columns(&l);
    code = code ? code : input_columns(&l);
    free(l.values);
    return code;
}
