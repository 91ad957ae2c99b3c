/* What depends on q in the map of a pose; see struct mech_pose. */
#pragma once

#include "solver/items/ops.h"

/* pairs.c */
/* K[i][j] += ∂(Jᵀ w)_i/∂q_j at constant w (force, torque). */
void mech_pose_stiffness(const struct mech_pose *pose, const double w[6],
                         double K[MECH_MARKER_SLOTS][MECH_MARKER_SLOTS]);
/* Jq[r][j] = ∂(v, omega)_r/∂q_j at constant velocities. */
void mech_pose_turning(const struct mech_pose *pose, double Jq[6][MECH_MARKER_SLOTS]);
