/* Derivatives of steps; see tangent.h. */
#include "solver/step/tangent_internal.h"

#include "solver/base/err.h"

#include <math.h>
#include <string.h>

/* --- memory ----------------------------------------------------------------------------------- */

/* One vector that represents several: all have `size` numbers and a slot of the ground. */
static double *cut(double **at, size_t count, int32_t size)
{
    double *const here = *at;

    *at += count * ((size_t)size + 1);
    return here;
}

static void place_vectors(struct mech_tangent *t, const struct mech_state_sizes *n, double *at)
{
    struct mech_columns *const c = &t->columns;
    const size_t count = (size_t)c->count;

    c->q = cut(&at, count, n->v);
    c->v = cut(&at, count, n->v);
    c->vdot = cut(&at, count, n->v);
    c->a = cut(&at, count, n->v);
    c->force = cut(&at, count, n->v);
    c->x = cut(&at, count, n->x);
    c->rate[0] = cut(&at, count, n->x);
    c->rate[1] = cut(&at, count, n->x);
    c->lambda = cut(&at, count, n->lambda);
    t->d = cut(&at, 1, n->v);
    t->q0 = cut(&at, 1, n->v);
    t->v0 = cut(&at, 1, n->v);
    t->z = cut(&at, 1, n->v);
    t->v = cut(&at, 1, n->v);
    t->r = cut(&at, 1, n->v + n->lambda);
    t->q = cut(&at, 1, n->q);
    t->rows[0] = cut(&at, 1, n->lambda);
    t->rows[1] = cut(&at, 1, n->lambda);
    for (int k = 0; k < 4; k++) {
        t->sample[k] = cut(&at, 1, 4 * n->v + n->x + n->lambda);
    }
    t->input = cut(&at, 4, n->input);
}

int mech_tangent_init(struct mech_tangent *t, const struct mech_model *m,
                      const struct mech_state_sizes *sizes, int32_t count)
{
    const size_t v = (size_t)sizes->v + 1, x = (size_t)sizes->x + 1, r = (size_t)sizes->lambda + 1;
    const size_t q = (size_t)sizes->q + 1, block = mech_state_bytes(sizes) / sizeof(double);
    const size_t columns = (size_t)count * (5 * v + 3 * x + r);
    const size_t scratch = 6 * v + 2 * r + q + 4 * (4 * v + x + 2 * r);

    *t = (struct mech_tangent){.model = m, .columns.count = count};
    mech_arena_init(&t->arena, 0);
    MECH_TRY(mech_slopes_init(&t->slopes, m));
    double *const memory = mech_arena_alloc(
        &t->arena, columns + scratch + 4 * ((size_t)sizes->input + 1), sizeof *memory);
    double *const states = mech_arena_alloc(&t->arena, 3 * block, sizeof *states);
    if (!memory || !states) {
        return MECH_NO_MEMORY;
    }
    place_vectors(t, sizes, memory);
    mech_state_place(sizes, states, &t->base);
    mech_state_place(sizes, states + block, &t->other);
    mech_state_place(sizes, states + 2 * block, &t->from);
    return 0;
}

void mech_tangent_fini(struct mech_tangent *t)
{
    if (t->model) {
        mech_saddle_fini(&t->saddle);
        mech_slopes_fini(&t->slopes);
        mech_arena_fini(&t->arena);
    }
    *t = (struct mech_tangent){0};
}

/* --- inputs ----------------------------------------------------------------------------------- */

/* Hold the inputs that some direction changes at their present values. */
void mech_tangent_hold(const struct mech_tangent *t, const struct mech_state *state,
                       const double *directions, struct mech_state *to)
{
    const size_t packed = (size_t)mech_model_sizes(t->model)->input;

    for (size_t i = 0; directions && i < mech_model_inputs(t->model); i++) {
        const struct mech_channel_info *const c = mech_model_input(t->model, i);

        for (int32_t k = c->offset; k < c->offset + c->size; k++) {
            double *const in = to->input + 4 * (size_t)k;
            bool changed = false;

            for (int32_t j = 0; j < t->columns.count; j++) {
                changed = changed || directions[(size_t)j * packed + (size_t)k] != 0.;
            }
            if (changed && c->kind != MECH_INPUT_PARAMETER) {
                in[0] = mech_model_input_value(t->model, state, k, i, state->at->time);
                in[1] = in[2] = 0.;
                in[3] = state->at->time;
                to->input_set[k] = 1.;
            }
        }
    }
}

/* such powers of 2, and their products with steps, are normal numbers */
static const double most_up = 1000.;

double mech_tangent_largest(const double *x, size_t n, double so_far)
{
    for (size_t i = 0; x && i < n; i++) {
        so_far = fmax(so_far, fabs(x[i]));
    }
    return so_far;
}

double mech_tangent_unit(double most)
{
    return most > 0. && isfinite(most) ? exp2(fmax(-most_up, fmin(-ceil(log2(most)), most_up)))
                                       : 1.;
}

/* `at` with its inputs shifted, in t->input */
static struct mech_state beside(const struct mech_tangent *t, const struct mech_state *at,
                                const double *direction, double step)
{
    struct mech_state shifted = *at;
    const size_t n = (size_t)mech_model_sizes(t->model)->input;

    memcpy(t->input, at->input, 4 * n * sizeof *t->input);
    for (size_t i = 0; i < n; i++) {
        t->input[4 * i] += step * direction[i];
    }
    shifted.input = t->input;
    return shifted;
}

/* f [nv + 1] = forces of the inputs of `s` at the point of t->base; what does not depend on inputs
 * is left out as far as it is known. Scratch: t->v. */
static int forces_at(struct mech_tangent *t, const struct mech_state *s, double *f)
{
    const struct mech_state *const at = &t->base;
    const size_t n = (size_t)mech_model_sizes(t->model)->v + 1;
    const struct mech_eval e = mech_model_point(t->model, s, at->at->time, at->q, at->v);

    MECH_TRY(mech_model_force(t->model, s, at->at->time, f));
    if (!mech_model_is_linear(t->model)) {
        memset(t->v, 0, n * sizeof *t->v);
        mech_model_nonlinear(t->model, &e, t->v);
        for (size_t i = 0; i < n; i++) {
            f[i] -= t->v[i];
        }
    }
    return 0;
}

/* x = (x − y)/step */
static void quotient(double *x, const double *y, size_t n, double step)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = (x[i] - y[i]) / step;
    }
}

/* ∂f/∂inputs at t->base for all columns (end 1), and ∂r/∂inputs: forces are affine in inputs, so
 * that a step that dwarfs them costs no digits. */
static int forces_by_inputs(struct mech_tangent *t, const double *directions, int end)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    const size_t nv = (size_t)n->v + 1, nx = (size_t)n->x + 1;
    const double time = t->base.at->time;
    double *const force = t->z, *const rate = t->sample[0];

    MECH_TRY(end ? forces_at(t, &t->base, force) : 0);
    MECH_TRY(n->x ? mech_model_rate(t->model, &t->base, time, rate) : 0);
    for (int32_t j = 0; j < t->columns.count; j++) {
        const double *const d = directions + (size_t)j * (size_t)n->input;
        double *const f = t->columns.force + (size_t)j * nv;
        double *const r = t->columns.rate[end] + (size_t)j * nx;
        const double most = mech_tangent_largest(d, (size_t)n->input, 0.);
        const double step = 0x1p20 * mech_tangent_unit(most);

        if (most == 0.) {
            continue;
        }
        const struct mech_state shifted = beside(t, &t->base, d, step);
        if (end) {
            MECH_TRY(forces_at(t, &shifted, f));
            quotient(f, force, nv, step);
        }
        if (n->x) {
            MECH_TRY(mech_model_rate(t->model, &shifted, time, r));
            quotient(r, rate, nx, step);
        }
    }
    return 0;
}

int mech_tangent_forces(struct mech_tangent *t, const double *directions)
{
    return forces_by_inputs(t, directions, 1);
}

/* --- differences ------------------------------------------------------------------------------ */

void mech_tangent_difference(double *const sample[4], size_t n, double h, double *out)
{
    for (size_t i = 0; i < n; i++) {
        const double wide = (sample[0][i] - sample[1][i]) / (2. * h);
        const double close = (sample[2][i] - sample[3][i]) / h;

        out[i] = close + (close - wide) / 3.;
    }
}

struct mech_direction mech_tangent_direction(const struct mech_tangent *t,
                                             const struct mech_tangent_directions *d, int32_t j)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    const size_t at = (size_t)j;

    return (struct mech_direction){
        d->q ? d->q + at * (size_t)n->v : NULL, d->v ? d->v + at * (size_t)n->v : NULL,
        d->x ? d->x + at * (size_t)n->x : NULL, d->input ? d->input + at * (size_t)n->input : NULL};
}

/* to = from + step · direction */
void mech_tangent_shift(struct mech_tangent *t, const struct mech_state *from,
                        const struct mech_direction *d, double step, struct mech_state *to)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);

    mech_state_copy(from, to);
    for (int32_t i = 0; i < n->v; i++) {
        t->v[i] = d->q ? step * d->q[i] : 0.;
        to->v[i] += d->v ? step * d->v[i] : 0.;
    }
    if (d->q) {
        mech_model_move(t->model, from->q, t->v, to->q);
    }
    for (int32_t i = 0; i < n->x && d->x; i++) {
        to->x[i] += step * d->x[i];
    }
    for (int32_t i = 0; i < n->input && d->input; i++) {
        to->input[4 * (size_t)i] += step * d->input[i];
    }
}

double mech_tangent_unit_of(const struct mech_tangent *t, const struct mech_direction *d)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    double most = mech_tangent_largest(d->q, (size_t)n->v, 0.);

    most = mech_tangent_largest(d->v, (size_t)n->v, most);
    most = mech_tangent_largest(d->x, (size_t)n->x, most);
    return mech_tangent_unit(mech_tangent_largest(d->input, (size_t)n->input, most));
}

/* --- runs ------------------------------------------------------------------------------------- */

int mech_tangent_step(const struct mech_model *m, const struct mech_tangent_run *run, uint64_t k,
                      double t0, struct mech_state *s, struct mech_step_result *result)
{
    const double t_end = k + 1 == run->count ? run->t_end : t0 + (double)(k + 1) * run->h;

    MECH_TRY(run->type->step(run->stepper, s, run->h, t_end, result));
    s->at->time = t_end;
    mech_model_keep(m, s);
    s->at->last_step = run->h;
    s->at->steps++;
    return 0;
}

/* The analytic columns beside the run of t->base: the start of one, or one internal step of all. */
static int chain(struct mech_tangent *t, bool *done, struct mech_step_result *result)
{
    struct mech_tangent_progress *const at = &t->at;
    const struct mech_tangent_run *const run = &at->run;
    const double *const input = at->along.input;
    const bool linear = mech_model_is_linear(t->model);

    if (at->column < t->columns.count) {
        return mech_tangent_start(t, run, &at->along, at->column++, result);
    }
    const uint64_t k = at->done++;
    mech_state_copy(&t->base, &t->other);
    if (input && (k == 0 || !linear)) {
        MECH_TRY(forces_by_inputs(t, input, 0));
    }
    MECH_TRY(mech_tangent_step(t->model, run, k, at->t0, &t->base, result));
    /* of linear models they are the same everywhere */
    if (input && (k == 0 || !linear)) {
        MECH_TRY(forces_by_inputs(t, input, 1));
    }
    *done = at->done == run->count;
    return run->type->tangent(run->stepper, &t->other, &t->base, run->h, t, result);
}

const char *mech_tangent_obstacle(const struct mech_model *m, const struct mech_stepper_type *type)
{
    return type->divides && type->divides(m)
               ? "derivatives of steps are computed only with integrators of fixed step size"
               : NULL;
}

/* Without own equations for this model the runs of a scheme are differenced. */
static int or_runs(struct mech_tangent *t, int code)
{
    if (code == MECH_UNSUPPORTED) {
        t->at.chained = false;
        mech_tangent_runs_begin(t);
        return 0;
    }
    return code;
}

int mech_tangent_begin(struct mech_tangent *t, const struct mech_tangent_run *run,
                       const struct mech_state *state,
                       const struct mech_tangent_directions *directions,
                       struct mech_step_result *result)
{
    mech_saddle_fini(&t->saddle);
    t->at = (struct mech_tangent_progress){
        .run = *run, .along = *directions, .start = state, .chained = run->type->tangent};
    if (!t->at.chained) {
        mech_tangent_runs_begin(t);
        return 0;
    }
    mech_state_copy(state, &t->base);
    mech_tangent_hold(t, state, directions->input, &t->base);
    mech_tangent_begin_at(directions, &t->base);
    t->at.t0 = t->base.at->time;
    MECH_TRY(run->type->start(run->stepper, &t->base, result));
    t->base.at->changed = 0;
    return 0;
}

int mech_tangent_advance(struct mech_tangent *t, uint64_t most, bool *done,
                         struct mech_step_result *result)
{
    *done = false;
    for (uint64_t i = 0; i < most && !*done; i++) {
        if (t->at.chained) {
            bool over = false;
            const int code = chain(t, &over, result);

            *done = code == 0 && over;
            MECH_TRY(or_runs(t, code));
        } else {
            MECH_TRY(mech_tangent_runs_turn(t, done, result));
        }
    }
    return 0;
}

void mech_tangent_displace(const struct mech_tangent *t, int32_t j, double step,
                           struct mech_state *to)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    const struct mech_columns *const c = &t->columns;
    const size_t v = (size_t)j * ((size_t)n->v + 1), x = (size_t)j * ((size_t)n->x + 1);
    const size_t rows = (size_t)j * ((size_t)n->lambda + 1);

    mech_state_copy(&t->base, to);
    for (int32_t i = 0; i < n->v; i++) {
        t->v[i] = step * c->q[v + (size_t)i];
        to->v[i] += step * c->v[v + (size_t)i];
        to->vdot[i] += step * c->vdot[v + (size_t)i];
        to->a[i] += step * c->a[v + (size_t)i];
    }
    mech_model_move(t->model, t->base.q, t->v, to->q);
    for (int32_t i = 0; i < n->x; i++) {
        to->x[i] += step * c->x[x + (size_t)i];
    }
    for (int32_t i = 0; i < n->lambda; i++) {
        to->lambda[i] += step * c->lambda[rows + (size_t)i];
    }
}
