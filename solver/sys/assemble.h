/* The matrices of a descriptor, on request: sparse, in the leanest form, in the
 * caller's arena. Rows of constraints that are not active and columns of frozen variables are not
 * there. */
#pragma once

#include "solver/linalg/mat.h"
#include "solver/sys/descriptor.h"

enum mech_system_matrix {
    MECH_SYSTEM_H,  /* [w × w] a M + k K + r R + m M' */
    MECH_SYSTEM_M,  /* [w × w] masses alone, factor a; M' of the stiffness blocks with factor m */
    MECH_SYSTEM_K,  /* [w × w] of the stiffness blocks, factor 1 */
    MECH_SYSTEM_R,  /* [w × w] likewise */
    MECH_SYSTEM_G,  /* [l × w] */
    MECH_SYSTEM_GT, /* [w × l] */
    MECH_SYSTEM_E,  /* [l × l] diag(cfm) */
    MECH_SYSTEM_Z,  /* [w + l × w + l] [H Gᵀ; G −E], symmetric, of {w; −l} */
    MECH_SYSTEM_N,  /* [l × l] G M⁻¹ Gᵀ / a + E, when H is lumped */
    MECH_SYSTEM_MATRICES
};

/* bilateral: rows of bilateral constraints alone (their order stays). 0; MECH_UNSUPPORTED (N where
 * H is not lumped); MECH_SINGULAR (N of masses with the factor 0); negative: no memory. */
int mech_descriptor_matrix(const struct mech_descriptor *d, enum mech_system_matrix which,
                           bool bilateral, struct mech_arena *arena, struct mech_mat *out);
/* {f; −b}, with rows as above; out [velocities + rows]. Returns how many rows. */
int32_t mech_descriptor_right_side(const struct mech_descriptor *d, bool bilateral, double *out);
