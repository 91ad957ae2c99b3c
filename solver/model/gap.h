/* What a gap asks of the normal speed at the end of a time step of size h, c = y'⁺ + E P + b with
 * 0 ≤ c ⊥ P ≥ 0. g is the gap where it was looked for, q ⊕ (1 − θ) h v, y' its speed at the start
 * of the step, y = g − (1 − θ) h y' the gap there, s a compliance, d a damping:
 *
 *     bounces    e |y'| > minBounceSpeed and g + θ h y' ≤ 0            b = e y'
 *     rests      g ≥ 0: it may close to just 0 at the end of the step  b = g/(θ h)
 *                g < 0: overlaps of the start are undone
 *                       b = max(min(y, 0)/h, g/(θ h), −recoverySpeed)
 *     is soft    s > 0: pushes with −y_θ/s − d y'_θ, while it is closed where it has a damping
 *                α = θ (hθ + s d),  E = s/(h α),  b = (y + (1 − θ)(hθ + s d) y')/α
 *
 * Pure functions, any thread. */
#pragma once

#include "solver/items/document.h"
#include "solver/items/material.h"
#include "solver/sys/sets.h"

struct mech_gap_step {
    double h, theta, gamma;                      /* of the step; activation of soft contacts */
    const struct mech_contact_settings *contact; /* recoverySpeed, minBounceSpeed */
};

/* b of a gap that rests. */
double mech_gap_rest(const struct mech_gap_step *s, double gap, double speed);
/* b of a soft one whose gap at the start is `before`; *E, m/(N s). */
double mech_gap_soft(const struct mech_gap_step *s, double compliance, double damping,
                     double before, double speed, double *E);
/* {b, E} of a contact between two shapes; false: it does not act. */
bool mech_gap_contact(const struct mech_gap_step *s, const struct mech_material *material,
                      double gap, double speed, double bE[2]);
/* Its rows: the normal alone, with friction, or with torques against rolling too. */
struct mech_set mech_gap_set(const struct mech_material *material);
