/* What the markers on bodies share. */
#pragma once

#include "solver/items/ops.h"

/* The map of a point of a body; see struct mech_marker_ops. */
const char *mech_marker_body_map(const struct mech_seat *seat, const double local[3],
                                 struct mech_marker_map *out, const char **field);
/* The pose of a point of a body; see struct mech_marker_ops. */
void mech_marker_body_pose(const struct mech_seat *seat, const struct mech_eval *e,
                           const double local[3], struct mech_pose *out);
