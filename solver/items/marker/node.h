/* What the markers on nodes share. */
#pragma once

#include "solver/items/ops.h"

/* The map of a node's point, or frame when `frame`; see struct mech_marker_ops. */
const char *mech_marker_node_map(const struct mech_seat *seat, bool frame,
                                 struct mech_marker_map *out, const char **field);

/* What markers on a node are described by, and their operations. */
struct mech_marker_on_node {
    struct mech_ref node;
};
extern const struct mech_field mech_marker_on_node_fields[];
enum { MECH_MARKER_ON_NODE_FIELDS = 1 };
const struct mech_ref *mech_marker_on_node_seat(const void *description,
                                                enum mech_category *category);
void mech_marker_on_node_pose(const void *description, const struct mech_seat *on,
                              const struct mech_eval *e, struct mech_pose *out);
