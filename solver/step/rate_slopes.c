/* Slopes of v̇ and λ; see rate_slopes.h. */
#include "solver/step/rate_slopes.h"

#include <string.h>

int mech_rate_slopes(const struct mech_rate_slopes *r, const double *dq, const double *dv,
                     double *x, struct mech_step_result *result)
{
    const struct mech_model *const m = r->slopes->model;
    const size_t nv = (size_t)mech_model_sizes(m)->v;
    const int32_t rows = mech_model_joints(m)->count;
    double *const force = r->slopes->d;

    if (nv == 0) {
        return 0;
    }
    memset(force, 0, (nv + 1) * sizeof *force);
    mech_slopes_add(r->slopes, dq, dv, NULL, force);
    for (size_t i = 0; i < nv; i++) {
        x[i] -= force[i];
    }
    if (rows > 0 && (dq || dv)) {
        mech_slopes_of_rows(r->slopes, r->e, r->by_motion ? NULL : dq, dv, r->rate, x + nv);
    }
    for (int32_t i = 0; i < rows; i++) {
        const bool open = r->e->state && r->e->state->open[i] != 0.;
        const double known = r->by_motion ? r->by_motion[i] : 0.;

        x[nv + (size_t)i] = open || !(dq || dv) ? 0. : -x[nv + (size_t)i] - known;
    }
    return mech_saddle_solve(r->saddle, x, result);
}
