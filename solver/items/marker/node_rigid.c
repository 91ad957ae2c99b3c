/* MarkerNodeRigid: a frame of a node, where forces and torques act. */
#include "solver/items/marker/node.h"

static const char *map(const void *description, const struct mech_seat *on,
                       struct mech_marker_map *out, const char **field)
{
    (void)description;
    return mech_marker_node_map(on, true, out, field);
}

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_RIGID,
    .seat = mech_marker_on_node_seat,
    .map = map,
    .pose = mech_marker_on_node_pose,
};

const struct mech_item_type mech_item_marker_node_rigid = {
    .name = "MarkerNodeRigid",
    .category = MECH_MARKER,
    .table = {.name = "MarkerNodeRigid",
              .doc = "A frame of a node, where forces and torques act.",
              .size = sizeof(struct mech_marker_on_node),
              .fields = mech_marker_on_node_fields,
              .count = MECH_MARKER_ON_NODE_FIELDS},
    .ops.marker = &ops,
};
