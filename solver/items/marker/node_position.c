/* MarkerNodePosition: a point of a node, where forces act. */
#include "solver/items/marker/node.h"

static const char *map(const void *description, const struct mech_seat *on,
                       struct mech_marker_map *out, const char **field)
{
    (void)description;
    return mech_marker_node_map(on, false, out, field);
}

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_POSITION,
    .seat = mech_marker_on_node_seat,
    .map = map,
    .pose = mech_marker_on_node_pose,
};

const struct mech_item_type mech_item_marker_node_position = {
    .name = "MarkerNodePosition",
    .category = MECH_MARKER,
    .table = {.name = "MarkerNodePosition",
              .doc = "A point of a node, where forces act.",
              .size = sizeof(struct mech_marker_on_node),
              .fields = mech_marker_on_node_fields,
              .count = MECH_MARKER_ON_NODE_FIELDS},
    .ops.marker = &ops,
};
