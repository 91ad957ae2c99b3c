/* MarkerNodeRigid: a frame of a node, where forces and torques act. */
#include "solver/items/marker_node.h"

#include <stddef.h>

struct marker_node_rigid {
    struct mech_ref node;
};

static const struct mech_ref *seat(const void *description, enum mech_category *category)
{
    *category = MECH_NODE;
    return &((const struct marker_node_rigid *)description)->node;
}

static const char *map(const void *description, const struct mech_seat *on,
                       struct mech_marker_map *out, const char **field)
{
    (void)description;
    return mech_marker_node_map(on, true, out, field);
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
     .offset = offsetof(struct marker_node_rigid, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "the node"},
};

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_RIGID,
    .seat = seat,
    .map = map,
    .pose = pose,
};

const struct mech_item_type mech_item_marker_node_rigid = {
    .name = "MarkerNodeRigid",
    .category = MECH_MARKER,
    .table = {.name = "MarkerNodeRigid",
              .doc = "A frame of a node, where forces and torques act.",
              .size = sizeof(struct marker_node_rigid),
              MECH_FIELDS(fields)},
    .ops.marker = &ops,
};
