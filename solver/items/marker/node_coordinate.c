/* MarkerNodeCoordinate: one coordinate of a node. */
#include "solver/items/ops.h"

#include <stddef.h>

struct marker_node_coordinate {
    struct mech_ref node;
    int32_t coordinate;
};

static const struct mech_ref *seat(const void *description, enum mech_category *category)
{
    *category = MECH_NODE;
    return &((const struct marker_node_coordinate *)description)->node;
}

static const char *map(const void *description, const struct mech_seat *on,
                       struct mech_marker_map *out, const char **field)
{
    const struct marker_node_coordinate *m = description;

    if (m->coordinate >= on->n) {
        *field = "coordinate";
        return "the node has fewer coordinates";
    }
    if (on->item->type->ops.node->coordinates && m->coordinate >= 3) {
        *field = "coordinate";
        return "loads and connectors cannot act on rotation parameters";
    }
    out->n = 1;
    out->slot[0] = on->slot[m->coordinate];
    out->J[0][0] = 1.;
    return NULL;
}

static void pose(const void *description, const struct mech_seat *on, const struct mech_eval *e,
                 struct mech_pose *out)
{
    const struct marker_node_coordinate *m = description;
    const int32_t q = on->q_slot[m->coordinate], v = on->slot[m->coordinate];

    out->p[0] = e->q[q] - e->q_ref[q];
    out->v[0] = e->v[v];
    out->J[0][0] = 1.;
    out->slot = on->slot + m->coordinate;
    out->n = 1;
}

static const struct mech_field fields[] = {
    {.name = "coordinate",
     .kind = MECH_INT,
     .offset = offsetof(struct marker_node_coordinate, coordinate),
     .preset = 0.,
     .min = 0.,
     .max = 1e7,
     .doc = "which coordinate, from 0"},
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct marker_node_coordinate, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "the node"},
};

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_COORDINATE,
    .seat = seat,
    .map = map,
    .pose = pose,
};

const struct mech_item_type mech_item_marker_node_coordinate = {
    .name = "MarkerNodeCoordinate",
    .category = MECH_MARKER,
    .table = {.name = "MarkerNodeCoordinate",
              .doc = "One coordinate of a node.",
              .size = sizeof(struct marker_node_coordinate),
              MECH_FIELDS(fields)},
    .ops.marker = &ops,
};
