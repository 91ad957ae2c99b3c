/* How v̇ and λ at a point change by motions and velocities:
 *
 *     [ M  Gᵀ ] [ δv̇  ]   [ δf − K δq − C δv ]
 *     [ G  0  ] [ −δλ ] = [ −δ(g̈ at v̇ held) ]
 *
 * K and C exact (slopes.h), second derivatives of joints by differences local to each joint. One
 * back-substitution a column. owner: one thread; not on the step path. */
#pragma once

#include "solver/step/saddle.h"
#include "solver/step/slopes.h"

struct mech_rate_slopes {
    struct mech_slopes *slopes; /* at the point of e */
    struct mech_saddle *saddle; /* M and G, factored there; not read without velocities */
    const struct mech_eval *e;  /* with v̇ and λ of the point, and its state */
    double *rate;               /* [rows + 1] scratch */
    const double *by_motion;    /* [rows] δ(g̈) by dq, if it is known already, or NULL */
};

/* x [nv + rows + 1]: δf [nv] before, whose other numbers are not read; then δv̇ and −δλ. dq and dv
 * [nv + 1] or NULL: none. 0; MECH_SINGULAR and the like with a reason; negative. */
int mech_rate_slopes(const struct mech_rate_slopes *r, const double *dq, const double *dv,
                     double *x, struct mech_step_result *result);
