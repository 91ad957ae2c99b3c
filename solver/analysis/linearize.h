/* B, C and D of  ż = A z + B u,  y = C z + D u  about a state, z = [q; v; x], u the inputs that are
 * forces, y all outputs. A is the Jacobian of the first-order form (solver/sim/evaluate.c).
 * owner: whoever owns the model. */
#pragma once

#include <stdint.h>

struct mech_model;
struct mech_rates;
struct mech_state;

struct mech_linearization {
    int32_t states, inputs, outputs; /* nq + nv + nx, packed values of force inputs, of outputs */
    double *A, *B, *C, *D;           /* by rows: [states × states], [states × inputs], … */
};

/* Number of packed values of the inputs that are forces, the columns of B and D, in the document's
 * order; inputs that are parameters have none. */
int32_t mech_linearize_inputs(const struct mech_model *m);

/* Fill B, C and D at `state`; `work`: a second state of the same sizes, overwritten.
 * 0; MECH_NOT_FINITE; MECH_SINGULAR; negative. */
int mech_linearize(struct mech_rates *rates, const struct mech_state *state,
                   struct mech_state *work, struct mech_linearization *out);
