/* One-sided rows of joints: s g ≥ 0 with s λ ≥ 0, s their side (−1 or +1). A row acts while it is
 * held and is open otherwise; state->open says which.
 *
 *     held by    s g = 0, s ġ = 0 and s λ ≥ 0
 *     impact     M Δv = Gᵀ P, G v⁺ + g_t = 0 of all rows that act, s P ≥ 0
 *
 * owner: one stepper; no allocation. */
#pragma once

#include "solver/step/rates.h"

/* Which rows act at a point that was given, not reached: those at their limit (mech_model_limits)
 * that do not move. Rows that are known, 0 or 1 in state->open, stay. Poses and mechanics of the
 * point are evaluated. */
void mech_sided_classify(struct mech_rates *r, struct mech_state *s);
/* Open the row that pulls hardest the wrong way, by more than that share of the largest λ of
 * one-sided rows; λ := 0 there. False: none does. */
bool mech_sided_release(const struct mech_model *m, double share, struct mech_state *s);
/* Bring v to rows that act, which can open rows that were held. `r->x` [nv + rows]: Δv and −P.
 * 0 or an outcome with a reason. */
int mech_sided_impact(struct mech_rates *r, struct mech_state *s, struct mech_step_result *result);
