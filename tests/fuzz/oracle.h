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

/* A scene that nothing drives: a body of any shape falls onto a plane, and does not slide. */
json_t *oracle_scene(struct generate *g);
/* Two bodies of any shapes that are thrown at each other, or fall onto each other, over a plane:
 * friction mu and no restitution anywhere; kg and m as in oracle_scene. */
json_t *oracle_pair(struct generate *g, double mu);
/* Whether mechanical energy went up from one step to the next by more than rounding and the error
 * of rotation: `scale` is the energy that the scene began with. */
bool oracle_gained(double before, double after, double scale);
