/* Step size control of the generalized-α family. What a step of h makes of exact values differs
 * from the solution by (O. Zienkiewicz, Y. Xie, Earthq. Eng. Struct. Dyn. 20 (1991), with the
 * accelerations a = v̇(t + δ h), δ = α_m − α_f, of the generalized scheme)
 *
 *     q   h² ((e − ½) a₁ + (½ δ + β − 1/6) (a₁ − a₀))     e: 1 for implicit Euler, ½ otherwise
 *     v   h (γ + δ − ½) (a₁ − a₀)                         0 for schemes of order 2
 *     x   h (e − ½) (f₁ − f₀) + X⁻¹ (h²/12 A (f₁ − f₀) + h/3 (r₁ − 2 r½ + r₀)),  f = A x + r
 *
 * v of order 2 is not estimated: relative to its size its error is that of q. Multipliers are not
 * controlled. What is left of a step is divided evenly: sudden changes of h are bad for them, and
 * for factors that could be kept. A substep for which Newton's method fails is refused, too.
 *
 * Carried: the size of the next substep, and that of the last one, from which a state that was
 * stored before at->size was has it. */
#include "solver/base/err.h"
#include "solver/step/alpha_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEXT, LAST, CARRIED };

/* β = 1/6 has no term of order 3 and keeps half of the trapezoidal rule's */
static const double least_weight = 1. / 24.;

bool mech_alpha_divides(const struct mech_model *m)
{
    return mech_model_settings(m)->adaptive.mode != MECH_ADAPTIVE_BY_SCHEME;
}

int32_t mech_alpha_carry(const struct mech_model *m)
{
    return (mech_alpha_divides(m) ? CARRIED : 0) + mech_alpha_kept_size(m);
}

void mech_alpha_renew(const struct mech_model *m, struct mech_state *s)
{
    if (mech_alpha_divides(m)) {
        s->at->size = s->carry[LAST];
    }
}

/* errors of q as rates of coordinates, and of v */
static double velocity_squares(struct alpha *s, const struct mech_state *start,
                               const struct mech_state *now, double h)
{
    const struct mech_adaptive_settings *const a = &mech_model_settings(s->model)->adaptive;
    const struct mech_alpha_parameters p = s->p;
    const double delta = p.alpha_m - p.alpha_f, end = mech_alpha_end(p) - 0.5;
    const double jump = 0.5 * delta + p.beta - 1. / 6., drift = p.gamma + delta - 0.5;
    const double weight = copysign(fmax(fabs(jump), least_weight), jump);
    const size_t nv = (size_t)s->nv, nq = (size_t)mech_model_sizes(s->model)->q;

    mech_alpha_shift(start, s->nv, h, s->a_p);
    for (size_t i = 0; i < nv; i++) {
        const double change = now->a[i] - s->a_p[i];

        s->d[i] = h * h * (end * now->a[i] + weight * change);
        s->r[i] = fabs(drift) > 1e-12 ? h * drift * change : 0.;
    }
    mech_model_qdot(s->model, now->q, s->d, s->q_error);
    return mech_control_squares(a, nq, start->q, now->q, s->q_error) +
           mech_control_squares(a, nv, start->v, now->v, s->r);
}

static int state_squares(struct alpha *s, const struct mech_state *start,
                         const struct mech_state *now, double h, double *sum,
                         struct mech_step_result *result)
{
    const struct mech_adaptive_settings *const a = &mech_model_settings(s->model)->adaptive;
    const double t = start->at->time, end = mech_alpha_end(s->p) - 0.5;
    double *const f = s->x_error[0], *const r = s->x_error[1], *const e = s->x_error[2];

    /* f₁ − f₀, and the second difference of r */
    MECH_TRY(mech_rates_xdot(&s->rates, now, t + h, now->x, f, result));
    MECH_TRY(mech_rates_xdot(&s->rates, start, t, start->x, e, result));
    for (int32_t i = 0; i < s->nx; i++) {
        f[i] -= e[i];
    }
    memset(r, 0, (size_t)s->nx * sizeof *r);
    for (int k = 0; k < 3; k++) {
        MECH_TRY(mech_model_rate(s->model, now, t + 0.5 * k * h, e));
        for (int32_t i = 0; i < s->nx; i++) {
            r[i] += (k == 1 ? -2. : 1.) * h / 3. * e[i];
        }
    }
    if (mech_model_first_order(s->model)->kind != MECH_MAT_ZERO) {
        mech_mat_mul(mech_model_first_order(s->model), h * h / 12., f, 1., r);
    }
    MECH_TRY(mech_lsol_solve(s->x_solver, r, 1));
    for (int32_t i = 0; i < s->nx; i++) {
        e[i] = h * end * f[i] + r[i];
    }
    *sum += mech_control_squares(a, (size_t)s->nx, start->x, now->x, e);
    return 0;
}

static int estimate(void *self, const struct mech_state *start, const struct mech_state *now,
                    double h, double *error, struct mech_step_result *result)
{
    struct alpha *const s = self;
    double sum = 0.;

    *error = 0.;
    if (mech_model_settings(s->model)->adaptive.mode != MECH_ADAPTIVE_BY_ERROR) {
        return 0;
    }
    if (s->nv) {
        sum = velocity_squares(s, start, now, h);
    }
    if (s->nx) {
        MECH_TRY(state_squares(s, start, now, h, &sum, result));
    }
    *error = sqrt(sum / fmax(1., (double)(mech_model_sizes(s->model)->q + s->nv + s->nx)));
    return 0;
}

static int substep(void *self, struct mech_state *s, double h, double t_end,
                   struct mech_step_result *result)
{
    s->carry[LAST] = h;
    return mech_alpha_step(self, s, h, t_end, result);
}

int mech_alpha_substeps_init(struct alpha *s)
{
    const struct mech_state_sizes *const n = mech_model_sizes(s->model);

    if (!mech_alpha_divides(s->model)) {
        return 0;
    }
    s->q_error = mech_arena_alloc(&s->arena, (size_t)n->q + 1, sizeof *s->q_error);
    for (int k = 0; k < 3; k++) {
        s->x_error[k] = mech_arena_alloc(&s->arena, (size_t)n->x + 1, sizeof *s->x_error[k]);
        if (!s->q_error || !s->x_error[k]) {
            return MECH_NO_MEMORY;
        }
    }
    s->substeps = (struct mech_substeps){.self = s,
                                         .step = substep,
                                         .estimate = estimate,
                                         .lower = mech_alpha_second(s->p) ? 3 : 2,
                                         .even = true};
    return mech_substeps_init(&s->substeps, s->model, mech_alpha_carry(s->model));
}

int mech_alpha_advance(void *self, struct mech_state *s, double h, double t_end,
                       struct mech_step_result *result)
{
    struct alpha *const alpha = self;

    return mech_alpha_divides(alpha->model)
               ? mech_substeps_run(&alpha->substeps, s, h, t_end, result)
               : mech_alpha_step(self, s, h, t_end, result);
}
