/* How far the equations of joints may be followed along a motion, for differences of them: short of
 * a turn by 1 rad, of where deformed bodies turn otherwise, and of where they have no slopes
 * (struct mech_pair_ops). So other pairs, units and the place of the origin do not matter. Any
 * thread that owns the simulation. */
#pragma once

#include "solver/model/model.h"

/* out [rows] = for each joint's equation the factor of the motion dq [nv + 1] that goes as far; 0:
 * the motion moves none of what it relates. At the last poses; one [nv + 1] scratch. */
void mech_model_row_reach(const struct mech_model *m, const double *dq, double *one, double *out);

/* out [nv + 1] = the lengths by which velocities that turn count as those that do not: the largest
 * of arms and distances of joints there, or 1; and 1 of all others. At the last poses. */
void mech_model_turn_lengths(const struct mech_model *m, double *out);
