/* ż = A z + B u,  y = C z + D u  about a state: z = [ξ; η; x] with the motions ξ and velocities η
 * that joints leave free (motions.h), u the inputs that are forces, y all outputs. For a model
 * without joints and rotations ξ and η are q and v. owner: the owner of the model. */
#pragma once

#include "solver/analysis/motions.h"
#include "solver/step/stepper.h"

struct mech_linearization {
    struct mech_motions motions;
    int32_t states, inputs, outputs; /* ξ, η and x; packed values of force inputs; of outputs */
    /* by rows: [states × states], [states × inputs], [outputs × states], [outputs × inputs]; the
     * caller's. B NULL: only A is computed */
    double *A, *B, *C, *D;
};

/* The sizes, and the motions; `measured`: in measures of inertia (motions.h). 0;
 * MECH_NOT_CONVERGED; MECH_NOT_FINITE; negative. fini in any case. */
int mech_linearize_init(struct mech_linearization *l, const struct mech_model *m,
                        const struct mech_state *state, bool measured);
void mech_linearize_fini(struct mech_linearization *l);

/* Fill the matrices at `state`, whose v̇ and λ are consistent. `sizes`: of the state.
 * 0; MECH_UNSUPPORTED (rotations of a node without derivatives); MECH_SINGULAR; MECH_NOT_FINITE,
 * with a reason; MECH_CANCELLED (the model's interrupt, asked at each column); negative. */
int mech_linearize(struct mech_linearization *l, const struct mech_model *m,
                   const struct mech_state *state, const struct mech_state_sizes *sizes,
                   struct mech_step_result *result);
