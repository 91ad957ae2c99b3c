/* Shapes of bodies that touch at a state. Contacts between shapes are one-sided: they are not in
 * the equations that statics solve, nor in the matrices of small motions, so that a state at which
 * they could act is refused with the names of both objects. Contacts by penalty are forces, which
 * these equations have: they are never refused.
 *
 * Gaps are known to newton.relativeTolerance of the lengths they are differences of: positions of
 * the contact points and their arms. Shapes that are apart or overlap by less count as touching.
 *
 * owner: the owner of the model. Both return 0; MECH_UNSUPPORTED or MECH_NOT_FINITE with a reason
 * [160]; negative: no memory. */
#pragma once

#include "solver/model/model.h"

/* Shapes overlap at the positions of `s`: an equilibrium without contacts is none with them. Those
 * that just touch need no force. */
int mech_analysis_overlaps(const struct mech_model *m, const struct mech_state *s, char *reason);

/* Shapes touch there, or their contact has pushed in the step that led to `s`: a motion one way is
 * free and the other is not. */
int mech_analysis_touches(const struct mech_model *m, const struct mech_state *s, char *reason);
