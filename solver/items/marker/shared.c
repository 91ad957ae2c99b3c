/* Markers at a local position of a body, and on a node. */
#include "solver/items/marker/body.h"
#include "solver/items/marker/node.h"

#include <stddef.h>

const struct mech_ref *mech_marker_on_body_seat(const void *description,
                                                enum mech_category *category)
{
    *category = MECH_OBJECT;
    return &((const struct mech_marker_on_body *)description)->object;
}

const char *mech_marker_on_body_map(const void *description, const struct mech_seat *on,
                                    struct mech_marker_map *out, const char **field)
{
    return mech_marker_body_map(on, ((const struct mech_marker_on_body *)description)->local, out,
                                field);
}

void mech_marker_on_body_pose(const void *description, const struct mech_seat *on,
                              const struct mech_eval *e, struct mech_pose *out)
{
    mech_marker_body_pose(on, e, ((const struct mech_marker_on_body *)description)->local, out);
}

const struct mech_field mech_marker_on_body_fields[] = {
    {.name = "localPosition",
     .kind = MECH_REALS,
     .offset = offsetof(struct mech_marker_on_body, local),
     .count = 3,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "the point, in the body's frame"},
    {.name = "object",
     .kind = MECH_REF,
     .offset = offsetof(struct mech_marker_on_body, object),
     .flags = MECH_REQUIRED,
     .target = MECH_OBJECT,
     .doc = "the body"},
};

const struct mech_ref *mech_marker_on_node_seat(const void *description,
                                                enum mech_category *category)
{
    *category = MECH_NODE;
    return &((const struct mech_marker_on_node *)description)->node;
}

void mech_marker_on_node_pose(const void *description, const struct mech_seat *on,
                              const struct mech_eval *e, struct mech_pose *out)
{
    (void)description;
    on->item->type->ops.node->pose(on->item->description, on, e, out);
}

const struct mech_field mech_marker_on_node_fields[] = {
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct mech_marker_on_node, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "the node"},
};
