/* What the markers on nodes share. */
#pragma once

#include "solver/items/ops.h"

/* The map of a node's point, or frame when `frame`; see struct mech_marker_ops. */
const char *mech_marker_node_map(const struct mech_seat *seat, bool frame,
                                 struct mech_marker_map *out, const char **field);
