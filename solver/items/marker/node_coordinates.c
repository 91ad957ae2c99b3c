/* MarkerNodeCoordinates: all coordinates of a node, as one vector. Of a ground node: none. */
#include "solver/items/ops.h"

#include <stddef.h>

struct marker_node_coordinates {
    struct mech_ref node;
};

static const struct mech_ref *seat(const void *description, enum mech_category *category)
{
    *category = MECH_NODE;
    return &((const struct marker_node_coordinates *)description)->node;
}

static const char *map(const void *description, const struct mech_seat *on,
                       struct mech_marker_map *out, const char **field)
{
    (void)description;
    (void)out;
    if (on->item->type->ops.node->coordinates) {
        *field = "node";
        return "loads and connectors cannot act on rotation parameters";
    }
    return NULL;
}

static const struct mech_field fields[] = {
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct marker_node_coordinates, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "the node"},
};

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_COORDINATES,
    .seat = seat,
    .map = map,
};

const struct mech_item_type mech_item_marker_node_coordinates = {
    .name = "MarkerNodeCoordinates",
    .category = MECH_MARKER,
    .table = {.name = "MarkerNodeCoordinates",
              .doc = "All coordinates of a node, as one vector.",
              .size = sizeof(struct marker_node_coordinates),
              MECH_FIELDS(fields)},
    .ops.marker = &ops,
};
