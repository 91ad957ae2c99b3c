/* Linearization; see linearize.h. One column of [A B; C D] is one direction:
 *
 *     [ M  Gᵀ ] [ δv̇  ]   [ δf − K δq − C δv ]       ξ̇ = Qᵀ (δv + v × δq),  η̇ = Vᵀ δv̇
 *     [ G  0  ] [ −δλ ] = [ −δ(g̈ at v̇ held) ]       v × δq: how a body-fixed motion turns
 *
 * One factorization, one back-substitution a column; outputs by quotients with δv̇ and δλ. At rest
 * in equilibrium A is the first-order form of M δv̇ + C δv + K δq on the free motions. */
#include "solver/analysis/linearize.h"

#include "solver/analysis/output_slopes.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/model/balance.h"
#include "solver/step/rate_slopes.h"
#include "solver/step/tangent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct work {
    struct mech_linearization *l;
    const struct mech_model *model;
    struct mech_tangent tangent;
    struct mech_saddle saddle;
    struct mech_eval e;
    int32_t nv, rows, columns;
    double *directions; /* [columns × packed inputs] */
    double *samples;    /* [MECH_QUOTIENT_EACH × outputs] */
    double *rate;       /* [nv + 1] ξ̇ before it is projected */
};

/* Number of packed values of the inputs that are forces, the columns of B and D, in the document's
 * order; inputs that are parameters have none. */
static int32_t force_inputs(const struct mech_model *m)
{
    int32_t n = 0;

    for (size_t i = 0; i < mech_model_inputs(m); i++) {
        const struct mech_channel_info *const c = mech_model_input(m, i);

        n += c->kind == MECH_INPUT_PARAMETER ? 0 : c->size;
    }
    return n;
}

int mech_linearize_init(struct mech_linearization *l, const struct mech_model *m,
                        const struct mech_state *state, bool measured)
{
    *l = (struct mech_linearization){.outputs = mech_model_output_size(m)};
    MECH_TRY(mech_motions_init(&l->motions, m, state, measured));
    l->states = l->motions.positions + l->motions.velocities + mech_model_sizes(m)->x;
    l->inputs = force_inputs(m);
    return 0;
}

void mech_linearize_fini(struct mech_linearization *l)
{
    mech_motions_fini(&l->motions);
    *l = (struct mech_linearization){.states = 0};
}

/* A direction for each value of a force input, behind those of the states. */
static void set_directions(struct work *w)
{
    const size_t packed = (size_t)mech_model_sizes(w->model)->input;
    int32_t j = w->l->states;

    for (size_t i = 0; i < mech_model_inputs(w->model); i++) {
        const struct mech_channel_info *const c = mech_model_input(w->model, i);

        for (int32_t k = 0; k < c->size && c->kind != MECH_INPUT_PARAMETER && j < w->columns; k++) {
            w->directions[(size_t)j++ * packed + (size_t)(c->offset + k)] = 1.;
        }
    }
}

/* x [nv + rows] := the solution of the saddle; δλ is the negative of its last part. */
static int solve(struct work *w, double *x, struct mech_step_result *result)
{
    return w->nv ? mech_saddle_solve(&w->saddle, x, result) : 0;
}

/* δq, δv and δx of column j */
static int set_column(struct work *w, int32_t j, struct mech_step_result *result)
{
    const struct mech_motions *const b = &w->l->motions;
    struct mech_tangent *const t = &w->tangent;
    struct mech_columns *const c = &t->columns;
    const size_t nv = (size_t)w->nv;
    double *const q = c->q + (size_t)j * (nv + 1), *const v = c->v + (size_t)j * (nv + 1);
    const int32_t first_x = b->positions + b->velocities;

    if (j >= b->positions && j < first_x) {
        mech_motions_column(w->nv, b->V, j - b->positions, v);
    } else if (j >= first_x && j < w->l->states) {
        c->x[(size_t)j * ((size_t)mech_model_sizes(w->model)->x + 1) + (size_t)(j - first_x)] = 1.;
    }
    if (j >= b->positions) {
        return 0;
    }
    mech_motions_column(w->nv, b->Q, j, q);
    if (!w->rows) {
        return 0;
    }
    /* P ξ: the shortest change of velocities that keeps the rows; δ(g̈) is there for δλ */
    mech_slopes_of_rows(&t->slopes, &w->e, q, NULL, t->rows[0],
                        c->lambda + (size_t)j * ((size_t)w->rows + 1));
    memset(t->r, 0, (nv + 1) * sizeof *t->r);
    for (int32_t r = 0; r < w->rows; r++) {
        t->r[nv + (size_t)r] = -t->rows[0][r];
    }
    MECH_TRY(solve(w, t->r, result));
    mech_motions_project(b, b->V, b->velocities, t->r, t->z, 1);
    memcpy(v, t->r, nv * sizeof *v);
    for (int32_t k = 0; k < b->velocities; k++) {
        for (size_t i = 0; i < nv; i++) {
            v[i] -= b->V[(size_t)k * nv + i] * t->z[k];
        }
    }
    return 0;
}

/* δv̇ and δλ of column j, where δ(g̈) by its motion stands */
static int accelerate(struct work *w, int32_t j, struct mech_step_result *result)
{
    struct mech_tangent *const t = &w->tangent;
    struct mech_columns *const c = &t->columns;
    const size_t nv = (size_t)w->nv, at = (size_t)j * (nv + 1);
    double *const lambda = c->lambda + (size_t)j * ((size_t)w->rows + 1);

    const struct mech_rate_slopes rates = {&t->slopes, &w->saddle, &w->e, t->rows[0], lambda};

    memcpy(t->r, c->force + at, nv * sizeof *t->r);
    MECH_TRY(mech_rate_slopes(&rates, c->q + at, c->v + at, t->r, result));
    memcpy(c->vdot + at, t->r, nv * sizeof *t->r);
    for (int32_t r = 0; r < w->rows; r++) {
        lambda[r] = -t->r[nv + (size_t)r];
    }
    return 0;
}

/* rate = δv + v × δq, from how a small step along v carries δq */
static bool rate_of_motion(struct work *w, const double *q, const double *v)
{
    struct mech_tangent *const t = &w->tangent;
    const size_t nv = (size_t)w->nv;
    double fastest = 0.;

    /* translations turn nothing */
    mech_model_motion_sizes(w->model, false, t->z);
    for (size_t i = 0; i < nv; i++) {
        fastest = fmax(fastest, t->z[i] * fabs(w->e.v[i]));
    }
    const double step = 0x1p-16 * mech_tangent_unit(fastest);

    memcpy(w->rate, v, nv * sizeof *v);
    memset(t->z, 0, (nv + 1) * sizeof *t->z);
    for (int k = 0; k < 2 && !mech_model_flat(w->model); k++) {
        const double h = k ? -step : step;

        for (size_t i = 0; i < nv; i++) {
            t->d[i] = h * w->e.v[i];
        }
        if (!mech_model_transport(w->model, t->d, q, t->z, t->q0)) {
            return false;
        }
        for (size_t i = 0; i < nv; i++) {
            w->rate[i] += t->q0[i] / (2. * h);
        }
    }
    return true;
}

/* Column j of A and C, or of B and D. */
static int write_column(struct work *w, int32_t j, struct mech_step_result *result)
{
    struct mech_linearization *const l = w->l;
    const struct mech_motions *const b = &l->motions;
    const struct mech_columns *const c = &w->tangent.columns;
    const int32_t nx = mech_model_sizes(w->model)->x;
    const size_t at = (size_t)j * ((size_t)w->nv + 1), states = (size_t)l->states;
    const size_t first = (size_t)b->positions, x = first + (size_t)b->velocities;
    const bool state = j < l->states;
    const size_t width = state ? states : (size_t)l->inputs;
    const size_t column = state ? (size_t)j : (size_t)(j - l->states);
    const struct mech_mat *const A = mech_model_first_order(w->model);
    double *const out = (state ? l->A : l->B) + column;

    if (!rate_of_motion(w, c->q + at, c->v + at)) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the model has rotations that are not linearized");
        return MECH_UNSUPPORTED;
    }
    mech_motions_project(b, b->Q, b->positions, w->rate, out, width);
    mech_motions_project(b, b->V, b->velocities, c->vdot + at, out + first * width, width);
    for (int32_t i = 0; i < nx; i++) {
        out[(x + (size_t)i) * width] = state ? (size_t)j < x || A->kind == MECH_MAT_ZERO
                                                   ? 0.
                                                   : mech_mat_get(A, i, (int32_t)((size_t)j - x))
                                             : c->rate[1][(size_t)j * ((size_t)nx + 1) + (size_t)i];
    }
    if (l->B) {
        const size_t packed = (size_t)mech_model_sizes(w->model)->input;

        const struct mech_output_rows all = {.size = (size_t)mech_model_output_size(w->model),
                                             .samples = w->samples};

        mech_output_slopes(&w->tangent, j, w->directions + (size_t)j * packed, &all,
                           (state ? l->C : l->D) + column, width);
    }
    return 0;
}

/* Matrices of the point, and the saddle with its factors. */
static int prepare(struct work *w, const struct mech_state *state, struct mech_step_result *result)
{
    struct mech_tangent *const t = &w->tangent;

    set_directions(w);
    mech_state_copy(state, &t->base);
    mech_tangent_hold(t, state, w->directions, &t->base);
    MECH_TRY(mech_tangent_forces(t, w->directions));
    w->e = mech_model_point(w->model, &t->base, t->base.at->time, t->base.q, t->base.v);
    w->e.vdot = t->base.vdot;
    w->e.lambda = w->rows ? t->base.lambda : NULL;
    mech_slopes_at(&t->slopes, &w->e);
    if (!w->nv) {
        return 0;
    }
    MECH_TRY(mech_saddle_init(&w->saddle, w->model, NULL, false, result));
    mech_saddle_form(&w->saddle, (const double[3]){1., 0., 0.});
    return mech_saddle_factor(&w->saddle, &w->e, NULL, result);
}

static int run(struct work *w, const struct mech_state *state, const struct mech_state_sizes *sizes,
               struct mech_step_result *result)
{
    MECH_TRY(mech_tangent_init(&w->tangent, w->model, sizes, w->columns));
    MECH_TRY(prepare(w, state, result));
    for (int32_t j = 0; j < w->columns; j++) {
        if (mech_interrupted(mech_model_interrupt(w->model))) {
            return MECH_CANCELLED;
        }
        MECH_TRY(set_column(w, j, result));
        MECH_TRY(accelerate(w, j, result));
        MECH_TRY(write_column(w, j, result));
    }
    return 0;
}

/* Numbers that left the range of doubles are no answer. */
static int check_finite(const double *x, size_t n, struct mech_step_result *result)
{
    for (size_t i = 0; x && i < n; i++) {
        if (!isfinite(x[i])) {
            mech_text_format(result->reason, sizeof result->reason,
                             "the linearization at this state is not finite");
            return MECH_NOT_FINITE;
        }
    }
    return 0;
}

static void clear(double *x, size_t n)
{
    if (x) {
        memset(x, 0, n * sizeof *x);
    }
}

int mech_linearize(struct mech_linearization *l, const struct mech_model *m,
                   const struct mech_state *state, const struct mech_state_sizes *sizes,
                   struct mech_step_result *result)
{
    struct work w = {.l = l,
                     .model = m,
                     .nv = sizes->v,
                     .rows = mech_model_joints(m)->count,
                     .columns = l->states + (l->B ? l->inputs : 0)};
    const size_t states = (size_t)l->states, inputs = (size_t)l->inputs;
    const size_t outputs = (size_t)l->outputs, nv = (size_t)sizes->v;
    const size_t packed = (size_t)w.columns * (size_t)sizes->input;

    w.directions = calloc(packed + MECH_QUOTIENT_EACH * outputs + nv + 1, sizeof *w.directions);
    if (!w.directions) {
        return MECH_NO_MEMORY;
    }
    w.samples = w.directions + packed;
    w.rate = w.samples + MECH_QUOTIENT_EACH * outputs;
    clear(l->A, states * states);
    clear(l->B, states * inputs);
    clear(l->C, outputs * states);
    clear(l->D, outputs * inputs);
    int code = run(&w, state, sizes, result);
    code = code ? code : check_finite(l->A, states * states, result);
    code = code ? code : check_finite(l->B, states * inputs, result);
    code = code ? code : check_finite(l->C, outputs * states, result);
    code = code ? code : check_finite(l->D, outputs * inputs, result);
    mech_saddle_fini(&w.saddle);
    mech_tangent_fini(&w.tangent);
    free(w.directions);
    return code;
}
