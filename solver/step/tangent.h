/* Derivatives of steps: how a change of the state, or of inputs held from its time on, changes the
 * state after N internal steps. For models that are linear the map is affine, and the derivative is
 * the difference of two runs, exact to rounding; the second costs what a back-substitution per
 * internal step costs. owner: the simulation's thread. */
#pragma once

#include "solver/step/stepper.h"

/* What runs, and how long. */
struct mech_tangent_run {
    const struct mech_stepper_type *type;
    void *stepper;
    double h, t_end;
    uint64_t count; /* internal steps */
};

/* A direction: [nq], [nv], [nx], [packed inputs]; NULL: zeros. */
struct mech_tangent_direction {
    const double *q, *v, *x, *input;
};

/* A derivative, and the states of the two runs that it comes from: `base` ends where the step leads
 * to, `other` is scratch. All memory is the caller's; the states have the sizes of the one that
 * they start from. */
struct mech_tangent {
    double *q, *v, *vdot, *x; /* [nq], [nv], [nv], [nx] */
    struct mech_state base, other;
};

/* Why this model, or this scheme, has no derivatives of its steps here, or NULL. */
const char *mech_tangent_obstacle(const struct mech_model *m, const struct mech_stepper_type *type);

/* From `state`, with the inputs of the direction held at their present values. 0, or an outcome of
 * start or step with its reason in result; negative. */
int mech_tangent_derive(const struct mech_tangent_run *run, const struct mech_model *m,
                        const struct mech_state *state,
                        const struct mech_tangent_direction *direction, struct mech_tangent *out,
                        struct mech_step_result *result);
