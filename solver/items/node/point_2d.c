/* NodePoint2D: a point in the x-y plane, q = reference + displacement (Exudyn's NodePoint2D). */
#include "solver/items/node/start.h"

static int32_t size(const void *description)
{
    (void)description;
    return 2;
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    mech_node_start(description, 2, reference, displacement, velocity);
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 struct mech_pose *out)
{
    (void)description;
    mech_point_pose(seat, e, 2, out);
}

static const struct mech_field fields[] = {
    MECH_NODE_START_FIELDS(2, "m", "m/s"),
};

static const struct mech_node_ops ops = {
    .kind = MECH_NODE_POINT_2D,
    .size = size,
    .start = start,
    .pose = pose,
    .outputs = MECH_COORDINATE_OUTPUTS | MECH_POINT_OUTPUTS,
};

const struct mech_item_type mech_item_node_point_2d = {
    .name = "NodePoint2D",
    .category = MECH_NODE,
    .table = {.name = "NodePoint2D",
              .doc = "A point in the x-y plane.",
              .size = sizeof(struct mech_node_start),
              MECH_FIELDS(fields)},
    .ops.node = &ops,
};
