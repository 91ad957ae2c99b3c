/* Static equilibrium: F(t) − K (q − q_ref) − g(q, 0, t) + Gᵀ λ = 0 with the joints' g(q, t) = 0, by
 * Newton's method, the loads raised in steps. A residual within the tolerances of solver.newton, or
 * one that falls no more and is what rounding leaves of the forces that balance. owner: that
 * of the model. */
#pragma once

#include <stdint.h>

struct mech_model;
struct mech_state;

struct mech_statics_request {
    int32_t load_steps; /* at least 1; a step that fails is halved up to ten times */
};

struct mech_statics_report {
    int32_t load_steps; /* done */
    int32_t iterations; /* Newton, all steps */
    double residual;    /* of the last step, N or N m */
    double load;        /* share of the loads that was reached; 1: all */
    char linear[32];    /* linear solver */
    char reason[160];   /* set with a positive outcome */
};

/* From the configuration of `s` to equilibrium at its time: q is overwritten, v becomes 0. The
 * loads begin at 0, constant forces of objects, and loads on
 * markers that move, act in full from the start. First-order states stay. Contacts between shapes
 * exert no force unless they are forces by penalty: shapes that overlap at the end of a load step
 * are MECH_UNSUPPORTED, with their names in the reason.
 * 0; MECH_SINGULAR (a mechanism, or an unstable path); MECH_NOT_CONVERGED; MECH_NOT_FINITE;
 * MECH_UNSUPPORTED; then s is garbage. Negative: no memory. */
int mech_statics(const struct mech_model *m, struct mech_state *s,
                 const struct mech_statics_request *request, struct mech_statics_report *report);
