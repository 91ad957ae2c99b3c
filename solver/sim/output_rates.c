/* Outputs in time: their derivatives along the equations. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/sim/analysis.h"
#include "solver/sim/internal.h"

#include <stdlib.h>

/* Outputs at s->point, dt from the state `at` along its velocities and accelerations. */
static int outputs_beside(struct mech_sim *s, const struct mech_state *at, const double *xdot,
                          double dt, double *out)
{
    const size_t nv = (size_t)s->sizes.v;
    struct mech_state *const to = &s->point;
    struct mech_step_result result = {.iterations = 0};
    double *const d = s->extra; /* scratch between commands */

    mech_state_copy(at, to);
    to->extra = to->wrench = NULL;
    for (size_t i = 0; i < nv; i++) {
        d[i] = dt * (at->v[i] + 0.5 * dt * at->vdot[i]);
        to->v[i] += dt * at->vdot[i];
    }
    mech_model_move(s->model, at->q, d, to->q);
    for (int32_t i = 0; i < s->sizes.x; i++) {
        to->x[i] += dt * xdot[i];
    }
    to->at->time += dt;
    MECH_TRY(s->type->nonsmooth ? 0 : s->type->start(s->stepper, to, &result));
    mech_sim_outputs_of(s, to, out);
    return 0;
}

int mech_sim_output_rates(struct mech_sim *s, bool trial, double *out, char *reason)
{
    const struct mech_state *const at = trial ? &s->next : &s->now;
    const size_t n = mech_sim_output_size(s), nx = (size_t)s->sizes.x + 1;
    const double dt = s->document->solver.step_size / 64.;
    struct mech_step_result result = {.iterations = 0};
    double *const room = calloc(n + nx, sizeof *room);

    if (!room) {
        return MECH_NO_MEMORY;
    }
    double *const xdot = room + n;
    int code = s->command.running || (trial && s->command.rebuilt) ? MECH_UNSUPPORTED : 0;
    if (code) {
        mech_text_format(reason, 160,
                         "rates of outputs are not available after a trial with other parameters, "
                         "or during a step");
    }
    code = code ? code : mech_sim_need_rates(s, &result);
    code = code ? code : mech_rates_xdot(&s->rates, at, at->at->time, at->x, xdot, &result);
    code = code ? code : outputs_beside(s, at, xdot, dt, out);
    code = code ? code : outputs_beside(s, at, xdot, -dt, room);
    for (size_t i = 0; i < n && code == 0; i++) {
        out[i] = (out[i] - room[i]) / (2. * dt);
    }
    free(room);
    return code ? code : mech_sim_all_finite(out, n) ? 0 : MECH_NOT_FINITE;
}
