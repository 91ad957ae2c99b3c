/* One Moreau–Jean step: free motion, impacts, update; equations in linear.h. */
#include "solver/step/moreau_jean/linear.h"

#include "solver/base/err.h"
#include "solver/base/text.h"

#include <stdlib.h>

int mech_moreau_jean_init(struct mech_moreau_jean *s, const struct mech_linear_part *part,
                          const struct mech_contact_rows *rows,
                          const struct mech_moreau_jean_settings *settings, double h)
{
    *s = (struct mech_moreau_jean){.dv = NULL};
    MECH_TRY(mech_free_motion_init(&s->motion, part, settings->theta, h, settings->linear));
    mech_lsol_listen(s->motion.solver, settings->interrupt);
    MECH_TRY(mech_impacts_init(&s->impacts, rows, &s->motion, settings));
    s->dv = calloc((size_t)part->nv + 1, sizeof *s->dv);
    return !s->dv ? MECH_NO_MEMORY : 0;
}

void mech_moreau_jean_fini(struct mech_moreau_jean *s)
{
    mech_impacts_fini(&s->impacts);
    mech_free_motion_fini(&s->motion);
    free(s->dv);
    s->dv = NULL;
}

int mech_moreau_jean_factor(struct mech_moreau_jean *s, double h, int32_t *where)
{
    if (s->motion.h == h) {
        return 0;
    }
    MECH_TRY(mech_free_motion_factor(&s->motion, h, where));
    const int code = mech_impacts_factor(&s->impacts);
    if (code != 0) {
        s->motion.h = 0.;
    }
    return code;
}

/* v += dv, q += h (θ v_{k+1} + (1 − θ) v_k), v̇ = dv/h */
static void update(const struct mech_moreau_jean *s, struct mech_state *state)
{
    const size_t n = (size_t)s->motion.part->nv;
    const double h = s->motion.h, theta = s->motion.theta, inverse = 1. / h;
    const double *restrict const dv = s->dv;
    double *restrict const q = state->q, *restrict const v = state->v,
                           *restrict const a = state->vdot;
    for (size_t i = 0; i < n; i++) {
        const double next = v[i] + dv[i];
        q[i] += h * (theta * next + (1. - theta) * v[i]);
        v[i] = next;
        a[i] = dv[i] * inverse;
    }
}

int mech_moreau_jean_step(struct mech_moreau_jean *s, const double *force, struct mech_state *state,
                          struct mech_step_result *result)
{
    mech_impacts_find(&s->impacts, state->q, state->v);
    mech_state_impulses_for(state, s->impacts.rows->count, s->motion.h);

    int code = mech_free_motion_velocity(&s->motion, state->q, state->v, force, s->dv);
    if (code == 0) {
        code = mech_impacts_solve(&s->impacts, state->v, s->dv, state->impulse, result);
    }
    if (code == MECH_NOT_CONVERGED || code == MECH_UNSUPPORTED) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the linear solver \"%s\" did not find the velocities",
                         mech_lsol_name(s->motion.solver));
    } else if (code > 0 && result->reason[0] == '\0') {
        mech_text_format(result->reason, sizeof result->reason,
                         "the impulses of %d active contact rows were not found (%s), residual %g",
                         (int)s->impacts.count, mech_err_text(code), result->residual);
    }
    MECH_TRY(code);
    update(s, state);
    return 0;
}
