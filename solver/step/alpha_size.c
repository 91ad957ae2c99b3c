/* Steps of another size in the generalized-α family. What a state carries belongs to the size of
 * the step that led to it, at->size; before a step of another one it is converted, with r = h/size:
 *
 *     a   approximates v̇ at t + δ h, δ = α_m − α_f:   a := v̇ + r (a − v̇)
 *     v   at index 3 misses G v + g_t = 0 by a multiple of h² (positions alone are held):
 *         r² times the miss, by an impulse along Gᵀ
 *     v̇   at index 2 misses the acceleration that q, v and the joints ask for by a multiple of h²:
 *         r² times the miss
 *
 * and r for r² in schemes of order 1. Left as they are, these are errors of order 1 in v, and in
 * the multipliers, where the trapezoidal rule adds them up. From a step far shorter than h nothing
 * is known but rounding: then a is v̇, and nothing is missed, as at a start. Cost where the size
 * does not change: a comparison. */
#include "solver/base/err.h"
#include "solver/step/alpha_internal.h"

/* Rounding of v and v̇ grows by r². */
static const double most = 16.;

static double ratio_of(const struct mech_state *state, double h)
{
    const double ratio = h / state->at->size;

    return ratio <= most ? ratio : 0.;
}

void mech_alpha_shift(const struct mech_state *from, int32_t nv, double h, double *a)
{
    const double ratio = from->at->size > 0. ? ratio_of(from, h) : 1.;

    for (int32_t i = 0; i < nv; i++) {
        a[i] = from->vdot[i] + ratio * (from->a[i] - from->vdot[i]);
    }
}

/* Where the joints are singular the violation is unknown, and a step may pass. */
static bool unknown(int code, struct mech_step_result *result)
{
    if (code == MECH_SINGULAR) {
        result->dependent = 0;
        result->reason[0] = '\0';
    }
    return code == MECH_SINGULAR;
}

/* v̇ := v̇ of the joints + share (v̇ − that); a goes along */
static int settle(struct alpha *s, struct mech_state *state, double share,
                  struct mech_step_result *result)
{
    const struct mech_rate_point now = {state, state->at->time, state->q, state->v, NULL};
    const int code = mech_rates_vdot(&s->rates, &now, s->d, result);

    for (int32_t i = 0; i < s->nv && code == 0; i++) {
        const double change = (share - 1.) * (state->vdot[i] - s->d[i]);

        state->vdot[i] += change;
        state->a[i] += change;
    }
    return unknown(code, result) ? 0 : code;
}

int mech_alpha_resize(struct alpha *s, struct mech_state *state, double h,
                      struct mech_step_result *result)
{
    if (!(state->at->size > 0.) || s->nv == 0) {
        return 0;
    }
    const double ratio = ratio_of(state, h);
    const double power = mech_alpha_second(s->p) ? ratio * ratio : ratio;

    mech_alpha_shift(state, s->nv, h, state->a);
    if (s->rows == 0) {
        return 0;
    }
    if (s->p.index2) {
        return settle(s, state, power, result);
    }
    const struct mech_rate_point now = {state, state->at->time, state->q, state->v, NULL};
    const int code = mech_rates_push(&s->rates, &now, power - 1., s->d, result);

    for (int32_t i = 0; i < s->nv && code == 0; i++) {
        state->v[i] += s->d[i];
    }
    return unknown(code, result) ? 0 : code;
}
