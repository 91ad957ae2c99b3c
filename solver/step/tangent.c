/* Derivatives of steps; see tangent.h. The direction is scaled until it dwarfs the state, so that
 * what both runs have in common costs no digits: the error is that of one run. */
#include "solver/step/tangent.h"

#include "solver/base/err.h"

#include <math.h>
#include <string.h>

const char *mech_tangent_obstacle(const struct mech_model *m, const struct mech_stepper_type *type)
{
    const struct mech_state_sizes *const n = mech_model_sizes(m);

    return !mech_model_is_linear(m) ? "derivatives of steps are for linear models"
           : n->impulse > 0         ? "derivatives of steps are for models without interactions"
           : n->lambda > 0          ? "derivatives of steps are for models without joints"
           : type->carry            ? "derivatives of steps are for schemes of fixed step size"
                                    : NULL;
}

static double largest(const double *x, int32_t n, double so_far)
{
    for (int32_t i = 0; x && i < n; i++) {
        so_far = fmax(so_far, fabs(x[i]));
    }
    return so_far;
}

/* to += scale · d */
static void shift(double *to, const double *d, int32_t n, double scale)
{
    for (int32_t i = 0; d && i < n; i++) {
        to[i] += scale * d[i];
    }
}

/* Hold the inputs of the direction at their present values. */
static void hold_inputs(const struct mech_model *m, const struct mech_state *state,
                        const double *direction, struct mech_state *to)
{
    for (size_t i = 0; direction && i < mech_model_inputs(m); i++) {
        const struct mech_channel_info *const c = mech_model_input(m, i);

        for (int32_t k = c->offset; k < c->offset + c->size; k++) {
            double *const in = to->input + 4 * (size_t)k;

            if (direction[k] != 0. && c->kind != MECH_INPUT_PARAMETER) {
                in[0] = mech_model_input_value(m, state, k, i, state->at->time);
                in[1] = in[2] = 0.;
                in[3] = state->at->time;
                to->input_set[k] = 1.;
            }
        }
    }
}

static int run_steps(const struct mech_tangent_run *run, struct mech_state *s,
                     struct mech_step_result *result)
{
    const double t0 = s->at->time;

    MECH_TRY(run->type->start(run->stepper, s, result));
    s->at->changed = 0;
    for (uint64_t k = 0; k < run->count; k++) {
        const double t_end = k + 1 == run->count ? run->t_end : t0 + (double)(k + 1) * run->h;

        MECH_TRY(run->type->step(run->stepper, s, run->h, t_end, result));
        s->at->time = t_end;
        s->at->last_step = run->h;
        s->at->steps++;
    }
    return 0;
}

static void difference(const double *a, const double *b, int32_t n, double scale, double *out)
{
    for (int32_t i = 0; i < n; i++) {
        out[i] = (a[i] - b[i]) / scale;
    }
}

int mech_tangent_derive(const struct mech_tangent_run *run, const struct mech_model *m,
                        const struct mech_state *state,
                        const struct mech_tangent_direction *direction, struct mech_tangent *out,
                        struct mech_step_result *result)
{
    const struct mech_state_sizes *const n = mech_model_sizes(m);
    const struct mech_tangent_direction *const d = direction;
    struct mech_state *const base = &out->base, *const other = &out->other;

    mech_state_copy(state, base);
    hold_inputs(m, state, d->input, base);
    mech_state_copy(base, other);
    MECH_TRY(run_steps(run, base, result));

    /* a power of two, so that scaling rounds nothing */
    double size = largest(state->q, n->q, 1.), length = largest(d->q, n->q, 0.);
    size = largest(base->q, n->q, largest(base->v, n->v, largest(state->v, n->v, size)));
    size = largest(base->vdot, n->v, largest(base->x, n->x, largest(state->x, n->x, size)));
    length = largest(d->v, n->v, largest(d->x, n->x, largest(d->input, n->input, length)));
    const double scale = length > 0. ? exp2(ceil(log2(size / length)) + 6.) : 1.;

    shift(other->q, d->q, n->q, scale);
    shift(other->v, d->v, n->v, scale);
    shift(other->x, d->x, n->x, scale);
    for (int32_t i = 0; d->input && i < n->input; i++) {
        other->input[4 * (size_t)i] += scale * d->input[i];
    }
    MECH_TRY(run_steps(run, other, result));
    difference(other->q, base->q, n->q, scale, out->q);
    difference(other->v, base->v, n->v, scale, out->v);
    difference(other->vdot, base->vdot, n->v, scale, out->vdot);
    difference(other->x, base->x, n->x, scale, out->x);
    return 0;
}
