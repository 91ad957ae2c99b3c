/* What a right answer is, by the data alone. */
#pragma once

#include "tests/fuzz/session.h"

/* A solution that calls itself converged, against its problem: in each row of u = N l + r the
 * violation of u ≥ 0, l ≥ 0, l u = 0 (with friction: of the cone, and of friction against the
 * slip) is a small part of what is summed there. NULL, or what is wrong. */
const char *oracle_solution(const json_t *request, const json_t *reply);

/* Two solutions that call themselves converged, by two solvers, of a problem whose N is so positive
 * definite, and whose friction so small, that there is one: NULL, or what is wrong. */
const char *oracle_agrees(const json_t *request, const json_t *one, const json_t *other);

/* A problem with friction that has one solution (oracle_agrees). */
json_t *oracle_problem(struct generate *g);

/* Scenes that nothing drives: a body of any shape that falls onto a plane; two that are thrown at
 * each other, or fall onto each other, over it; two in a joint that fall onto it; three that fall
 * onto each other. Friction mu and no restitution anywhere; masses 1, 2 and 3 kg, the same inertia
 * about each axis. */
enum oracle_scene { ORACLE_FALL, ORACLE_PAIR, ORACLE_JOINED, ORACLE_STACK };
json_t *oracle_scene(struct generate *g, enum oracle_scene kind, double mu);
/* The same bodies without shapes, which nothing touches. */
json_t *oracle_free(const json_t *scene);

/* Kinetic energy of bodies that have these velocities, v [count], and have then fallen freely for h
 * s more, J. Impulses only take of it: T(v⁺) ≤ T(v_free), the velocities of the same step without
 * contacts, for any θ, μ and h, as P·u⁺ ≤ 0. */
double oracle_kinetic(const double *v, size_t count, double h);

/* The most that kinetic and potential energy of one or two bodies without a joint may rise by in
 * `span` s, J.
 *
 *  - Overlaps are closed in positions, by pseudo-velocities s of the least kinetic energy that part
 *    each pair by recoverySpeed c at most. Both bodies that move up by c, and the upper one by as
 *    much again along the normal, part them too: ½ sᵀM s is below theirs, so that the weight
 *    G = Σ m g rises by less than G c for a body, and 2 G c for two of 1 and 2 kg.
 *  - An internal step of h has ΔE = −h (θ − ½) F·Δv + P·½ (u⁺ + u⁻), M Δv = h F + Hᵀ P. With
 *    P·u⁺ ≤ 0 that is largest at M⁻¹ Hᵀ P = −θ h g, ½ (1 − θ)² h² G g. Where θ < 1, rows that turn
 *    may open by half of what the weight closes in h, which adds ¼ h² G g: ½ h² G g in all. */
double oracle_rise(const json_t *scene, double span);
