/* MarkerNodePosition: a point of a node, where forces act. */
#include "solver/items/marker_node.h"

#include <stddef.h>

struct marker_node_position {
    struct mech_ref node;
};

static const struct mech_ref *seat(const void *description, enum mech_category *category)
{
    *category = MECH_NODE;
    return &((const struct marker_node_position *)description)->node;
}

static const char *map(const void *description, const struct mech_seat *on,
                       struct mech_marker_map *out, const char **field)
{
    (void)description;
    return mech_marker_node_map(on, false, out, field);
}

static void pose(const void *description, const struct mech_seat *on, const struct mech_eval *e,
                 struct mech_pose *out)
{
    (void)description;
    on->item->type->ops.node->pose(on->item->description, on, e, out);
}

static const struct mech_field fields[] = {
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct marker_node_position, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "the node"},
};

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_POSITION,
    .seat = seat,
    .map = map,
    .pose = pose,
};

const struct mech_item_type mech_item_marker_node_position = {
    .name = "MarkerNodePosition",
    .category = MECH_MARKER,
    .table = {.name = "MarkerNodePosition",
              .doc = "A point of a node, where forces act.",
              .size = sizeof(struct marker_node_position),
              MECH_FIELDS(fields)},
    .ops.marker = &ops,
};
