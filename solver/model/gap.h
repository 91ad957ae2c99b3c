/* The condition of a gap on the normal speed at the end of a time step of size h, c = y'⁺ + E P + b
 * with 0 ≤ c ⊥ P ≥ 0. g is the gap at its detection, q ⊕ (1 − θ) h v, y' its speed at the start
 * of the step, y = g − (1 − θ) h y' the gap there, s a compliance, d a damping:
 *
 *     bounces    e |y'| > minBounceSpeed and g + θ h y' ≤ 0            b = e y'
 *     rests      it may close to just 0 at the end of the step         b = max(g, 0)/(θ h)
 *     is soft    s > 0: pushes with −y_θ/s − d y'_θ, while it is closed where it has a damping
 *                α = θ (hθ + s d),  E = s/(h α),  b = (y + (1 − θ)(hθ + s d) y')/α
 *
 * b ≥ 0 where no contact bounces, so that an impulse there does no positive work, P y'⁺ = −b P: an
 * overlap never becomes momentum. Overlaps are closed after the velocities are known, by separate
 * velocities that move q once and are then discarded: with g⁺ = g + θ h y'⁺ at the end of the step
 *
 *     0 ≤ c = y'ₛ + bₛ ⊥ p ≥ 0,   bₛ = max(g⁺/h, −recoverySpeed)
 *
 * Where the row itself turns with the motion (a rope: y'' = H v̇ + turn), b is that of what rests
 * and (1 − θ) h turn, so that the speed along the row at the end of the step is 0 at θ = ½, as a
 * joint's. That is no less than (1 − θ)/θ y'_k, y'_k the speed of v_k along the row: the work of P,
 * ½ P (y'_k + y'⁺), is then at most 0 for θ ≥ ½.
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

/* A gap as laws read it: less what rounding may make of one (touch.h), of what is open. In g/(θ h)
 * that would be a speed, another one at each corner of a face and in each step, so that impulses of
 * a pile went from corner to corner without end though no body moves. It is taken off all gaps and
 * not only those within it: with a jump there, faces that creep apart by what solutions leave of
 * speeds would all get a closing speed at once. What stays open is less than positions can say. */
double mech_gap_known(double gap, double rounding);
/* b of a gap that rests. */
double mech_gap_rest(const struct mech_gap_step *s, double gap);
/* The same of a row whose rate of turn is `turn`, m/s²; `speed` of v_k along it, m/s. */
double mech_gap_turn(const struct mech_gap_step *s, double gap, double turn, double speed);
/* g⁺ for the speed at the end of the step, m. */
double mech_gap_left(const struct mech_gap_step *s, double gap, double speed);
/* Whether the remaining overlap is worth closing: over 1e-6 recoverySpeed h. */
bool mech_gap_overlaps(const struct mech_gap_step *s, double left);
/* bₛ, m/s. */
double mech_gap_recovery(const struct mech_gap_step *s, double left);
/* b of a soft one whose gap at the start is `before`; *E, m/(N s). */
double mech_gap_soft(const struct mech_gap_step *s, double compliance, double damping,
                     double before, double speed, double *E);
/* {b, E} of a contact between two shapes; false: it does not act. */
bool mech_gap_contact(const struct mech_gap_step *s, const struct mech_material *material,
                      double gap, double speed, double bE[2]);
/* Its rows: the normal alone, with friction, or with torques against rolling too. */
struct mech_set mech_gap_set(const struct mech_material *material);
