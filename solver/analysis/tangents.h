/* The matrices of small motions about a point: M, C + ∂g/∂v and K + ∂g/∂q, for the analyses.
 * Not used on the step path. owner: the owner of the model. */
#pragma once

#include "solver/linalg/mat.h"
#include "solver/model/model.h"

/* K (velocity false) or C with the tangents at a state, those of the joints' reactions and of
 * M_q v̇ at the state's v̇ included, in the arena. The form follows from the
 * values that are not 0, `symmetric` too. 0; MECH_NOT_FINITE; negative: no memory. */
int mech_tangents(const struct mech_model *m, const struct mech_state *s, bool velocity,
                  struct mech_arena *arena, struct mech_mat *out);
/* M at a state, M_q included. Same returns. */
int mech_tangent_mass(const struct mech_model *m, const struct mech_state *s,
                      struct mech_arena *arena, struct mech_mat *out);

/* G of the joints at a state, [rows × nv]; rows that are open are empty. 0 or negative. */
int mech_tangent_rows(const struct mech_model *m, const struct mech_state *s,
                      struct mech_arena *arena, struct mech_mat *out);

/* That contacts press, or NULL. */
const char *mech_analysis_pressed(const struct mech_model *m, const struct mech_state *s);
